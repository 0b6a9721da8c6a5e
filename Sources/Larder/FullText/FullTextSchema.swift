import LarderSQLite

// The parts of a full-text index in SQLite's schema: the FTS5 table, and the
// triggers that keep it up to date.

extension FullTextDefinition {
  package var quotedName: String { name.quotedIdentifier }
  var columnList: String { columns.identifierList }

  /// The schema entries of the index, in the order in which they are created.
  func entries() throws -> [SchemaEntry] {
    try check()
    if let schema {
      throw UnsupportedByEngine(
        engine: "SQLite", feature: "a full-text index of an attached database: “\(schema)”")
    }
    return parts
  }

  private var parts: [SchemaEntry] {
    [
      SchemaEntry(kind: .table, name: replaced, table: replaced, sql: replacedTable),
      SchemaEntry(kind: .table, name: name, table: name, sql: virtualTable),
      trigger("inserting", "BEFORE INSERT", remember(nil)),
      trigger("inserted", "AFTER INSERT", [removal(nil), insertion]),
      trigger("updating", "BEFORE UPDATE", when: changes(of: [key] + unique), remember(oldKey)),
      trigger(
        "updated", "AFTER UPDATE", when: changes(of: [key] + columns + unique),
        [removal(oldKey), deletion, insertion]),
      trigger("deleted", "AFTER DELETE", [deletion, forgetting]),
    ]
  }

  // MARK: Rows that are replaced

  // REPLACE deletes rows without running triggers for it, unless `recursive_triggers`
  // is on. So one trigger first writes down the rows that conflict with a new one.
  // Afterwards another one removes those that are gone from the index.

  private var replaced: String { name + SchemaEntry.replacedRows }
  private var oldKey: String { "old.\(key.quotedIdentifier)" }
  /// The columns by which a row may conflict with another, besides the key.
  private var unique: [String] {
    uniqueSets.flatMap { $0 }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  private var replacedTable: String {
    DDL.createTable(
      replaced, in: nil,
      ["\(key.quotedIdentifier) INTEGER PRIMARY KEY"] + columns.map(\.quotedIdentifier),
      options: "")
  }

  private func remember(_ except: String?) -> [String] {
    let inTheWay = ([[key]] + uniqueSets).map { set in
      set.map { "\($0.quotedIdentifier) = new.\($0.quotedIdentifier)" }.joined(separator: " AND ")
    }
    let others = except.map { "\(key.quotedIdentifier) <> \($0) AND " } ?? ""
    return [
      "DELETE FROM \(replaced.quotedIdentifier)",
      """
      INSERT INTO \(replaced.quotedIdentifier) SELECT \(([key] + columns).identifierList) \
      FROM \(table.quotedIdentifier) WHERE \(others)(\(inTheWay.joined(separator: " OR ")))
      """,
    ]
  }

  private func removal(_ except: String?) -> String {
    let (list, place) = (replaced.quotedIdentifier, key.quotedIdentifier)
    let isGone = """
      \(except.map { "\(place) <> \($0) AND " } ?? "")(\(place) = new.\(place) OR NOT EXISTS \
      (SELECT 1 FROM \(table.quotedIdentifier) AS kept WHERE kept.\(place) = \(list).\(place)))
      """
    return storage == .copied
      ? "DELETE FROM \(quotedName) WHERE rowid IN (SELECT \(place) FROM \(list) WHERE \(isGone))"
      : """
      INSERT INTO \(quotedName) (\(quotedName), rowid, \(columnList)) \
      SELECT 'delete', \(([key] + columns).identifierList) FROM \(list) WHERE \(isGone)
      """
  }

  /// Takes a deleted row off the list, since its own triggers have run.
  private var forgetting: String {
    "DELETE FROM \(replaced.quotedIdentifier) WHERE \(key.quotedIdentifier) = \(oldKey)"
  }

  // MARK: The index

  private var virtualTable: String {
    var options = columns.map(\.quotedIdentifier)
    switch storage {
    case .table:
      options.append("content = \(table.quotedText)")
      options.append("content_rowid = \(key.quotedText)")
    case .copied: break
    case .contentless: options.append("content = ''")
    }
    options.append("tokenize = \(tokenizer.option.quotedText)")
    if !prefixes.isEmpty {
      options.append("prefix = '\(prefixes.map { "\($0)" }.joined(separator: " "))'")
    }
    if !hasSizes { options.append("columnsize = 0") }
    if detail != .full { options.append("detail = \(detail.rawValue)") }
    return DDL.createVirtualTable(name, using: "fts5(\(options.joined(separator: ", ")))")
  }

  private func trigger(
    _ suffix: String, _ event: String, when condition: String? = nil, _ statements: [String]
  ) -> SchemaEntry {
    let name = "\(name)_\(suffix)"
    return SchemaEntry(
      kind: .trigger, name: name, table: table,
      sql: DDL.createTrigger(name, event, on: table, when: condition, statements))
  }

  /// The condition that columns change, even if their collations take both values for equal.
  private func changes(of columns: [String]) -> String {
    columns.map(\.quotedIdentifier)
      .map { "old.\($0) IS NOT new.\($0) COLLATE BINARY" }.joined(separator: " OR ")
  }

  private func row(_ row: String) -> String {
    ([key] + columns).map { "\(row).\($0.quotedIdentifier)" }.joined(separator: ", ")
  }

  private var insertion: String {
    "INSERT INTO \(quotedName) (rowid, \(columnList)) VALUES (\(row("new")))"
  }

  /// The deletion of a row. Values that the index doesn't store have to be
  /// given, since the terms to remove are made from them.
  private var deletion: String {
    storage == .copied
      ? "DELETE FROM \(quotedName) WHERE rowid = old.\(key.quotedIdentifier)"
      : "INSERT INTO \(quotedName) (\(quotedName), rowid, \(columnList)) VALUES ('delete', \(row("old")))"
  }
}

/// How an engine other than SQLite has full-text indexes.
package protocol FullTextDialect {
  /// Creates an index, which the table's rows are in at once.
  func create(_ index: FullTextDefinition, _ db: Database) throws
  func drop(_ index: FullTextDefinition, ifExists: Bool, _ db: Database) throws
  /// The ways in which the database's index differs from its declaration.
  func differences(of index: FullTextDefinition, _ db: Database) throws -> [TableDifference]
  /// The names of a table's indexes, each with the SQL that names the columns it needs.
  func indexes(of table: TableSchema, _ db: Database) throws -> [(name: String, sql: String)]
}

extension Database {
  var fullText: (any FullTextDialect)? { definitions as? any FullTextDialect }
}

extension FullTextIndex {
  /// The schema entries of the index, for ``Schema/others`` beside the record's table: an FTS5 table, five
  /// triggers, and a table of rows that others replace, which is mostly empty.
  ///
  /// - Throws: ``RecordError/declaration(table:problem:)`` if the declaration is wrong.
  public func schema() throws -> [SchemaEntry] { try definition.entries() }

  /// Creates the index and adds all rows of the table to it, in a transaction or savepoint.
  ///
  /// Throws ``RecordError/declaration(table:problem:)`` if the declaration is
  /// wrong (a column that holds no text, a key that is no integer), and
  /// ``LarderSQLite/DatabaseError`` if the index exists or the table doesn't.
  ///
  /// - `ifNotExists`: whether an index that exists is no error, whatever its definition; see
  ///   ``differences(_:)``. One whose triggers are gone, as they are with the record's table, gets them back,
  ///   and is made again from the rows.
  public func create(_ db: Database, ifNotExists: Bool = false) throws {
    try definition.check()
    try db.inTransaction { db in
      if ifNotExists, try definition.exists(db) { return try definition.complete(db) }
      try definition.create(db)
    }
  }

  /// Drops the index with its triggers. Throws ``LarderSQLite/DatabaseError`` if it doesn't exist.
  ///
  /// - `ifExists`: whether an index that doesn't exist is no error.
  public func drop(_ db: Database, ifExists: Bool = false) throws {
    try definition.check()
    if db.engine == nil { _ = try definition.entries() }
    try definition.drop(db, ifExists: ifExists)
  }

  /// The ways in which the database's index differs from this declaration; empty for one that
  /// ``create(_:ifNotExists:)`` has made. To compare its content with the table's rows, use ``verify(_:)``.
  ///
  /// - Throws: ``RecordError/declaration(table:problem:)`` if the declaration is wrong;
  ///   ``LarderSQLite/UnsupportedByEngine`` for a tokenizer that the engine lacks.
  public func differences(_ db: Database) throws -> [TableDifference] {
    try definition.check()
    if let engine = db.fullText { return try engine.differences(of: definition, db) }
    let declared = try definition.entries()
    let found = try db.schema().filter { entry in declared.contains { $0.hasSameName(as: entry) } }
    return Schema(tables: [], others: declared).differences(from: Schema(tables: [], others: found))
  }

  /// Makes the index again from the table's rows, which repairs one for which ``verify(_:)`` throws.
  ///
  /// - Throws: ``LarderSQLite/DatabaseError``, for instance if the index doesn't exist.
  public func rebuild(_ db: Database) throws {
    try definition.check()
    guard db.engine == nil else { return }
    try db.inTransaction { try definition.refill($0) }
  }

  /// Merges the index into one piece, which makes searches a bit faster; this may take long. See
  /// [optimize](https://www.sqlite.org/fts5.html#the_optimize_command).
  ///
  /// - Throws: ``LarderSQLite/DatabaseError``, for instance if the index doesn't exist.
  public func optimize(_ db: Database) throws {
    try definition.check()
    guard db.engine == nil else { return }
    try definition.command("optimize", nil, db)
  }

  /// Compares the index with the table's rows. Throws `ResultCode.corrupt` (``LarderSQLite/DatabaseError``)
  /// if they differ: the index was damaged, or the table was written to without the triggers. It reads all of
  /// both, on a connection that may write.
  ///
  /// For a ``FullTextStorage/contentless`` index it can only compare which rows there are.
  public func verify(_ db: Database) throws {
    try definition.check()
    guard db.engine == nil else { return }
    try definition.verify(db)
  }
}

extension FullTextDefinition {
  /// Creates the index, with all rows of the table.
  func create(_ db: Database) throws {
    try check()
    try db.inTransaction { db in
      if let engine = db.fullText { return try engine.create(self, db) }
      for entry in try entries() { try entry.create(db) }
      if !weights.isEmpty {
        let weights = weights.map { "\($0)" }.joined(separator: ", ")
        try command("rank", "bm25(\(weights))", db)
      }
      try fill(db)
    }
  }

  /// Drops the index, for which only its name has to be right.
  func drop(_ db: Database, ifExists: Bool = false) throws {
    try db.inTransaction { db in
      if let engine = db.fullText { return try engine.drop(self, ifExists: ifExists, db) }
      // A trigger may have gone with the record's table.
      for entry in parts.reversed() {
        try entry.drop(db, ifExists: ifExists || entry.kind == .trigger)
      }
    }
  }

  /// Runs one of FTS5's commands, which are written as rows.
  fileprivate func command(_ command: String, _ rank: String?, _ db: Database) throws {
    let name = SQL(raw: quotedName)
    if let rank {
      try db.executeUpdate("INSERT INTO \(name) (\(name), rank) VALUES (\(command), \(rank))")
    } else {
      try db.executeUpdate("INSERT INTO \(name) (\(name)) VALUES (\(command))")
    }
  }

  /// Adds the rows of the table to an empty index.
  fileprivate func fill(_ db: Database) throws {
    guard storage != .table else { return try command("rebuild", nil, db) }
    try db.executeUpdate(
      SQL(raw: "INSERT INTO \(quotedName) (rowid, \(columnList)) SELECT \(contents)"))
  }

  /// Creates the missing parts of an existing index, and fills it again if there were any.
  fileprivate func complete(_ db: Database) throws {
    guard db.engine == nil else { return }
    let found = try db.schema()
    let missing = try entries().filter { entry in !found.contains { $0.hasSameName(as: entry) } }
    guard !missing.isEmpty else { return }
    for entry in missing { try entry.create(db) }
    try refill(db)
  }

  private var contents: String {
    "\(([key] + columns).identifierList) FROM \(table.quotedIdentifier)"
  }

  fileprivate func refill(_ db: Database) throws {
    switch storage {
    case .table: break
    case .copied: try db.executeUpdate(SQL(raw: "DELETE FROM \(quotedName)"))
    case .contentless: try command("delete-all", nil, db)
    }
    try fill(db)
  }

  func exists(_ db: Database) throws -> Bool {
    try db.engine == nil ? db.tableExists(name) : db.columnExists(name, in: table, of: schema)
  }

  fileprivate func verify(_ db: Database) throws {
    do {
      // A rank of 1 makes FTS5 also compare the index with the external content table.
      try command("integrity-check", storage == .table ? "1" : "0", db)
    } catch let error as DatabaseError where error.code == .corrupt {
      throw outOfDate
    }
    let others: (indexed: String, all: String)
    switch storage {
    case .table: return
    case .copied: others = ("rowid, \(columnList) FROM \(quotedName)", contents)
    case .contentless:
      guard hasSizes else { return }
      others = (
        "id FROM \("\(name)_docsize".quotedIdentifier)",
        "\(key.quotedIdentifier) FROM \(table.quotedIdentifier)"
      )
    }
    let differ = try db.value(
      SQL(
        raw: """
          SELECT EXISTS (SELECT \(others.indexed) EXCEPT SELECT \(others.all))
            OR EXISTS (SELECT \(others.all) EXCEPT SELECT \(others.indexed))
          """), as: Bool.self)
    if differ != false { throw outOfDate }
  }

  private var outOfDate: DatabaseError {
    DatabaseError(
      .corrupt, "the full-text index “\(name)” doesn't match the rows of “\(table)”: rebuild it")
  }
}

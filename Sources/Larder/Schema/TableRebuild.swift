import LarderSQLite

// The table rebuild: SQLite's 12-step procedure for changes that ALTER TABLE can't make.

extension Table {
  /// Rebuilds the table as it is declared here, with other types, keys, constraints and options than ALTER
  /// TABLE can make, and copies its rows; returns their number.
  ///
  /// ```swift
  /// try City.table.rebuild(db, copying: ["population": "CAST(inhabitants AS INTEGER)"])
  /// // CREATE TABLE "city rebuilt" ( … )
  /// // INSERT INTO main."city rebuilt" ("id", "name", "population")
  /// //   SELECT "id", "name", CAST(inhabitants AS INTEGER) FROM main."city" ORDER BY "rowid"
  /// // DROP TABLE main."city"
  /// // ALTER TABLE main."city rebuilt" RENAME TO "city"
  /// ```
  ///
  /// A column's values come from its expression in `copying`, over the old columns; else from the old column
  /// of its name; else from its default. Row ids, the next AUTOINCREMENT key, triggers and undeclared indexes
  /// are kept, except indexes of removed columns; statistics of ANALYZE aren't. The order of columns is kept,
  /// since `SELECT *` and INSERT go by it: new columns take the places of removed ones, or come last.
  ///
  /// No value changes. If the type of a new column would change an old value, such as "007" or an integer
  /// that no REAL has, this throws ``SchemaError/changesValues(table:column:count:rows:)``. The results of
  /// expressions are stored as [SQLite stores them](https://www.sqlite.org/datatype3.html#type_affinity).
  ///
  /// All of it happens in one transaction or savepoint, in memory that doesn't grow with the table; a failure
  /// leaves the database as it was. Foreign keys have to be off meanwhile, since dropping a table would
  /// delete the rows that refer to it. Outside a transaction (`DatabaseAccess.inDatabase`) this turns them
  /// off, and checks all keys from and to the table before the end. Inside one, where they can't be turned
  /// off, it throws ``SchemaError/foreignKeysAreOn(table:)`` if rows may refer to the table; if they are off,
  /// the check is up to the code that began the transaction.
  ///
  /// Another engine alters the table in place, one property after the other: new columns come last, objects
  /// that refer to the table stay, and the server reports changes that it can't make. Rows that break a
  /// constraint can't be left out there: `losing: .rows` throws ``LarderSQLite/UnsupportedByEngine``.
  ///
  /// Only tables of the `main` schema are rebuilt. Throws ``SchemaError`` if values or rows would be lost or
  /// a dependent would no longer work, ``LarderSQLite/DatabaseError`` for a row that breaks a constraint.
  ///
  /// - `copying`: expressions for the values of columns, by the columns' names.
  /// - `losing`: what may be lost without an error.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int { try core.schema(in: db).rebuild(db, copying: copying, losing: losing) }

  /// Rebuilds the table, with expressions by the key paths of columns: `copying: [\.population: "…"]`.
  ///
  /// - Throws: what the other form throws; ``LarderSQLite/DatabaseError`` for a key path to no column.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [PartialKeyPath<R.Columns>: SQL], losing: RebuildLosses = []
  ) throws -> Int {
    var expressions: [String: SQL] = [:]
    for (keyPath, expression) in copying {
      guard let column = R.columns[keyPath: keyPath] as? any NamedColumn else {
        throw DatabaseError(.misuse, "a key path in copying: isn't a column of “\(name)”")
      }
      expressions[column.name] = expression
    }
    return try rebuild(db, copying: expressions, losing: losing)
  }
}

extension TableSchema {
  /// Rebuilds the table; see `Table.rebuild(_:copying:losing:)`.
  ///
  /// - Throws: what `Table.rebuild` does; ``LarderSQLite/UnsupportedByEngine`` for another engine's table.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int {
    try checkEngine(of: db)
    if let definitions = db.dialect?.definitions {
      return try db.inTransaction {
        try definitions.alter($0, to: self, copying: copying, losing: losing)
      }
    }
    guard schema == nil else {
      throw UnsupportedByEngine(
        engine: "SQLite", feature: "rebuilding a table of an attached database: “\(fullName)”")
    }
    func run(checkingKeys: Bool) throws -> Int {
      try db.inTransaction { db in
        let count = try TableRebuild(to: self, copying: copying, losing: losing, in: db).run()
        if checkingKeys { try checkForeignKeys(db) }
        return count
      }
    }
    guard db.enforcesForeignKeys else { return try run(checkingKeys: false) }
    guard db.isInTransaction else {
      return try db.withoutForeignKeys { try run(checkingKeys: true) }
    }
    if try isReferenced(in: db) { throw SchemaError.foreignKeysAreOn(table: name) }
    return try run(checkingKeys: false)
  }

  /// The same table with its columns in another table's order. Columns that both have keep their places there
  /// as far as possible; new ones take the places of removed ones, or come last.
  fileprivate func withColumns(inOrderOf old: TableSchema) -> TableSchema {
    var added = columns.filter { old.column($0.name) == nil }[...]
    var order: [ColumnSchema] = []
    for place in old.columns {
      if let column = column(place.name) ?? added.popFirst() { order.append(column) }
    }
    order += added
    guard order != columns else { return self }
    var table = self
    table.columns = order
    table.sql = DDL.createTable(name, in: schema, order.map(\.sql) + constraints, options: options)
    return table
  }

  /// Whether rows may refer to the table, its own rows included.
  private func isReferenced(in db: Database) throws -> Bool {
    let isOwn = foreignKeys.contains { $0.referencedTable.foldedName == name.foldedName }
    return try isOwn || !tablesReferring(db).isEmpty
  }

  private func tablesReferring(_ db: Database) throws -> [String] {
    try db.executeQuery(
      """
      SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_foreign_key_list(t.name, 'main') AS k
      WHERE t.type = 'table' AND k."table" = ? COLLATE NOCASE
      """, name
    ).map { try $0.get(at: 0) }
  }

  private func checkForeignKeys(_ db: Database) throws {
    let tables = try tablesReferring(db) + (foreignKeys.isEmpty ? [] : [name])
    var count = 0
    for table in Set(tables) {
      count +=
        try db.value(
          "SELECT count(*) FROM pragma_foreign_key_check(?, 'main')", table, as: Int.self) ?? 0
    }
    if count > 0 { throw SchemaError.brokenForeignKeys(table: name, count: count) }
  }
}

/// SQLite's 12-step ALTER TABLE: creates a new table, copies the rows, drops the old table, renames the new
/// one; see [other kinds of table schema changes](https://www.sqlite.org/lang_altertable.html#otheralter).
private struct TableRebuild {
  private let db: Database
  private let old: TableSchema
  private let new: TableSchema
  private let copy: RowCopy
  private let losing: RebuildLosses
  /// The name of the new table until the old one is gone.
  private let temporaryName: String

  init(to new: TableSchema, copying: [String: SQL], losing: RebuildLosses, in db: Database) throws {
    self.db = db
    self.losing = losing
    let old = try Self.oldTable(new.name, in: db)
    self.old = old
    temporaryName = try Self.freeName(new.name + " rebuilt", in: db)
    copy = RowCopy(old: old, new: new, losing: losing, db: db, copying: copying)
    for name in copy.copying.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !new.columns.contains(where: { $0.name.foldedName == name && $0.generated == nil }) {
      throw SchemaError.noSuchColumn(table: new.name, column: String(decoding: name, as: UTF8.self))
    }
    // Code that counts columns, such as `SELECT *` or INSERT without names, keeps its meaning.
    self.new = new.withColumns(inOrderOf: old)
  }

  private static func oldTable(_ name: String, in db: Database) throws -> TableSchema {
    let kinds = try db.executeQuery(
      "SELECT schema, type FROM pragma_table_list(?) WHERE schema IN ('main', 'temp')", name
    ).map { (try $0.get(at: 0, as: String.self), try $0.get(at: 1, as: String.self)) }
    // Names in indexes and triggers would mean the temporary table.
    if kinds.contains(where: { $0.0 == "temp" }) { throw SchemaError.hidden(name) }
    guard kinds.first?.1 == "table", !name.foldedName.starts(with: "sqlite_".utf8),
      let table = try TableSchema.found(name, in: db, schema: "main")
    else { throw SchemaError.noTable(name) }
    return table
  }

  /// A name that is free; tables share a namespace with views and indexes.
  private static func freeName(_ name: String, in db: Database) throws -> String {
    var candidate = name
    while try db.value(
      """
      SELECT EXISTS (SELECT 1 FROM pragma_table_list(?1))
        OR EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE)
        OR EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = ?1 COLLATE NOCASE)
      """, candidate, as: Bool.self) == true
    {
      candidate += "'"
    }
    return candidate
  }

  func run() throws -> Int { try db.keepingDependents(of: new.name) { _ in try replace() } }

  private func replace() throws -> Int {
    try copy.check()
    var sequence: Int64?
    if old.isAutoincrement {
      let sql: SQL = "SELECT seq FROM main.sqlite_sequence WHERE name = \(old.name)"
      sequence = try db.value(sql, as: Int64?.self) ?? nil
    }
    let triggers = try ["main", "temp"].map { try db.schema(of: $0).filter { $0.kind == .trigger } }
    try checkPlaces(triggers.joined())
    let own = triggers.map { $0.filter { $0.table.foldedName == old.name.foldedName } }
    for trigger in own.joined() { try checkUpdateColumns(trigger) }

    try db.createTable(new, as: temporaryName)
    let count = try copyRows()
    try db.executeUpdate(SQL(raw: DDL.drop(.table, old.name, in: "main")))
    // The legacy mode is needed: views and triggers name the table, which doesn't exist at this point.
    try db.withLegacyAlterTable {
      try db.executeStatements(SQL(raw: DDL.renameTable(temporaryName, in: "main", to: new.name)))
    }
    for index in indexes { try db.create(index, of: new) }
    try create(own[0], in: "main")
    try create(own[1], in: "temp")
    if let sequence, new.isAutoincrement { try setSequence(sequence) }
    return count
  }

  private func rowCount(_ table: String) throws -> Int {
    try db.value("SELECT count(*) FROM main.\(identifier: table)", as: Int.self) ?? 0
  }

  private func copyRows() throws -> Int {
    let inserted = try db.executeUpdate(copy.sql(to: temporaryName))
    // Without a conflict clause, INSERT copies all rows or throws. Counting would take a fifth of the time.
    guard !new.conflictClauses.isEmpty else { return inserted }
    let count = try rowCount(temporaryName)
    let lost = try rowCount(old.name) - count
    guard lost == 0 || losing.contains(.rows) else {
      throw SchemaError.losesRows(table: new.name, count: lost)
    }
    return count
  }

  // MARK: Triggers, indexes and the sequence

  /// Throws if a trigger inserts without the names of columns, and would now write to other columns. SQLite
  /// doesn't count computed columns there. (With more or fewer columns, the trigger doesn't compile.)
  private func checkPlaces(_ triggers: some Sequence<SchemaEntry>) throws {
    let places = [old, new].map { table in
      table.columns.filter { $0.generated == nil }.map(\.name.foldedName)
    }
    let isMoved = zip(places[0], places[1]).contains { $0 != $1 && places[1].contains($0) }
    guard isMoved, let trigger = triggers.first(where: { $0.countsColumns(of: old) }) else {
      return
    }
    throw broken(trigger, "it inserts without naming the columns, whose order would change")
  }

  /// Throws if updates of a removed column fire a trigger: SQLite would keep the trigger and never fire it.
  private func checkUpdateColumns(_ trigger: SchemaEntry) throws {
    let tokens = (trigger.sql ?? "").sqlTokens
    guard let start = tokens.firstIndex(where: { $0.isWord("of") }),
      let end = tokens.firstIndex(where: { $0.isWord("on") }), start < end
    else { return }
    for column in tokens[start..<end].dropFirst().compactMap(\.identifier)
    where new.column(column) == nil { throw broken(trigger, "no such column: \(column)") }
  }

  private func broken(_ trigger: SchemaEntry, _ reason: String) -> SchemaError {
    .brokenDependent(table: new.name, dependent: trigger.name, reason: reason)
  }

  /// The old indexes, except those of removed columns, and the declared indexes that they don't serve.
  private var indexes: [IndexSchema] {
    let gone = old.columns.filter { new.column($0.name) == nil }.map(\.name)
    let names = Set(new.indexes.map(\.name.foldedName))
    let kept = old.indexes.filter { index in
      !names.contains(index.name.foldedName) && !gone.contains(where: index.key.uses)
    }
    let made = new.indexes.filter { index in !kept.contains { $0.key.serves(index.key) } }
    return kept.map { $0.withoutQuotedStrings(in: old) } + made
  }

  /// Recreates triggers that were dropped with the table. (Temporary ones may be another table's.)
  private func create(_ triggers: [SchemaEntry], in schema: String) throws {
    let present = try db.schema(of: schema)
    for trigger in triggers where !present.contains(where: trigger.hasSameName) {
      // SQLite keeps the triggers of both schemas as CREATE TRIGGER.
      let sql = trigger.sql ?? ""
      try db.create(
        .trigger, trigger.name, of: trigger.table,
        by: schema == "temp" ? "CREATE TEMP \(sql.dropFirst("CREATE ".count))" : sql)
    }
  }

  /// Restores the AUTOINCREMENT sequence, so that used keys aren't used again.
  private func setSequence(_ sequence: Int64) throws {
    let changed = try db.executeUpdate(
      "UPDATE main.sqlite_sequence SET seq = max(ifnull(seq, 0), ?) WHERE name = ?", sequence,
      new.name)
    if changed == 0 {
      try db.executeUpdate(
        "INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)", new.name, sequence)
    }
  }
}

extension SchemaEntry {
  /// Whether the trigger inserts into a table without the names of columns.
  fileprivate func countsColumns(of table: TableSchema) -> Bool {
    let tokens = (sql ?? "").sqlTokens
    return tokens.indices.contains { index in
      guard tokens[index].isWord("into") else { return false }
      var rest = tokens[(index + 1)...]
      if rest.dropFirst().first?.isSymbol(".") == true { rest = rest.dropFirst(2) }
      return rest.first?.name?.foldedName == table.name.foldedName
        && rest.dropFirst().first?.isSymbol("(") != true
    }
  }
}

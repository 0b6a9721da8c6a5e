import LarderSQLite

// The table rebuild: SQLite's procedure of twelve steps for what ALTER TABLE can't.

extension Table {
  /// Makes the table anew as it is declared here, and copies its rows; returns their number.
  ///
  /// It serves for what ALTER TABLE can't do: other types, keys, constraints and options.
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
  /// A column gets what `copying` says, an expression over the old columns; else what the old
  /// column of its name has; else its default. Row ids, the next AUTOINCREMENT key, triggers, and
  /// indexes that aren't declared are kept, but for indexes of columns that are gone. So is the order
  /// of the columns, which `SELECT *` and INSERT without names go by: new ones take the places of
  /// those that are gone, or come last. Statistics of ANALYZE are not kept.
  ///
  /// No value changes: where the type of the new column would make another of what an old one holds,
  /// as it does of "007" or of an integer that no REAL has, this throws
  /// ``SchemaError/changesValues(table:column:count:rows:)``. What expressions yield is stored as
  /// [SQLite stores it](https://www.sqlite.org/datatype3.html#type_affinity).
  ///
  /// All of it happens in one transaction or savepoint (see [the
  /// procedure](https://www.sqlite.org/lang_altertable.html#otheralter)), in memory that doesn't
  /// grow with the table: what fails leaves the database as it was. Foreign keys have to be off
  /// meanwhile, since dropping a table would delete the rows that refer to it, and can't be turned
  /// off inside of a transaction. Outside of one (`DatabaseAccess.inDatabase`) this does it, and
  /// checks all keys from and to the table before the end. Inside of one it throws
  /// ``SchemaError/foreignKeysAreOn(table:)`` where they are on and rows may refer to the table;
  /// where they are off, the check is for whoever began the transaction.
  ///
  /// Another engine alters the table in its place, one property after the other: new columns come last, what
  /// refers to the table stays, and what can't is told by the server. Rows that break a constraint aren't left
  /// out there: `losing: .rows` throws ``LarderSQLite/UnsupportedByEngine``.
  ///
  /// Throws ``SchemaError`` where values or rows would be lost or something else would no longer
  /// work, and ``LarderSQLite/DatabaseError`` for a row that breaks a constraint. Only tables of
  /// the `main` schema are rebuilt.
  ///
  /// - `copying`: expressions for the values of columns, by the columns' names.
  /// - `losing`: what may be lost without an error.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int {
    try schema(in: db).rebuild(db, copying: copying, losing: losing)
  }

  /// The same with expressions by the key paths of columns: `copying: [\.population: "…"]`.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [PartialKeyPath<R.Columns>: SQL], losing: RebuildLosses = []
  ) throws -> Int {
    var expressions: [String: SQL] = [:]
    for (keyPath, expression) in copying {
      guard let column = R.columns[keyPath: keyPath] as? any NamedColumn else {
        throw DatabaseError(.misuse, "a key path leads to what is no column of “\(name)”")
      }
      expressions[column.name] = expression
    }
    return try rebuild(db, copying: expressions, losing: losing)
  }
}

extension TableSchema {
  /// Makes the table anew; see `Table.rebuild(_:copying:losing:)`.
  @discardableResult
  public func rebuild(
    _ db: Database, copying: [String: SQL] = [:], losing: RebuildLosses = []
  ) throws -> Int {
    try checkEngine(of: db)
    if db.engine != nil {
      return try db.inTransaction {
        try TableAlteration(to: self, copying: copying, losing: losing, in: $0).run()
      }
    }
    func run() throws -> Int {
      try TableRebuild(to: self, copying: copying, losing: losing, in: db).run()
    }
    guard db.enforcesForeignKeys else { return try db.inTransaction { _ in try run() } }
    if db.isInTransaction {
      guard try !isReferenced(in: db) else { throw SchemaError.foreignKeysAreOn(table: name) }
      return try db.inTransaction { _ in try run() }
    }
    return try db.withoutForeignKeys {
      try db.inTransaction { db in
        let count = try run()
        try checkForeignKeys(db)
        return count
      }
    }
  }

  /// Whether rows may refer to the table, those of the new one included.
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

/// SQLite's 12-step ALTER TABLE: a new table is made, the rows are copied to it, the old one is dropped,
/// and the new one renamed, inside of a transaction; see
/// [other kinds of table schema changes](https://www.sqlite.org/lang_altertable.html#otheralter).
private struct TableRebuild {
  private let db: Database
  private let old: TableSchema
  private let new: TableSchema
  private let copy: RowCopy
  private let losing: RebuildLosses
  /// The name of the new table until the old one is gone.
  private let temporaryName: String

  init(
    to new: TableSchema, copying: [String: SQL], losing: RebuildLosses, in db: Database
  ) throws {
    self.db = db
    self.losing = losing
    let old = try Self.oldTable(new.name, in: db)
    self.old = old
    temporaryName = try Self.freeName(new.name + " rebuilt", in: db)
    let copying = Dictionary(
      copying.map { ($0.key.foldedName, $0.value) }, uniquingKeysWith: { $1 })
    for name in copying.keys.sorted(by: { $0.lexicographicallyPrecedes($1) })
    where !new.columns.contains(where: { $0.name.foldedName == name && $0.generatedSQL == nil }) {
      throw SchemaError.noSuchColumn(
        table: new.name, column: String(decoding: name, as: UTF8.self))
    }
    // What counts columns, such as `SELECT *` or INSERT without their names, goes on meaning the same.
    self.new = new.withColumns(inOrderOf: old)
    copy = RowCopy(old: old, new: new, losing: losing, db: db, copying: copying)
  }

  private static func oldTable(_ name: String, in db: Database) throws -> TableSchema {
    let kinds = try db.executeQuery(
      "SELECT schema, type FROM pragma_table_list(?) WHERE schema IN ('main', 'temp')", name
    ).map { (try $0.get(at: 0, as: String.self), try $0.get(at: 1, as: String.self)) }
    // A temporary one would be meant by the names in indexes and triggers.
    if kinds.contains(where: { $0.0 == "temp" }) { throw SchemaError.hidden(name) }
    guard kinds.first?.1 == "table", !name.foldedName.starts(with: "sqlite_".utf8),
      let table = try TableSchema.found(name, in: db, schema: "main")
    else { throw SchemaError.noTable(name) }
    return table
  }

  /// A name that nothing has: tables share theirs with views and indexes.
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

  func run() throws -> Int {
    try db.keepingDependents(of: new.name) { _ in try replace() }
  }

  private func replace() throws -> Int {
    try copy.check()
    let sequence = try old.isAutoincrement ? self.sequence() : nil
    let triggers = try ["main", "temp"].map { try db.schema(of: $0).filter { $0.kind == .trigger } }
    try checkPlaces(triggers.joined())
    let own = triggers.map { $0.filter { $0.table.foldedName == old.name.foldedName } }
    for trigger in own.joined() { try checkUpdateColumns(trigger) }

    try db.createTable(new, as: temporaryName)
    let count = try copyRows()
    try db.executeUpdate(SQL(raw: DDL.drop(.table, old.name, in: "main")))
    // Not as ALTER TABLE does it by itself: that refuses while views and triggers name the table,
    // which isn't there now.
    try db.withLegacyAlterTable {
      try db.executeStatements(SQL(raw: DDL.renameTable(temporaryName, in: "main", to: new.name)))
    }
    for index in indexes { try db.create(index, of: new.name) }
    try create(own[0], in: "main")
    try create(own[1], in: "temp")
    if let sequence, new.isAutoincrement { try setSequence(sequence) }
    return count
  }

  private func rowCount(_ table: String) throws -> Int {
    try db.value("SELECT count(*) FROM main.\(identifier: table)", as: Int.self) ?? 0
  }

  /// Copies all rows, and returns their number.
  private func copyRows() throws -> Int {
    let inserted = try db.executeUpdate(copy.sql(to: temporaryName))
    // INSERT takes all rows or throws, unless the table has a conflict clause of its own. Counting
    // them takes a fifth of the time.
    guard !new.conflictClauses.isEmpty else { return inserted }
    let count = try rowCount(temporaryName)
    let lost = try rowCount(old.name) - count
    guard lost == 0 || losing.contains(.rows) else {
      throw SchemaError.losesRows(table: new.name, count: lost)
    }
    return count
  }

  // MARK: What belongs to the table

  /// Throws where a trigger inserts without the names of columns, and would write to others: a column
  /// that is computed isn't counted then. (Where there are more or fewer, it doesn't compile.)
  private func checkPlaces(_ triggers: some Sequence<SchemaEntry>) throws {
    let places = [old, new].map { table in
      table.columns.filter { $0.generatedSQL == nil }.map(\.name.foldedName)
    }
    let isMoved = zip(places[0], places[1]).contains { $0 != $1 && places[1].contains($0) }
    guard isMoved, let trigger = triggers.first(where: { $0.countsColumns(of: old) }) else {
      return
    }
    throw broken(trigger, "it inserts without the names of columns, which change their places")
  }

  /// Throws where a trigger is fired by updates of a column that is gone: SQLite would keep it, and
  /// never fire it.
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

  /// The old indexes but for those of columns that are gone, and the declared ones that they don't
  /// serve for.
  private var indexes: [IndexSchema] {
    let gone = old.columns.filter { new.column($0.name) == nil }.map(\.name)
    let names = Set(new.indexes.map(\.name.foldedName))
    let kept = old.indexes.filter { index in
      !names.contains(index.name.foldedName) && !gone.contains(where: index.key.uses)
    }
    let made = new.indexes.filter { index in !kept.contains { $0.key.serves(index.key) } }
    return kept.map { $0.withoutQuotedStrings(in: old) } + made
  }

  /// Makes those triggers anew that went with the table. (Temporary ones may be another table's of
  /// the same name.)
  private func create(_ triggers: [SchemaEntry], in schema: String) throws {
    let present = try db.schema(of: schema)
    for trigger in triggers where !present.contains(where: trigger.hasSameName) {
      // SQLite keeps those of both schemas as CREATE TRIGGER.
      let sql = trigger.sql ?? ""
      try db.create(
        .trigger, trigger.name, of: trigger.table,
        by: schema == "temp" ? "CREATE TEMP \(sql.dropFirst("CREATE ".count))" : sql)
    }
  }

  private func sequence() throws -> Int64? {
    try db.value("SELECT seq FROM main.sqlite_sequence WHERE name = ?", old.name, as: Int64?.self)
      ?? nil
  }

  /// Keys that were used once are not used again.
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
  /// Whether it inserts into a table without the names of columns.
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

extension TableSchema {
  /// The same table with its columns where another has them: those that are in both at their places
  /// there, as far as that goes, and the new ones at those of columns that are gone, or at the end.
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
    table.sql = DDL.createTable(name, order.map(\.sql) + constraints, options: options)
    return table
  }
}

import LarderSQLite

/// The steps that make a table anew, inside of a transaction:
/// [other kinds of table schema changes](https://www.sqlite.org/lang_altertable.html#otheralter).
struct TableRebuild {
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
    copy = RowCopy(from: old, to: new, copying: copying, losing: losing, in: db)
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
    let triggers = try ["main", "temp"].map { try TableTrigger.all(in: $0, db) }
    try checkPlaces(triggers.joined())
    let own = triggers.map { $0.filter { $0.isOf(old) } }
    for trigger in own.joined() { try trigger.checkUpdateColumns(of: new) }

    try db.createTable(new, as: temporaryName)
    let count = try copyRows()
    try db.executeUpdate("DROP TABLE main.\(identifier: old.name)")
    try rename()
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
    guard new.sql.mentions("conflict") else { return inserted }
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
  private func checkPlaces(_ triggers: some Sequence<TableTrigger>) throws {
    let places = [old, new].map { table in
      table.columns.filter { $0.generatedSQL == nil }.map(\.name.foldedName)
    }
    let isMoved = zip(places[0], places[1]).contains { $0 != $1 && places[1].contains($0) }
    guard isMoved, let trigger = triggers.first(where: { $0.countsColumns(of: old) }) else {
      return
    }
    throw SchemaError.brokenDependent(
      table: new.name, dependent: trigger.name,
      reason: "it inserts without the names of columns, which change their places")
  }

  /// Not as ALTER TABLE does it by itself: that refuses while views and triggers name the table,
  /// which isn't there now.
  private func rename() throws {
    try db.withLegacyAlterTable {
      try db.executeStatements(
        "ALTER TABLE main.\(identifier: temporaryName) RENAME TO \(identifier: new.name)")
    }
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
  private func create(_ triggers: [TableTrigger], in schema: String) throws {
    for trigger in triggers where try !trigger.isThere(in: schema, db) {
      try db.create(trigger, in: schema)
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

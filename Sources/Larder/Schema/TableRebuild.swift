import LarderSQLite

/// The steps that make a table anew, inside of a transaction:
/// [other kinds of table schema changes](https://www.sqlite.org/lang_altertable.html#otheralter).
struct TableRebuild {
  private let db: Database
  private let old: TableSchema
  private let new: TableSchema
  private let copying: [[UInt8]: SQL]
  private let losing: RebuildLosses
  /// The name of the new table until the old one is gone.
  private let temporaryName: String

  init(
    to new: TableSchema, copying: [String: SQL], losing: RebuildLosses, in db: Database
  ) throws {
    self.db = db
    self.new = new
    self.losing = losing
    old = try Self.oldTable(new.name, in: db)
    temporaryName = try Self.freeName(new.name + " rebuilt", in: db)
    self.copying = Dictionary(
      copying.map { ($0.key.foldedName, $0.value) }, uniquingKeysWith: { $1 })
    for name in copying.keys.sorted() where new.column(name).map(\.generatedSQL) != .some(nil) {
      throw SchemaError.noSuchColumn(table: new.name, column: name)
    }
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

  private static func freeName(_ name: String, in db: Database) throws -> String {
    var candidate = name
    while try db.value(
      "SELECT EXISTS (SELECT 1 FROM pragma_table_list(?))", candidate, as: Bool.self) == true
    {
      candidate += "'"
    }
    return candidate
  }

  func run() throws -> Int {
    let broken = try BrokenStatements(in: db)
    if try hasRows { try checkColumns() }
    let sequence = try old.isAutoincrement ? self.sequence() : nil
    let triggers = try self.triggers()

    try db.executeStatements(SQL(raw: new.sql.replacingTableName(by: temporaryName)))
    let count = try copyRows()
    try db.executeStatements("DROP TABLE main.\(identifier: old.name)")
    try rename()
    for sql in indexStatements + triggers { try db.executeStatements(SQL(raw: sql)) }
    if let sequence, new.isAutoincrement { try setSequence(sequence) }
    try BrokenStatements(in: db).check(comparedTo: broken, table: new.name)
    return count
  }

  private var hasRows: Bool {
    get throws {
      try db.value(
        "SELECT EXISTS (SELECT 1 FROM main.\(identifier: old.name))", as: Bool.self) ?? false
    }
  }

  private func rowCount(_ table: String) throws -> Int {
    try db.value("SELECT count(*) FROM main.\(identifier: table)", as: Int.self) ?? 0
  }

  /// Copies all rows, and returns their number.
  private func copyRows() throws -> Int {
    let inserted = try db.executeUpdate(copySQL)
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

  // MARK: Columns

  /// Throws where rows have values that would not be copied, or not have values that are needed.
  private func checkColumns() throws {
    let lost = old.columns.filter { column in
      column.generatedSQL == nil && new.column(column.name) == nil
        && !copying.values.contains { $0.text.mentions(column.name) }
    }
    guard lost.isEmpty || losing.contains(.columns) else {
      throw SchemaError.losesColumns(table: new.name, columns: lost.map(\.name))
    }
    let filled = Set(copiedColumns.map(\.target.foldedName))
    let missing = new.columns.first { column in
      column.isNotNull && column.generatedSQL == nil && column.defaultSQL == nil
        && !filled.contains(column.name.foldedName)
    }
    if let missing { throw SchemaError.needsValue(table: new.name, column: missing.name) }
  }

  /// The columns that are written, with what is written to them.
  private var copiedColumns: [(target: String, source: SQL)] {
    var columns = new.columns.compactMap { column -> (String, SQL)? in
      guard column.generatedSQL == nil else { return nil }
      if let expression = copying[column.name.foldedName] { return (column.name, expression) }
      // The old column's name: in another case it is the same column.
      return old.column(column.name).map { (column.name, "\(identifier: $0.name)") }
    }
    // Rows keep their row ids where no column has them: other tables, such as those of full-text
    // search, may know them.
    let rowID = new.rowIDColumn ?? new.rowIDName
    if let rowID, let source = old.rowIDName, old.rowIDColumn == nil,
      !columns.contains(where: { $0.0.foldedName == rowID.foldedName })
    {
      columns.append((rowID, "\(identifier: source)"))
    }
    return columns
  }

  private var copySQL: SQL {
    var columns = copiedColumns
    // INSERT takes no empty list.
    if columns.isEmpty, let column = new.columns.first(where: { $0.generatedSQL == nil }) {
      columns.append((column.name, SQL(raw: column.defaultSQL ?? "NULL")))
    }
    let targets = SQL(raw: columns.map(\.target).identifierList)
    var sources: SQL = ""
    for (index, column) in columns.enumerated() {
      sources = index == 0 ? column.source : "\(sources), \(column.source)"
    }
    // In the order of the new table's keys, so that rows are added at its end, and not in that of an
    // index that happens to have all columns.
    let order = old.rowIDName.map { [$0] } ?? old.primaryKey
    let orderSQL = SQL(raw: order.isEmpty ? "" : " ORDER BY \(order.identifierList)")
    let verb: SQL = losing.contains(.rows) ? "INSERT OR IGNORE" : "INSERT"
    var sql: SQL = """
      \(verb) INTO main.\(identifier: temporaryName) (\(targets))
      SELECT \(sources) FROM main.\(identifier: old.name)\(orderSQL)
      """
    // It doesn't come again.
    sql.isCacheable = false
    return sql
  }

  // MARK: What belongs to the table

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
  private var indexStatements: [String] {
    let gone = old.columns.filter { new.column($0.name) == nil }.map(\.name)
    let names = Set(new.indexes.map(\.name.foldedName))
    let kept = old.indexes.filter { index in
      !names.contains(index.name.foldedName) && !gone.contains(where: index.key.mentions)
    }
    let made = new.indexes.filter { index in !kept.contains { $0.key.serves(index.key) } }
    return (kept + made).map(\.sql)
  }

  private func triggers() throws -> [String] {
    func statements(_ schema: String) throws -> [String] {
      try db.executeQuery(
        """
        SELECT sql FROM \(identifier: schema).sqlite_schema
        WHERE type = 'trigger' AND tbl_name = \(old.name) COLLATE NOCASE ORDER BY rowid
        """
      ).map { try $0.get(at: 0) }
    }
    let main = try statements("main")
    let temporary = try statements("temp")
    for sql in main + temporary { try checkUpdateColumns(ofTrigger: sql) }
    // SQLite keeps those of both schemas as CREATE TRIGGER.
    return main + temporary.map { "CREATE TEMP \($0.dropFirst("CREATE ".count))" }
  }

  /// Throws where a trigger is fired by updates of a column that is gone: SQLite would keep it, and
  /// never fire it.
  private func checkUpdateColumns(ofTrigger sql: String) throws {
    let tokens = sql.sqlTokens
    guard let start = tokens.firstIndex(where: { $0.isWord("of") }),
      let end = tokens.firstIndex(where: { $0.isWord("on") }), start < end
    else { return }
    for column in tokens[start..<end].dropFirst().compactMap(\.identifier)
    where new.column(column) == nil {
      throw SchemaError.brokenDependent(
        table: new.name, dependent: tokens.dropFirst(2).first?.identifier ?? "",
        reason: "no such column: \(column)")
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

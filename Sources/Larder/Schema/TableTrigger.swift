import LarderSQLite

/// A trigger of a table, which goes with it and is made anew.
struct TableTrigger {
  let name: String
  let table: String
  let sql: String

  /// Those of one schema, in the order in which they were made.
  static func all(in schema: String, _ db: Database) throws -> [TableTrigger] {
    try db.executeQuery(
      """
      SELECT name, tbl_name, sql FROM \(identifier: schema).sqlite_schema
      WHERE type = 'trigger' ORDER BY rowid
      """
    ).map {
      TableTrigger(name: try $0.get(at: 0), table: try $0.get(at: 1), sql: try $0.get(at: 2))
    }
  }

  func isOf(_ table: TableSchema) -> Bool { self.table.foldedName == table.name.foldedName }

  /// Whether it inserts into a table without the names of columns.
  func countsColumns(of table: TableSchema) -> Bool {
    let tokens = sql.sqlTokens
    return tokens.indices.contains { index in
      guard tokens[index].isWord("into") else { return false }
      var rest = tokens[(index + 1)...]
      if rest.dropFirst().first?.isSymbol(".") == true { rest = rest.dropFirst(2) }
      return rest.first?.name?.foldedName == table.name.foldedName
        && rest.dropFirst().first?.isSymbol("(") != true
    }
  }

  func isThere(in schema: String, _ db: Database) throws -> Bool {
    try db.value(
      """
      SELECT EXISTS (SELECT 1 FROM \(identifier: schema).sqlite_schema
        WHERE type = 'trigger' AND name = \(name) COLLATE NOCASE)
      """, as: Bool.self) ?? false
  }

  /// Throws where a trigger is fired by updates of a column that is gone: SQLite would keep it, and
  /// never fire it.
  func checkUpdateColumns(of new: TableSchema) throws {
    let tokens = sql.sqlTokens
    guard let start = tokens.firstIndex(where: { $0.isWord("of") }),
      let end = tokens.firstIndex(where: { $0.isWord("on") }), start < end
    else { return }
    for column in tokens[start..<end].dropFirst().compactMap(\.identifier)
    where new.column(column) == nil {
      throw SchemaError.brokenDependent(
        table: new.name, dependent: name, reason: "no such column: \(column)")
    }
  }
}

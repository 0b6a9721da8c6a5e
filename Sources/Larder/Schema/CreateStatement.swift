import LarderSQLite

// The text that a schema keeps for an object is run again where the object is made anew. SQLite reads
// only the first statement of it when it opens a file, and never compares it with the object's name:
// a file that somebody else has made may hold more behind it, or something else.

extension Database {
  /// Runs the statement that makes an object. Throws ``SchemaError/notItsStatement(name:sql:)`` for
  /// text that is another, and ``LarderSQLite/ResultCode/misuse`` for one with more behind it.
  func create(
    _ kind: SchemaEntry.Kind, _ name: String, of table: String? = nil, by sql: String
  ) throws {
    var statement = SQL(raw: sql)
    statement.isCacheable = false
    guard sql.creates(kind, name, of: table) else {
      throw SchemaError.notItsStatement(name: name, sql: sql)
    }
    // It throws for text with more than one statement, and runs none then.
    try executeUpdate(statement)
  }

  /// Makes a table under another name.
  func createTable(_ table: TableSchema, as name: String) throws {
    guard table.sql.creates(.table, table.name, of: nil) else {
      throw SchemaError.notItsStatement(name: table.name, sql: table.sql)
    }
    // Its constraints may name it, which would be no table's name yet.
    try create(
      .table, name, by: table.sql.withoutQualifier(table.name).replacingTableName(by: name))
  }

  func create(_ index: IndexSchema, of table: String) throws {
    try create(.index, index.name, of: table, by: index.sql)
  }

  /// SQLite keeps those of both schemas as CREATE TRIGGER.
  func create(_ trigger: TableTrigger, in schema: String) throws {
    let sql =
      schema == "temp" ? "CREATE TEMP \(trigger.sql.dropFirst("CREATE ".count))" : trigger.sql
    try create(.trigger, trigger.name, of: trigger.table, by: sql)
  }
}

extension String {
  /// Whether this begins as the statement that makes an object, on a table if one is given.
  func creates(_ kind: SchemaEntry.Kind, _ name: String, of table: String?) -> Bool {
    var tokens = sqlTokens[...]
    guard tokens.popFirst()?.isWord("create") == true else { return false }
    if ["unique", "virtual", "temp"].contains(where: { tokens.first?.isWord($0) == true }) {
      tokens = tokens.dropFirst()
    }
    guard tokens.popFirst()?.isWord(kind.rawValue) == true,
      tokens.popFirst()?.name?.foldedName == name.foldedName, tokens.first?.isSymbol(".") != true
    else { return false }
    guard let table else { return true }
    guard let on = tokens.firstIndex(where: { $0.isWord("on") }) else { return false }
    var names = tokens[(on + 1)...].prefix(3)
    if names.dropFirst().first?.isSymbol(".") == true { names = names.dropFirst(2) }
    return names.first?.name?.foldedName == table.foldedName
  }
}

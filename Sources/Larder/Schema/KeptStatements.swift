import LarderSQLite

// Recreating an object runs the text that sqlite_schema keeps for it. SQLite reads only the first statement
// of that text when it opens a file, and never compares it with the object's name: a file from elsewhere may
// hold further statements behind it, or a different one.

extension Database {
  /// Runs the statement that creates an object. Throws ``SchemaError/notItsStatement(name:sql:)`` for text
  /// that creates something else, and `ResultCode.misuse` for text with more than one statement.
  func create(
    _ kind: SchemaEntry.Kind, _ name: String, in schema: String? = nil, of table: String? = nil,
    by sql: String
  ) throws {
    guard sql.creates(kind, name, in: schema, of: table) else {
      throw SchemaError.notItsStatement(name: name, sql: sql)
    }
    // For text with more than one statement this throws, and runs none.
    try executeUpdate(SQL(raw: sql).uncached)
  }

  func createTable(_ table: TableSchema, as name: String) throws {
    guard table.sql.creates(.table, table.name, of: nil) else {
      throw SchemaError.notItsStatement(name: table.name, sql: table.sql)
    }
    // The table's constraints may name the table, but no table has that name yet.
    try create(
      .table, name, by: table.sql.withoutQualifier(table.name).replacingTableName(by: name))
  }

  package func create(_ index: IndexSchema, of table: TableSchema) throws {
    try create(.index, index.name, in: table.schema, of: table.name, by: index.sql)
  }
}

extension String {
  /// Whether this text begins like the statement that creates an object, on a table if one is given.
  ///
  /// - Parameter schema: a schema that may stand before the name.
  func creates(
    _ kind: SchemaEntry.Kind, _ name: String, in schema: String? = nil, of table: String?
  ) -> Bool {
    var tokens = sqlTokens[...]
    guard tokens.popFirst()?.isWord("create") == true else { return false }
    if ["unique", "virtual", "temp", "materialized"].contains(where: {
      tokens.first?.isWord($0) == true
    }) {
      tokens = tokens.dropFirst()
    }
    guard tokens.popFirst()?.isWord(kind.rawValue) == true else { return false }
    if let schema, tokens.first?.name?.foldedName == schema.foldedName,
      tokens.dropFirst().first?.isSymbol(".") == true
    {
      tokens = tokens.dropFirst(2)
    }
    guard tokens.popFirst()?.name?.foldedName == name.foldedName,
      tokens.first?.isSymbol(".") != true
    else { return false }
    guard let table else { return true }
    guard let on = tokens.firstIndex(where: { $0.isWord("on") }) else { return false }
    var names = tokens[(on + 1)...].prefix(3)
    if names.dropFirst().first?.isSymbol(".") == true { names = names.dropFirst(2) }
    return names.first?.name?.foldedName == table.foldedName
  }

  /// The text without a table's name, and a schema's, before the names of columns. Texts that can only mean
  /// this table, such as its constraints, mean the same without.
  func withoutQualifier(_ table: String) -> String {
    var kept: [SQLPiece] = []
    func isName(_ piece: SQLPiece, _ name: String) -> Bool {
      // A number isn't a name.
      let isNumber = piece.kind == .word && piece.text.utf8.first.map { $0 < 0x3a } ?? false
      return !isNumber && piece.identifier?.foldedName == name.foldedName
    }
    for piece in SQL(raw: self).pieces {
      kept.append(piece)
      guard piece.text == ".", piece.kind == .other else { continue }
      let names = kept.indices.dropLast().filter { !kept[$0].isSpace }
      guard let last = names.last, isName(kept[last], table) else { continue }
      kept.removeSubrange(last...)
      let rest = kept.indices.filter { !kept[$0].isSpace }.suffix(2)
      if let schema = rest.first, let dot = rest.last, schema != dot, kept[dot].text == ".",
        ["main", "temp"].contains(where: { isName(kept[schema], $0) })
      {
        kept.removeSubrange(schema...)
      }
    }
    return kept.map(\.text).joined()
  }

  /// The statement with another name in place of its third word: `CREATE TABLE city (…)`, the form in which
  /// SQLite keeps it, has no schema before the name.
  func replacingTableName(by name: String) -> String {
    var words = 0
    return SQL(raw: self).pieces.map { piece in
      if piece.kind == .word || piece.kind == .quoted { words += 1 } else { return piece.text }
      return words == 3 ? name.quotedIdentifier : piece.text
    }.joined()
  }
}

extension IndexSchema {
  /// The same index with its double-quoted strings in single quotes, which new statements need. In a text
  /// kept by a file, SQLite takes a double-quoted word for a string if no column has that name.
  func withoutQuotedStrings(in table: TableSchema) -> IndexSchema {
    let pieces = SQL(raw: sql).pieces
    let tokens = sql.sqlTokens
    guard let body = tokens.firstIndex(where: { $0.isSymbol("(") }) else { return self }
    var position = -1
    var index = self
    index.sql = pieces.map { piece in
      guard piece.kind != .space, piece.kind != .comment else { return piece.text }
      position += 1
      guard position > body, piece.text.utf8.first == UInt8(ascii: "\""),
        let name = tokens[position].name, table.column(name) == nil,
        !table.rowIDNames.contains(where: { $0.foldedName == name.foldedName }),
        !tokens[position - 1].isWord("collate"),
        position + 1 == tokens.count || !["(", "."].contains(where: tokens[position + 1].isSymbol)
      else { return piece.text }
      return "'" + name.replacing("'", with: "''") + "'"
    }.joined()
    return index
  }
}

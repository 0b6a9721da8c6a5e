import LarderSQLite

// The CREATE TABLE of a declaration; see [its syntax](https://www.sqlite.org/lang_createtable.html).

extension DeclaredTable {
  func createSQL() throws -> String {
    var lines = try columns.map(columnSQL)
    let key = primaryKey.map(\.name)
    if key.count > 1 { lines.append("PRIMARY KEY (\(key.identifierList))") }
    lines += try constraints.map(constraintSQL)
    let body = lines.map { "  " + $0 }.joined(separator: ",\n")
    let options = (isStrict ? ["STRICT"] : []) + (isWithoutRowID ? ["WITHOUT ROWID"] : [])
    return "CREATE TABLE \(name.quotedIdentifier) (\n\(body)\n)"
      + (options.isEmpty ? "" : " " + options.joined(separator: ", "))
  }

  /// A column with everything that is its own.
  func columnSQL(_ column: ColumnDefinition) throws -> String {
    var parts = [column.name.quotedIdentifier, type(of: column)]
    if let collation = column.collation { parts.append("COLLATE \(collation.quotedIdentifier)") }
    if column.isPrimaryKey, primaryKey.count == 1 { parts.append("PRIMARY KEY") }
    if column.isAutoincrement { parts.append("AUTOINCREMENT") }
    if isNotNull(column) { parts.append("NOT NULL") }
    if column.isUnique { parts.append("UNIQUE") }
    if let value = try defaultText(of: column) { parts.append("DEFAULT \(value)") }
    parts += try column.checks.map { "CHECK (\(try text($0)))" }
    if let generated = column.generated {
      let kind = generated.isStored ? "STORED" : "VIRTUAL"
      parts.append("GENERATED ALWAYS AS (\(try text(generated.expression))) \(kind)")
    }
    if let reference = column.reference {
      parts.append(try foreignKey([column.name], reference).clause)
    }
    return parts.filter { !$0.isEmpty }.joined(separator: " ")
  }

  private func constraintSQL(_ constraint: TableConstraintDefinition) throws -> String {
    switch constraint {
    case .unique(let columns): "UNIQUE (\(columns.identifierList))"
    case .check(let condition): "CHECK (\(try text(condition)))"
    case .foreignKey(let columns, let definition):
      "FOREIGN KEY \(try foreignKey(columns, definition).sql)"
    }
  }

  /// The CREATE INDEX; see [its syntax](https://www.sqlite.org/lang_createindex.html).
  func createSQL(_ index: TableIndexDefinition, name indexName: String, condition: String?)
    -> String
  {
    "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(indexName.quotedIdentifier) "
      + "ON \(name.quotedIdentifier) (\(index.columns.identifierList))"
      + (condition.map { " WHERE \($0)" } ?? "")
  }
}

import LarderSQLite

extension TableSchema {
  /// The same table with its columns where another has them: those that are in both at their places
  /// there, as far as that goes, and the new ones at those of columns that are gone, or at the end.
  func withColumns(inOrderOf old: TableSchema) -> TableSchema {
    var added = columns.filter { old.column($0.name) == nil }[...]
    var order: [ColumnSchema] = []
    for place in old.columns {
      if let column = column(place.name) ?? added.popFirst() { order.append(column) }
    }
    order += added
    guard order != columns else { return self }
    return TableSchema(
      name: name, columns: order, primaryKey: primaryKey, isAutoincrement: isAutoincrement,
      checks: checks, foreignKeys: foreignKeys, indexes: indexes, isStrict: isStrict,
      isWithoutRowID: isWithoutRowID, sql: sql(columns: order), rowIDColumn: rowIDColumn,
      primaryKeyTerms: primaryKeyTerms, uniqueTerms: uniqueTerms, conflictClauses: conflictClauses)
  }

  /// The CREATE TABLE with the columns in another order, and without comments.
  private func sql(columns order: [ColumnSchema]) -> String {
    let tokens = sql.sqlTokens
    guard let body = tokens.group(from: 0) else { return sql }
    // Constraints stand behind all columns.
    let constraints = body.tokens.splitAtCommas().dropFirst(columns.count).map(\.text)
    let lines = (order.map(\.sql) + constraints).map { "  " + $0 }.joined(separator: ",\n")
    let options = Array(tokens[(body.end + 1)...]).text
    return "CREATE TABLE \(name.quotedIdentifier) (\n\(lines)\n)"
      + (options.isEmpty ? "" : " " + options)
  }
}

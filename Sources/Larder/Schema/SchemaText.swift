import LarderSQLite

// What a database has, as SQL that can be set beside what is declared.

extension DeclaredTable {
  /// What follows the parentheses of CREATE TABLE.
  var optionsText: String? { tableOptions(isStrict: isStrict, isWithoutRowID: isWithoutRowID) }
}

extension FoundTable {
  var optionsText: String? { tableOptions(isStrict: isStrict, isWithoutRowID: isWithoutRowID) }
}

private func tableOptions(isStrict: Bool, isWithoutRowID: Bool) -> String? {
  switch (isStrict, isWithoutRowID) {
  case (false, false): nil
  case (true, false): "STRICT"
  case (false, true): "WITHOUT ROWID"
  case (true, true): "STRICT, WITHOUT ROWID"
  }
}

extension TableColumn {
  var sql: String {
    [
      name.quotedIdentifier, declaredType, isNotNull ? "NOT NULL" : "",
      defaultSQL.map { "DEFAULT \($0)" } ?? "", isGenerated ? "GENERATED ALWAYS" : "",
    ].filter { !$0.isEmpty }.joined(separator: " ")
  }
}

extension ForeignKey {
  var sql: String {
    var text = "(\(columns.identifierList)) REFERENCES \(referencedTable.quotedIdentifier)"
    if !referencedColumns.isEmpty { text += " (\(referencedColumns.identifierList))" }
    if onDelete != "NO ACTION" { text += " ON DELETE \(onDelete)" }
    if onUpdate != "NO ACTION" { text += " ON UPDATE \(onUpdate)" }
    return text
  }
}

extension DeclaredTable.Reference {
  /// Whether a foreign key does the same. One that names no columns means the primary key.
  func isSame(as key: ForeignKey) -> Bool {
    key.referencedTable.foldedName == table.foldedName
      && (key.referencedColumns.isEmpty
        || key.referencedColumns.map(\.foldedName) == targetColumns.map(\.foldedName))
      && key.onDelete == definition.onDelete.rawValue
      && key.onUpdate == definition.onUpdate.rawValue
  }
}

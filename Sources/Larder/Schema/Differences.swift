import LarderSQLite

extension Table {
  /// In what the table in a database isn't what is declared here; empty for one that
  /// ``create(_:ifNotExists:)`` has made.
  ///
  /// ```swift
  /// for difference in try City.table.differences(db) { print(difference) }
  /// // “city”.“name”, type: declared TEXT, found VARCHAR(80)
  /// ```
  ///
  /// Names and types are compared in any case, expressions without spaces and comments. Not looked
  /// at are CHECK constraints, collations, whether a foreign key is deferred, and indexes and foreign
  /// keys that are there without being declared. Throws where the declaration is wrong.
  public func differences(_ db: Database) throws -> [TableDifference] {
    try core.check()
    let declared = DeclaredTable(core: core, dateFormat: db.dateFormat)
    guard let found = try FoundTable(name, in: db) else {
      return [
        TableDifference(
          kind: .table, table: name, column: nil, declared: try declared.createSQL(), found: nil)
      ]
    }
    var comparison = Comparison(declared: declared, found: found)
    try comparison.run()
    return comparison.differences
  }
}

private struct Comparison {
  let declared: DeclaredTable
  let found: FoundTable
  private(set) var differences: [TableDifference] = []

  init(declared: DeclaredTable, found: FoundTable) {
    self.declared = declared
    self.found = found
  }

  mutating func run() throws {
    for column in declared.core.columns {
      if let other = found.column(column.name) {
        try compare(column, other)
      } else {
        add(.column, column.name, try declared.columnSQL(column), nil)
      }
    }
    let names = Set(declared.core.columns.map(\.name.foldedName))
    for column in found.columns where !names.contains(column.name.foldedName) {
      add(.column, column.name, nil, column.sql)
    }
    compareKeys()
    if declared.optionsText != found.optionsText {
      add(.options, nil, declared.optionsText, found.optionsText)
    }
    try compareIndexes()
    try compareReferences()
  }

  private mutating func add(
    _ kind: TableDifference.Kind, _ column: String?, _ declared: String?, _ found: String?
  ) {
    differences.append(
      TableDifference(
        kind: kind, table: self.declared.name, column: column, declared: declared, found: found))
  }

  // MARK: Columns

  private mutating func compare(_ column: ColumnDefinition, _ other: TableColumn) throws {
    let isRowID = declared.isRowID(column)
    let type = declared.type(of: column)
    let found = other.declaredType.uppercased()
    // The two are the same, but for the row id.
    if type != found, isRowID || type != "INTEGER" || found != "INT" {
      add(.type, column.name, type, other.declaredType)
    }
    if !isRowID, declared.isNotNull(column) != other.isNotNull {
      func text(_ isNotNull: Bool) -> String { isNotNull ? "NOT NULL" : "NULL" }
      add(.nullability, column.name, text(declared.isNotNull(column)), text(other.isNotNull))
    }
    let value = try declared.defaultText(of: column)
    if essence(ofDefault: value) != essence(ofDefault: other.defaultSQL) {
      add(.defaultValue, column.name, value, other.defaultSQL)
    }
    try compareGenerated(column, other)
  }

  /// A default in parentheses comes back without them, and NULL is the same as none.
  private func essence(ofDefault text: String?) -> [String] {
    var essence = SQL(raw: text ?? "NULL").essence
    while essence.first == "(", essence.isParenthesized {
      essence = Array(essence[1..<essence.count - 1])
    }
    return essence
  }

  private mutating func compareGenerated(
    _ column: ColumnDefinition, _ other: TableColumn
  ) throws {
    guard let generated = column.generated else {
      if other.isGenerated { add(.generated, column.name, nil, "GENERATED ALWAYS") }
      return
    }
    let text = try declared.generatedText(of: column)
    let expression = SQL(raw: "AS (\(try declared.text(generated.expression)))").essence
    if !other.isGenerated {
      add(.generated, column.name, text, nil)
    } else if generated.isStored != found.isStored(other) {
      add(.generated, column.name, text, found.isStored(other) ? "STORED" : "VIRTUAL")
    } else if !found.essence.contains(expression) {
      add(.generated, column.name, text, "another expression")
    }
  }

  // MARK: The table

  private mutating func compareKeys() {
    let key = declared.core.primaryKey
    let isSame = key.map(\.name.foldedName) == found.primaryKey.map(\.foldedName)
    let isAutoincrement = key.contains(where: \.isAutoincrement)
    // As a word of its own, it is nothing else: all our names are in quotes.
    let wasAutoincrement = found.essence.contains("autoincrement")
    if isSame && isAutoincrement == wasAutoincrement { return }
    func text(_ columns: [String], _ isAutoincrement: Bool) -> String? {
      columns.isEmpty
        ? nil : "(\(columns.identifierList))" + (isAutoincrement ? " AUTOINCREMENT" : "")
    }
    add(
      .primaryKey, nil, text(key.map(\.name), isAutoincrement),
      text(found.primaryKey, wasAutoincrement))
  }

  private mutating func compareIndexes() throws {
    for columns in declared.uniqueConstraints
    where !hasIndex(on: columns, isUnique: true, where: []) && !isRowID(columns) {
      add(.index, columns.count == 1 ? columns[0] : nil, "UNIQUE (\(columns.identifierList))", nil)
    }
    for index in try declared.indexes() {
      let condition = index.condition.map { SQL(raw: $0).essence } ?? []
      if !hasIndex(on: index.columns, isUnique: index.isUnique, where: condition) {
        add(
          .index, index.columns.count == 1 ? index.columns[0] : nil, declared.createSQL(index), nil)
      }
    }
  }

  /// Whether there is such an index, whatever its name; a unique one serves where none is asked for.
  private func hasIndex(
    on columns: [String], isUnique: Bool, where condition: [String]
  ) -> Bool {
    found.indexes.contains {
      $0.schema.columns.map { $0?.foldedName } == columns.map(\.foldedName)
        && ($0.schema.isUnique || !isUnique) && $0.condition == condition
    }
  }

  /// The row id is unique without an index.
  private func isRowID(_ columns: [String]) -> Bool {
    declared.core.columns.contains { declared.isRowID($0) && [$0.name] == columns }
  }

  private mutating func compareReferences() throws {
    for reference in try declared.references() {
      let sameColumns = found.foreignKeys.filter {
        $0.columns.map(\.foldedName) == reference.columns.map(\.foldedName)
      }
      if sameColumns.contains(where: reference.isSame) { continue }
      let columns = reference.columns
      add(
        .foreignKey, columns.count == 1 ? columns[0] : nil,
        "(\(columns.identifierList)) \(reference.sql)", sameColumns.first?.sql)
    }
  }
}

extension [String] {
  /// Whether the first parenthesis is closed by the last piece.
  fileprivate var isParenthesized: Bool {
    var depth = 0
    for (index, piece) in enumerated() {
      if piece == "(" { depth += 1 }
      if piece == ")" { depth -= 1 }
      if depth == 0 { return index == count - 1 }
    }
    return false
  }
}

import LarderSQLite

/// What a table is to be in a database whose dates have a certain format: the facts that the
/// statements are made of which create it, and that an existing table is compared with.
struct DeclaredTable {
  let core: TableCore
  let dateFormat: DateFormat

  var name: String { core.name }
  var isStrict: Bool { !core.options.contains(.notStrict) }
  var isWithoutRowID: Bool { core.options.contains(.withoutRowID) }

  // MARK: Columns

  /// The type in the declaration; empty for a column that takes all, in a table that isn't STRICT:
  /// ANY would make numbers of text there.
  func type(of column: ColumnDefinition) -> String {
    switch column.type.kind {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .text: "TEXT"
    case .blob: "BLOB"
    case .any: isStrict ? "ANY" : ""
    case .date: type(of: ColumnDefinition(name: column.name, type: dateFormat.columnType))
    }
  }

  /// Whether the column is the row id by another name: an integer that is the whole key;
  /// see [INTEGER PRIMARY KEY](https://www.sqlite.org/lang_createtable.html#rowid).
  func isRowID(_ column: ColumnDefinition) -> Bool {
    column.isPrimaryKey && !isWithoutRowID && type(of: column) == "INTEGER"
      && core.primaryKey.count == 1
  }

  /// Whether NULL is ruled out. In a key too: SQLite would allow it there, and several times over.
  func isNotNull(_ column: ColumnDefinition) -> Bool {
    !isRowID(column) && (column.isPrimaryKey || !column.type.isNullable)
  }

  /// What stands behind DEFAULT.
  func defaultText(of column: ColumnDefinition) throws -> String? {
    if let sql = column.defaultSQL { return "(\(try text(sql)))" }
    return try column.defaultValue?(dateFormat).literal
  }

  /// What stands behind GENERATED ALWAYS.
  func generatedText(of column: ColumnDefinition) throws -> String? {
    try column.generated.map {
      "AS (\(try text($0.expression))) \($0.isStored ? "STORED" : "VIRTUAL")"
    }
  }

  /// A fragment without parameters, which no declaration can have.
  func text(_ sql: SQL) throws -> String { try sql.literalText(dateFormat: dateFormat) }

  // MARK: Indexes

  /// An index that CREATE INDEX makes.
  struct Index {
    let name: String
    let columns: [String]
    let isUnique: Bool
    let condition: String?
  }

  /// Those of columns first. Throws where two have the same name.
  func indexes() throws -> [Index] {
    let ofColumns = core.columns.filter(\.isIndexed).map {
      TableIndexDefinition(name: nil, columns: [$0.name], isUnique: false, condition: nil)
    }
    var names: Set<[UInt8]> = []
    return try (ofColumns + core.indexes).map { index in
      let name = index.name ?? ([name] + index.columns + ["index"]).joined(separator: "_")
      guard names.insert(name.foldedName).inserted else {
        throw problem("two indexes are named “\(name)”")
      }
      return Index(
        name: name, columns: index.columns, isUnique: index.isUnique,
        condition: try index.condition.map(text))
    }
  }

  /// The columns of each UNIQUE constraint.
  var uniqueConstraints: [[String]] {
    core.columns.filter(\.isUnique).map { [$0.name] }
      + core.constraints.compactMap { if case .unique(let columns) = $0 { columns } else { nil } }
  }

  // MARK: Foreign keys

  /// A foreign key, with what it refers to.
  struct Reference {
    let columns: [String]
    let table: String
    let targetColumns: [String]
    let definition: ColumnDefinition.Reference
  }

  /// Those of columns first. Throws where the other table's key has another number of columns.
  func references() throws -> [Reference] {
    let ofColumns = try core.columns.compactMap { column in
      try column.reference.map { try reference([column.name], $0) }
    }
    let ofTable = try core.constraints.compactMap {
      if case .foreignKey(let columns, let definition) = $0 {
        try reference(columns, definition)
      } else {
        nil
      }
    }
    return ofColumns + ofTable
  }

  func reference(
    _ columns: [String], _ definition: ColumnDefinition.Reference
  ) throws -> Reference {
    let target = definition.target()
    guard target.columns.count == columns.count else {
      throw problem(
        """
        \(columns.map { "“\($0)”" }.joined(separator: ", ")) can't refer to “\(target.table)”, whose \
        primary key has \(target.columns.count) columns
        """)
    }
    return Reference(
      columns: columns, table: target.table, targetColumns: target.columns, definition: definition)
  }

  private func problem(_ text: String) -> RecordError {
    .declaration(table: name, problem: text)
  }
}

extension [String] {
  /// Names in double quotes, with commas.
  var identifierList: String { map(\.quotedIdentifier).joined(separator: ", ") }
}

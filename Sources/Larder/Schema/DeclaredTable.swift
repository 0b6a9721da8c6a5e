import LarderSQLite

/// What a table is declared to be, on its way to a ``TableSchema``: the statements that create it
/// depend on the format of dates.
struct DeclaredTable {
  let name: String
  let columns: [ColumnDefinition]
  let constraints: [TableConstraintDefinition]
  let indexes: [TableIndexDefinition]
  let options: TableOptions
  let dateFormat: DateFormat

  var isStrict: Bool { !options.contains(.notStrict) }
  var isWithoutRowID: Bool { options.contains(.withoutRowID) }
  var primaryKey: [ColumnDefinition] { columns.filter(\.isPrimaryKey) }

  /// The table with its statements. Throws where the declaration is wrong.
  func schema() throws -> TableSchema {
    TableSchema(
      name: name, columns: try columns.map(schema), primaryKey: primaryKey.map(\.name),
      isAutoincrement: columns.contains(where: \.isAutoincrement),
      checks: try checks(), foreignKeys: try foreignKeys(),
      indexes: try indexSchemas(), isStrict: isStrict, isWithoutRowID: isWithoutRowID,
      sql: try createSQL(), rowIDColumn: columns.first(where: isRowID)?.name,
      primaryKeyTerms: primaryKey.map { KeyTerm($0.name) },
      uniqueTerms: uniqueConstraints.map { $0.map { KeyTerm($0) } }, conflictClauses: [])
  }

  // MARK: Columns

  private func schema(_ column: ColumnDefinition) throws -> ColumnSchema {
    ColumnSchema(
      name: column.name, type: type(of: column), isNotNull: isNotNull(column),
      defaultSQL: try defaultText(of: column), collation: column.collation,
      generatedSQL: try column.generated.map { try text($0.expression) },
      isStored: column.generated?.isStored ?? false, sql: try columnSQL(column))
  }

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

  /// Whether the column is the row id by another name; see ``TableSchema/rowIDColumn``.
  private func isRowID(_ column: ColumnDefinition) -> Bool {
    column.isPrimaryKey && !isWithoutRowID && type(of: column) == "INTEGER"
      && primaryKey.count == 1
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

  /// A fragment without parameters, which no declaration can have.
  func text(_ sql: SQL) throws -> String { try sql.literalText(dateFormat: dateFormat) }

  // MARK: Constraints

  private var uniqueConstraints: [[String]] {
    columns.filter(\.isUnique).map { [$0.name] }
      + constraints.compactMap { if case .unique(let columns) = $0 { columns } else { nil } }
  }

  private func checks() throws -> [String] {
    try columns.flatMap { try $0.checks.map(text) }
      + constraints.compactMap {
        if case .check(let condition) = $0 { try text(condition) } else { nil }
      }
  }

  private func foreignKeys() throws -> [ForeignKeySchema] {
    let ofColumns = try columns.compactMap { column in
      try column.reference.map { try foreignKey([column.name], $0) }
    }
    let ofTable = try constraints.compactMap {
      if case .foreignKey(let columns, let definition) = $0 {
        try foreignKey(columns, definition)
      } else {
        nil
      }
    }
    return ofColumns + ofTable
  }

  /// Throws where the other table's key has another number of columns.
  func foreignKey(
    _ columns: [String], _ definition: ColumnDefinition.Reference
  ) throws -> ForeignKeySchema {
    let target = definition.target()
    guard target.columns.count == columns.count else {
      throw problem(
        """
        \(columns.map { "“\($0)”" }.joined(separator: ", ")) can't refer to “\(target.table)”, whose \
        primary key has \(target.columns.count) columns
        """)
    }
    return ForeignKeySchema(
      columns: columns, referencedTable: target.table, referencedColumns: target.columns,
      onDelete: definition.onDelete, onUpdate: definition.onUpdate,
      isDeferred: definition.isDeferred)
  }

  // MARK: Indexes

  /// Those of columns first. Throws where two have the same name.
  private func indexSchemas() throws -> [IndexSchema] {
    let ofColumns = columns.filter(\.isIndexed).map {
      TableIndexDefinition(name: nil, columns: [$0.name], isUnique: false, condition: nil)
    }
    var names: Set<[UInt8]> = []
    return try (ofColumns + indexes).map { index in
      let name = index.name ?? ([name] + index.columns + ["index"]).joined(separator: "_")
      guard names.insert(name.foldedName).inserted else {
        throw problem("two indexes are named “\(name)”")
      }
      let condition = try index.condition.map(text)
      return IndexSchema(
        name: name, terms: index.columns.map(\.quotedIdentifier), isUnique: index.isUnique,
        condition: condition, sql: createSQL(index, name: name, condition: condition))
    }
  }

  private func problem(_ text: String) -> RecordError {
    .declaration(table: name, problem: text)
  }
}

extension Table {
  /// The table as a value. Throws where the declaration is wrong, or a default can't be stored.
  ///
  /// - Parameter dateFormat: the connection's ``LarderSQLite/Configuration/dateFormat``.
  public func schema(dateFormat: DateFormat = .secondsSince1970) throws -> TableSchema {
    try core.check()
    return try DeclaredTable(
      name: core.name, columns: core.columns, constraints: core.constraints, indexes: core.indexes,
      options: core.options, dateFormat: dateFormat
    ).schema()
  }
}

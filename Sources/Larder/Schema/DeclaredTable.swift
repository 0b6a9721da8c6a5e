import LarderSQLite

/// What a table is declared to be, on its way to a ``LarderSQLite/TableSchema``: the statements that
/// create it depend on the format of dates.
struct DeclaredTable {
  let name: String
  let columns: [ColumnDefinition]
  let constraints: [TableConstraintDefinition]
  let options: TableOptions
  let dateFormat: DateFormat

  private var isStrict: Bool { !options.contains(.notStrict) }
  private var isWithoutRowID: Bool { options.contains(.withoutRowID) }
  private var primaryKey: [String] { columns.filter(\.isPrimaryKey).map(\.name) }

  /// The table with its statements. Throws where the declaration is wrong.
  func schema() throws -> TableSchema {
    let columns = try columns.map(schema)
    let constraints = try constraints.compactMap(text)
    let key = primaryKey
    let keyText = key.count > 1 ? ["PRIMARY KEY (\(key.identifierList))"] : []
    return TableSchema(
      name: name, columns: columns,
      isAutoincrement: self.columns.contains(where: \.isAutoincrement), checks: try checks(),
      foreignKeys: try foreignKeys(), indexes: try indexes(), isStrict: isStrict,
      isWithoutRowID: isWithoutRowID,
      sql: DDL.createTable(
        name, columns.map(\.sql) + keyText + constraints,
        options: DDL.options(isStrict: isStrict, isWithoutRowID: isWithoutRowID)),
      rowIDColumn: self.columns.first(where: isRowID)?.name,
      primaryKeyTerms: key.map(\.quotedIdentifier),
      uniqueIndexes: uniqueConstraints.map { IndexSchema(constraint: .unique, columns: $0) })
  }

  // MARK: Columns

  private func schema(_ definition: ColumnDefinition) throws -> ColumnSchema {
    var column = ColumnSchema(name: definition.name)
    column.type = type(of: definition)
    // In a key too: SQLite would allow NULL there, and several times over.
    column.isNotNull =
      !isRowID(definition) && (definition.isPrimaryKey || !definition.type.isNullable)
    column.defaultSQL =
      try definition.defaultSQL.map { "(\(try text($0)))" }
      ?? definition.defaultValue?(dateFormat).literal
    column.primaryKeyPosition = primaryKey.firstIndex(of: definition.name).map { $0 + 1 } ?? 0
    column.collation = definition.collation
    column.generatedSQL = try definition.generated.map { try text($0.expression) }
    column.isStored = definition.generated?.isStored ?? false
    column.sql = DDL.column(
      column, isKey: primaryKey == [definition.name], isAutoincrement: definition.isAutoincrement,
      isUnique: definition.isUnique, checks: try definition.checks.map(text),
      reference: try definition.foreignKey.map(foreignKey))
    return column
  }

  private func type(of column: ColumnDefinition) -> String {
    DDL.typeName(of: column.type, isStrict: isStrict, dateFormat)
  }

  /// Whether the column is the row id by another name; see ``LarderSQLite/TableSchema/rowIDColumn``.
  private func isRowID(_ column: ColumnDefinition) -> Bool {
    column.isPrimaryKey && !isWithoutRowID && type(of: column) == "INTEGER"
      && primaryKey.count == 1
  }

  /// A fragment without parameters, which no declaration can have.
  private func text(_ sql: SQL) throws -> String { try sql.literalText(dateFormat: dateFormat) }

  // MARK: Constraints

  /// What stands in CREATE TABLE; nil for an index.
  private func text(_ constraint: TableConstraintDefinition) throws -> String? {
    switch constraint {
    case .unique(let columns): IndexSchema(constraint: .unique, columns: columns).sql
    case .check(let condition): DDL.check(try text(condition))
    case .foreignKey(let key): "FOREIGN KEY \(try foreignKey(key).sql)"
    case .index: nil
    }
  }

  private var uniqueConstraints: [[String]] {
    columns.filter(\.isUnique).map { [$0.name] }
      + constraints.compactMap { if case .unique(let columns) = $0 { columns } else { nil } }
  }

  private func checks() throws -> [String] {
    let ofTable = constraints.compactMap { if case .check(let sql) = $0 { sql } else { nil } }
    return try (columns.flatMap(\.checks) + ofTable).map(text)
  }

  private func foreignKeys() throws -> [ForeignKeySchema] {
    let ofTable = constraints.compactMap { if case .foreignKey(let key) = $0 { key } else { nil } }
    return try (columns.compactMap(\.foreignKey) + ofTable).map(foreignKey)
  }

  /// Throws where the other table's key has another number of columns.
  private func foreignKey(_ key: () -> ForeignKeySchema) throws -> ForeignKeySchema {
    let key = key()
    guard key.referencedColumns.count == key.columns.count else {
      throw problem(
        """
        \(key.columns.map { "“\($0)”" }.joined(separator: ", ")) can't refer to \
        “\(key.referencedTable)”, whose primary key has \(key.referencedColumns.count) columns
        """)
    }
    return key
  }

  /// Those of columns first. Throws where two have the same name.
  private func indexes() throws -> [IndexSchema] {
    let ofColumns = columns.filter(\.isIndexed).map {
      TableConstraintDefinition.index([$0.name], isUnique: false, nil, name: nil)
    }
    var names: Set<[UInt8]> = []
    return try (ofColumns + constraints).compactMap { constraint in
      guard case .index(let columns, let isUnique, let condition, let name) = constraint else {
        return nil
      }
      let indexName = name ?? ([self.name] + columns + ["index"]).joined(separator: "_")
      guard names.insert(indexName.foldedName).inserted else {
        throw problem("two indexes are named “\(indexName)”")
      }
      let terms = columns.map(\.quotedIdentifier)
      let text = try condition.map(text)
      return IndexSchema(
        name: indexName, columns: columns, terms: terms, isUnique: isUnique, condition: text,
        sql: DDL.createIndex(indexName, on: self.name, terms, isUnique: isUnique, where: text))
    }
  }

  private func problem(_ text: String) -> RecordError {
    .declaration(table: name, problem: text)
  }
}

extension Table {
  /// The table as a value. Throws ``RecordError/declaration(table:problem:)`` where the declaration is
  /// wrong, and ``LarderSQLite/ConversionError`` where a default can't be stored.
  ///
  /// - Parameter dateFormat: the connection's ``LarderSQLite/Configuration/dateFormat``.
  public func schema(dateFormat: DateFormat = .secondsSince1970) throws -> TableSchema {
    try core.check()
    return try DeclaredTable(
      name: core.name, columns: core.columns, constraints: core.constraints,
      options: core.options, dateFormat: dateFormat
    ).schema()
  }
}

extension TableSchema {
  /// A table that has no record.
  ///
  /// ```swift
  /// let log = try TableSchema(
  ///   "log",
  ///   [
  ///     .column("id", .integer, .primaryKey),
  ///     .column("at", .integer, .indexed),
  ///     .column("country", .text.optional, .references("country", column: "code")),
  ///     .column("text", .text, .default("")),
  ///   ], constraints: [.unique("at", "country")])
  /// try log.create(db)
  /// ```
  ///
  /// As with records, columns are NOT NULL unless their type is
  /// ``LarderSQLite/ColumnType/optional``, and the table is STRICT unless its options say
  /// otherwise. Throws ``RecordError/declaration(table:problem:)`` where the declaration doesn't
  /// hold together, and ``LarderSQLite/ConversionError`` where a default can't be stored.
  ///
  /// - `constraints`: those that aren't a single column's.
  /// - `indexes`: those that aren't a single column's.
  /// - `options`: whether it has no row id, or no primary key, or isn't STRICT.
  public init(
    _ name: String, _ columns: [ColumnDefinition], constraints: [TableConstraint<Never>] = [],
    indexes: [TableConstraint<Never>] = [], options: TableOptions = []
  ) throws {
    if let problem = TableBuilder.problem(table: name, columns, options) {
      throw RecordError.declaration(table: name, problem: problem)
    }
    // Its defaults are values of SQLite's, which no format of dates changes.
    self = try DeclaredTable(
      name: name, columns: columns, constraints: (constraints + indexes).map(\.definition),
      options: options, dateFormat: .secondsSince1970
    ).schema()
  }
}

extension ColumnDefinition {
  /// A column of a table that has no record; see
  /// ``LarderSQLite/TableSchema/init(_:_:constraints:indexes:options:)``.
  public static func column(
    _ name: String, _ type: ColumnType, _ options: ColumnOption<DatabaseValue>...
  ) -> ColumnDefinition {
    var definition = ColumnDefinition(name: name, type: type)
    for option in options {
      option.apply(&definition)
      if let value = option.defaultValue { definition.defaultValue = { _ in value } }
    }
    return definition
  }
}

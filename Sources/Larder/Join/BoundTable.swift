import LarderSQLite

// Tables made of the program's own rows, bound to one parameter however many rows there are.

extension CommonTable {
  /// A table of tuples, bound to one parameter: the statement's text is the same for any number of rows.
  ///
  /// ```swift
  /// let wanted = CommonTable(rows: [("Oslo", 700_000), ("Bergen", 290_000)])
  /// try City.all.join(common: wanted) { $0.name == $1.columns.0 && $0.population > $1.columns.1 }
  ///   .select { city, _ in city.name }.fetchAll(db)
  /// // … FROM "city" JOIN (SELECT c1 AS "c1", c2 AS "c2" FROM larder_table(?)) AS "rows" ON …
  /// ```
  ///
  /// Single values need their type spelled out: `CommonTable<Int>(rows: ids)`. Dates are bound in the
  /// connection's format. Rows can have up to 64 columns. On engines other than SQLite, each value is a
  /// parameter of its own.
  public init<Rows: Sequence>(_ name: String = "rows", rows: Rows)
  where Rows.Element == (repeat each Value) {
    let rows = Array(rows)
    var codings: [ExpressionCoding?] = []
    var types: [ColumnType] = []
    for type in repeat (each Value).self {
      codings.append(.own(of: type))
      types.append(type.columnType)
    }
    let columns = types
    let values: @Sendable () -> [[any DatabaseValueConvertible]] = {
      rows.map { row in
        var values: [any DatabaseValueConvertible] = []
        for value in repeat each row { values.append(value) }
        return values
      }
    }
    let source = SQLFragment.boundRows(
      BoundRows { TableRows(tuples: rows) }, names: types.indices.map { "c\($0 + 1)" }
    ) { .rows(values(), columns) }
    self.init(
      definition: QueryTableDefinition(name: name, source: source, codings: codings))
  }
}

/// The program's own records as a table for queries, bound to one parameter however many they are.
///
/// ```swift
/// let measured: [City] = …
/// try City.all.join(common: BoundTable(measured)) { $0.name == $1.name && $0.population != $1.population }
///   .fetchAll(db)                                                  // pairs of what is stored and what was measured
/// // … FROM "city" JOIN (SELECT c1 AS "id", c2 AS "name", … FROM larder_table(?)) AS "city_2" ON …
/// ```
///
/// Its columns are those of the record's table, stored in the same form. It is joined like a
/// ``CommonTable``. Only SQLite has such tables: other engines throw `UnsupportedByEngine`.
public struct BoundTable<Row: Record>: QueryTable {
  /// The table's name and definition.
  @_documentation(visibility: internal)
  public let definition: QueryTableDefinition

  /// The columns of the record's table.
  @_documentation(visibility: internal)
  public typealias QueryFields = RecordFields<Row>
  /// A record.
  @_documentation(visibility: internal)
  public typealias QueryRow = Row
  /// A record, or none.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Row?

  /// A table with a row for each of the records.
  public init(_ records: some Sequence<Row>) {
    let core = Row.table.core
    let records = Array(records)
    let rows = BoundRows {
      try core.check()
      return TableRows(records, core.layout.properties.map(TableColumn.init))
    }
    let source = SQLFragment.boundRows(rows, names: core.columns.map(\.name)) { nil }
    definition = QueryTableDefinition(name: core.name, source: source, codings: [])
  }

  /// A query of all records of the table.
  public var all: Query<BoundTable> {
    let taken = QueryScope.isInside ? QueryScope.names : []
    let name = QueryAlias(
      QueryAlias.newName(for: definition.name, besides: taken), of: definition.name)
    return Query(Select(QueryTables(definition.named(name.name), [name])))
  }

  /// The columns as expressions.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> RecordFields<Row> {
    Row.queryTables(&names)
  }

  /// Reads records.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Row {
    Row.queryReader(&columns)
  }
}

extension TableColumn {
  /// A column that binds a record's property.
  fileprivate init(_ property: PropertyAccess) {
    let plain: StorageClass? =
      switch property.plain {
      case .integer: .integer
      case .real: .real
      case .text: .text
      case nil: nil
      }
    self.init(at: property.offset, plain: plain, bind: property.bind)
  }
}

extension SQLFragment {
  /// Bound rows as a table with these column names. `otherwise` writes them for engines that can't bind
  /// rows.
  fileprivate static func boundRows(
    _ rows: BoundRows, names: [String], otherwise: @escaping @Sendable () -> SQLFragment?
  ) -> SQLFragment {
    let rows = rows.checked(columnCount: names.count, names: names)
    let table: SQLFragment = """
      \(text: BoundRows.text(columnCount: names.count, names: names))\(SQLFragment(value: rows))))
      """
    return SQLFragment(.form(.boundRows(otherwise), [table], table))
  }

  /// Rows in a form that every engine takes: VALUES with a parameter for each value.
  fileprivate static func rows(
    _ rows: [[any DatabaseValueConvertible]], _ types: [ColumnType]
  ) -> SQLFragment {
    let columns = types.indices.map { "column\($0 + 1) AS \("c\($0 + 1)".quotedIdentifier)" }
      .joined(separator: ", ")
    guard !rows.isEmpty else {
      let nulls = types.enumerated().map { index, type -> SQLFragment in
        let null = SQLFragment(.cast("NULL", type))
        return "\(null) AS \(name: "c\(index + 1)")"
      }
      return "(SELECT \(.list(nulls)) WHERE 1 = 0)"
    }
    let lists = rows.map { row in
      SQLFragment.list(row.map { SQLFragment(value: $0) }).parenthesized
    }
    return "(SELECT \(text: columns) FROM (VALUES \(.list(lists))) AS larder_table)"
  }
}

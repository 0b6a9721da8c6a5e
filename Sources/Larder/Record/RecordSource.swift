// Records as sources of queries.

import LarderSQLite

extension Record {
  /// The table's part that doesn't depend on the type, also of a type that is known as `any Record.Type`.
  static var core: TableCore { table.core }

  static var tableDefinition: QueryTableDefinition {
    QueryTableDefinition(name: table.name, source: nil, codings: [], record: table.core)
  }

  /// The table's columns.
  @_documentation(visibility: internal)
  @inlinable
  public static func queryTables(_ names: inout QueryNames) -> RecordFields<Self> {
    RecordFields(names.next())
  }

  /// Reads records.
  @_documentation(visibility: internal)
  @inlinable
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Self {
    let table = table
    let positions = columns.add(table.core)
    // A single closure, which the compiler inlines into the loop that calls it.
    return { cursor in
      let record = try table.record(cursor, positions.first)
      if table.core.isInState(.uncheckedInitializer) { try table.checkInitializer(record) }
      return record
    }
  }
}

extension Optional: QuerySource where Wrapped: Record {
  /// The source itself, since its rows may be missing already.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Self

  /// The table's columns, which may be NULL.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> OptionalFields<Wrapped> {
    OptionalFields(names.next())
  }

  /// Reads records, or nil if all columns of their key are NULL.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Wrapped? {
    let table = Wrapped.table
    columns.keys?.isMissing = true
    let positions = columns.add(table.core)
    let key = table.core.presenceColumns
    return { cursor in
      let isMissing = key.allSatisfy {
        ColumnReader(statement: cursor.handle, index: positions.first[$0], format: cursor.format)
          .isNull
      }
      if isMissing { return nil }
      let record = try table.record(cursor, positions.first)
      if table.core.isInState(.uncheckedInitializer) { try table.checkInitializer(record) }
      return record
    }
  }
}

extension TableCore {
  /// The columns that are all NULL where an outer join has no row: the key's, or all of them.
  var presenceColumns: [Int] { sql.key.isEmpty ? Array(columns.indices) : sql.key }

  /// This table as a query's only one, under another name in the closure of a query that uses its own.
  var queryTables: QueryTables { QueryScope.isInside ? tablesInScope : tables }

  private var tablesInScope: QueryTables {
    let name = QueryAlias.newName(for: name, besides: QueryScope.names)
    if name == self.name { return tables }
    let alias = QueryAlias(name, of: self.name)
    return QueryTables(reference(as: name), [alias])
  }
}

// Records as what queries read from.

import LarderSQLite

extension Record {
  /// The table as it is joined.
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
    // One closure, which the compiler makes a part of the loop that calls it.
    return { cursor in
      let record = try table.record(cursor, positions.first)
      if table.core.isInState(.unproven) { try table.prove(record) }
      return record
    }
  }
}

extension Optional: QuerySource where Wrapped: Record {
  /// What may be missing may be so twice.
  @_documentation(visibility: internal)
  public typealias QueryNullable = Self

  /// The table's columns, which may be NULL.
  @_documentation(visibility: internal)
  public static func queryTables(_ names: inout QueryNames) -> OptionalFields<Wrapped> {
    OptionalFields(names.next())
  }

  /// Reads records where there are any: where their key isn't NULL.
  @_documentation(visibility: internal)
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Wrapped? {
    let table = Wrapped.table
    let positions = columns.add(table.core)
    let key = table.core.sql.key.isEmpty ? Array(table.core.columns.indices) : table.core.sql.key
    return { cursor in
      let isMissing = key.allSatisfy {
        ColumnReader(
          statement: cursor.handle, index: positions.first[$0], format: cursor.format
        ).isNull
      }
      if isMissing { return nil }
      let record = try table.record(cursor, positions.first)
      if table.core.isInState(.unproven) { try table.prove(record) }
      return record
    }
  }
}

extension TableCore {
  /// The table alone: under its own name or, in a closure of a query that has a table of that name,
  /// another.
  var queryTables: QueryTables { QueryScope.isInside ? tablesInScope : tables }

  private var tablesInScope: QueryTables {
    let name = QueryAlias.newName(for: name, besides: QueryScope.names)
    if name == self.name { return tables }
    let alias = QueryAlias(name)
    return QueryTables(reference(as: name), [alias])
  }
}

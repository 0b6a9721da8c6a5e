// Records as what queries read from.

import LarderSQLite

extension Record {
  /// The table as it is joined.
  static var tableDefinition: QueryTableDefinition {
    QueryTableDefinition(name: table.name, source: nil, codings: [])
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
    if table.core.isInState(.unproven) {
      let table = table.looking
      return { try table.record($0, positions.first) }
    }
    return { try table.record($0, positions.first) }
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
    let table = Wrapped.table.core.isInState(.unproven) ? Wrapped.table.looking : Wrapped.table
    let positions = columns.add(table.core)
    let key = table.core.sql.key.isEmpty ? Array(table.core.columns.indices) : table.core.sql.key
    return { cursor in
      let isMissing = key.allSatisfy {
        ColumnReader(
          statement: cursor.handle, index: positions.first[$0], format: cursor.format
        ).isNull
      }
      return isMissing ? nil : try table.record(cursor, positions.first)
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
    return QueryTables(alias.definition(of: self.name), [alias])
  }
}

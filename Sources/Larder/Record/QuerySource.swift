import LarderSQLite

/// What a query reads from: a record's table, an Optional record's (joined where there is a row), or
/// a join of several. Records conform by being records; the requirements are for queries only.
public protocol QuerySource: Sendable {
  /// What a query's closures get: the columns as expressions.
  associatedtype QueryFields
  /// What a row of the query is.
  associatedtype QueryRow

  /// The tables, each with the name that it has in the query.
  static func queryTables(_ names: inout QueryNames) -> QueryFields
  /// What makes a row of the columns of all tables, one after the other.
  static func queryReader(_ columns: inout QueryColumns) -> (QueryCursor) throws -> QueryRow
}

/// The names of a query's tables, in order.
public struct QueryNames {
  @usableFromInline let tables: QueryTables
  @usableFromInline var index = 0

  @inlinable
  init(_ tables: QueryTables) { self.tables = tables }

  /// The name of the next table.
  @inlinable
  mutating func next() -> QueryAlias {
    defer { index += 1 }
    return tables.alias(at: index)
  }
}

/// The columns that are selected, as the tables take theirs.
public struct QueryColumns {
  @usableFromInline let tables: QueryTables
  @usableFromInline var tableIndex = 0
  /// The columns of all tables so far.
  @inlinable var list: SQLFragment { columns ?? SQLFragment.empty }
  @usableFromInline var columns: SQLFragment?
  @usableFromInline var count = 0

  @inlinable
  init(_ tables: QueryTables) {
    self.tables = tables
  }

  /// Adds the columns of the next table, and returns where they are in the row.
  @inlinable
  mutating func add(_ core: TableCore) -> Positions {
    guard count == 0, tables.alias(at: tableIndex) === core.alias else {
      return add(columnsOf: core)
    }
    tableIndex += 1
    count = core.identity.count
    columns = core.qualifiedColumns
    return core.identity
  }

  @usableFromInline
  mutating func add(columnsOf core: TableCore) -> Positions { add(core.columns.map(\.name)) }

  /// How the next table's columns are stored, where it is no record's.
  var codings: [ExpressionCoding?] { tables.alias(at: tableIndex).codings }

  /// Adds the next table's columns of these names.
  mutating func add(_ columns: [String]) -> Positions {
    let prefix = tables.alias(at: tableIndex).prefix
    let start = Int32(truncatingIfNeeded: count)
    tableIndex += 1
    let names = columns.map { prefix + $0.quotedIdentifier }.joined(separator: ", ")
    if !names.isEmpty { self.columns = SQLFragment(text: names).added(to: self.columns) }
    count += columns.count
    return Positions(Array(start..<Int32(truncatingIfNeeded: count)))
  }
}

/// The row that a query's statement stands on.
public struct QueryCursor {
  @usableFromInline let statement: PreparedStatement

  @usableFromInline
  init(_ statement: PreparedStatement) { self.statement = statement }
}

extension Record {
  /// The table's columns.
  @inlinable
  public static func queryTables(_ names: inout QueryNames) -> RecordFields<Self> {
    RecordFields(names.next())
  }

  /// Reads records.
  @inlinable
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Self {
    let table = table
    let positions = columns.add(table.core)
    return { try table.record($0.statement, positions.first) }
  }
}

extension Optional: QuerySource where Wrapped: Record {
  /// The table's columns, which may be NULL.
  public static func queryTables(_ names: inout QueryNames) -> OptionalFields<Wrapped> {
    OptionalFields(names.next())
  }

  /// Reads records where there are any: where their key isn't NULL.
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> Wrapped? {
    let table = Wrapped.table
    let positions = columns.add(table.core)
    let key = table.core.sql.key.isEmpty ? Array(table.core.columns.indices) : table.core.sql.key
    return { cursor in
      let arena = cursor.statement.arena
      let isMissing = key.allSatisfy {
        ColumnReader(
          statement: arena.statement, index: positions.first[$0], format: arena.format
        ).isNull
      }
      return isMissing ? nil : try table.record(cursor.statement, positions.first)
    }
  }
}

/// A join of two tables, of which the second may be Optional.
public enum Join2<A: QuerySource, B: QuerySource>: QuerySource {
  /// The columns of both.
  public static func queryTables(_ names: inout QueryNames) -> (A.QueryFields, B.QueryFields) {
    (A.queryTables(&names), B.queryTables(&names))
  }

  /// Reads both.
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow) {
    let (a, b) = (A.queryReader(&columns), B.queryReader(&columns))
    return { (try a($0), try b($0)) }
  }
}

/// A join of three tables.
public enum Join3<A: QuerySource, B: QuerySource, C: QuerySource>: QuerySource {
  /// The columns of all.
  public static func queryTables(
    _ names: inout QueryNames
  ) -> (A.QueryFields, B.QueryFields, C.QueryFields) {
    (A.queryTables(&names), B.queryTables(&names), C.queryTables(&names))
  }

  /// Reads all.
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow, C.QueryRow) {
    let (a, b, c) = (A.queryReader(&columns), B.queryReader(&columns), C.queryReader(&columns))
    return { (try a($0), try b($0), try c($0)) }
  }
}

/// A join of four tables.
public enum Join4<
  A: QuerySource, B: QuerySource, C: QuerySource, D: QuerySource
>: QuerySource {
  /// The columns of all.
  public static func queryTables(
    _ names: inout QueryNames
  ) -> (A.QueryFields, B.QueryFields, C.QueryFields, D.QueryFields) {
    (
      A.queryTables(&names), B.queryTables(&names), C.queryTables(&names), D.queryTables(&names)
    )
  }

  /// Reads all.
  public static func queryReader(
    _ columns: inout QueryColumns
  ) -> (QueryCursor) throws -> (A.QueryRow, B.QueryRow, C.QueryRow, D.QueryRow) {
    let (a, b) = (A.queryReader(&columns), B.queryReader(&columns))
    let (c, d) = (C.queryReader(&columns), D.queryReader(&columns))
    return { (try a($0), try b($0), try c($0), try d($0)) }
  }
}

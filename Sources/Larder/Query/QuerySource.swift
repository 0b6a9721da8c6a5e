import LarderSQLite

/// What a query reads from: a record's table, an Optional record's (joined where there is a row), or
/// a join of several. Records conform by being records; the requirements are for queries only.
public protocol QuerySource {
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
  private var rest: ArraySlice<String>

  init(_ names: [String]) { rest = names[...] }

  mutating func next() -> String { rest.popFirst() ?? "" }
}

/// The columns that are selected, as the tables take theirs.
public struct QueryColumns {
  private let names: [String]
  private var tableIndex = 0
  private(set) var list = ""
  private var count = 0

  init(_ names: [String]) { self.names = names }

  /// Adds the columns of the next table, and returns where they are in the row.
  mutating func add(_ core: TableCore) -> Positions { add(core.columns.map(\.name)) }

  /// Adds the next table's columns of these names.
  mutating func add(_ columns: [String]) -> Positions {
    let prefix = names[tableIndex].quotedIdentifier + "."
    tableIndex += 1
    for column in columns {
      if count > 0 { list += ", " }
      list += prefix + column.quotedIdentifier
      count += 1
    }
    let end = Int32(truncatingIfNeeded: count)
    return Positions(Array(end - Int32(truncatingIfNeeded: columns.count)..<end))
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
  public static func queryTables(_ names: inout QueryNames) -> RecordFields<Self> {
    RecordFields(names.next())
  }

  /// Reads records.
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
          statement: arena.statement, index: positions.first[$0], dateFormat: arena.dateFormat
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

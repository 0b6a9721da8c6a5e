import CSQLite

// The origins of a result's columns.

/// The table's column that a column of a result shows unchanged. See
/// [Source of data in a query result](https://www.sqlite.org/c3ref/column_database_name.html).
public struct ColumnOrigin: Hashable, Sendable {
  /// The database: `main`, `temp`, or the name that it is attached by.
  public let database: String
  /// The table.
  public let table: String
  /// The column.
  public let column: String
}

extension Statement {
  /// The origin of each column, looking through views and subqueries; nil for computed columns, and for those
  /// of RETURNING.
  ///
  /// Throws `ResultCode.misuse` if the statement is closed, and ``UnsupportedByEngine`` if the engine isn't
  /// SQLite or SQLite was built without `SQLITE_ENABLE_COLUMN_METADATA`.
  public var columnOrigins: [ColumnOrigin?] {
    get throws {
      try check()
      return try current.columnOrigins()
    }
  }
}

extension ResultSet {
  /// The origin of each column; see ``Statement/columnOrigins``. Throws as that does, and `ResultCode.misuse`
  /// once the result set has ended. Before the first row it makes the query take its first step, as
  /// ``columnNames`` does.
  public var columnOrigins: [ColumnOrigin?] {
    get throws {
      try statement.connection.check()
      guard let names = currentNames else { throw endedError() }
      // Columns of RETURNING have no origin.
      if hasEnded { return names.names.map { _ in nil } }
      return try statement.columnOrigins()
    }
  }
}

extension PreparedStatement {
  fileprivate func columnOrigins() throws -> [ColumnOrigin?] {
    _ = try connection.sqlite("columnOrigins")
    guard let functions = OriginFunctions.found else {
      throw OptionalFunctions.missing("column metadata (SQLITE_ENABLE_COLUMN_METADATA)")
    }
    return (0..<columnCount).map { index in
      functions.origin(of: handle, Int32(truncatingIfNeeded: index))
    }
  }
}

/// The functions that SQLite has only if it was built with column metadata.
private struct OriginFunctions {
  typealias Name = @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?

  let database: Name
  let table: Name
  let column: Name

  static let found = OriginFunctions(OptionalFunctions())

  init?(_ functions: OptionalFunctions) {
    guard let database = functions.function("_column_database_name", as: Name.self),
      let table = functions.function("_column_table_name", as: Name.self),
      let column = functions.function("_column_origin_name", as: Name.self)
    else { return nil }
    self.database = database
    self.table = table
    self.column = column
  }

  func origin(of statement: OpaquePointer?, _ index: Int32) -> ColumnOrigin? {
    guard let database = database(statement, index), let table = table(statement, index),
      let column = column(statement, index)
    else { return nil }
    return ColumnOrigin(
      database: String(cString: database), table: String(cString: table),
      column: String(cString: column))
  }
}

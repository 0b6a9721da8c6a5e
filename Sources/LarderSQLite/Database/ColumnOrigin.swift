import CSQLite

// The origins of a result's columns.

/// The table's column that a column of a result shows unchanged: the database (`main`, `temp`, or the name
/// that it is attached by), the table and the column. See
/// [Source of data in a query result](https://www.sqlite.org/c3ref/column_database_name.html).
package typealias ColumnOrigin = (database: String, table: String, column: String)

extension Statement {
  /// The origin of each column, looking through views and subqueries; nil for computed columns, and for those
  /// of RETURNING.
  ///
  /// Throws `ResultCode.misuse` if the statement is closed, and ``UnsupportedByEngine`` if the engine isn't
  /// SQLite or SQLite was built without `SQLITE_ENABLE_COLUMN_METADATA`.
  public var columnOrigins: [(database: String, table: String, column: String)?] {
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
  public var columnOrigins: [(database: String, table: String, column: String)?] {
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
      let names = functions.compactMap { function in
        function(handle, Int32(truncatingIfNeeded: index)).map { String(cString: $0) }
      }
      guard names.count == 3 else { return nil }
      return (database: names[0], table: names[1], column: names[2])
    }
  }
}

/// The functions that SQLite has only if it was built with column metadata.
private enum OriginFunctions {
  typealias Name = @convention(c) (OpaquePointer?, Int32) -> UnsafePointer<CChar>?

  static let found: [Name]? = {
    let functions = ["database", "table", "origin"].compactMap {
      OptionalFunctions().function("_column_\($0)_name", as: Name.self)
    }
    return functions.count == 3 ? functions : nil
  }()
}

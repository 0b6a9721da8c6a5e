// Queries by SQL: executeQuery, value, prepare, validate.

extension Database {
  /// Prepares a query and returns its result set, which stands before the first row.
  ///
  /// ```swift
  /// let cities = try db.executeQuery("SELECT name FROM city WHERE population > ?", 1_000_000)
  /// ```
  ///
  /// A query runs step by step, as its rows are read. A statement that writes, such as an INSERT with or
  /// without RETURNING, runs to its end at once, and its rows wait in the result set. Throws for a
  /// wrong number of arguments, and for text with more than one statement or none.
  public func executeQuery(
    _ sql: SQL, _ arguments: (any DatabaseValueConvertible)?...
  ) throws -> ResultSet {
    try executeQuery(sql, arguments: Arguments(arguments))
  }

  /// Prepares a query with arguments from an array or, by name, from a dictionary. Throws as
  /// ``executeQuery(_:_:)`` does.
  public func executeQuery(_ sql: SQL, arguments: Arguments) throws -> ResultSet {
    try ResultSet(self, take(sql, arguments))
  }

  /// The first column of the first row, or nil if there is no row.
  ///
  /// ```swift
  /// let count = try db.value("SELECT count(*) FROM city", as: Int.self)
  /// ```
  ///
  /// NULL throws ``ConversionError`` unless the type is an Optional: with `as: Int?.self` it is `.some(nil)`,
  /// and "no row" stays nil. Throws as ``executeQuery(_:_:)`` does, too, and what SQLite reports.
  @inlinable
  public func value<T: DatabaseValueConvertible>(
    _ sql: SQL, _ arguments: (any DatabaseValueConvertible)?..., as type: T.Type = T.self
  ) throws -> T? { try value(sql, arguments: Arguments(arguments), as: type) }

  /// The first column of the first row, with arguments from an array or, by name, from a dictionary. Throws
  /// as ``value(_:_:as:)`` does.
  @inlinable
  public func value<T: DatabaseValueConvertible>(
    _ sql: SQL, arguments: Arguments, as type: T.Type = T.self
  ) throws -> T? {
    let statement = try take(sql, arguments)
    defer { giveBack(statement) }
    try statement.begin()
    return try statement.step() ? try statement.firstColumn(as: type) : nil
  }

  /// Compiles a statement without running it. Throws if it isn't valid for this database.
  public func validate(_ sql: SQL) throws {
    if let engine {
      return try connection.reporting {
        try engine.validate(sql.text, until: connection.deadlines.next)
      }
    }
    try connection.prepare(sql.text, isPersistent: false).finalize()
  }

  /// Compiles a statement to run many times; see ``Statement``. Throws as ``validate(_:)`` does, and if an
  /// interpolated value can't be bound.
  public func prepare(_ sql: SQL) throws -> Statement {
    let prepared = try connection.prepare(sql.text, isPersistent: true)
    let statement = Statement(self, prepared, sql)
    if !sql.values.isEmpty { try statement.bind() }
    return statement
  }
}

extension PreparedStatement {
  /// The value of the first column of the current row. A statement that writes, such as an INSERT with
  /// RETURNING, then runs to its end: if it was reset earlier, SQLite might undo its changes.
  @inlinable
  func firstColumn<T: DatabaseValueConvertible>(as type: T.Type) throws -> T {
    // The conversion may be the caller's code.
    connection.callDepth &+= 1
    defer { connection.callDepth &-= 1 }
    do {
      let value = try T(column: reader(at: 0))
      if !isReadOnly { try stepToEnd() }
      return value
    } catch {
      throw describe(error, at: 0)
    }
  }
}

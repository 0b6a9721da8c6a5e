import CSQLite

/// A run-time limit of a connection; see [Limits](https://www.sqlite.org/c3ref/c_limit_attached.html).
public enum Limit: Int32, Hashable, Sendable, CaseIterable {
  /// Bytes of a value or a row.
  case length
  /// Bytes of a statement's text.
  case sqlLength
  /// Columns of a table, an index or a result.
  case columns
  /// Depth of an expression's tree.
  case expressionDepth
  /// SELECTs joined by UNION and the like.
  case compoundSelects
  /// Instructions of a compiled statement.
  case virtualMachineInstructions
  /// Arguments of a function.
  case functionArguments
  /// Attached databases.
  case attached
  /// Bytes of a LIKE or GLOB pattern.
  case likePatternLength
  /// Parameters of a statement.
  case variables
  /// Depth of triggers that set off each other.
  case triggerDepth
  /// Threads that a statement may start.
  case workerThreads
}

extension Database {
  /// The value of a limit, or 0 when the database is closed.
  public func limit(_ limit: Limit) -> Int {
    guard let handle = connection.usableHandle else { return 0 }
    return Int(sqlite3_limit(handle, limit.rawValue, -1))
  }

  /// Sets a limit and returns the value it had. SQLite cuts it to the bound it was built with;
  /// negative values are taken as 0. Throws when the database is closed.
  @discardableResult
  public func setLimit(_ limit: Limit, _ value: Int) throws -> Int {
    let handle = try connection.check()
    let before = sqlite3_limit(handle, limit.rawValue, Int32(clamping: max(0, value)))
    connection.settingsToRestore?.keep(limit, before)
    return Int(before)
  }
}

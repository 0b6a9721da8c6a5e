import CSQLite

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

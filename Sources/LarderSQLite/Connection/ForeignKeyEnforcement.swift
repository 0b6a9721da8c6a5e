import CSQLite

extension Database {
  /// Whether foreign keys are enforced; false when the database is closed.
  package var enforcesForeignKeys: Bool {
    connection.usableHandle.map { larder_db_config_value($0, SQLITE_DBCONFIG_ENABLE_FKEY) == 1 }
      ?? false
  }

  /// Runs a closure while foreign keys aren't enforced, and puts that back as it was. Outside of
  /// transactions only, as SQLite asks of the
  /// [PRAGMA](https://www.sqlite.org/pragma.html#pragma_foreign_keys) that does the same.
  ///
  /// Not by the PRAGMA: when a task is cancelled, every statement throws until its scope has ended,
  /// and the connection would stay without foreign keys for all who come after.
  package func withoutForeignKeys<T>(_ body: () throws -> T) throws -> T {
    let handle = try connection.check()
    guard enforcesForeignKeys else { return try body() }
    larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    defer {
      if let handle = connection.handle {
        larder_db_config(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 1)
      }
    }
    return try body()
  }
}

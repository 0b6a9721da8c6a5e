import CSQLite

// Changes a connection's flags for a while, by
// [sqlite3_db_config](https://www.sqlite.org/c3ref/c_dbconfig_defensive.html) rather than by PRAGMA:
// after a task is cancelled, every statement throws until its scope has ended, and the flag would
// stay changed for every later scope.

extension Database {
  /// Runs a closure while ALTER TABLE RENAME changes the name of the table only, and leaves alone
  /// the views and triggers that name it; see
  /// [legacy_alter_table](https://www.sqlite.org/pragma.html#pragma_legacy_alter_table).
  package func withLegacyAlterTable<T>(_ body: () throws -> T) throws -> T {
    try with(SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, set: 1, body)
  }

  package var enforcesForeignKeys: Bool {
    connection.usableHandle.map { larder_db_config_value($0, SQLITE_DBCONFIG_ENABLE_FKEY) == 1 }
      ?? false
  }

  /// Runs a closure while foreign keys aren't enforced. Outside of transactions only, as SQLite asks
  /// of the [PRAGMA](https://www.sqlite.org/pragma.html#pragma_foreign_keys) that does the same.
  package func withoutForeignKeys<T>(_ body: () throws -> T) throws -> T {
    try with(SQLITE_DBCONFIG_ENABLE_FKEY, set: 0, body)
  }

  private func with<T>(_ flag: Int32, set value: Int32, _ body: () throws -> T) throws -> T {
    let handle = try connection.sqlite()
    let before: Int32 = larder_db_config_value(handle, flag) == 1 ? 1 : 0
    guard before != value else { return try body() }
    larder_db_config(handle, flag, value)
    defer {
      if let handle = connection.handle { larder_db_config(handle, flag, before) }
    }
    return try body()
  }
}

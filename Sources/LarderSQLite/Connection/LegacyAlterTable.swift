import CSQLite

extension Database {
  /// Runs a closure while ALTER TABLE RENAME changes the name of the table only, and leaves alone
  /// the views and triggers that name it; see
  /// [legacy_alter_table](https://www.sqlite.org/pragma.html#pragma_legacy_alter_table).
  ///
  /// Not by the PRAGMA: when a task is cancelled, every statement throws until its scope has ended,
  /// and the setting would stay.
  package func withLegacyAlterTable<T>(_ body: () throws -> T) throws -> T {
    let handle = try connection.check()
    let before = larder_db_config_value(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE)
    larder_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 1)
    defer {
      if let handle = connection.handle {
        larder_db_config(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, before == 1 ? 1 : 0)
      }
    }
    return try body()
  }
}

import CSQLite

// Restores the settings of its connection that a scope has changed, when the scope ends.

extension Connection {
  /// The record of settings to restore, to be filled before a change; nil if a change should stay,
  /// as on a connection outside of queues and pools.
  var settingsToRestore: ChangedSettings? {
    guard isScoped else { return nil }
    if let changedSettings { return changedSettings }
    let new = ChangedSettings()
    changedSettings = new
    return new
  }

  /// Restores the changed settings. If that fails, for lack of memory or since a transaction
  /// couldn't be rolled back, it is tried again before the connection is next used.
  func restoreSettings() {
    guard let changed = changedSettings, isOpen, isOfThisProcess else { return }
    guard let handle else {
      restore(changed)
      return changedSettings = nil
    }
    block(.settings)
    guard sqlite3_get_autocommit(handle) != 0 else { return }
    for (limit, value) in changed.limits { sqlite3_limit(handle, limit.rawValue, value) }
    // An authorizer would refuse the PRAGMAs.
    let preset = changed.authorizer ?? authorizer.preset
    authorizer.set(nil, on: handle)
    defer { authorizer.set(preset, on: handle) }
    while let last = changed.pragmas.last {
      // A database that was detached has taken its settings along.
      let isGone = last.pragma.schemaName.map { sqlite3_db_readonly(handle, $0) == -1 } ?? false
      guard isGone || sqlite3_exec(handle, last.sql, nil, nil, nil) == SQLITE_OK else { return }
      // SQLite releases an exclusive lock only when the file is next read.
      if last.pragma.name == "locking_mode" {
        _ = Self.text("SELECT count(*) FROM sqlite_schema", on: handle)
      }
      changed.pragmas.removeLast()
    }
    // Outside of a transaction, SQLite clears the flag only when it next reads; BEGIN keeps it.
    guard
      !changed.dropsStatements
        || sqlite3_exec(handle, "PRAGMA defer_foreign_keys = OFF", nil, nil, nil) == SQLITE_OK
    else { return }
    if let frames = changed.autocheckpoint { autocheckpoint = frames }
    restore(changed)
    changedSettings = nil
    unblock(.settings)
  }

  private func restore(_ changed: ChangedSettings) {
    if let timeout = changed.busyTimeout { busyHandler.timeout = timeout }
    if let limit = changed.statementDeadline { deadlines.set(limit, on: handle) }
    noteUnsupported(nil)
  }
}

extension Database {
  func restoreSettings() {
    guard let changed = connection.changedSettings else { return }
    if let capacity = changed.statementCacheCapacity { cache.capacity = capacity }
    if changed.dropsStatements { clearStatementCache() }
    connection.restoreSettings()
  }
}

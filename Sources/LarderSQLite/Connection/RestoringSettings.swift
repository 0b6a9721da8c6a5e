import CSQLite

// What a scope changes of its connection is put back when it ends.

extension Connection {
  /// Where to remember a setting before it is changed: nil where a change is to stay, as on a
  /// connection that no queue or pool has.
  var settingsToRestore: ChangedSettings? {
    guard isScoped else { return nil }
    if let changedSettings { return changedSettings }
    let new = ChangedSettings()
    changedSettings = new
    return new
  }

  /// Puts back what was changed. What can't be put back, for lack of memory or since a transaction
  /// couldn't be rolled back, is tried again before the connection is next used.
  func restoreSettings() {
    guard let changed = changedSettings, isOpen, isOfThisProcess else { return }
    guard let handle else {
      restore(changed)
      return changedSettings = nil
    }
    block(.settings)
    guard sqlite3_get_autocommit(handle) != 0 else { return }
    for (limit, value) in changed.limits { sqlite3_limit(handle, limit.rawValue, value) }
    // It would refuse the rest.
    let preset = changed.authorizer ?? authorizer.preset
    authorizer.set(nil, on: handle)
    defer { authorizer.set(preset, on: handle) }
    while let last = changed.pragmas.last {
      // A database that was detached has taken its settings along.
      let isGone = last.pragma.schemaName.map { sqlite3_db_readonly(handle, $0) == -1 } ?? false
      guard isGone || sqlite3_exec(handle, last.sql, nil, nil, nil) == SQLITE_OK else { return }
      // SQLite lets go of an exclusive lock when the file is next read.
      if last.pragma.name == "locking_mode" {
        _ = Self.text("SELECT count(*) FROM sqlite_schema", on: handle)
      }
      changed.pragmas.removeLast()
    }
    if let frames = changed.autocheckpoint { autocheckpoint = frames }
    restore(changed)
    changedSettings = nil
    unblock(.settings)
  }

  /// Puts back what isn't SQLite's own.
  private func restore(_ changed: ChangedSettings) {
    if let timeout = changed.busyTimeout { busyHandler.timeout = timeout }
    if let limit = changed.statementDeadline { deadlines.set(limit, on: handle) }
    noteUnsupported(nil)
  }
}

extension Database {
  /// Makes the settings those of before the scope.
  func restoreSettings() {
    guard let changed = connection.changedSettings else { return }
    if let capacity = changed.statementCacheCapacity { cache.capacity = capacity }
    if changed.dropsStatements { clearStatementCache() }
    connection.restoreSettings()
  }
}

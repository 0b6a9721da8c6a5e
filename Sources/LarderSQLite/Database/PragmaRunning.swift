import CSQLite

// Work before statements that need care. A PRAGMA is compiled when it runs, because SQLite obeys many while
// it compiles them.

extension Connection {
  /// Does the work that a statement needs before the first step of each execution. A PRAGMA that acts is
  /// compiled, which is when SQLite runs most of them. Others are noted, because they may change the schema.
  func prepareToRun(_ statement: PreparedStatement) throws {
    let handle = try sqlite()
    switch statement.kind {
    case .attachment, .keyedAttachment:
      hasNewAttachments = true
      knownSchema.mayChange()
    case .transactionControl, .savepoint: knownSchema.noteEnd(undone: true)
    case .pragma(let pragma):
      knownSchema.mayChange()
      statement.replaceHandle(by: try prepareToRun(pragma, statement.sql, on: handle))
    default: knownSchema.mayChange()
    }
  }

  private func prepareToRun(
    _ pragma: Pragma, _ sql: String, on handle: OpaquePointer
  ) throws -> OpaquePointer {
    switch pragma.name {
    case "busy_timeout":
      // SQLite's own PRAGMA would replace the busy handler for good.
      if pragma.acts {
        sqlite3_finalize(try compile(pragma.blanked, sql))
        settingsToRestore?.keep(\.busyTimeout, busyHandler.timeout)
        busyHandler.timeout = .milliseconds(max(0, pragma.number))
      }
      let milliseconds = Int(min(busyHandler.timeout / .milliseconds(1), 9e15))
      return try compile(SQLText("SELECT \(milliseconds) AS timeout"), sql)
    case "wal_autocheckpoint":
      if pragma.acts {
        sqlite3_finalize(try compile(pragma.blanked, sql))
        settingsToRestore?.keep(\.autocheckpoint, autocheckpoint)
        autocheckpoint = max(0, pragma.number)
      }
      return try compile(SQLText("SELECT \(autocheckpoint) AS wal_autocheckpoint"), sql)
    case "wal_checkpoint":
      // Compiling the PRAGMA itself asks the authorizer.
      sqlite3_finalize(try compile(SQLText(sql), sql))
      return try compile(SQLText(report(of: pragma)), sql)
    case "foreign_keys" where sqlite3_get_autocommit(handle) == 0:
      throw DatabaseError(
        .misuse,
        "SQLite ignores PRAGMA foreign_keys in a transaction; set it before the transaction",
        sql: sql)
    default:
      if pragma.acts, pragma.name == "journal_mode" || pragma.name == "locking_mode" {
        // The guard holds a lock on the file as long as it is open.
        restartGuard = nil
      }
      if pragma.name == "journal_mode", pragma.acts { try willChangeJournalMode?() }
      if pragma.name == "defer_foreign_keys", pragma.acts {
        settingsToRestore?.dropsStatements = true
      }
      if pragma.isSetting, let settings = settingsToRestore {
        settings.keep(pragma) { Self.value(of: pragma, on: handle) }
      }
      return try compile(SQLText(sql), sql)
    }
  }

  private func compile(_ text: SQLText, _ sql: String) throws -> OpaquePointer {
    let (code, statement, _) = try compileFirst(of: text)
    guard code == SQLITE_OK, let statement else { throw error(code, sql: sql) }
    return statement
  }

  /// Calls a closure with the handle, without the authorizer and with a sufficient limit on SQL's length.
  func withoutAuthorizer<T>(_ body: (OpaquePointer) -> T?) -> T? {
    guard let handle else { return nil }
    let preset = authorizer.preset
    if preset != nil { authorizer.set(nil, on: handle) }
    defer { if preset != nil { authorizer.set(preset, on: handle) } }
    let length = sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1000)
    defer { sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, length) }
    return body(handle)
  }

  /// Sets SQLite's own `synchronous` level; false if that isn't possible.
  func setSynchronous(_ level: Configuration.Synchronous) -> Bool {
    withoutAuthorizer { handle in
      sqlite3_exec(handle, "PRAGMA synchronous = \(level.rawValue)", nil, nil, nil) == SQLITE_OK
    } ?? false
  }

  /// The present value of a PRAGMA's setting, in a form that restores it; nil if SQLite doesn't tell.
  private static func value(of pragma: Pragma, on handle: OpaquePointer) -> String? {
    // This PRAGMA reports nothing, but its effect shows.
    if pragma.name == "case_sensitive_like" {
      return text("SELECT 'a' LIKE 'A'", on: handle) == "1" ? "0" : "1"
    }
    let value = text("PRAGMA \(pragma.qualifiedName)", on: handle)
    return pragma.name == "secure_delete" && value == "2" ? "fast" : value
  }

  /// The first column of the first row of a statement that is known to have no effect.
  package static func text(_ sql: String, on handle: OpaquePointer) -> String? {
    let statement = OwnStatement(sql, on: handle)
    return statement.next() ? statement[0] : nil
  }
}

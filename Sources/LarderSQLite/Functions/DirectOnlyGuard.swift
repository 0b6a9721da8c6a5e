import CSQLite

/// The guard of a [direct-only](https://www.sqlite.org/c3ref/c_deterministic.html#sqlitedirectonly) function
/// that isn't deterministic. SQLite refuses calls of such a function in views, triggers and defaults, but not
/// in CHECK constraints, whose calls it doesn't mark as the schema's unless the function is deterministic
/// (seen in 3.40.1). So a file could call it there, unless the guard finds out who calls.
final class DirectOnlyGuard {
  private let name: String

  init(_ name: String) { self.name = name }

  /// Throws unless a running statement contains the function's name, or there are temporary views or
  /// triggers, which may call it and which a file can't make.
  func check(_ call: FunctionCall) throws {
    // In a quoted name quotes are doubled, so such a name can't be searched for.
    if name.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "`") }) { return }
    let handle = call.database
    var statement = sqlite3_next_stmt(handle, nil)
    while let found = statement {
      if sqlite3_stmt_busy(found) != 0, let sql = sqlite3_sql(found),
        larder_mentions(sql, name) != 0
      {
        return
      }
      statement = sqlite3_next_stmt(handle, found)
    }
    let temporary = "SELECT 1 FROM sqlite_temp_schema WHERE type IN ('view', 'trigger')"
    guard OwnStatement(temporary, on: handle).next() else {
      throw DatabaseError(.error, "unsafe use of \(name)()")
    }
  }
}

extension Connection {
  /// Has SQLite read the schema again before its next use. In a schema that was read before a function was
  /// registered, calls of the function aren't marked as the schema's, and so aren't refused. See
  /// [writable_schema](https://www.sqlite.org/pragma.html#pragma_writable_schema).
  ///
  /// Running statements may use what this frees; during one, it is postponed until the next statement is
  /// compiled.
  func forgetSchema() {
    guard let handle, callDepth <= 1 else {
      isSchemaStale = true
      return
    }
    isSchemaStale = false
    sqlite3_exec(handle, "PRAGMA writable_schema = RESET", nil, nil, nil)
  }
}

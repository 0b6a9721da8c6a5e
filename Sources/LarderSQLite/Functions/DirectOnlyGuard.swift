import CSQLite

/// The guard of a [direct-only](https://www.sqlite.org/c3ref/c_deterministic.html#sqlitedirectonly) function
/// that isn't deterministic: finds out who calls it. SQLite refuses calls in views, triggers and defaults,
/// but not in CHECK constraints, which it doesn't mark as the schema's where a function isn't
/// deterministic (seen in 3.40.1): there a file could call it.
///
/// What makes the unsafe pointers sound: they are SQLite's own, asked for and used in one call of it.
final class DirectOnlyGuard {
  private let name: String

  init(_ name: String) { self.name = name }

  /// Throws unless a statement that runs says the function's name, or one of the program's temporary
  /// views and triggers may, which a file can't make.
  func check(_ handle: OpaquePointer?) throws {
    // A quote is doubled where it stands in a name in quotes.
    if name.utf8.contains(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "`") }) { return }
    var statement = sqlite3_next_stmt(handle, nil)
    while let found = statement {
      if sqlite3_stmt_busy(found) != 0, let sql = sqlite3_sql(found),
        larder_mentions(sql, name) != 0
      {
        return
      }
      statement = sqlite3_next_stmt(handle, found)
    }
    guard hasTemporarySchema(handle) else {
      throw DatabaseError(.error, "unsafe use of \(name)()")
    }
  }

  private func hasTemporarySchema(_ handle: OpaquePointer?) -> Bool {
    let sql = "SELECT 1 FROM sqlite_temp_schema WHERE type IN ('view', 'trigger')"
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    return sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
      && sqlite3_step(statement) == SQLITE_ROW
  }
}

extension Connection {
  /// Has SQLite read the schema anew before it is used again: what was read before a function was
  /// known isn't marked as a use of the function by the schema, and so isn't refused. See
  /// [writable_schema](https://www.sqlite.org/pragma.html#pragma_writable_schema).
  ///
  /// Not while a statement runs, which may use what would be freed; then before the next is compiled.
  func forgetSchema() {
    guard let handle, callDepth <= 1 else {
      isSchemaStale = true
      return
    }
    isSchemaStale = false
    sqlite3_exec(handle, "PRAGMA writable_schema = RESET", nil, nil, nil)
  }
}

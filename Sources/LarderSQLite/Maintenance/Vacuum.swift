import CSQLite

// The upkeep of a file now and then, and its check at opening.

extension Database {
  /// Gathers the statistics that the query planner lacks, of tables that have changed much and of at most 400
  /// rows per index. It takes milliseconds on databases of any size. See [PRAGMA
  /// optimize](https://www.sqlite.org/pragma.html#pragma_optimize).
  ///
  /// Throws as every statement that writes does. For all tables and rows there is `ANALYZE`.
  public func optimize() throws {
    let limit = try value("PRAGMA analysis_limit", as: Int.self) ?? 0
    try executeUpdate("PRAGMA analysis_limit = 400")
    defer { _ = try? executeUpdate(SQL(raw: "PRAGMA analysis_limit = \(limit)")) }
    try executeUpdate("PRAGMA optimize")
  }

  /// Rewrites the database without the space that deleted rows have left: in its place or, if a path is
  /// given, into another file. That file then holds what this connection sees; it must not exist yet, or be
  /// empty. See [VACUUM](https://www.sqlite.org/lang_vacuum.html).
  ///
  /// Takes up to twice the database's size on the disk. Throws `ResultCode.error` in a transaction, and if
  /// the other file holds something.
  public func vacuum(into path: String? = nil) throws {
    guard let path else {
      try executeUpdate("VACUUM")
      return
    }
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw DatabaseError(.misuse, "a path can't be empty or contain a NUL")
    }
    try executeUpdate("VACUUM INTO \(path)")
  }

  /// Optimizes before the connection is closed on purpose, if the configuration asks for it. A failure
  /// doesn't keep the connection from closing.
  func optimizeBeforeClosing() {
    guard configuration.optimizesOnClose, !isReadOnly, !hasTransaction,
      let handle = connection.usableHandle
    else { return }
    closeOpenStatements()
    connection.busyHandler.timeout = .zero
    connection.authorizer.whilePaused {
      _ = sqlite3_exec(handle, "PRAGMA analysis_limit = 400; PRAGMA optimize", nil, nil, nil)
    }
  }

  /// Throws if the file is another program's. A new file gets this program's number.
  func checkApplicationID() throws {
    guard let expected = configuration.applicationID else { return }
    let found = try applicationID
    guard found != expected else { return }
    let isNew = try found == 0 && value("PRAGMA schema_version", as: Int.self) == 0
    guard isNew, !isReadOnly else {
      throw Self.foreignError(found, expected)
    }
    try setApplicationID(expected)
  }

  static func foreignError(_ found: Int32, _ expected: Int32) -> DatabaseError {
    DatabaseError(
      .mismatch, "the file's application_id is \(found), but \(expected) is expected")
  }
}

import CSQLite
import Larder

extension Database {
  /// Records the changes that a closure makes to some tables, as a changeset.
  ///
  /// ```swift
  /// let changeset = try db.record("city", "country") { db in try edit(db) }
  /// try changeset.apply(to: other) { conflict in .omit }
  /// ```
  ///
  /// - Parameters:
  ///   - tables: names of tables of the main database; if there are none, all of its tables. Tables without a
  ///     primary key aren't recorded. Tables with generated columns throw, since SQLite's sessions don't
  ///     support them.
  ///   - isPatchset: whether to leave out the values before each change.
  ///   - body: changes the tables. If it throws, its error is rethrown and nothing is recorded.
  ///
  /// A row that is changed several times occurs once; changes that the closure has undone don't occur. A feed
  /// that follows the connection reports the transaction as an unknown change
  /// (`CommittedChanges.isFromElsewhere`), since SQLite reports rows either to a session or to a feed.
  /// Throws `ResultCode.misuse` during another recording, and `UnsupportedByEngine` if SQLite was built
  /// without its session extension, which no other operation on changesets needs.
  public func record(
    _ tables: String..., isPatchset: Bool = false, _ body: (Database) throws -> Void
  ) throws -> Changeset {
    try record(tables: tables, isPatchset: isPatchset, body)
  }

  package func record(
    tables: [String], isPatchset: Bool, _ body: (Database) throws -> Void
  ) throws -> Changeset {
    let library = try SessionExtension.required()
    let handle = try connection.sqlite("record(_:isPatchset:_:)")
    guard !connection.isRowHookLent else {
      throw DatabaseError(.misuse, "changes are being recorded already")
    }
    for table in tables where try !tableExists(table) {
      throw DatabaseError(.error, "no such table: \(table)")
    }
    try checkRecordable(tables)
    return try connection.lendingRowHook {
      var session: OpaquePointer?
      defer { if let session { library.delete(session) } }
      guard library.create(handle, "main", &session) == SQLITE_OK else {
        throw DatabaseError(.noMemory, "out of memory for a session")
      }
      // Statements that were compiled before may empty a table without visiting its rows.
      connection.authorizer.compileAnew(on: handle)
      for table in tables.isEmpty ? [nil] : tables.map(Optional.some) {
        try Self.checkSession(library.attach(session, table))
      }
      try body(self)
      try connection.check()
      return try Self.collect(
        from: session, isPatchset ? library.patchset : library.changeset)
    }
  }

  /// Collects a session's changes, and frees the bytes that SQLite has allocated.
  private static func collect(
    from session: OpaquePointer?, _ function: SessionExtension.Collect
  ) throws -> Changeset {
    var count: Int32 = 0
    var bytes: UnsafeMutableRawPointer?
    let code = function(session, &count, &bytes)
    defer { sqlite3_free(bytes) }
    try checkSession(code)
    return Changeset(
      data: Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count))))
  }

  private static func checkSession(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    let reason =
      code == SQLITE_SCHEMA
      ? "the columns or the key of a table changed during the recording"
      : String(cString: sqlite3_errstr(code))
    throw DatabaseError(ResultCode(rawValue: code), "recording a changeset: \(reason)")
  }

  private func checkRecordable(_ tables: [String]) throws {
    // A virtual table, which has no root page, isn't recorded. Asking for its columns would need its module.
    let generated = try connection.authorizer.whilePaused {
      try executeQuery(
        """
        SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_table_xinfo(t.name, 'main') AS c
        WHERE t.type = 'table' AND t.rootpage > 0 AND c.hidden IN (2, 3)
        """
      ).map { try $0.get(at: 0, as: String.self) }
    }
    let wanted = Set(tables.map(\.foldedName))
    guard let table = generated.first(where: { wanted.isEmpty || wanted.contains($0.foldedName) })
    else { return }
    throw DatabaseError(
      .error,
      "a table with generated columns can't be recorded: \(table)"
        + (wanted.isEmpty ? "; name the tables to record" : ""))
  }
}

import CSQLite

extension Database {
  /// Records what a closure changes of some tables, as a changeset.
  ///
  /// ```swift
  /// let changeset = try db.record("city", "country") { db in try edit(db) }
  /// try changeset.apply(to: other) { conflict in .omit }
  /// ```
  ///
  /// - Parameters:
  ///   - tables: names of tables of the main database; none for all that there are. Tables without a primary
  ///     key aren't recorded, and those with generated columns can't be: SQLite's sessions don't know these.
  ///   - isPatchset: whether the values before are left out.
  ///   - body: changes the tables; what it throws is thrown, and nothing recorded.
  ///
  /// A row that is changed more than once is there once; what the closure has undone isn't there. A feed
  /// of changes that follows the connection meanwhile says in the transaction's place that something unknown was
  /// changed (``CommittedChanges/isFromElsewhere``), since SQLite tells only one of both. Throws
  /// ``UnsupportedByEngine`` where SQLite was built without its session extension, which nothing else of changesets
  /// needs.
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
    guard !connection.isRecordingChanges else {
      throw DatabaseError(.misuse, "changes are being recorded already")
    }
    for table in tables where try !tableExists(table) {
      throw DatabaseError(.error, "no such table: \(table)")
    }
    try checkRecordable(tables)
    connection.isRecordingChanges = true
    connection.follower?.willRecord()
    var session: OpaquePointer?
    defer {
      if let session { library.delete(session) }
      connection.isRecordingChanges = false
      connection.follower?.hasRecorded()
    }
    guard library.create(handle, "main", &session) == SQLITE_OK else {
      throw DatabaseError(.noMemory, "no session can be made")
    }
    // Statements that are compiled already empty tables without a look at the rows.
    connection.authorizer.compileAnew(on: handle)
    for table in tables.isEmpty ? [nil] : tables.map(Optional.some) {
      try Self.checkSession(library.attach(session, table))
    }
    try body(self)
    try connection.check()
    return try Self.collect(
      from: session, isPatchset ? library.patchset : library.changeset)
  }

  /// Takes over the bytes that SQLite allocates for what a session has recorded.
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
      ? "the columns or the key of a table have changed meanwhile"
      : String(cString: sqlite3_errstr(code))
    throw DatabaseError(ResultCode(rawValue: code), "recording a changeset: \(reason)")
  }

  private func checkRecordable(_ tables: [String]) throws {
    let generated = try connection.authorizer.whilePaused {
      try executeQuery(
        """
        SELECT DISTINCT t.name FROM main.sqlite_schema AS t, pragma_table_xinfo(t.name, 'main') AS c
        WHERE t.type = 'table' AND c.hidden IN (2, 3)
        """
      ).map { try $0.get(at: 0, as: String.self) }
    }
    let wanted = Set(tables.map(\.foldedName))
    guard let table = generated.first(where: { wanted.isEmpty || wanted.contains($0.foldedName) })
    else { return }
    throw DatabaseError(
      .error,
      "a table with generated columns can't be recorded: \(table)"
        + (wanted.isEmpty ? "; name the tables that are to be" : ""))
  }
}

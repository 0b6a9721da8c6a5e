import CSQLite

// Reports statements to their followers.

extension Database {
  /// Calls a closure, and returns its result with the region that it has read, and another engine's tables
  /// in it whose commits aren't reported yet.
  func recordingReads<T>(
    _ body: (Database) throws -> T
  ) throws -> (value: T, region: Region, unreported: Set<UInt32>) {
    if let engine {
      let value = try body(self)
      let reads = try connection.reporting { try engine.tablesRead() }
      return (value, Region(tables: reads.tables), reads.unreported)
    }
    collectRegions()
    let recorder = ReadRecorder()
    let outer = connection.recorder
    connection.recorder = recorder
    defer { connection.recorder = outer }
    let value = try body(self)
    return (value, recorder.region, [])
  }

  /// Starts collecting what statements read and write. Statements that are compiled already are dropped,
  /// because SQLite wouldn't report theirs.
  func collectRegions() {
    guard connection.authorizer.actions == nil, let handle = connection.usableHandle else { return }
    cache.removeAll()
    transactionStatements.removeAll()
    connection.authorizer.collectActions(on: handle)
  }

  /// Tells a recorder of reads that the statement which has begun finds no other row of its table than the
  /// one with an id.
  @inlinable
  package func isReading(row: @autoclosure () -> Int64?) {
    if isRecordingReads, let row = row() { limitLastRead(to: row) }
  }

  @usableFromInline
  var isRecordingReads: Bool { connection.recorder != nil }

  @usableFromInline
  func limitLastRead(to row: Int64) { connection.recorder?.limitLast(to: row) }
}

extension Connection {
  /// Runs the library's own statements between those of the caller, regardless of the authorizer. If one
  /// fails, SQLite may roll back the caller's transaction; the next call then throws.
  package func untracked<T>(_ body: () throws -> T) rethrows -> T {
    let hadTransaction = hasTransaction
    defer { if hadTransaction, !hasTransaction { oweRollback(isInner: true) } }
    return try authorizer.whilePaused(body)
  }

  func tellWillRun(_ statement: PreparedStatement) {
    recorder?.willRun(statement.region, writes: !statement.isReadOnly)
    // A statement in a read scope writes nothing of the database.
    if !restrictions.contains(.writing) {
      follower?.willRun(statement.region, writes: !statement.isReadOnly)
    }
  }

  /// Does the work that is left after a statement has ended.
  @inline(never)
  func tellHasRun(_ statement: PreparedStatement, _ code: Int32) {
    if afterSteps.contains(.announcedCommit) { onAnnouncedCommit?() }
    if isFollowed { tellFollower(statement, code) }
  }

  func tellFollower(_ statement: PreparedStatement, _ code: Int32) {
    let isNew = addRecompiled(to: statement)
    guard let follower, !restrictions.contains(.writing) else { return }
    if isNew { follower.hasTouchedMore(statement.region, writes: !statement.isReadOnly) }
    follower.hasRun(statement.region, code)
  }
}

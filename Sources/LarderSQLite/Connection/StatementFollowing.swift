import CSQLite

// Statements are told to those who follow them.

extension Database {
  /// Calls a closure, and returns what it has read beside what it has returned.
  func recordingReads<T>(_ body: (Database) throws -> T) throws -> (T, Region) {
    collectRegions()
    let recorder = ReadRecorder()
    let outer = connection.recorder
    connection.recorder = recorder
    defer { connection.recorder = outer }
    let value = try body(self)
    return (value, recorder.region)
  }

  /// Has statements know what they read and write. Those that are compiled already go: SQLite wouldn't tell
  /// of them.
  func collectRegions() {
    guard connection.authorizer.actions == nil, let handle = connection.usableHandle else { return }
    cache.removeAll()
    transactionStatements.removeAll()
    connection.authorizer.collectActions(on: handle)
  }

  /// Says that the statement which has begun finds no other row of its table than the one with an id, for
  /// whoever records what is read.
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
  /// Runs statements of the library's own between those of the caller, whatever the authorizer forbids. Where one fails
  /// SQLite may roll the caller's transaction back, of which the next call throws.
  func looking<T>(_ body: () throws -> T) rethrows -> T {
    let hadTransaction = hasTransaction
    defer { if hadTransaction, !hasTransaction { oweRollback(isInner: true) } }
    return try authorizer.whilePaused(body)
  }

  /// Before a statement runs that is followed.
  func tellWillRun(_ statement: PreparedStatement) {
    recorder?.willRun(statement.region, writes: !statement.isReadOnly)
    // What only reads writes nothing that is the database's.
    if !restrictions.contains(.writing) {
      follower?.willRun(statement.region, writes: !statement.isReadOnly)
    }
  }

  /// After a statement has ended whose end matters.
  func tellHasRun(_ statement: PreparedStatement, _ code: Int32) {
    if afterSteps.contains(.announcedCommit) { onAnnouncedCommit?() }
    if isFollowed { tellFollower(statement, code) }
  }

  /// The same for those who follow alone.
  func tellFollower(_ statement: PreparedStatement, _ code: Int32) {
    let isNew = addRecompiled(to: statement)
    guard let follower, !restrictions.contains(.writing) else { return }
    if isNew { follower.hasTouchedMore(statement.region, writes: !statement.isReadOnly) }
    follower.hasRun(statement.region, code)
  }
}

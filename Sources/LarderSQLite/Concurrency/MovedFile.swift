import CSQLite

/// A database file that was moved, removed or replaced while a queue or pool has it open: every later write throws
/// `ResultCode.readOnlyMoved`, and what was committed goes from the log into the file that is open.
///
/// It goes there at once, since the log stays behind: the file under its new name would be without it, and a file
/// that takes the old name would get it, page by page, as soon as somebody opens that. Truncated it does no harm.
/// (SQLite leaves it as it is, also when the connection is closed.) As long as reads are under way that began before,
/// what they need stays in the log; it is tried again with each refused write, and when the queue or pool is closed.
///
/// It stays where it is once somebody else has committed to it, who may have another file open by then, or has made
/// the index anew, and has found the log's commits by themselves.
///
/// Where the file comes back, such as one that was moved away for a moment, everything goes on.
extension Writer {
  /// Looks, with the writer lock held, and throws where the file isn't in its place.
  @inline(never)
  func checkFile(_ check: FileIdentityCheck) throws {
    let former = fileFinding
    fileFinding = check.look()
    if fileFinding != .inPlace { isOutdated.store(true, ordering: .relaxed) }
    switch fileFinding {
    case .inPlace:
      check.noteLog(changes: logChanges(check))
      if former != .inPlace { readers?.noteFile(isReplaced: false) }
    case .gone(let path):
      settleLog()
      throw FileLocation.movedError(path)
    case .replaced(let path):
      // A link that leads elsewhere leaves the file and its log where they are.
      if path != location?.link { readers?.noteFile(isReplaced: true) }
      if check.isLogOwn(fileFinding, changes: logChanges(check)) { settleLog() }
      throw FileLocation.movedError(path)
    }
  }

  /// A watcher that has the file looked at when it may have been moved.
  func watcherOfMoves() -> MoveWatcher? {
    guard fileCheck != nil, let location else { return nil }
    return MoveWatcher(path: location.path) { [weak self] in
      self?.lookForFile()
    }
  }

  /// Looks once the lock is free. What is wrong is told to those who write.
  private func lookForFile() {
    guard (try? lock.acquire(ScopeCall("a look for the file"))) != nil else { return }
    defer { lock.release() }
    _ = isInPlace
  }

  /// How many transactions the log has counted; nil where there is none.
  private func logChanges(_ check: FileIdentityCheck) -> UInt32? {
    guard check.hasLog, let handle = database.connection.handle else { return nil }
    var changes: UInt32 = 0
    return larder_log_changes(handle, &changes) == 0 ? nil : changes
  }

  /// Whether the file is in its place. What was moved away is made whole.
  var isInPlace: Bool {
    guard let fileCheck, database.isOpen else { return true }
    do {
      try checkFile(fileCheck)
      return true
    } catch {
      return false
    }
  }

  /// Moves the log into the file that is open, and cuts it to nothing. A failure is no caller's: the next look tries
  /// again.
  private func settleLog() {
    guard groupCommit?.hasFailed != true, let handle = database.connection.handle else { return }
    let connection = database.connection
    connection.takeOver()
    defer { connection.leave() }
    let timeout = connection.busyHandler.timeout
    connection.busyHandler.timeout = .milliseconds(20)
    defer { connection.busyHandler.timeout = timeout }
    Connection.clearInterrupt(of: handle)
    // No guard against the WAL-reset bug can be opened by a path that leads elsewhere. It takes SQLite's own lock of
    // writers, of which there is none but this one, as whoever opens the path has another file.
    func settle() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
    let code = database.checkpoints?.withLock { _ in settle() } ?? settle()
    if ResultCode(rawValue: code) == .ioErrorFsync { groupCommit?.hasFailedToSync() }
  }
}

import CSQLite

/// Handles a database file that was moved, removed or replaced while a queue or pool has it open. Every later
/// write throws `ResultCode.readOnlyMoved`, and a checkpoint moves the log's commits into the file that is
/// open.
///
/// The checkpoint runs at once, because the log stays behind under the old name. The moved file would lack
/// it, and a new file at the old path would get it, page by page, as soon as somebody opens that. A truncated
/// log does no harm. (SQLite doesn't truncate it, not even when the connection is closed.) While older reads
/// are under way, the frames that they need stay in the log. Each refused write tries again, and so does
/// closing the queue or pool.
///
/// The log is left alone once somebody else has committed to it, since that connection may have another file
/// open. It is also left alone once somebody has rebuilt the index, and so has found the log's commits.
///
/// If the file comes back, for instance after a short move, everything goes on.
extension Writer {
  /// Throws if the file isn't in its place. The caller holds the writer lock.
  @inline(never)
  func checkFile(_ check: FileIdentityCheck) throws {
    if case .inPlace = fileFinding, check.isUnchanged() {
      if check.isCountDue { check.noteLog(changes: logChanges(check)) }
      return
    }
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

  /// Looks for the file once the lock is free. Throws nothing: later writes get the error.
  func lookForFile() {
    guard (try? lock.acquire(ScopeCall("a check of the file"))) != nil else { return }
    defer { lock.release() }
    _ = isInPlace
  }

  /// The number of transactions that the log has counted; nil if there is no log.
  private func logChanges(_ check: FileIdentityCheck) -> UInt32? {
    guard check.hasLog, let handle = database.connection.handle else { return nil }
    var changes: UInt32 = 0
    return larder_log_changes(handle, &changes) == 0 ? nil : changes
  }

  /// Whether the file is in its place. If it isn't, the check moves the log into the file that is open.
  var isInPlace: Bool {
    guard let fileCheck, database.isOpen else { return true }
    do {
      try checkFile(fileCheck)
      return true
    } catch {
      return false
    }
  }

  /// Moves the log into the file that is open, and truncates it. Doesn't throw: the next look tries again.
  private func settleLog() {
    guard groupCommit?.hasFailed != true, let handle = database.connection.handle else { return }
    let connection = database.connection
    connection.takeOver()
    defer { connection.leave() }
    let timeout = connection.busyHandler.timeout
    connection.busyHandler.timeout = .milliseconds(20)
    defer { connection.busyHandler.timeout = timeout }
    Connection.clearInterrupt(of: handle)
    // The guard against the WAL-reset bug can't be used, since it opens the path, which leads elsewhere now.
    // The checkpoint takes SQLite's own writer lock, and no other writer is left: whoever opens the path has
    // another file.
    func settle() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
    let code = database.checkpoints?.withLock { _ in settle() } ?? settle()
    if ResultCode(rawValue: code) == .ioErrorFsync { groupCommit?.hasFailedToSync() }
  }
}

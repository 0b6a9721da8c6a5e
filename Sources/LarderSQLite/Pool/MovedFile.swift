import CSQLite

/// Handles a database file that was moved, removed or replaced while a queue or pool has it open. Every later
/// write throws `ResultCode.readOnlyMoved`, and a checkpoint moves the log's commits into the file that is
/// open.
///
/// The checkpoint runs at once, because the log stays behind under the old name. The moved file would lack
/// it, and a new file at the old path would get it, page by page, as soon as somebody opens that. A truncated
/// log does no harm. (SQLite doesn't truncate it, not even when the connection is closed.) While older reads
/// are under way, the frames that they need stay in the log. Each refused write tries again, and so does
/// closing the queue or pool, until the log is empty: from then on it belongs to the new file.
///
/// The log is left alone once somebody else has committed to it, since that connection may have another file
/// open. It is also left alone once somebody has rebuilt the index, and so has found the log's commits. Whether
/// that is so is looked at with the lock that every connection needs for committing, which is kept until the
/// checkpoint has ended.
///
/// Within one process that lock keeps nobody out: POSIX locks are those of a process, and SQLite tells
/// connections apart by their files. So whoever opens the path in the same process has the log moved first.
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
    isAway.store(fileFinding != .inPlace, ordering: .relaxed)
    if fileFinding != .inPlace { isOutdated.store(true, ordering: .relaxed) }
    switch fileFinding {
    case .inPlace:
      check.noteLog(changes: logChanges(check))
      isLogLeft = false
      if former != .inPlace { readers?.noteFile(isReplaced: false) }
    case .gone(let path):
      settleLog(check)
      throw FileLocation.movedError(path)
    case .replaced(let path):
      // A link that leads elsewhere leaves the file and its log where they are.
      if path != location?.link { readers?.noteFile(isReplaced: true) }
      settleLog(check)
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

  /// Moves the log into the file that is open, and truncates it, unless others may have written to it. Doesn't
  /// throw: the next look tries again.
  private func settleLog(_ check: FileIdentityCheck) {
    guard !isLogLeft, groupCommit?.hasFailed != true, let handle = database.connection.handle
    else { return }
    let connection = database.connection
    connection.takeOver()
    defer { connection.leave() }
    let timeout = connection.busyHandler.timeout
    connection.busyHandler.timeout = .milliseconds(20)
    defer { connection.busyHandler.timeout = timeout }
    Connection.clearInterrupt(of: handle)
    if check.hasLog {
      guard larder_lock_log(handle, 1) == SQLITE_OK else { return }
    }
    defer { if check.hasLog { _ = larder_lock_log(handle, 0) } }
    // Whoever has opened another file at the path by now hasn't committed yet, or is found to have.
    let finding = check.look()
    switch finding {
    case .inPlace: return
    case .gone: break
    case .replaced:
      guard check.isLogOwn(finding, changes: logChanges(check)) else {
        isLogLeft = true
        return
      }
    }
    // The guard against the WAL-reset bug can't be used, since it opens the path, which leads elsewhere now.
    // It isn't needed with the lock, without which no log restarts.
    func settle() -> Int32 {
      sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
    let code = database.checkpoints?.withLock { _ in settle() } ?? settle()
    isLogLeft = code == SQLITE_OK
    if ResultCode(rawValue: code) == .ioErrorFsync { groupCommit?.hasFailedToSync() }
  }

  // MARK: Others that open the path

  private struct WeakWriter {
    weak var writer: Writer?
  }

  /// The writers of this process, by the paths of their files.
  private static let writers = Lock<[String: [ObjectIdentifier: WeakWriter]]>([:])

  /// Notes the writer, for those who open its path later.
  func register() {
    guard fileCheck != nil, let path = location?.path else { return }
    Self.writers.withLock {
      $0[path, default: [:]][ObjectIdentifier(self)] = WeakWriter(writer: self)
    }
  }

  func unregister() {
    guard fileCheck != nil, let path = location?.path else { return }
    Self.writers.withLock {
      $0[path]?[ObjectIdentifier(self)] = nil
      if $0[path]?.isEmpty == true { $0[path] = nil }
    }
  }

  /// Has the log moved of files that were at a path, before another file is opened there.
  static func settleMovedFiles(at path: String) {
    let path = FileLocation.absolute(path)
    let known = writers.withLock { $0[path]?.values.compactMap(\.writer) ?? [] }
    guard !known.isEmpty else { return }
    let identity = FileLocation.Identity(ofFileAt: path)
    for writer in known where writer.location?.identity != identity { writer.lookForFile() }
  }
}

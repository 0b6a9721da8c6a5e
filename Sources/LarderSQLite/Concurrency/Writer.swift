import CSQLite
import Synchronization

/// The connection that writes, and the ``WriterLock`` of those who want it.
///
/// Each scope runs alone, on its caller's thread or in its caller's task. What scopes share is the wait
/// for the disk (``GroupCommit``).
///
/// What makes it Sendable: the database is used by the holder of the lock only, and so are the other
/// variables.
final class Writer: ScopeRunner, @unchecked Sendable {
  private let database: Database
  let lock: WriterLock
  var scheduler: any TaskScheduler { lock }
  let interruptHandle: InterruptHandle
  let path: String?
  /// Which file it has open, for the connections that use the same.
  let location: FileLocation?
  /// How it was opened.
  var configuration: Configuration { database.configuration }
  let retryLimit: Duration?
  let readsWaitForDurability: Bool
  /// Whether the file has a write-ahead log, in which those who hold the lock wait for no reader.
  private let hasLog: Bool
  /// Nil where commits aren't durable, or make themselves so.
  let groupCommit: GroupCommit?
  /// In a pool.
  private(set) var checkpointer: Checkpointer? {
    didSet { database.checkpoints = checkpointer?.checkpoints }
  }
  private let isClosed = Atomic<Bool>(false)
  private let cancellation = Cancellation()
  private let transactions = Atomic<Int>(0)
  private let logFrames = Atomic<Int>(0)
  /// Between when and when the last BEGIN waited in vain for the lock of another process.
  private var vainWait: (from: Duration, to: Duration)?

  init(path: String?, configuration: Configuration) throws {
    database = try Database(path: path, configuration: configuration)
    interruptHandle = database.interruptHandle
    self.path = path
    location = try database.fileLocation()
    retryLimit = configuration.retryLimit
    readsWaitForDurability = configuration.readsWaitForDurability
    hasLog = configuration.journalMode == .wal
    lock = WriterLock(timeout: configuration.scopeTimeout)
    let isDurable = configuration.synchronous == .full || configuration.synchronous == .extra
    groupCommit =
      configuration.groupCommit && isDurable && !database.isReadOnly
      ? GroupCommit(sharing: database) : nil
    if groupCommit != nil {
      watchLog()
      lock.spins = true
    }
    database.connection.leave()
  }

  /// Lets checkpoints be made beside the writer, for a pool. Before anybody else uses it.
  func shareLog(with readers: Readers, _ configuration: Configuration) throws {
    guard !database.isReadOnly else { return }
    database.connection.takeOver()
    defer { database.connection.leave() }
    if groupCommit == nil { watchLog() }
    checkpointer = Checkpointer(
      location: location, configuration: configuration,
      pageSize: try database.pageSize, writer: lock,
      readers: readers, groupCommit: groupCommit)
  }

  /// Takes over what SQLite does after a commit, and keeps its hook when a PRAGMA installs SQLite's own.
  private func watchLog() {
    database.connection.onSettingChange = { [unowned self] in installHook() }
    database.connection.willChangeJournalMode = { [unowned self] in
      try groupCommit?.suspendForNow(database)
    }
    database.connection.onSyncFailure = { [unowned self] in groupCommit?.hasFailedToSync() }
    installHook()
  }

  /// SQLite keeps an unretained pointer to this object, which keeps the connection.
  private func installHook() {
    sqlite3_wal_hook(
      database.connection.handle,
      { context, _, name, frames in
        guard let context, let name else { return SQLITE_OK }
        let writer = Unmanaged<Writer>.fromOpaque(context).takeUnretainedValue()
        return writer.hasCommitted(name, frames: Int(frames))
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// After each commit that wrote to a write-ahead log.
  private func hasCommitted(_ name: UnsafePointer<CChar>, frames: Int) -> Int32 {
    let isMain = String(cString: name) == "main"
    if isMain {
      logFrames.store(frames, ordering: .relaxed)
      groupCommit?.hasCommitted()
    }
    let interval = database.connection.autocheckpoint
    if isMain, let checkpointer {
      checkpointer.hasCommitted(frames: frames, interval: interval)
    } else if interval > 0, frames >= interval, groupCommit?.hasFailed != true {
      // As SQLite's own hook does: a checkpoint that fails is made by a later commit.
      let code = sqlite3_wal_checkpoint_v2(
        database.connection.handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
      if ResultCode(rawValue: code) == .ioErrorFsync { groupCommit?.hasFailedToSync() }
    }
    return SQLITE_OK
  }

  // MARK: Scopes

  /// Runs a scope on this thread, once it holds the lock. Returns, or throws, once what it has made or
  /// seen is durable.
  func perform(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    try groupCommit?.check()
    let waited = try lock.acquire(call)
    guard let groupCommit else {
      defer { lock.release() }
      return try run(kind, waited, body)
    }
    let outcome = Result {
      // Those who have waited may have done so while a sync failed.
      try groupCommit.check()
      try run(kind, waited, body)
    }
    let position = groupCommit.settle(database)
    lock.release()
    if waitsForDisk(kind) { try groupCommit.wait(for: position) }
    try outcome.get()
  }

  /// Runs the scope of a task that holds the lock, on the thread that runs its job; returns the position of
  /// what it has made or seen.
  func perform(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void> {
    lock.note(call)
    let outcome = Result {
      try groupCommit?.check()
      try cancellation.run(task, on: database) {
        try run(kind, MonotonicClock.now - task.start) { database in
          try body(database)
          // In other scopes what the body has committed stays.
          if case .transaction = kind { try task.checkCancellation() }
        }
      }
    }
    let position = groupCommit?.settle(database) ?? 0
    return ScopeOutcome(result: outcome, position: waitsForDisk(kind) ? position : 0)
  }

  /// What a scope could wait for is the lock, another process, or a checkpoint.
  func performAtOnce(
    _ task: WaitingTask, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) -> ScopeOutcome<Void>? {
    guard lock.acquireAtOnce(call) else { return nil }
    defer { lock.release() }
    guard vainWait == nil, waitsForNothing(kind) else { return nil }
    let busyHandler = database.connection.busyHandler
    let timeout = busyHandler.timeout
    busyHandler.timeout = .zero
    var hasBegun = false
    let outcome = perform(task, kind, call) { database in
      hasBegun = true
      busyHandler.timeout = timeout
      try body(database)
    }
    if !hasBegun { busyHandler.timeout = timeout }
    guard !hasBegun, case .failure(let error as DatabaseError) = outcome.result, error.isBusy else {
      return outcome
    }
    vainWait = nil
    transactions.store(transactions.load(ordering: .relaxed) &- 1, ordering: .relaxed)
    return nil
  }

  /// Whether a scope can't have to wait once it holds the lock.
  private func waitsForNothing(_ kind: ScopeKind) -> Bool {
    if database.connection.isAlone { return true }
    switch kind {
    case .read: return hasLog
    case .transaction(.immediate), .transaction(.exclusive):
      // A commit that moves the log into the file waits for the disk.
      let interval = database.connection.autocheckpoint
      return hasLog
        && (checkpointer != nil || interval <= 0
          || logFrames.load(ordering: .relaxed) < interval - interval / 8)
    // A lock may be waited for in the middle of these.
    case .plain, .savepoint, .transaction: return false
    }
  }

  /// Whether a scope's outcome waits until what it has seen is on disk.
  private func waitsForDisk(_ kind: ScopeKind) -> Bool {
    if case .read = kind { return readsWaitForDurability }
    return true
  }

  private func run(
    _ kind: ScopeKind, _ waited: Duration, _ body: (Database) throws -> Void
  ) throws {
    transactions.store(transactions.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    database.connection.waited = waited
    if vainWait != nil { return try runAfterVainWait(kind, waited, body) }
    do {
      try enter(kind, body)
    } catch let error as DatabaseError where error.isBusy && !database.hasBegun {
      let now = MonotonicClock.now
      vainWait = (now - database.busyTimeout, now)
      throw error
    }
  }

  @inline(__always)
  private func enter(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    try EnteredScope.run(ObjectIdentifier(self), .writer) {
      try database.runScope(kind, body)
    }
  }

  /// After somebody who waited in vain for another process's lock: who has been in the queue meanwhile has
  /// waited for it too, and doesn't wait as long again. Else those at the end of the queue would wait
  /// for the time-outs of all before them.
  private func runAfterVainWait(
    _ kind: ScopeKind, _ waited: Duration, _ body: (Database) throws -> Void
  ) throws {
    guard let vainWait else { return }
    self.vainWait = nil
    let timeout = database.busyTimeout
    let start = MonotonicClock.now - waited
    let spent = max(.zero, vainWait.to - max(start, vainWait.from))
    database.connection.busyHandler.timeout = timeout - spent
    do {
      try enter(kind) { database in
        database.connection.busyHandler.timeout = timeout
        try body(database)
      }
    } catch {
      database.connection.busyHandler.timeout = timeout
      if (error as? DatabaseError)?.isBusy == true, !database.hasBegun {
        self.vainWait = (vainWait.from, MonotonicClock.now)
      }
      throw error
    }
  }

  /// Throws in a process that was forked: there nobody lets go of what was held before.
  func checkProcess() throws { try database.connection.checkProcess() }

  func cancel(_ task: WaitingTask) {
    lock.cancel(task)
    cancellation.cancel(task)
  }

  /// Waits for the lock and closes the connection; then, and before, closing again does nothing.
  func close() throws {
    if isClosed.load(ordering: .relaxed) { return }
    try checkProcess()
    _ = try lock.acquire(ScopeCall("close()"))
    defer { lock.release() }
    if isClosed.exchange(true, ordering: .relaxed) { return }
    database.connection.takeOver()
    defer { database.connection.leave() }
    checkpointer?.close()
    groupCommit?.suspend(database)
    if groupCommit?.hasFailed != true { database.optimizeBeforeClosing() }
    keepLogIfNeeded()
    database.closeEverything()
  }

  /// After a failed sync the log is what the next process recovers from: moving it into the file could move
  /// what isn't on disk.
  private func keepLogIfNeeded() {
    if groupCommit?.hasFailed == true { database.connection.keepLogOnClose() }
  }

  deinit { keepLogIfNeeded() }

  /// What it has done.
  var statistics: AccessStatistics {
    var statistics = lock.figures
    statistics.transactions = transactions.load(ordering: .relaxed)
    statistics.timeInCommit = .nanoseconds(
      database.connection.timeInCommit.load(ordering: .relaxed))
    statistics.logFrames = logFrames.load(ordering: .relaxed)
    groupCommit?.describe(&statistics)
    return statistics
  }
}

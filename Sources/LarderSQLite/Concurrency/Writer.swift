import CSQLite
import Dispatch
import Synchronization

/// The connection that writes, and the ``WriterLock`` of those who want it.
///
/// Each scope runs alone, on its caller's thread or in its caller's task. What scopes share is the wait
/// for the disk (``GroupCommit``).
///
/// What makes it Sendable: the database is used by the holder of the lock only, and so are the other
/// variables.
final class Writer: ScopeRunner, @unchecked Sendable {
  let database: Database
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
  /// Makes checkpoints where there is no ``Checkpointer``.
  private let worker = DispatchQueue(label: "larder.writer.checkpoint")
  private let isCheckpointDue = Atomic<Bool>(false)
  private static let checkpointCall = ScopeCall("a checkpoint")
  private let cancellation = Cancellation()
  private let transactions = Atomic<Int>(0)
  private let logFrames = Atomic<Int>(0)
  /// Nil for what is in no file, and what is only read.
  let fileCheck: FileIdentityCheck?
  /// What the last look has found.
  var fileFinding = FileIdentityCheck.Finding.inPlace
  /// Whether the file was moved, or its content replaced, since it was opened.
  let isOutdated = Atomic<Bool>(false)
  /// Where reads are refused once another file has taken the place of the one that is open.
  weak var readers: Readers?
  /// Between when and when the last BEGIN waited in vain for the lock of another process.
  private var vainWait: (from: Duration, to: Duration)?

  init(path: String?, configuration: Configuration) throws {
    database = try Database(path: path, configuration: configuration)
    interruptHandle = database.interruptHandle
    self.path = path
    location = try database.fileLocation()
    fileCheck = database.isReadOnly ? nil : location.flatMap { FileIdentityCheck($0) }
    retryLimit = configuration.retryLimit
    readsWaitForDurability = configuration.readsWaitForDurability
    hasLog = configuration.journalMode == .wal
    lock = WriterLock(timeout: configuration.scopeTimeout)
    let isDurable = configuration.synchronous == .full || configuration.synchronous == .extra
    groupCommit =
      configuration.groupCommit && isDurable && !database.isReadOnly
      ? GroupCommit(sharing: database, patience: configuration.scopeTimeout.bounded) : nil
    if !database.isReadOnly { watchLog() }
    lock.spins = groupCommit != nil
    database.connection.leave()
  }

  /// Lets checkpoints be made beside the writer, for a pool. Before anybody else uses it.
  func shareLog(with readers: Readers, _ configuration: Configuration) throws {
    guard !database.isReadOnly else { return }
    database.connection.takeOver()
    defer { database.connection.leave() }
    self.readers = readers
    checkpointer = Checkpointer(
      location: location, configuration: configuration,
      pageSize: try database.pageSize, writer: lock,
      readers: readers, groupCommit: groupCommit)
  }

  /// Takes over the automatic checkpoints of the connection.
  private func watchLog() {
    database.connection.willChangeJournalMode = { [unowned self] in
      fileCheck?.isLogChanging = true
      try groupCommit?.suspendForNow(database)
    }
    database.connection.onSyncFailure = { [unowned self] in groupCommit?.hasFailedToSync() }
    database.connection.onReplacedContent = { [unowned self] in
      isOutdated.store(true, ordering: .relaxed)
    }
    database.connection.onLogCommit = { [unowned self] in hasCommitted(frames: $0) }
  }

  /// Notes a commit to the write-ahead log of the main database. Returns whether the log is seen to.
  private func hasCommitted(frames: Int) -> Bool {
    logFrames.store(frames, ordering: .relaxed)
    fileCheck?.noteCommit()
    groupCommit?.hasCommitted()
    let interval = database.connection.autocheckpoint
    if let checkpointer {
      checkpointer.hasCommitted(frames: frames, interval: interval)
      return true
    }
    if groupCommit?.hasFailed == true { return true }
    guard interval > 0, frames >= interval else { return true }
    // A scope that goes on, with commit after commit, makes the checkpoint itself.
    guard frames < 4 * interval else { return false }
    checkpointLater()
    return true
  }

  /// Has the log moved into the file in the next turn of the lock, by this connection on a thread of its own: so that
  /// the caller doesn't wait for the disk, which may take any time.
  private func checkpointLater() {
    guard !isCheckpointDue.exchange(true, ordering: .relaxed) else { return }
    let turn = lock.reserve()
    worker.async { [self] in
      defer { isCheckpointDue.store(false, ordering: .relaxed) }
      guard lock.redeem(turn, Self.checkpointCall, within: lock.timeout) else { return }
      defer { lock.release() }
      guard database.isOpen, groupCommit?.hasFailed != true, isInPlace else { return }
      database.connection.takeOver()
      defer { database.connection.leave() }
      // The log stays where that fails, and a later commit has it tried again.
      _ = try? database.checkpoint(.passive)
    }
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
    // SQLite syncs the head of a log that begins anew by itself.
    let spent = waited + .nanoseconds(kind.isTransaction ? database.connection.lastTimeInCommit : 0)
    lock.release()
    if waitsForDisk(kind) {
      try groupCommit.wait(for: position, within: groupCommit.patience(after: spent))
    }
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
    case .transaction(.immediate), .transaction(.exclusive): return hasLog
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
    if let fileCheck, !kind.isRead {
      if fileCheck.isDue, database.isOpen { try checkFile(fileCheck) }
      defer { fileCheck.noteEnd() }
      return try runChecked(kind, waited, body)
    }
    try runChecked(kind, waited, body)
  }

  @inline(__always)
  private func runChecked(
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
  ///
  /// - Parameter deadline: until when it waits for the lock, and for syncs.
  func close(until deadline: Duration?) throws {
    if isClosed.load(ordering: .relaxed) { return }
    try checkProcess()
    func left() -> Duration { deadline.map { max(.zero, $0 - MonotonicClock.now) } ?? lock.timeout }
    _ = try lock.acquire(ScopeCall("close()"), within: left())
    defer { lock.release() }
    if isClosed.load(ordering: .relaxed) { return }
    checkpointer?.close()
    try groupCommit?.suspend(database, within: left())
    isClosed.store(true, ordering: .relaxed)
    let isInPlace = isInPlace
    database.connection.takeOver()
    defer { database.connection.leave() }
    if groupCommit?.hasFailed != true, isInPlace { database.optimizeBeforeClosing() }
    keepLogIfNeeded()
    database.closeEverything()
  }

  /// After a failed sync the log is what the next process recovers from: moving it into the file could move
  /// what isn't on disk.
  private func keepLogIfNeeded() {
    if groupCommit?.hasFailed == true { database.connection.keepLogOnClose() }
  }

  deinit {
    guard database.isOpen, database.connection.isOfThisProcess else { return }
    database.connection.takeOver()
    // What was moved away is made whole.
    _ = isInPlace
    keepLogIfNeeded()
  }

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

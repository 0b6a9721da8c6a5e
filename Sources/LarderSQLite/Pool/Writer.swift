import CSQLite
import Dispatch
import Synchronization

/// The writing connection, and the ``WriterLock`` that scopes acquire for it.
///
/// Each scope runs alone, on its caller's thread or in its caller's task. Scopes share only the wait for the
/// disk (``GroupCommit``).
///
/// Sendable because only the holder of the lock uses the database and the other variables.
final class Writer: ScopeRunner, @unchecked Sendable {
  let database: Database
  let lock: WriterLock
  var scheduler: any TaskScheduler { lock }
  let interruptHandle: InterruptHandle
  let path: String?
  /// The file that is open, for other connections to the same file.
  let location: FileLocation?
  var configuration: Configuration { database.configuration }
  let readsWaitForDurability: Bool
  /// Whether the file has a write-ahead log. Then a holder of the lock never waits for readers.
  private let hasLog: Bool
  /// Nil if commits aren't durable, or each syncs by itself.
  let groupCommit: GroupCommit?
  /// The holder of the log, such as a replication; nil if there is none.
  let logHolding = LogHolding(nil)
  /// A pool's checkpointer; nil for a queue.
  private(set) var checkpointer: Checkpointer? {
    didSet { database.checkpoints = checkpointer?.checkpoints }
  }
  private let isClosed = Atomic<Bool>(false)
  /// Runs checkpoints if there is no ``Checkpointer``.
  private let worker = DispatchQueue(label: "larder.writer.checkpoint")
  private let isCheckpointDue = Atomic<Bool>(false)
  private static let checkpointCall = ScopeCall("a checkpoint")
  private let cancellation = Cancellation()
  private let transactions = Atomic<Int>(0)
  private let logFrames = Atomic<Int>(0)
  /// The checkpoints by all of the queue's or pool's connections.
  let checkpointWork = TimedWork()
  /// Whether the file isn't in its place.
  let isAway = Atomic<Bool>(false)
  /// Nil for a database that is in no file or read-only.
  let fileCheck: FileIdentityCheck?
  /// The finding of the last look.
  var fileFinding = FileIdentityCheck.PathState.inPlace
  /// Whether the log of a moved file is left to whoever opens its path: it is empty, or others have written to it.
  var isLogLeft = false
  /// Whether the file was moved, or its content replaced, since it was opened.
  let isOutdated = Atomic<Bool>(false)
  /// The readers, which refuse reads once another file has taken the place of the one that is open.
  weak var readers: ConnectionPool?
  /// The period in which the last BEGIN waited in vain for another process's lock.
  private var vainWait: (from: Duration, to: Duration)?

  init(path: String?, configuration: Configuration) throws {
    if let path, !path.isEmpty { Self.settleMovedFiles(at: path) }
    database = try Database(path: path, configuration: configuration)
    interruptHandle = database.interruptHandle
    self.path = path
    location = try database.fileLocation()
    fileCheck = database.isReadOnly ? nil : location.flatMap { FileIdentityCheck($0) }
    readsWaitForDurability = configuration.readsWaitForDurability
    hasLog = configuration.journalMode == .wal
    lock = WriterLock(timeout: configuration.scopeTimeout)
    let isDurable = configuration.synchronous == .full || configuration.synchronous == .extra
    groupCommit =
      configuration.groupCommit && isDurable && !database.isReadOnly
      ? GroupCommit(sharing: database, patience: configuration.scopeTimeout.bounded) : nil
    if !database.isReadOnly { watchLog() }
    database.connection.logHolding = logHolding
    database.connection.checkpointWork = checkpointWork
    database.connection.currentLabel = { [unowned lock] in lock.holderCall.name }
    lock.spins = groupCommit != nil
    database.connection.leave()
    register()
  }

  /// Sets up a pool's ``Checkpointer``. Called before anybody else uses this object.
  func shareLog(with readers: ConnectionPool, _ configuration: Configuration) throws {
    guard !database.isReadOnly else { return }
    database.connection.takeOver()
    defer { database.connection.leave() }
    self.readers = readers
    checkpointer = try Checkpointer(beside: self, readers, configuration)
  }

  /// Installs the connection's callbacks. They also replace its automatic checkpoints.
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

  /// Notes a commit to the write-ahead log of the main database. Returns false if the connection has to make
  /// the checkpoint itself.
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
    // A scope that goes on with commit after commit makes the checkpoint itself.
    guard frames < 4 * interval else { return false }
    checkpointLater()
    return true
  }

  /// Makes a checkpoint in the lock's next turn, with this connection on another thread. So the caller
  /// doesn't wait for the disk, which may take any time.
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
      // If that fails the log stays, and a later commit tries again.
      _ = try? database.checkpoint(.passive)
    }
  }

  // MARK: Scopes

  /// Runs a scope on this thread once it holds the lock. Returns or throws only when what the scope has
  /// committed or seen is durable.
  func perform(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if let groupCommit { return try perform(kind, call, sharing: groupCommit, body) }
    let waited = try lock.acquire(call)
    defer { lock.release() }
    try run(kind, waited, body)
  }

  /// Runs a scope whose caller waits for a sync that it shares with others.
  @inline(never)
  private func perform(
    _ kind: ScopeKind, _ call: ScopeCall, sharing groupCommit: GroupCommit,
    _ body: (Database) throws -> Void
  ) throws {
    try groupCommit.check()
    let waited = try lock.acquire(call)
    let outcome = Result {
      // A sync may have failed while this scope waited.
      try groupCommit.check()
      try run(kind, waited, body)
    }
    let position = groupCommit.settle(database)
    // The COMMIT counts too: SQLite itself syncs the head of a log that begins anew.
    let spent = waited + .nanoseconds(kind.isTransaction ? database.connection.commits.lastTime : 0)
    lock.release()
    if waitsForDisk(kind) {
      try groupCommit.wait(for: position, within: groupCommit.patience(after: spent))
    }
    try outcome.get()
  }

  /// Runs the scope of a task that holds the lock, on the thread that runs the task's job. Returns the log
  /// position of what the scope has committed or seen.
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
          // In other kinds of scope, the body's commits stay.
          if case .transaction = kind { try task.checkCancellation() }
        }
      }
    }
    let position = groupCommit?.settle(database) ?? 0
    return ScopeOutcome(result: outcome, position: waitsForDisk(kind) ? position : 0)
  }

  /// Runs a scope unless it would wait, for the lock, another process or a checkpoint; then returns nil.
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

  /// Whether a scope that holds the lock never has to wait.
  private func waitsForNothing(_ kind: ScopeKind) -> Bool {
    if database.connection.isAlone { return true }
    switch kind {
    case .read: return hasLog
    case .transaction(.immediate), .transaction(.exclusive): return hasLog
    // These may have to wait for a lock in the middle.
    case .plain, .savepoint, .transaction: return false
    }
  }

  /// Whether a scope's outcome waits until what it has seen is on disk.
  private func waitsForDisk(_ kind: ScopeKind) -> Bool {
    readsWaitForDurability || !kind.isRead
  }

  private func run(
    _ kind: ScopeKind, _ waited: Duration, _ body: (Database) throws -> Void
  ) throws {
    if let fileCheck, !kind.isRead {
      if _slowPath(fileCheck.isDue), database.isOpen { try checkFile(fileCheck) }
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
    if _slowPath(vainWait != nil) { return try runAfterVainWait(kind, waited, body) }
    do {
      try enter(kind, body)
    } catch {
      if !database.hasBegun { noteVainWait(error) }
      throw error
    }
  }

  @inline(never)
  private func noteVainWait(_ error: any Error) {
    guard let error = error as? DatabaseError, error.isBusy else { return }
    let now = MonotonicClock.now
    vainWait = (now - database.busyTimeout, now)
  }

  @inline(__always)
  private func enter(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    try EnteredScope.run(ObjectIdentifier(self), .writer) {
      try database.runScope(kind, body)
    }
  }

  /// Runs a scope after an earlier one has waited in vain for another process's lock. The time that this
  /// scope was in the queue meanwhile counts as its own wait for that lock. Otherwise scopes at the end of
  /// the queue would wait for the time-outs of all before them.
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

  func cancel(_ task: WaitingTask) {
    lock.cancel(task)
    cancellation.cancel(task)
  }

  /// - Parameter deadline: the end of the wait for the lock, and for syncs; nil for the usual timeout.
  func close(until deadline: Duration?) throws {
    if isClosed.load(ordering: .relaxed) { return }
    try database.connection.checkProcess()
    func left() -> Duration { deadline.map { max(.zero, $0 - MonotonicClock.now) } ?? lock.timeout }
    _ = try lock.acquire(ScopeCall("close()"), within: left())
    defer { lock.release() }
    if isClosed.load(ordering: .relaxed) { return }
    checkpointer?.close(makesNoMore: true)
    try groupCommit?.suspend(database, within: left())
    isClosed.store(true, ordering: .relaxed)
    let isInPlace = isInPlace
    database.connection.takeOver()
    defer { database.connection.leave() }
    if groupCommit?.hasFailed != true, isInPlace { database.optimizeBeforeClosing() }
    keepLogIfNeeded()
    database.closeEverything()
  }

  /// Keeps the log after a failed sync: the next process recovers from it. Moving it into the file could move
  /// what isn't on disk.
  private func keepLogIfNeeded() {
    if groupCommit?.hasFailed == true { database.connection.keepLogOnClose() }
  }

  deinit {
    unregister()
    guard database.isOpen, database.connection.isOfThisProcess else { return }
    database.connection.takeOver()
    // If the file was moved away, this moves the log into it.
    _ = isInPlace
    keepLogIfNeeded()
  }

  var statistics: AccessStatistics {
    var statistics = lock.statistics
    statistics.transactions = transactions.load(ordering: .relaxed)
    statistics.note(commits: database.connection.commits)
    statistics.logFrames = logFrames.load(ordering: .relaxed)
    statistics.checkpoint = AccessStatistics.Timing(checkpointWork)
    statistics.pendingFrames = checkpointWork.left.load(ordering: .relaxed)
    groupCommit?.describe(&statistics)
    if statistics.error == nil, isAway.load(ordering: .relaxed), let location {
      statistics.error = FileLocation.movedError(location.path)
    }
    statistics.bytes = database.connection.memory.load(ordering: .relaxed)
    database.connection.block(.measurement)
    return statistics
  }
}

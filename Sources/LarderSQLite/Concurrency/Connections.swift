import Synchronization

/// The connections of a queue or a pool: the writer, the readers, and which of them runs a scope. A pool of
/// another engine's has no writer: each of its connections reads and writes.
@_documentation(visibility: internal)
public final class Connections: Sendable {
  /// Nil where each connection reads and writes.
  let writer: Writer?
  /// Nil where the writer reads too.
  let readers: Readers?
  /// Where another engine's reads go first; nil where it has no replicas.
  package let replicas: Replicas?
  private let waitGraph: WaitGraph?
  let briefScopes = BriefScopes()
  /// Who observes what is committed; nil where nobody ever has.
  let observer = Lock<(any ScopeObserver)?>(nil)
  /// What works beside the scopes.
  let companions = Lock<(list: [any AccessCompanion], isClosed: Bool)>(([], false))
  /// Nil where nothing is written to a file.
  let moveWatcher: MoveWatcher?
  private let processGeneration = ProcessGeneration.watch()
  let owner: ObjectIdentifier
  /// The closing that is under way.
  let closing = Lock<Closing?>(nil)
  private let retryLimit: Duration?
  /// The engine's name, for errors.
  let engine: String
  /// Whether an error is one that another attempt may not meet.
  private let isTransient: (@Sendable (DatabaseError) -> Bool)?
  private let retries = Atomic<Int>(0)
  /// The same as ``readers``, which keeps them, not retained: a count of references that all threads share
  /// would make those wait for one another that read.
  private let readersReference: Unmanaged<Readers>?
  /// The same as ``writer``, which keeps it.
  private let writerReference: Unmanaged<Writer>?

  init(writer: Writer, readers: Readers?) {
    self.writer = writer
    self.readers = readers
    owner = ObjectIdentifier(writer)
    retryLimit = writer.retryLimit
    engine = "SQLite"
    isTransient = nil
    replicas = nil
    readersReference = readers.map(Unmanaged.passUnretained)
    writerReference = .passUnretained(writer)
    waitGraph = readers.map { WaitGraph(maximumReaders: $0.maximum) }
    moveWatcher = writer.watcherOfMoves()
    moveWatcher?.start()
    shareFileOnDemand()
  }

  /// Connections of another engine, each of which reads and writes.
  ///
  /// - Parameters:
  ///   - engine: its name, for errors.
  ///   - maximum: how many there are at most.
  ///   - timeout: how long a scope waits for one.
  ///   - retryLimit: for how long a transaction is tried again that others were in the way of, or whose
  ///     connection was lost.
  ///   - isTransient: whether an error has undone all that the scope has done, and another attempt may not meet
  ///     it: a connection was lost, or can't be had for now.
  ///   - replicas: where reads go first.
  ///   - open: opens one.
  package init(
    engine: String, maximum: Int, timeout: Duration, retryLimit: Duration?,
    isTransient: @escaping @Sendable (DatabaseError) -> Bool, replicas: Replicas? = nil,
    open: @escaping @Sendable () throws -> Database
  ) {
    let readers = Readers(maximum: maximum, timeout: timeout, open: open)
    writer = nil
    self.readers = readers
    owner = readers.owner
    self.engine = engine
    self.retryLimit = retryLimit
    self.isTransient = isTransient
    self.replicas = replicas
    readersReference = .passUnretained(readers)
    writerReference = nil
    waitGraph = WaitGraph(maximumReaders: readers.maximum)
    moveWatcher = nil
  }

  /// The connection that writes is closed last: the others, which only read, couldn't move the log into
  /// the file.
  deinit {
    if isOfThisProcess { moveWatcher?.stop() }
    for companion in companions.withLock({ $0.list }) { companion.abandon() }
    readers?.abandon()
    writer?.checkpointer?.close()
  }

  // MARK: Threads

  /// Runs a scope, and waits for it. Throws where the call comes from inside of another one that holds what
  /// it waits for.
  ///
  /// Only this much is generic: everything below is compiled once, for no result at all.
  @inlinable
  func perform<T>(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> T
  ) throws -> T {
    var result: T?
    try runRetrying(kind, call) { result = try body($0) }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  /// The same for scopes of the module's own, of which there are few. Not optimized: for each closure the
  /// compiler would write anew all that a scope runs through, 24 kB.
  @_optimize(none)
  func performSeldom<T>(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> T
  ) throws -> T {
    try perform(kind, call, body)
  }

  @usableFromInline
  func runRetrying(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if case .read = kind, writerReference == nil, try readFromReplica(call, body) { return }
    try runOnPrimary(kind, call, body)
  }

  /// Whether a read has run on a replica. What is read inside of another scope stays beside it.
  func readFromReplica(
    _ call: ScopeCall, notBefore position: LogPosition = .init(),
    _ body: (Database) throws -> Void
  ) throws -> Bool {
    guard let replicas, EnteredScope.held(of: owner).isNothing else { return false }
    return try replicas.run(call, notBefore: position, besides: self, body)
  }

  @inline(__always)
  func runOnPrimary(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    guard let limit = retryLimit, isRetried(kind) else {
      do {
        return try runOnce(kind, call, body)
      } catch {
        throw DatabaseError.naming(engine, in: error)
      }
    }
    var retry = Retry(limit: limit, isTransient: isTransient)
    while true {
      do {
        return try runOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: DatabaseError.naming(engine, in: error))
        retries.add(1, ordering: .relaxed)
        BusyHandler.sleep(pause)
      }
    }
  }

  /// Whether a scope is tried again: one that fails leaves nothing behind. Another engine's reads can fail
  /// for a lost connection.
  private func isRetried(_ kind: ScopeKind) -> Bool {
    if writer == nil, case .read = kind { return true }
    return kind.isTransaction
  }

  func runOnce(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if processGeneration != ProcessGeneration.current { throw Connection.processError }
    if EnteredScope.isInside, case let held = EnteredScope.held(of: owner), !held.isNothing {
      try runInside(held, kind, call, body)
    } else if case .read = kind, let readersReference {
      try readersReference._withUnsafeGuaranteedRef { try read($0, body) }
    } else {
      try write(kind, call, body)
    }
  }

  @inline(__always)
  private func write(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if let writerReference {
      try writerReference._withUnsafeGuaranteedRef { try $0.perform(kind, call, body) }
    } else {
      try readers?.perform(kind, body)
    }
  }

  /// Runs a scope from inside of another one of the same pool. What it waits for the scope around it may
  /// hold, or another that waits for what that one holds.
  private func runInside(
    _ held: EnteredScope.Held, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    var reads: Readers?
    if case .read = kind { reads = readers }
    guard let waitGraph, reads != nil || !held.writer else { throw EnteredScope.reentryError }
    let wait = WaitGraph.Wait(held: held, wantsReader: reads != nil || writer == nil)
    try waitGraph.add(wait)
    var isWaiting = true
    func begin() {
      if isWaiting { waitGraph.remove(wait) }
      isWaiting = false
    }
    defer { begin() }
    let body: (Database) throws -> Void = { database in
      begin()
      try body(database)
    }
    try runInside(reads, kind, call, body)
  }

  /// Not optimized, as ``performSeldom(_:_:_:)``.
  @_optimize(none)
  private func runInside(
    _ reads: Readers?, _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if let reads { try read(reads, body) } else { try write(kind, call, body) }
  }

  private func read(_ readers: Readers, _ body: (Database) throws -> Void) throws {
    guard let groupCommit else { return try readers.perform(.read, body) }
    try groupCommit.check()
    let outcome = Result { try readers.perform(.read, body) }
    try groupCommit.wait(for: groupCommit.position, within: readers.timeout)
    try outcome.get()
  }

  /// Whose syncs reads wait for.
  private var groupCommit: GroupCommit? {
    guard let writer, writer.readsWaitForDurability else { return nil }
    return writer.groupCommit
  }

  // MARK: Tasks

  /// Runs a scope in the caller's task: on a thread of the queue's or pool's own, or at once where the
  /// call's scopes are brief.
  func perform<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    if kind.isRead, let replicas,
      let value = try await replicas.run(call, notBefore: .init(), besides: self, body)
    {
      return value
    }
    return try await performOnPrimary(kind, call, body)
  }

  func performOnPrimary<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var retry = Retry(limit: isRetried(kind) ? retryLimit : nil, isTransient: isTransient)
    while true {
      do {
        return try await performOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: DatabaseError.naming(engine, in: error))
        retries.add(1, ordering: .relaxed)
        try await Task.sleep(for: pause)
      }
    }
  }

  func performOnce<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    try checkProcess()
    if let writer, !(kind.isRead && readers != nil) {
      let outcome = await run(by: writer, kind, call, body)
      try await writer.groupCommit?.wait(
        for: outcome.position, within: writer.lock.timeout, isCancellable: kind.isRead)
      return try outcome.result.get()
    }
    guard let readers else { throw DatabaseError(.internal, "there is no connection") }
    try groupCommit?.check()
    let outcome = await run(by: readers, kind, call, body)
    if let groupCommit {
      try await groupCommit.wait(
        for: groupCommit.position, within: readers.timeout, isCancellable: true)
    }
    return try outcome.result.get()
  }

  /// Runs a task's scope on this thread if it is brief and waits for nothing, else on the thread that the
  /// scheduler chooses.
  private func run<T: Sendable>(
    by runner: some ScopeRunner, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async -> ScopeOutcome<T> {
    let task = WaitingTask(runner.scheduler)
    return await withTaskCancellationHandler {
      let outcome: ScopeOutcome<T>? = await briefScopes.runAtOnce(call) {
        var value: T?
        return runner.performAtOnce(task, kind, call) { value = try body($0) }?.giving(value)
      }
      if let outcome { return outcome }
      return await withTaskExecutorPreference(task) {
        if let refusal = task.refusal { return ScopeOutcome(result: .failure(refusal)) }
        let start = MonotonicClock.nanoseconds
        defer { briefScopes.note(call, MonotonicClock.nanoseconds &- start) }
        var value: T?
        return runner.perform(task, kind, call) { value = try body($0) }.giving(value)
      }
    } onCancel: {
      task.cancel()
      runner.cancel(task)
    }
  }

  /// Throws in a process that was forked: there nobody lets go of what was held before.
  func checkProcess() throws {
    if !isOfThisProcess { throw Connection.processError }
  }

  /// Whether this process opened them.
  var isOfThisProcess: Bool { processGeneration == ProcessGeneration.current }

  /// Whether they were closed.
  var isClosed: Bool { readers?.isBarred(by: Readers.closed) ?? false }

  /// Whether what is open isn't what was opened any more: the file was moved or replaced, or its content restored.
  package var isOutdated: Bool { writer?.isOutdated.load(ordering: .relaxed) ?? false }

  /// Connects, where nobody has yet, and throws where that fails, at once.
  package func connect() throws {
    try runOnce(.plain, ScopeCall("connect()")) { _ in }
  }

  /// Closes the connections of the readers that nobody uses.
  package func releaseIdle() {
    readers?.releaseIdle()
    replicas?.releaseIdle()
  }

  /// Makes what the connection that writes runs throw `ResultCode.interrupt`; in a pool without one, what
  /// all run.
  func interrupt() {
    if let writer { writer.interruptHandle.interrupt() } else { readers?.interrupt() }
    replicas?.interrupt()
  }

  // MARK: Closing

  /// Keeps a companion until these are closed. Throws where they are.
  func add(_ companion: any AccessCompanion) throws {
    try companions.withLock { companions in
      guard !companions.isClosed else { throw DatabaseError(.misuse, "database is closed") }
      companions.list.append(companion)
    }
  }

  func remove(_ companion: any AccessCompanion) {
    companions.withLock { $0.list.removeAll { $0 === companion } }
  }

  /// Moves the log into the file. In a pool, where that waits for readers, others are kept waiting for
  /// short times only, again and again until it is done or the busy timeout is over.
  func checkpoint(_ mode: CheckpointMode) throws -> (logFrames: Int, checkpointed: Int) {
    guard let checkpointer = writer?.checkpointer, mode != .passive else {
      return try performSeldom(.plain, ScopeCall("checkpoint(_:)")) { try $0.checkpoint(mode) }
    }
    try checkProcess()
    guard !EnteredScope.held(of: owner).writer else { throw EnteredScope.reentryError }
    return try checkpointer.checkpoint(mode)
  }

  var statistics: AccessStatistics {
    var statistics = writer?.statistics ?? AccessStatistics()
    statistics.retries = retries.load(ordering: .relaxed)
    readers?.describe(&statistics)
    return statistics
  }
}

import Synchronization

/// The connections of a queue or a pool: the writer and the readers, and the choice between them for each
/// scope. A pool of another engine has no writer: each of its connections reads and writes.
@_documentation(visibility: internal)
public final class Connections: Sendable {
  /// Nil if each connection reads and writes.
  let writer: Writer?
  /// SQLite's readers, nil if the writer reads too; or all connections of another engine.
  let pool: ConnectionPool?
  /// The replicas that run another engine's reads; nil if there are none.
  let replicas: (any EngineReplicas)?
  /// Reports another engine's commits; nil if there is none, or it can't.
  let engineObservation: (any EngineObservation)?
  private let waitGraph: WaitGraph?
  let tokenBuckets = ScopeTokenBuckets()
  /// The observer of commits; nil if there has never been one.
  let observer = Lock<(any ScopeObserver)?>(nil)
  let companions = Lock<(list: [any AccessCompanion], isClosed: Bool)>(([], false))
  /// Nil if nothing is written to a file.
  let moveWatcher: MoveWatcher?
  private let processGeneration = ProcessGeneration.watch()
  let owner: ObjectIdentifier
  let closing = Lock<Closing?>(nil)
  package let engine: String
  /// How long transactions are retried; nil for not at all.
  private let retryLimit: Duration?
  /// The retries of another engine's scopes; nil for SQLite.
  let engineRetries: (any EngineRetries)?
  let retries = Atomic<Int>(0)
  /// How many errors scopes have thrown to their callers.
  let failures = Atomic<Int>(0)
  /// The configuration, as far as it is of all engines.
  let configuration: Configuration
  /// What is measured of scopes; nil for nothing.
  let measurement: ScopeMeasurement?
  /// Where another engine's database is, for errors.
  let place: String?
  /// Looks at the file's surroundings; nil for a database that is in none.
  let surroundings: FileSurroundings?
  let probes = Probes()
  /// An unretained reference to ``pool``. A reference count that all threads share would make reading
  /// threads wait for one another.
  private let poolReference: Unmanaged<ConnectionPool>?
  /// An unretained reference to ``writer``.
  private let writerReference: Unmanaged<Writer>?
  /// An unretained reference to the times of calls, if nothing else is measured.
  let timesReference: Unmanaged<CallTimes>?

  init(writer: Writer, pool: ConnectionPool?) {
    self.writer = writer
    self.pool = pool
    owner = ObjectIdentifier(writer)
    engine = "SQLite"
    retryLimit = writer.configuration.retryLimit
    configuration = writer.configuration
    measurement = ScopeMeasurement(configuration)
    place = writer.location?.path
    surroundings = writer.location.map { FileSurroundings($0) }
    engineRetries = nil
    replicas = nil
    engineObservation = nil
    poolReference = pool.map(Unmanaged.passUnretained)
    writerReference = .passUnretained(writer)
    waitGraph = pool.map { WaitGraph(maximumReaders: $0.maximum) }
    moveWatcher =
      writer.fileCheck == nil ? nil : writer.location.map { MoveWatcher($0) }
    timesReference = measurement?.onlyTimes
    measurement?.times?.timeStatements(of: writer.database.connection)
    pool?.times = measurement?.times
    // (A weak reference to the writer would make its reference counting slow.)
    moveWatcher?.start { [weak self] in self?.writer?.lookForFile() }
    shareFileOnDemand()
  }

  /// Creates connections of another engine, each of which reads and writes.
  ///
  /// - Parameters:
  ///   - engine: its name, for errors.
  ///   - place: the server's address without secrets, for errors.
  ///   - timeout: how long a scope waits for a connection.
  package init(
    engine: String, at place: String, maximum: Int, timeout: Duration, configuration: Configuration,
    retries: any EngineRetries, replicas: (any EngineReplicas)? = nil,
    observation: (any EngineObservation)? = nil, open: @escaping @Sendable () throws -> Database
  ) {
    let pool = ConnectionPool(maximum: maximum, timeout: timeout, open: open)
    writer = nil
    self.pool = pool
    owner = pool.owner
    self.engine = engine
    retryLimit = nil
    self.configuration = configuration
    measurement = ScopeMeasurement(configuration)
    self.place = place
    surroundings = nil
    engineRetries = retries
    self.replicas = replicas
    engineObservation = observation
    poolReference = .passUnretained(pool)
    writerReference = nil
    waitGraph = WaitGraph(maximumReaders: pool.maximum)
    moveWatcher = nil
    timesReference = measurement?.onlyTimes
    pool.times = measurement?.times
  }

  /// The writing connection is closed last: the others, which only read, couldn't move the log into the file.
  deinit {
    if isOfThisProcess {
      moveWatcher?.stop()
      engineObservation?.close()
    }
    for companion in companions.withLock({ $0.list }) { companion.abandon() }
    pool?.abandon()
    writer?.checkpointer?.close(makesNoMore: true)
  }

  // MARK: Threads

  /// Runs a scope, and waits for it. Throws if the call comes from inside of a scope that holds what this one
  /// waits for.
  ///
  /// Only this much is generic: everything below is compiled once, for closures without a result.
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

  /// Variant for the module's own few scopes. Not optimized: for each closure the compiler would specialize
  /// all that a scope runs through, 24 kB.
  @_optimize(none)
  package func performSeldom<T>(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> T
  ) throws -> T {
    try perform(kind, call, body)
  }

  @usableFromInline
  func runRetrying(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    do {
      // (Not `if let`, which would retain and release it.)
      if _slowPath(measurement != nil) { return try runMeasured(kind, call, body) }
      try runAnywhere(kind, call, body)
    } catch {
      throw reported(error, call)
    }
  }

  @inline(__always)
  func runAnywhere(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if _slowPath(writerReference == nil), case .read = kind, try readFromReplica(call, body) {
      return
    }
    try runOnPrimary(kind, call, body)
  }

  /// Tries to run a read on a replica; false if it has to run on the primary. A read inside of another scope
  /// always does.
  private func readFromReplica(
    _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws -> Bool {
    guard let replicas, !isInside else { return false }
    return try replicas.run(call, besides: self, body)
  }

  /// Whether this thread is in one of the scopes.
  package var isInside: Bool { !EnteredScope.held(of: owner).isNothing }

  @inline(__always)
  package func runOnPrimary(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if let limit = retryLimit, isRetried(kind) {
      return try runRetrying(kind, call, until: limit, body)
    }
    // (Copying a reference that isn't there took a fifth of an empty scope's instructions.)
    if _slowPath(writerReference == nil), let engineRetries, isRetried(kind) {
      return try engineRetries.run(kind, call, on: self, body)
    }
    do {
      return try runOnce(kind, call, body)
    } catch {
      throw DatabaseError.naming(engine, in: error)
    }
  }

  /// Whether a scope is retried: only if a failed one leaves nothing behind. Another engine's reads are
  /// retried too, since their connection can be lost.
  private func isRetried(_ kind: ScopeKind) -> Bool {
    kind.isTransaction || kind.isRead && writer == nil
  }

  package func runOnce(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if _slowPath(processGeneration != ProcessGeneration.current) { throw Connection.processError }
    if _slowPath(EnteredScope.isInside), case let held = EnteredScope.held(of: owner),
      !held.isNothing
    {
      try runInside(held, kind, call, body)
    } else if case .read = kind, let poolReference {
      try poolReference._withUnsafeGuaranteedRef { try read($0, call, body) }
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
      try pool?.perform(kind, call, body)
    }
  }

  /// Runs a scope from inside of another one of the same pool. The outer scope may hold what this one waits
  /// for, or so may a scope that itself waits for the outer one.
  private func runInside(
    _ held: EnteredScope.Held, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    var reads: ConnectionPool?
    if case .read = kind { reads = pool }
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

  /// Not optimized, for the same reason as ``performSeldom(_:_:_:)``.
  @_optimize(none)
  private func runInside(
    _ reads: ConnectionPool?, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: (Database) throws -> Void
  ) throws {
    if let reads { try read(reads, call, body) } else { try write(kind, call, body) }
  }

  private func read(
    _ pool: ConnectionPool, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    guard let groupCommit else { return try pool.perform(.read, call, body) }
    try groupCommit.check()
    let outcome = Result { try pool.perform(.read, call, body) }
    try groupCommit.wait(for: groupCommit.position, within: pool.timeout)
    try outcome.get()
  }

  /// The group commit whose syncs reads wait for; nil if they don't wait.
  private var groupCommit: GroupCommit? {
    guard let writer, writer.readsWaitForDurability else { return nil }
    return writer.groupCommit
  }

  // MARK: Tasks

  /// Runs a scope in the caller's task: on a thread of the queue's or pool's own, or on the task's thread if
  /// the call's scopes are brief.
  func perform<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    do {
      guard let measurement else { return try await performAnywhere(kind, call, body) }
      return try await performWatched(measurement, kind, call, body)
    } catch {
      throw reported(error, call)
    }
  }

  func performAnywhere<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    if kind.isRead, writerReference == nil, let replicas,
      let value = try await replicas.run(call, besides: self, body)
    {
      return value
    }
    return try await performOnPrimary(kind, call, body)
  }

  package func performOnPrimary<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    if writerReference == nil, let engineRetries, isRetried(kind) {
      return try await engineRetries.run(kind, call, on: self, body)
    }
    var retry = Retry(limit: isRetried(kind) ? retryLimit : nil)
    while true {
      do {
        return try await performOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: DatabaseError.naming(engine, in: error))
        retries.wrappingAdd(1, ordering: .relaxed)
        try await Task.sleep(for: pause)
      }
    }
  }

  package func performOnce<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    try checkProcess()
    if let writer, !(kind.isRead && pool != nil) {
      let outcome = await run(by: writer, kind, call, body)
      try await writer.groupCommit?.wait(
        for: outcome.position, within: writer.lock.timeout, isCancellable: kind.isRead)
      return try outcome.result.get()
    }
    guard let pool else { throw DatabaseError(.internal, "there is no connection") }
    try groupCommit?.check()
    let outcome = await run(by: pool, kind, call, body)
    if let groupCommit {
      try await groupCommit.wait(
        for: groupCommit.position, within: pool.timeout, isCancellable: true)
    }
    return try outcome.result.get()
  }

  /// Runs a task's scope on this thread if it is brief and waits for nothing, else on the scheduler's.
  private func run<T: Sendable>(
    by runner: some ScopeRunner, _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async -> ScopeOutcome<T> {
    let task = WaitingTask(runner.scheduler)
    return await withTaskCancellationHandler {
      let outcome: ScopeOutcome<T>? = await tokenBuckets.runAtOnce(call) {
        var value: T?
        return runner.performAtOnce(task, kind, call) { value = try body($0) }?.giving(value)
      }
      if let outcome { return outcome }
      return await withTaskExecutorPreference(task) {
        if let refusal = task.refusal { return ScopeOutcome(result: .failure(refusal)) }
        let start = MonotonicClock.nanoseconds
        defer { tokenBuckets.note(call, MonotonicClock.nanoseconds &- start) }
        var value: T?
        return runner.perform(task, kind, call) { value = try body($0) }.giving(value)
      }
    } onCancel: {
      task.cancel()
      runner.cancel(task)
    }
  }

  /// Throws in a forked process, where nobody releases the locks that were held before the fork.
  func checkProcess() throws {
    if !isOfThisProcess { throw Connection.processError }
  }

  var isOfThisProcess: Bool { processGeneration == ProcessGeneration.current }

  package var isClosed: Bool { pool?.isBarred(by: ConnectionPool.closed) ?? false }

  /// Opens a connection if none is open yet, without retries.
  package func connect() throws {
    try runOnce(.plain, ScopeCall("connect()")) { _ in }
  }

  /// Interrupts the writer's statement; in a pool without a writer, those of all connections.
  package func interrupt() {
    if let writer { writer.interruptHandle.interrupt() } else { pool?.interrupt() }
    replicas?.interrupt()
  }
}

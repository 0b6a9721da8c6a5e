import Synchronization

/// The connections of a queue or a pool: the writer, the readers, and which of them runs a scope.
@_documentation(visibility: internal)
public final class Connections: Sendable {
  let writer: Writer
  /// Nil where the writer reads too.
  let readers: Readers?
  private let waitGraph: WaitGraph?
  let briefScopes = BriefScopes()
  private let processGeneration: Int
  /// The same as ``readers``, which keeps them, not retained: a count of references that all threads share
  /// would make those wait for one another that read.
  private let readersReference: Unmanaged<Readers>?

  init(writer: Writer, readers: Readers?) {
    self.writer = writer
    self.readers = readers
    processGeneration = ProcessGeneration.watch()
    readersReference = readers.map(Unmanaged.passUnretained)
    waitGraph = readers.map { WaitGraph(maximumReaders: $0.maximum) }
  }

  /// The connection that writes is closed last: the others, which only read, couldn't move the log into
  /// the file.
  deinit {
    readers?.abandon()
    writer.checkpointer?.close()
  }

  private var owner: ObjectIdentifier { ObjectIdentifier(writer) }

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
    guard let limit = writer.retryLimit, kind.isTransaction else {
      return try runOnce(kind, call, body)
    }
    var retry = Retry(limit: limit)
    while true {
      do {
        return try runOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: error)
        writer.retries.add(1, ordering: .relaxed)
        BusyHandler.sleep(pause)
      }
    }
  }

  private func runOnce(
    _ kind: ScopeKind, _ call: ScopeCall, _ body: (Database) throws -> Void
  ) throws {
    if processGeneration != ProcessGeneration.current { try writer.checkProcess() }
    if EnteredScope.isInside, case let held = EnteredScope.held(of: owner), !held.isNothing {
      try runInside(held, kind, call, body)
    } else if case .read = kind, let readersReference {
      try readersReference._withUnsafeGuaranteedRef { try read($0, body) }
    } else {
      try writer.perform(kind, call, body)
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
    let wait = WaitGraph.Wait(held: held, wantsReader: reads != nil)
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
    if let reads { try read(reads, body) } else { try writer.perform(kind, call, body) }
  }

  private func read(_ readers: Readers, _ body: (Database) throws -> Void) throws {
    guard let groupCommit else { return try readers.perform(body) }
    try groupCommit.check()
    let outcome = Result { try readers.perform(body) }
    try groupCommit.wait(for: groupCommit.position)
    try outcome.get()
  }

  /// Whose syncs reads wait for.
  private var groupCommit: GroupCommit? { writer.readsWaitForDurability ? writer.groupCommit : nil }

  // MARK: Tasks

  /// Runs a scope in the caller's task: on a thread of the queue's or pool's own, or at once where the
  /// call's scopes are brief.
  func perform<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var retry = Retry(limit: kind.isTransaction ? writer.retryLimit : nil)
    while true {
      do {
        return try await performOnce(kind, call, body)
      } catch {
        let pause = try retry.pause(after: error)
        writer.retries.add(1, ordering: .relaxed)
        try await Task.sleep(for: pause)
      }
    }
  }

  private func performOnce<T: Sendable>(
    _ kind: ScopeKind, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    try writer.checkProcess()
    guard case .read = kind, let readers else {
      let outcome = await run(by: writer, kind, call, body)
      try await writer.groupCommit?.wait(for: outcome.position)
      return try outcome.result.get()
    }
    try groupCommit?.check()
    let outcome = await run(by: readers, kind, call, body)
    if let groupCommit { try await groupCommit.wait(for: groupCommit.position) }
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

  // MARK: Closing

  /// Closes all connections: the writer last, which then moves the log into the file.
  func close() throws {
    try writer.checkProcess()
    guard EnteredScope.held(of: owner).isNothing else { throw EnteredScope.reentryError }
    try readers?.close()
    do {
      try writer.close()
    } catch {
      readers?.reopen()
      throw error
    }
  }

  /// Moves the log into the file. In a pool, where that waits for readers, others are kept waiting for
  /// short times only, again and again until it is done or the busy timeout is over.
  @usableFromInline
  func checkpoint(_ mode: CheckpointMode) throws -> (logFrames: Int, checkpointed: Int) {
    guard let checkpointer = writer.checkpointer, mode != .passive else {
      return try performSeldom(.plain, ScopeCall("checkpoint(_:)")) { try $0.checkpoint(mode) }
    }
    try writer.checkProcess()
    guard !EnteredScope.held(of: owner).writer else { throw EnteredScope.reentryError }
    return try checkpointer.checkpoint(mode)
  }

  var statistics: AccessStatistics {
    var statistics = writer.statistics
    readers?.describe(&statistics)
    return statistics
  }
}

import Glibc
import Synchronization

/// The connections of a queue or a pool: the writer and the readers.
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
    readers?.writer = writer
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
    try runScope(kind, call) { result = try body($0) }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  @usableFromInline
  func runScope(
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
        guard let pause = retry.pause(after: error) else { throw error }
        writer.retries.add(1, ordering: .relaxed)
        usleep(UInt32(pause / .microseconds(1)))
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
    if let reads { try read(reads, body) } else { try writer.perform(kind, call, body) }
  }

  private func read(_ readers: Readers, _ body: (Database) throws -> Void) throws {
    guard let groupCommit else { return try readers.perform(owner, body) }
    try groupCommit.check()
    let outcome = Result { try readers.perform(owner, body) }
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
    guard let limit = writer.retryLimit, kind.isTransaction else {
      return try await performOnce(kind, call, body)
    }
    var retry = Retry(limit: limit)
    while true {
      do {
        return try await performOnce(kind, call, body)
      } catch {
        guard let pause = retry.pause(after: error) else { throw error }
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
    if case .read = kind, let readers { return try await read(readers, call, body) }
    let task = WaitingTask(writer.lock)
    let mayRunAtOnce = mayRunAtOnce(call)
    let outcome = await withTaskCancellationHandler {
      if mayRunAtOnce {
        let outcome = await runAtOnce(call) {
          Self.outcome(of: body) { writer.performAtOnce(task, kind, call, $0) }
        }
        if outcome.hasRun { return outcome }
      }
      return await run(task, call) { [writer] in
        Self.outcome(of: body) { writer.perform(task, kind, call, $0) }
      }
    } onCancel: {
      writer.cancel(task)
    }
    try await writer.groupCommit?.wait(for: outcome.position)
    return try outcome.get()
  }

  private func read<T: Sendable>(
    _ readers: Readers, _ call: ScopeCall,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let task = WaitingTask(readers)
    let owner = owner
    let mayRunAtOnce = mayRunAtOnce(call)
    let hasReader = mayRunAtOnce && readers.giveAtOnce(to: task)
    if mayRunAtOnce, !hasReader { briefScopes.end() }
    let outcome = await withTaskCancellationHandler {
      if hasReader {
        return await runAtOnce(call) {
          Self.outcome(of: body) { readers.perform(task, owner, $0) }
        }
      }
      return await run(task, call) {
        Self.outcome(of: body) { readers.perform(task, owner, $0) }
      }
    } onCancel: {
      task.cancel()
      readers.cancel(task)
    }
    if let groupCommit {
      try groupCommit.check()
      try await groupCommit.wait(for: groupCommit.position)
    }
    return try outcome.get()
  }

  /// Runs a task's scope on the thread that its scheduler chooses.
  private func run<T: Sendable>(
    _ task: WaitingTask, _ call: ScopeCall, _ scope: @escaping @Sendable () -> ScopeOutcome<T>
  ) async -> ScopeOutcome<T> {
    await withTaskExecutorPreference(task) {
      let start = MonotonicClock.nanoseconds
      defer { briefScopes.note(call, MonotonicClock.nanoseconds &- start) }
      return scope()
    }
  }

  /// Whether a scope may run on the thread that its task is on: where the call's are brief, and tasks run
  /// where they do by default, not on an executor of the program's own, such as an event loop. Then
  /// ``runAtOnce(_:_:)`` follows, or the end of it.
  private func mayRunAtOnce(_ call: ScopeCall) -> Bool {
    withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil } && briefScopes.begin(call)
  }

  /// Runs a task's scope on this thread, and now and then lets other tasks run: one that is never suspended
  /// would keep the thread.
  private func runAtOnce<T: Sendable>(
    _ call: ScopeCall, _ scope: () -> ScopeOutcome<T>
  ) async -> ScopeOutcome<T> {
    let start = MonotonicClock.nanoseconds
    let outcome = scope()
    let end = MonotonicClock.nanoseconds
    briefScopes.end()
    if outcome.hasRun { briefScopes.note(call, end &- start) }
    // A tick of the clock has passed.
    if start / Self.tick != end / Self.tick { await Task.yield() }
    return outcome
  }

  /// In nanoseconds.
  private static let tick = 250_000

  /// What comes of a scope whose body has a result, run by a function that takes one that has none.
  private static func outcome<T>(
    of body: @escaping (Database) throws -> T,
    by perform: (_ scope: (Database) throws -> Void) -> ScopeOutcome<Void>
  ) -> ScopeOutcome<T> {
    var value: T?
    let done = perform { value = try body($0) }
    return ScopeOutcome(
      result: done.result.map { result in
        Result {
          try result.get()
          guard let value else { throw DatabaseError(.internal, "the scope has no result") }
          return value
        }
      }, position: done.position)
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
      return try perform(.plain, ScopeCall("checkpoint(_:)")) { try $0.checkpoint(mode) }
    }
    try writer.checkProcess()
    guard !EnteredScope.held(of: owner).writer else { throw EnteredScope.reentryError }
    return try checkpointer.checkpoint(mode)
  }

  var statistics: AccessStatistics {
    var statistics = AccessStatistics()
    writer.describe(&statistics)
    readers?.describe(&statistics)
    return statistics
  }
}

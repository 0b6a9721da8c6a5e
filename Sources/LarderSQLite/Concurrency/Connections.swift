import Glibc
import Synchronization

/// The connections of a queue or a pool.
public final class Connections: Sendable {
  let writer: Writer
  /// Nil where the writer reads too.
  let readers: Readers?
  private let waitGraph: WaitGraph?
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
    _ kind: ScopeKind, _ label: StaticString, _ body: (Database) throws -> T
  ) throws -> T {
    var result: T?
    try runScope(kind, label) { result = try body($0) }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  @usableFromInline
  func runScope(
    _ kind: ScopeKind, _ label: StaticString, _ body: (Database) throws -> Void
  ) throws {
    guard let limit = writer.retryLimit, kind.isTransaction else {
      return try runOnce(kind, label, body)
    }
    var retry = Retry(limit: limit)
    while true {
      do {
        return try runOnce(kind, label, body)
      } catch {
        guard let pause = retry.pause(after: error) else { throw error }
        writer.retries.add(1, ordering: .relaxed)
        usleep(UInt32(pause / .microseconds(1)))
      }
    }
  }

  private func runOnce(
    _ kind: ScopeKind, _ label: StaticString, _ body: (Database) throws -> Void
  ) throws {
    if processGeneration != ProcessGeneration.current { try writer.checkProcess() }
    if EnteredScope.isInside, case let held = EnteredScope.held(of: owner), !held.isNothing {
      try runInside(held, kind, label, body)
    } else if case .read = kind, let readersReference {
      try readersReference._withUnsafeGuaranteedRef { try read($0, body) }
    } else {
      try writer.perform(kind, label, body)
    }
  }

  /// Runs a scope from inside of another one of the same pool. What it waits for the scope around it may
  /// hold, or another that waits for what that one holds.
  private func runInside(
    _ held: EnteredScope.Held, _ kind: ScopeKind, _ label: StaticString,
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
    if let reads { try read(reads, body) } else { try writer.perform(kind, label, body) }
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

  /// Runs a scope in the caller's task, on a thread of the queue's or pool's own.
  func perform<T: Sendable>(
    _ kind: ScopeKind, _ label: StaticString,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    guard let limit = writer.retryLimit, kind.isTransaction else {
      return try await performOnce(kind, label, body)
    }
    var retry = Retry(limit: limit)
    while true {
      do {
        return try await performOnce(kind, label, body)
      } catch {
        guard let pause = retry.pause(after: error) else { throw error }
        writer.retries.add(1, ordering: .relaxed)
        try await Task.sleep(for: pause)
      }
    }
  }

  private func performOnce<T: Sendable>(
    _ kind: ScopeKind, _ label: StaticString,
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    try writer.checkProcess()
    if case .read = kind, let readers { return try await read(readers, body) }
    let task = WaitingTask(writer.lock)
    let (outcome, position) = await withTaskCancellationHandler {
      await withTaskExecutorPreference(task) {
        var result: T?
        let (outcome, position) = writer.perform(task, kind, label) { result = try body($0) }
        return (outcome.flatMap { Self.value(result) }, position)
      }
    } onCancel: {
      writer.cancel(task)
    }
    try await writer.groupCommit?.wait(for: position)
    return try outcome.get()
  }

  private func read<T: Sendable>(
    _ readers: Readers, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let task = WaitingTask(readers)
    let owner = owner
    let outcome: Result<T, any Error> = await withTaskCancellationHandler {
      await withTaskExecutorPreference(task) {
        Result {
          var result: T?
          try readers.perform(task, owner) { result = try body($0) }
          return try Self.value(result).get()
        }
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

  private static func value<T>(_ result: T?) -> Result<T, any Error> {
    guard let result else {
      return .failure(DatabaseError(.internal, "the scope has no result"))
    }
    return .success(result)
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
      return try perform(.plain, "checkpoint(_:)") { try $0.checkpoint(mode) }
    }
    try writer.checkProcess()
    guard !EnteredScope.held(of: owner).writer else { throw EnteredScope.reentryError }
    return try checkpointer.checkpoint(mode)
  }

  var statistics: AccessStatistics {
    var statistics = AccessStatistics()
    writer.describe(&statistics)
    if let readers {
      statistics.readers = readers.counts
      statistics.oldestReaderAge = readers.oldestAge
    }
    return statistics
  }
}

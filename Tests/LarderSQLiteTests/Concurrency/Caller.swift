import Dispatch
import Foundation

@testable import LarderSQLite

/// A call of a queue or pool on its own thread, so that no test blocks a task thread, or in a task.
final class Caller: Sendable {
  private let hasEnded = DispatchSemaphore(value: 0)
  private let outcome = Lock<Result<Void, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread {
      let result = Result { try body() }
      self.outcome.withLock { $0 = result }
      self.hasEnded.signal()
    }
  }

  /// Runs `body` in a task that inherits the current task-local values.
  init(task body: @escaping @Sendable () async throws -> Void) {
    Task(priority: .high) {
      var result = Result<Void, any Error>.success(())
      do { try await body() } catch { result = .failure(error) }
      self.outcome.withLock { [result] in $0 = result }
      self.hasEnded.signal()
    }
  }

  /// Waits for the end and throws the closure's error.
  func join() throws {
    guard hasEnded.wait(timeout: .now() + .seconds(watchdogSeconds)) == .success else {
      throw TookTooLong()
    }
    hasEnded.signal()
    try outcome.withLock { $0 }?.get()
  }

  /// Async variant of ``join()``. Blocks no thread.
  func end() async throws {
    try await yieldUntil { hasReturned }
    try join()
  }

  /// Async variant of ``failure()``.
  func failureAtEnd() async throws -> (any Error)? {
    try await yieldUntil { hasReturned }
    return try failure()
  }

  /// Waits for the end for a limited time. False if the call is still running or waiting.
  func hasReturned(within time: Duration) async -> Bool {
    (try? await yieldUntil(within: time) { hasReturned }) != nil
  }

  /// Whether the call has ended.
  var hasReturned: Bool { outcome.withLock { $0 != nil } }

  /// Waits for the end and returns the closure's error.
  func failure() throws -> (any Error)? {
    do {
      try join()
      return nil
    } catch let error as TookTooLong {
      throw error
    } catch {
      return error
    }
  }
}

/// How long tests wait for a condition before they fail instead of hanging. A task runs only after all tests that are
/// already scheduled, which takes minutes under a sanitizer on two cores.
let watchdogSeconds = 600

extension Configuration {
  /// A configuration whose scopes wait in the queue as long as tests do. With the default timeout, scopes that wait
  /// until the last one has arrived leave the queue on a slow machine, and a test that counts them waits for ever.
  static var patient: Configuration {
    var configuration = Configuration()
    configuration.scopeTimeout = .seconds(watchdogSeconds)
    return configuration
  }
}

/// An expected event hasn't happened in time.
struct TookTooLong: Error {}

/// Lets other threads run until a condition holds.
func waitUntil(_ condition: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(watchdogSeconds)
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw TookTooLong() }
    sched_yield()
  }
}

/// Lets other tasks run until a condition holds: polls it, with back-off. Two tasks that only yielded could keep two
/// cores from the tasks that they wait for, for minutes.
func yieldUntil(
  within time: Duration = .seconds(watchdogSeconds), _ condition: () throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + time
  var turns = 0
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw TookTooLong() }
    turns += 1
    // In a cancelled task, the sleep returns at once.
    if turns > 32 { try? await Task.sleep(for: .microseconds(200)) } else { await Task.yield() }
  }
}

extension DispatchSemaphore {
  /// Waits for a signal, at most for the tests' time limit.
  func waitOrThrow() throws {
    guard wait(timeout: .now() + .seconds(watchdogSeconds)) == .success else { throw TookTooLong() }
  }
}

/// A scope on its own thread that holds the writer until it is released.
final class Holder: Sendable {
  private let caller: Caller
  private let letGo = DispatchSemaphore(value: 0)

  init(_ access: some DatabaseAccess) throws {
    let holds = DispatchSemaphore(value: 0)
    caller = Caller { [letGo] in
      try access.inDatabase { _ in
        holds.signal()
        try letGo.waitOrThrow()
      }
    }
    try holds.waitOrThrow()
  }

  func release() throws {
    letGo.signal()
    try caller.join()
  }

  deinit { letGo.signal() }
}

extension DatabaseAccess {
  /// The number of callers that wait for the writer.
  var waitingCount: Int { statistics.waiting }

  /// The number of callers that wait for a reader.
  var waitingReaderCount: Int { connections.pool?.queue.withLock { $0.waiting.count } ?? 0 }

  /// Holds the writer, calls each closure on its own thread so that they queue in order, releases the
  /// writer, and returns each closure's error.
  func lineUp(_ bodies: [@Sendable () throws -> Void]) throws -> [(any Error)?] {
    let holder = try Holder(self)
    var callers: [Caller] = []
    for body in bodies {
      callers.append(Caller(body))
      try waitUntil { waitingCount == callers.count }
    }
    try holder.release()
    return try callers.map { try $0.failure() }
  }
}

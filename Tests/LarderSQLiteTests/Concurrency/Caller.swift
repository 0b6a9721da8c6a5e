import Dispatch
import Foundation

@testable import LarderSQLite

/// A thread of its own that calls a queue or pool, so that no test blocks one that tasks need; or a task.
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

  /// In a task that inherits this one's locals.
  init(task body: @escaping @Sendable () async throws -> Void) {
    Task(priority: .high) {
      var result = Result<Void, any Error>.success(())
      do { try await body() } catch { result = .failure(error) }
      self.outcome.withLock { [result] in $0 = result }
      self.hasEnded.signal()
    }
  }

  /// Waits for the end, and throws what the closure has thrown.
  func join() throws {
    guard hasEnded.wait(timeout: .now() + .seconds(watchdogSeconds)) == .success else {
      throw TookTooLong()
    }
    hasEnded.signal()
    try outcome.withLock { $0 }?.get()
  }

  /// As ``join()``, for tasks: no thread waits meanwhile.
  func end() async throws {
    try await yieldUntil { hasReturned }
    try join()
  }

  /// As ``failure()``, for tasks.
  func failureAtEnd() async throws -> (any Error)? {
    try await yieldUntil { hasReturned }
    return try failure()
  }

  /// Waits until it has ended, but not for long: false where it goes on, as behind what it has to pass.
  func hasReturned(within time: Duration) async -> Bool {
    (try? await yieldUntil(within: time) { hasReturned }) != nil
  }

  /// Whether it has ended.
  var hasReturned: Bool { outcome.withLock { $0 != nil } }

  /// Waits for the end, and returns what the closure has thrown.
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

/// How long tests wait for one another before they fail instead of hanging. A task gets its turn only
/// behind all tests that wait for one, which under a sanitizer on two cores takes minutes.
let watchdogSeconds = 600

extension Configuration {
  /// One whose scopes wait for their turn as long as tests do. With the usual limit, those that have to stand in a line
  /// until the last has come leave it on a machine that is slow enough, and whoever counts them waits for ever.
  static var patient: Configuration {
    var configuration = Configuration()
    configuration.scopeTimeout = .seconds(watchdogSeconds)
    return configuration
  }
}

/// Something that ought to happen hasn't.
struct TookTooLong: Error {}

/// Lets other threads go on until a condition holds.
func waitUntil(_ condition: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(watchdogSeconds)
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw TookTooLong() }
    sched_yield()
  }
}

/// Lets other tasks go on until a condition holds: by polling, with back-off. Two that only yielded would take all
/// turns of two cores from the tasks that they wait for, which can last for minutes.
func yieldUntil(
  within time: Duration = .seconds(watchdogSeconds), _ condition: () throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + time
  var turns = 0
  while try !condition() {
    guard ContinuousClock.now < deadline else { throw TookTooLong() }
    turns += 1
    // In a task that is cancelled it doesn't wait.
    if turns > 32 { try? await Task.sleep(for: .microseconds(200)) } else { await Task.yield() }
  }
}

extension DispatchSemaphore {
  /// Waits for a signal, but not for ever.
  func waitOrThrow() throws {
    guard wait(timeout: .now() + .seconds(watchdogSeconds)) == .success else { throw TookTooLong() }
  }
}

/// A scope on a thread of its own that holds the writer until it is let go.
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
  /// How many callers wait for the writer.
  var waitingCount: Int { statistics.waiting }

  /// How many callers wait for a reader.
  var waitingReaderCount: Int { connections.readers?.waitingCount ?? 0 }

  /// Holds the writer, has each closure called on a thread of its own, one behind the other in the
  /// line, lets the writer go, and returns what each has thrown.
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

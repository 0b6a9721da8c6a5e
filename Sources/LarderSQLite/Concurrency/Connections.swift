import Glibc
import Synchronization

extension Connections {
  /// Runs a scope, and waits for it. Throws where the call comes from inside of another one.
  ///
  /// Only this much is generic: everything below is compiled once, for no result at all.
  @inlinable
  func perform<T>(_ kind: ScopeKind, _ body: (Database) throws -> T) throws -> T {
    var result: T?
    try runScope(kind) { result = try body($0) }
    guard let moved = result.take() else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return moved
  }

  @usableFromInline
  func runScope(_ kind: ScopeKind, _ body: (Database) throws -> Void) throws {
    var retry = Retry(limit: kind.isTransaction ? writer.retryLimit : nil)
    while true {
      do {
        let scope = try Scope.enter(writer)
        if case .read = kind, let readers {
          try readers.perform(scope, body)
        } else {
          try writer.perform(kind, scope, body)
        }
        Scope.recycle(scope)
        return
      } catch {
        guard let pause = retry.pause(after: error) else { throw error }
        usleep(UInt32(pause / .microseconds(1)))
      }
    }
  }

  /// Runs a scope on another thread, and suspends the task meanwhile.
  func perform<T: Sendable>(
    _ kind: ScopeKind, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    var retry = Retry(limit: kind.isTransaction ? writer.retryLimit : nil)
    while true {
      do {
        return try await performOnce(kind, body)
      } catch {
        guard let pause = retry.pause(after: error) else { throw error }
        try await Task.sleep(for: pause)
      }
    }
  }

  /// Closes all connections: the writer last, which then moves the log into the file.
  func close() throws {
    _ = try Scope.enter(writer)
    try readers?.close()
    do {
      try writer.close()
    } catch {
      readers?.reopen()
      throw error
    }
  }

  private func performOnce<T: Sendable>(
    _ kind: ScopeKind, _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    try Task.checkCancellation()
    let result = ResultBox<T>()
    let scope = try Scope.enter(writer)
    let job = Job(kind, scope, isAsynchronous: true) { result.value = try body($0) }
    var readers: Readers?
    if case .read = kind { readers = self.readers }
    try await withTaskCancellationHandler { [readers, writer] in
      try await withCheckedThrowingContinuation { continuation in
        job.whenFinished { continuation.resume(with: $0) }
        if let readers { readers.submit(job) } else { writer.submit(job) }
      }
    } onCancel: { [readers, writer] in
      if let readers { readers.cancel(job) } else { writer.cancel(job) }
    }
    guard let value = result.value else {
      throw DatabaseError(.internal, "the scope has no result")
    }
    return value
  }
}

/// What a job's body has returned.
///
/// What makes it Sendable: it is written before the job is finished, and read after.
private final class ResultBox<T: Sendable>: @unchecked Sendable {
  var value: T?
}

/// When to try a transaction again that another process was in the way of.
private struct Retry {
  private let deadline: Duration?
  private var attempts = 0

  init(limit: Duration?) { deadline = limit.map { MonotonicClock.now + $0 } }

  /// How long to wait before the next attempt, with chance in it so that two that met once don't
  /// meet again; nil for giving up.
  mutating func pause(after error: any Error) -> Duration? {
    guard let deadline, let error = error as? DatabaseError, error.code == .busy,
      error.isFromAnotherConnection
    else { return nil }
    attempts += 1
    let longest = min(20_000, 500 << min(attempts, 6))
    let pause = Duration.microseconds(Int.random(in: 250...longest))
    return MonotonicClock.now + pause < deadline ? pause : nil
  }
}

extension DatabaseError {
  /// Whether SQLite reported it, rather than a line in which the wait was too long.
  fileprivate var isFromAnotherConnection: Bool { !message.hasPrefix(Line.timeoutMessage) }
}

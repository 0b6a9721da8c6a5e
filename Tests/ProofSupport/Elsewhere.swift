import Foundation

/// Work that is done elsewhere while this thread waits for it.
package enum Elsewhere {
  /// Runs a closure on a thread of its own.
  package static func onThread(_ body: @escaping () throws -> Void) throws {
    // The thread that waits lends it what it has.
    nonisolated(unsafe) let body = body
    nonisolated(unsafe) var result: Result<Void, any Error>?
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      result = Result { try body() }
      hasEnded.signal()
    }
    hasEnded.wait()
    try result?.get()
  }

  /// Runs a closure in a task.
  @discardableResult
  package static func inTask<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws
    -> T
  {
    nonisolated(unsafe) var result: Result<T, any Error>?
    let hasEnded = DispatchSemaphore(value: 0)
    Task {
      do { result = .success(try await body()) } catch { result = .failure(error) }
      hasEnded.signal()
    }
    hasEnded.wait()
    guard let result else { throw WrongAnswer(description: "a task has no result") }
    return try result.get()
  }
}

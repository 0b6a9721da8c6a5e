import Foundation

/// Work that is done elsewhere while this thread waits for it.
enum Elsewhere {
  /// Runs a closure on a thread of its own.
  static func onThread(_ body: @escaping () throws -> Void) throws {
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
  static func inTask(_ body: @escaping @Sendable () async throws -> Void) throws {
    nonisolated(unsafe) var result: Result<Void, any Error>?
    let hasEnded = DispatchSemaphore(value: 0)
    Task {
      do { result = .success(try await body()) } catch { result = .failure(error) }
      hasEnded.signal()
    }
    hasEnded.wait()
    try result?.get()
  }
}

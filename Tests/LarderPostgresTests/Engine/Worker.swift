import Foundation

/// A thread that runs a closure.
final class Worker: @unchecked Sendable {
  private let done = DispatchSemaphore(value: 0)
  // Written before the semaphore is signalled, and read after it.
  private var failure: (any Error)?

  init(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread { [self] in
      do { try body() } catch { failure = error }
      done.signal()
    }
  }

  func end() throws {
    done.wait()
    if let failure { throw failure }
  }
}

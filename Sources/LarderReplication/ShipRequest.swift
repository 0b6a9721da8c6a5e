import Dispatch
import LarderSQLite

/// A caller that waits until its request to ship is served.
///
/// Sendable because it has no state except what its lock guards.
final class ShipRequest: Sendable {
  let request: Int
  private let outcome = Lock<(isDone: Bool, continuation: UnsafeContinuation<Void, Never>?)>(
    (false, nil))
  private let semaphore = DispatchSemaphore(value: 0)

  init(_ request: Int) { self.request = request }

  func resume() {
    let continuation = outcome.withLock { outcome in
      outcome.isDone = true
      defer { outcome.continuation = nil }
      return outcome.continuation
    }
    semaphore.signal()
    continuation?.resume()
  }

  /// Blocks the thread; false if the time is up.
  func wait(within limit: Duration) -> Bool {
    semaphore.wait(timeout: .now() + limit.dispatchInterval) == .success
  }

  func wait() async {
    await withUnsafeContinuation { continuation in
      let isDone = outcome.withLock { outcome in
        if !outcome.isDone { outcome.continuation = continuation }
        return outcome.isDone
      }
      if isDone { continuation.resume() }
    }
  }
}

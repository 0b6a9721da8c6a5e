import Dispatch

/// Runs a blocking closure on a thread of its own, so that no thread of the cooperative pool waits for it.
/// Cancelling the task doesn't end the wait.
package func onOwnThread<T: Sendable>(
  _ body: @escaping @Sendable () throws -> T
) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "larder.own").async {
      continuation.resume(with: Result { try body() })
    }
  }
}

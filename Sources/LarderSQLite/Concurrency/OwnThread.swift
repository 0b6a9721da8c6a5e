import Dispatch

/// Runs what blocks on a thread of its own, so that no thread of the cooperative pool waits for it. A task that is
/// cancelled waits all the same.
package func onOwnThread<T: Sendable>(
  _ body: @escaping @Sendable () throws -> T
) async throws -> T {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "larder.own").async {
      continuation.resume(with: Result { try body() })
    }
  }
}

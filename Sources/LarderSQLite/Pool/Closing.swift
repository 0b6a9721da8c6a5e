import Dispatch

/// The closing of a queue's or pool's connections, which may take as long as the disk does. It runs on a
/// thread of its own, and its callers wait with a deadline.
final class Closing: Sendable {
  private let group = DispatchGroup()
  private let outcome = Lock<Result<Void, any Error>?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) {
    DispatchQueue(label: "larder.close").async(group: group) { [outcome] in
      let result = Result { try body() }
      outcome.withLock { $0 = result }
    }
  }

  func wait(until deadline: Duration) throws {
    let limit = max(.zero, deadline - MonotonicClock.now)
    guard group.wait(timeout: .now() + limit.dispatchInterval) == .success else {
      throw DatabaseError(
        .busyTimeout,
        "closing still waits for the disk, or for connections in use: call close() again later")
    }
    try outcome.withLock { $0 }?.get()
  }
}

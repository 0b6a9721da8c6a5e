/// Retries with exponential back-off and jitter: decides when a transaction runs again after a conflict with
/// another process or a lost connection.
package struct Retry {
  private let limit: Duration?
  /// The end of the retries, counted from the first refusal. The time before it, such as a busy timeout,
  /// doesn't count.
  private var deadline: Duration?
  private let isTransient: (@Sendable (DatabaseError) -> Bool)?
  private var attempts = 0

  /// - Parameters:
  ///   - limit: how long to retry after the first refusal; nil for no retries.
  ///   - isTransient: for an engine other than SQLite, whether a retry may avoid the error, such as a
  ///     conflict or a lost connection.
  package init(limit: Duration?, isTransient: (@Sendable (DatabaseError) -> Bool)? = nil) {
    self.limit = limit
    self.isTransient = isTransient
  }

  /// The pause before the next attempt, with jitter so that two transactions that collided don't collide
  /// again. Throws the error itself if there is to be no further attempt.
  package mutating func pause(after error: any Error) throws -> Duration {
    guard let limit, let known = error as? DatabaseError else { throw error }
    // `busyTimeout` is a time-out of the queue's or pool's own lock, which isn't retried.
    let isBusy = known.code == .busy && known.extendedCode != .busyTimeout
    guard isTransient.map({ $0(known) }) ?? isBusy else { throw error }
    attempts += 1
    // Bounded here, since the initializer runs before each transaction.
    let deadline = deadline ?? MonotonicClock.now + limit.bounded
    self.deadline = deadline
    // A lost server needs longer to come back.
    let longest =
      isBusy ? min(20_000, 500 << min(attempts, 6)) : min(500_000, 20_000 << min(attempts, 5))
    let pause = Duration.microseconds(Int.random(in: 250...longest))
    guard MonotonicClock.now + pause < deadline else { throw error }
    return pause
  }
}

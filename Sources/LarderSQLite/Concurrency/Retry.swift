/// Retries with exponential back-off and jitter: when to try a transaction again that another process was
/// in the way of, or whose connection was lost.
package struct Retry {
  private let limit: Duration?
  /// Counted from the first refusal: what that took, such as a busy timeout, doesn't count.
  private var deadline: Duration?
  private let isTransient: (@Sendable (DatabaseError) -> Bool)?
  private var attempts = 0

  /// - Parameters:
  ///   - limit: for how long to try again after the first refusal; nil for once.
  ///   - isTransient: for another engine, whether an error is one that another attempt may not meet, such as a
  ///     conflict or a lost connection.
  package init(limit: Duration?, isTransient: (@Sendable (DatabaseError) -> Bool)? = nil) {
    self.limit = limit?.bounded
    self.isTransient = isTransient
  }

  /// How long to wait before the next attempt, with jitter so that two that met once don't meet again.
  /// Throws the error itself where there is to be none.
  package mutating func pause(after error: any Error) throws -> Duration {
    guard let limit, let known = error as? DatabaseError else { throw error }
    // A wait for a queue's or pool's own lock that took too long is a busy timeout of another kind.
    let isBusy = known.code == .busy && known.extendedCode != .busyTimeout
    guard isTransient.map({ $0(known) }) ?? isBusy else { throw error }
    attempts += 1
    let deadline = deadline ?? MonotonicClock.now + limit
    self.deadline = deadline
    // A server that has gone takes its time to come back.
    let longest =
      isBusy ? min(20_000, 500 << min(attempts, 6)) : min(500_000, 20_000 << min(attempts, 5))
    let pause = Duration.microseconds(Int.random(in: 250...longest))
    guard MonotonicClock.now + pause < deadline else { throw error }
    return pause
  }
}

/// Retries with exponential back-off and jitter: when to try a transaction again that another process was
/// in the way of.
struct Retry {
  private let deadline: Duration?
  private var attempts = 0

  /// - Parameter limit: for how long to try; nil for once.
  init(limit: Duration?) { deadline = limit.map { MonotonicClock.now + $0.bounded } }

  /// How long to wait before the next attempt, with jitter so that two that met once don't meet again.
  /// Throws the error itself where there is to be none.
  mutating func pause(after error: any Error) throws -> Duration {
    // A wait for a queue's or pool's own lock that took too long is a busy timeout of another kind.
    guard let deadline, let busy = error as? DatabaseError, busy.code == .busy,
      busy.extendedCode != .busyTimeout
    else { throw error }
    attempts += 1
    let longest = min(20_000, 500 << min(attempts, 6))
    let pause = Duration.microseconds(Int.random(in: 250...longest))
    guard MonotonicClock.now + pause < deadline else { throw error }
    return pause
  }
}

/// Retries with exponential back-off and jitter: when to try a transaction again that another process was
/// in the way of.
struct Retry {
  private let deadline: Duration
  private var attempts = 0

  init(limit: Duration) { deadline = MonotonicClock.now + limit.bounded }

  /// How long to wait before the next attempt, with jitter so that two that met once don't meet again;
  /// nil for giving up.
  mutating func pause(after error: any Error) -> Duration? {
    // A wait for a queue's or pool's own lock that took too long is a busy timeout of another kind.
    guard let error = error as? DatabaseError, error.code == .busy,
      error.extendedCode != .busyTimeout
    else { return nil }
    attempts += 1
    let longest = min(20_000, 500 << min(attempts, 6))
    let pause = Duration.microseconds(Int.random(in: 250...longest))
    return MonotonicClock.now + pause < deadline ? pause : nil
  }
}

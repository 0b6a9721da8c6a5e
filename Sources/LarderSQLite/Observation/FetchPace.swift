/// A rate limiter (generic cell rate algorithm) for one observer: so many reads at once, then one in an
/// interval.
///
/// While commits follow one another closely, an observer that is woken for each of them costs those who write a
/// wake-up a commit, and reads what is past already when it arrives (measured: 6 µs of a commit's 20). One that
/// pauses by itself isn't woken meanwhile, and finds the newest.
struct FetchPace {
  /// How many reads may come at once.
  private static let burst = 20
  /// Short enough for a commit to be seen within a millisecond.
  private static let interval = Duration.microseconds(250)

  /// When the next read were due if all came evenly, on the ``MonotonicClock``.
  private var due = Duration.zero

  /// Waits until the next read may come. Throws where the task is cancelled.
  mutating func wait() async throws {
    let now = MonotonicClock.now
    let early = due - now - Self.interval * Self.burst
    due = max(due, now) + Self.interval
    if early > .zero { try await Task.sleep(for: early) }
  }
}

/// A rate limiter (generic cell rate algorithm) for one observer: a burst of reads, then one read per
/// interval.
///
/// While commits follow one another closely, an observer that is woken for each costs the writer a wake-up
/// per commit, and reads a state that is outdated when it arrives (measured: 6 µs of a commit's 20). An
/// observer that pauses by itself isn't woken meanwhile, and then reads the newest state.
struct FetchPace {
  /// How many reads may follow each other without a pause.
  private let burst: Int
  /// The time between reads after that.
  private let interval: Duration

  /// - Parameter isOnServer: whether reads are calls to a server, which take time from its writers: then they
  ///   are a fiftieth of a second apart. Otherwise a commit is seen within a millisecond.
  init(isOnServer: Bool = false) {
    burst = isOnServer ? 2 : 20
    interval = isOnServer ? .milliseconds(20) : .microseconds(250)
  }

  /// When the next read would be due if all were evenly spaced, on the ``MonotonicClock``.
  private var due = Duration.zero

  /// Waits until the next read is allowed. Throws if the task is cancelled.
  mutating func wait() async throws {
    let now = MonotonicClock.now
    let early = due - now - interval * burst
    due = max(due, now) + interval
    if early > .zero { try await Task.sleep(for: early) }
  }
}

import Glibc

/// The clock for timeouts, deadlines and durations. Setting the system's clock doesn't affect it.
///
/// `ContinuousClock` would do; but the size of its instants isn't known at compile time, which
/// makes every access to an object that holds one expensive.
package enum MonotonicClock {
  /// The same time as ``now`` in nanoseconds, without the cost of dividing a `Duration`.
  package static var nanoseconds: Int {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec &* 1_000_000_000 &+ time.tv_nsec
  }

  /// The time since some moment in the past. It goes on while the system sleeps.
  package static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return Duration(
      secondsComponent: Int64(time.tv_sec),
      attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
  }
}

extension Duration {
  /// Whole milliseconds, for messages.
  var inMilliseconds: Int { Int(self / .milliseconds(1)) }

  /// Whole nanoseconds, from zero to a century.
  package var inNanoseconds: Int {
    let (seconds, attoseconds) = bounded.components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }

  /// The duration clamped to zero and a century, so that sums can't overflow.
  package var bounded: Duration { min(max(self, .zero), .seconds(100 * 366 * 86_400)) }
}

import Glibc

/// Time for timeouts, deadlines and durations, which setting the system's clock doesn't change.
///
/// `ContinuousClock` would do; but the size of its instants isn't known at compile time, which
/// makes every access to an object that holds one dear.
package enum MonotonicClock {
  /// The same in nanoseconds, without what it takes to divide a `Duration`.
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

  /// Whole nanoseconds: no less than nothing, and at most those of a century.
  package var inNanoseconds: Int {
    let (seconds, attoseconds) = bounded.components
    return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
  }

  /// No less than nothing and no more than a century, so that sums can't overflow.
  package var bounded: Duration { min(max(self, .zero), .seconds(100 * 366 * 86_400)) }
}

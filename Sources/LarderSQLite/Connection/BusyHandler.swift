import CSQLite
import Glibc

/// The busy handler: waits for other connections' locks, up to a timeout on the monotonic clock, by
/// short pauses of about the same length instead of an exponential back-off.
///
/// SQLite's own handler adds up the pauses it meant to make, and doubles them up to 100 ms, which
/// overshoots and starves those that have waited longest. Short pauses keep to the timeout and give
/// every waiting process about the same chance.
/// See [Busy handlers](https://www.sqlite.org/c3ref/busy_handler.html).
package final class BusyHandler {
  var timeout: Duration {
    didSet { timeout = timeout.bounded }
  }
  private var interruption: String?
  private let interrupts: InterruptHandle
  private let deadlines: DeadlineHandler
  /// Whether the task of the scope that waits was cancelled, perhaps before its first wait.
  var isCancelled: () -> Bool = { false }
  /// Called before a wait ends in vain. False makes it go on waiting.
  var willGiveUp: (() -> Bool)?
  private var start = Duration.zero
  private var interruptsAtStart = 0

  /// The pause before another attempt. After 10 of them, longer than most transactions take, a
  /// waiter tries more often for half a second, which makes up for its bad luck so far. Measured
  /// with 8 processes: against 1 ms throughout, the longest wait is half as long, and a third if
  /// transactions hold the lock for 0.5 ms, at 2 to 5 % of the throughput. 0.25 ms throughout halves
  /// the throughput.
  private static func pause(_ count: Int32) -> Duration {
    10..<2000 ~= count ? .microseconds(250) : .milliseconds(1)
  }

  init(timeout: Duration, interrupts: InterruptHandle, deadlines: DeadlineHandler) {
    self.timeout = timeout.bounded
    self.interrupts = interrupts
    self.deadlines = deadlines
  }

  /// SQLite keeps an unretained pointer to this object: the connection keeps the object as long
  /// as the handle.
  func install(on handle: OpaquePointer) {
    sqlite3_busy_handler(
      handle,
      { context, count in
        guard let context else { return 0 }
        return Unmanaged<BusyHandler>.fromOpaque(context).takeUnretainedValue()
          .waits(count: count) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Returns, once, why the last wait ended early: an interrupt or a deadline.
  func takeInterruption() -> String? {
    defer { interruption = nil }
    return interruption
  }

  /// Pauses, unless the time is up. `count` is the number of earlier calls for the same lock.
  private func waits(count: Int32) -> Bool {
    if pauses(count: count) { return true }
    guard let willGiveUp, !willGiveUp() else { return false }
    Self.sleep()
    return true
  }

  private func pauses(count: Int32) -> Bool {
    let now = MonotonicClock.now
    if count == 0 {
      start = now
      interruptsAtStart = interrupts.count
    }
    // SQLite checks for interrupts and deadlines while it works, but not while it waits.
    interruption = nil
    if interrupts.count != interruptsAtStart || isCancelled() {
      interruption = "interrupted while waiting for a lock"
    } else if let deadline = deadlines.current, now >= deadline {
      interruption = "the statement waited for a lock longer than its deadline"
    }
    guard interruption == nil else { return false }
    let left = timeout - (now - start)
    guard left > .zero else { return false }
    Self.sleep(min(left, Self.pause(count)))
    return true
  }

  package static func sleep(_ pause: Duration = .milliseconds(1)) {
    usleep(UInt32(pause / .microseconds(1)))
  }
}

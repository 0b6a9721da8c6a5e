import CSQLite

/// The progress handler, which stops statements that run longer than their deadline.
///
/// The handler is asked every so many steps of SQLite's virtual machine, and is installed only while
/// there is a limit. A single step isn't interrupted, nor are those of a row between two jumps, however
/// long they take. See [Progress callbacks](https://www.sqlite.org/c3ref/progress_handler.html).
final class DeadlineHandler {
  /// How long one statement may run, from its first step; nil for ever.
  @exclusivity(unchecked) private(set) var limit: Duration?
  /// When the statement that runs now has to end, on the ``MonotonicClock``.
  var current: Duration?
  /// When a statement has to end that begins now.
  var next: Duration? { limit.map { MonotonicClock.now + $0 } }
  /// After how many steps it is asked.
  var interval: Int32 = 1000
  private var isExceeded = false

  /// SQLite keeps an unretained pointer to this object: the connection keeps the object as long
  /// as the handle.
  func set(_ limit: Duration?, on handle: OpaquePointer?) {
    self.limit = limit?.bounded
    // Another engine looks at the time by itself.
    guard let handle else { return }
    guard limit != nil else {
      sqlite3_progress_handler(handle, 0, nil, nil)
      return
    }
    sqlite3_progress_handler(
      handle, interval,
      { context in
        guard let context else { return 0 }
        return Unmanaged<DeadlineHandler>.fromOpaque(context).takeUnretainedValue().isOver()
          ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Whether the statement that runs now has to end.
  func isOver() -> Bool {
    guard let current, MonotonicClock.now >= current else { return false }
    isExceeded = true
    return true
  }

  /// What to say of an interrupt that was the deadline's.
  func message(for code: ResultCode) -> String? {
    guard code.primary == .interrupt, isExceeded, let limit else { return nil }
    isExceeded = false
    return "the statement ran longer than its deadline of \(limit)"
  }
}

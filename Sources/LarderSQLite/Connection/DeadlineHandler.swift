import CSQLite

/// The progress handler, which stops statements that run longer than their deadline.
///
/// SQLite calls the handler every ``interval`` steps of its virtual machine. It is installed only while
/// there is a limit. Neither a single step is interrupted, nor the steps of a row between two jumps,
/// however long they take. See
/// [Progress callbacks](https://www.sqlite.org/c3ref/progress_handler.html).
final class DeadlineHandler {
  /// How long one statement may run, from its first step; nil for no limit.
  @exclusivity(unchecked) private(set) var limit: Duration?
  /// The time by which the running statement has to end, on the ``MonotonicClock``.
  var current: Duration?
  /// The time by which a statement that begins now has to end.
  var next: Duration? { limit.map { MonotonicClock.now + $0 } }
  /// The number of SQLite's steps between two calls.
  var interval: Int32 = 1000
  private var isExceeded = false

  /// SQLite keeps an unretained pointer to this object: the connection keeps the object as long
  /// as the handle.
  func set(_ limit: Duration?, on handle: OpaquePointer?) {
    self.limit = limit?.bounded
    // Another engine checks the time by itself.
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

  /// Whether the running statement has exceeded its deadline.
  func isOver() -> Bool {
    guard let current, MonotonicClock.now >= current else { return false }
    isExceeded = true
    return true
  }

  /// The message for an interrupt that the deadline caused; nil for any other error.
  func message(for code: ResultCode) -> String? {
    guard code.primary == .interrupt, isExceeded, let limit else { return nil }
    isExceeded = false
    return "the statement ran longer than its deadline of \(limit)"
  }
}

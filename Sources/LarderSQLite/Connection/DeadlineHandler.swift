import CSQLite

/// Stops statements that run too long, or that nobody waits for any more.
///
/// The handler is asked every so many steps of SQLite's virtual machine, and is installed only while
/// there is a limit or somebody to ask. A single step isn't interrupted, nor are those of a row
/// between two jumps, however long they take. See [Progress callbacks](https://www.sqlite.org/c3ref/progress_handler.html).
final class DeadlineHandler {
  /// How long one statement may run, from its first step; nil for ever.
  @exclusivity(unchecked) private(set) var limit: Duration?
  /// When the statement that runs now has to end, on the ``MonotonicClock``.
  var current: Duration?
  /// After how many steps it is asked.
  var interval: Int32 = 1000
  private var isExceeded = false
  private var isUnwanted: (() -> Bool)?

  /// SQLite keeps an unretained pointer to this object: the connection keeps the object as long
  /// as the handle.
  func set(_ limit: Duration?, on handle: OpaquePointer) {
    self.limit = limit?.bounded
    install(on: handle)
  }

  /// Calls a closure, and ends statements in it as soon as a condition holds, but none that writes: that
  /// would roll back the whole transaction, which others have written in.
  func endingReads<T>(
    on handle: OpaquePointer, when isUnwanted: @escaping () -> Bool, _ body: () throws -> T
  ) rethrows -> T {
    self.isUnwanted = { isUnwanted() && !Self.isWriting(handle) }
    install(on: handle)
    defer {
      self.isUnwanted = nil
      install(on: handle)
    }
    return try body()
  }

  private static func isWriting(_ handle: OpaquePointer) -> Bool {
    var statement = sqlite3_next_stmt(handle, nil)
    while let found = statement {
      if sqlite3_stmt_busy(found) != 0, sqlite3_stmt_readonly(found) == 0 { return true }
      statement = sqlite3_next_stmt(handle, found)
    }
    return false
  }

  private func install(on handle: OpaquePointer) {
    guard limit != nil || isUnwanted != nil else {
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
    if isUnwanted?() == true { return true }
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

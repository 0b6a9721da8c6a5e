import LarderSQLite

extension Database {
  /// Runs a closure with a time limit: interrupts its statement after `time`, and then returns nil. Throws if
  /// Ctrl-C interrupted it.
  package func within<T>(_ time: Duration?, _ body: () throws -> T) throws -> T? {
    guard let time else { return try body() }
    let handle = interruptHandle
    let (seconds, fraction) = time.components
    let alarm = Alarm(
      after: .microseconds(Int(seconds) * 1_000_000 + Int(fraction / 1_000_000_000_000)),
      every: .milliseconds(10)
    ) { handle.interrupt() }
    defer { withExtendedLifetime(alarm) {} }
    do {
      return try body()
    } catch let error as DatabaseError where error.isInterrupt {
      try Interruption.check()
      return nil
    }
  }
}

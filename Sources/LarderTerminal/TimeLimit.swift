import LarderSQLite

extension Database {
  /// What a closure returns; nil where it takes longer than a time, in which case its statement is interrupted.
  /// Throws where Ctrl-C does that.
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

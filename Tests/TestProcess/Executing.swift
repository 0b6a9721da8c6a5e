import LarderSQLite
import TestSupport

/// Executes each line of SQL that comes in as a transaction, and says when it was committed, in
/// nanoseconds of the system's monotonic clock.
enum Executing {
  static func run(path: String) throws {
    let queue = try DatabaseQueue(path: path)
    Parent.tell("ready")
    while let line = readLine() {
      try queue.inTransaction { try $0.executeStatements(SQL(raw: line)) }
      Parent.tell(String(MonotonicClock.nanoseconds))
    }
  }
}

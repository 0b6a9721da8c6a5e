import LarderSQLite
import TestSupport

/// Adds one to a counter, again and again, each in a transaction of its own, and writes how many
/// milliseconds the longest took.
enum Counting {
  static func run(path: String, _ number: Int) throws {
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    Parent.tell("ready")
    Parent.wait()
    var longest = Duration.zero
    for _ in 0..<number {
      let time = try ContinuousClock().measure {
        _ = try queue.inTransaction { try $0.executeUpdate("UPDATE counter SET value = value + 1") }
      }
      longest = max(longest, time)
    }
    Parent.tell(String(Int(longest / .milliseconds(1))))
  }
}

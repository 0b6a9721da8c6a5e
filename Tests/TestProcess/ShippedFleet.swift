import Foundation
import Larder
import LarderFleet
import LarderReplication
import TestSupport

/// Replicates a fleet whose databases are all open and written to, and says how many threads that takes.
enum ShippedFleet {
  static func run(folder: String, count: Int) throws {
    var configuration = FleetConfiguration(
      migrator: Migrator([Migration("create note", sql: "CREATE TABLE note (text TEXT)")]))
    configuration.maximumOpen = count
    // Closing ships the rest of all of them.
    configuration.database.scopeTimeout = .seconds(600)
    let fleet = try DatabaseFleet(in: folder + "/tenants", configuration: configuration)
    let failures = Lock<[String]>([])
    try fleet.replicate(to: .folder(folder + "/log"), every: .milliseconds(20)) { key, error in
      failures.withLock { $0.append("\(key): \(error)") }
    }
    var threads = 0
    for round in 0..<4 {
      for number in 0..<count {
        try fleet.inTransaction("tenant \(number)") { db in
          try db.executeUpdate("INSERT INTO note VALUES (\("note \(round) of \(number)"))")
        }
        if number % 10 == 0 {
          threads = max(
            threads, try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count)
        }
      }
    }
    let open = fleet.statistics.count
    try fleet.close()
    Parent.tell("\(open) open")
    Parent.tell("\(threads)")
    for failure in failures.withLock({ $0 }) { Parent.tell(failure) }
  }
}

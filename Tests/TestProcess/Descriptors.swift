import LarderFleet
import Foundation
import Larder
import TestSupport

/// Uses more databases of a fleet than the process has descriptors for.
enum Descriptors {
  static func run(folder: String, _ most: Int) throws {
    var limit = rlimit(rlim_cur: rlim_t(most), rlim_max: rlim_t(most))
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
      return Parent.tell("no limit can be set")
    }
    var configuration = FleetConfiguration(
      migrator: Migrator([Migration("create note", sql: "CREATE TABLE note (text TEXT)")]))
    configuration.maximumOpen = 1000
    let fleet = try DatabaseFleet(in: folder + "/tenants", configuration: configuration)
    let failures = Lock(0)
    DispatchQueue.concurrentPerform(iterations: 4) { part in
      for number in 0..<50 {
        do {
          try fleet.inTransaction("tenant \(number * 4 + part)") { db in
            try db.executeUpdate("INSERT INTO note VALUES ('x')")
          }
        } catch {
          failures.withLock { $0 += 1 }
        }
      }
    }
    var rows = 0
    for key in try fleet.keys() {
      rows += try fleet.read(key) { try $0.value("SELECT count(*) FROM note", as: Int.self) } ?? 0
    }
    // As many databases are open as there are descriptors for; each copy takes some more.
    let copies = try fleet.backup(to: folder + "/copies").changed
    try fleet.close()
    Parent.tell("\(failures.withLock { $0 }) failed, \(rows) rows, \(copies) copies")
  }
}

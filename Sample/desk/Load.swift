import Foundation
import LarderMacros

/// Plays clients until it is killed.
enum Load {
  static func run(_ address: String, prefix: String, tasks: Int = 4) async throws {
    let store = try Store.open(address, Watch())
    let desk = Desk(access: store.access)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in 0... {
            let reference = "\(prefix)-\(task)-\(number)"
            let start = ContinuousClock.now
            do {
              _ = try await desk.open(reference, subject: "load \(number) 压力测试", tags: ["load"])
              say("ack \(reference)")
            } catch {
              say("error \(reference) \(error)")
            }
            let time = (ContinuousClock.now - start) / .milliseconds(1)
            if time > 200 { say("late \(Int(time)) ms") }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

/// Copies a database of one engine into one of another, by the records that the program has.
enum Move {
  static func run(from source: String, to target: String) async throws -> [(String, Int)] {
    let old = try Store.open(source, Watch(), migrating: false)
    let new = try Store.open(target, Watch())
    let counts = try copyAll(old, new)
    try await old.access.close()
    try await new.access.close()
    return counts
  }

  /// Reads in one snapshot and writes in one transaction. Not asynchronous, since one scope is in another.
  private static func copyAll(_ old: Store, _ new: Store) throws -> [(String, Int)] {
    try old.access.read { from in
      try new.access.inTransaction { to in
        let counts = try tables.map { (try name(of: $0), try copy($0, from, to)) }
        guard new.isServer else { return counts }
        for table in ["ticket", "comment", "tag", "job"] {
          _ = try to.value(
            "SELECT setval(pg_get_serial_sequence(\(table), 'id'), max(id)) FROM \(identifier: table)",
            as: Int64?.self)
        }
        return counts
      }
    }
  }

  private static func name<R: Record>(of type: R.Type) throws -> String { R.table.name }

  private static func copy<R: Record>(_ type: R.Type, _ from: Database, _ to: Database) throws
    -> Int
  {
    var batch: [R] = []
    try R.all.forEach(from) { record in
      batch.append(record)
      guard batch.count == 1_000 else { return }
      try R.insert(to, contentsOf: batch)
      batch = []
    }
    try R.insert(to, contentsOf: batch)
    return try R.all.fetchCount(to)
  }
}

import LarderBackup
import LarderFleet
import Foundation
import LarderMacros

/// What only a file has: copies, and the drill of restoring them.
struct FileChecks {
  let pool: DatabasePool
  let scratch: Scratch
  let checks: Checks

  func all() async {
    await checks.part("backup while writing", backup)
    await checks.part("copies all the time", copies)
    await checks.part("a database for each tenant", tenants)
  }

  /// Copies every 100 ms while others write; the last one is restored beside the original.
  func copies() async throws -> String {
    let desk = Desk(access: pool)
    let folder = scratch.folder + "/copies"
    let copies = try pool.backup(every: .milliseconds(100), to: folder, keeping: 3)
    for number in 1...40 {
      _ = try await desk.open("c-\(number)", subject: "copied \(number)")
      try await Task.sleep(for: .milliseconds(10))
    }
    let last = try await copies.backup()
    copies.cancel()
    let statistics = copies.statistics
    checks.expect(statistics.failures == 0, "\(String(describing: statistics.error))")
    let points = try ContinuousBackup.points(in: folder)
    checks.expect((1...3).contains(points.count), "\(points.count) copies are kept")
    checks.expect(points.last?.path == last.path, "\(points)")
    let restored = scratch.folder + "/restored.db"
    try ContinuousBackup.restore(last, to: restored)
    let count = try await pool.read { db in try Ticket.all.fetchCount(db) }
    let problems = try FileChecks.drill(restored, atLeast: count)
    checks.expect(problems.isEmpty, "\(problems)")
    await checks.expectError("a copy after the end", { $0 is DatabaseError }) {
      try await copies.backup()
    }
    return
      "\(statistics.copies) copies, the last in \(statistics.duration), restored with \(count) tickets"
  }

  /// The same service for many tenants, of which only some are open.
  func tenants() async throws -> String {
    var configuration = FleetConfiguration(.init(profile: .durable), migrator: migrator)
    configuration.maximumOpen = 3
    let fleet = try DatabaseFleet(in: scratch.folder + "/tenants", configuration: configuration)
    let names = ["acme", "globex", "北京/../x", "a b", "ACME"]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for name in names {
        group.addTask {
          try await fleet.withDatabase(name) { queue in
            let desk = Desk(access: queue)
            for number in 1...3 { _ = try await desk.open("\(number)", subject: "of \(name)") }
          }
        }
      }
      try await group.waitForAll()
    }
    let keys = try fleet.keys()
    checks.expect(Set(keys) == Set(names), "\(keys)")
    for name in names {
      let subjects = try await fleet.read(name) { db in
        try Ticket.all.select { $0.subject }.fetchAll(db)
      }
      checks.expect(subjects == Array(repeating: "of \(name)", count: 3), "\(name): \(subjects)")
    }
    await checks.expectError("no key", { $0 is FleetError }) { try await fleet.create("") }
    let report = try await fleet.backup(to: scratch.folder + "/tenant-copies")
    checks.expect(report.count == names.count && report.failures.isEmpty, "\(report)")
    try await fleet.remove("acme")
    checks.expect(try !fleet.exists("acme") && fleet.exists("ACME"), "removed another one")
    let copies = try DatabaseFleet(
      in: scratch.folder + "/tenant-copies", configuration: configuration)
    try await fleet.inDatabase("acme") { db in try db.restore(from: copies.path(of: "acme")) }
    let count = try await fleet.read("acme") { db in try Ticket.all.fetchCount(db) }
    checks.expect(count == 3, "\(count) tickets of the tenant that was restored")
    checks.expect(fleet.statistics.count <= 3, "\(fleet.statistics)")
    try await fleet.close()
    try await copies.close()
    return
      "\(names.count) tenants, \(fleet.statistics.evicted) closed for others, one removed and restored"
  }

  func backup() async throws -> String {
    let desk = Desk(access: pool)
    let writing = Task {
      var number = 0
      while (try? await desk.open("b-\(number)", subject: "backup \(number)")) != nil {
        number += 1
      }
      return number
    }
    try await Task.sleep(for: .milliseconds(50))
    let path = scratch.folder + "/copy.db"
    try await pool.read { db in try db.backup(to: path) }
    writing.cancel()
    let written = await writing.value
    checks.expect(written > 0, "nothing was written meanwhile")
    let other = scratch.folder + "/other.db"
    let stranger = try Database(path: other)
    try stranger.executeUpdate("CREATE TABLE ticket (x INTEGER)")
    try stranger.close()
    await checks.expectError(
      "another program's file", { ($0 as? DatabaseError)?.code == .mismatch }
    ) {
      try await pool.inDatabase { db in try db.restore(from: other) }
    }
    let problems = try FileChecks.drill(path, atLeast: 100)
    checks.expect(problems.isEmpty, "\(problems)")
    return "a copy beside \(written) writes, restored"
  }

  /// Opens a copy as the program would after a disaster; returns what is wrong with it.
  static func drill(_ path: String, atLeast rows: Int) throws -> [String] {
    let copy = try Database(path: path)
    var found = try problems(copy)
    found += try migrator.pending(copy).map { "not migrated: \($0)" }
    found += try Ticket.table.differences(copy).map { "\($0)" }
    let count = try Ticket.all.fetchCount(copy)
    if count < rows { found.append("\(count) tickets only") }
    try Ticket.words.verify(copy)
    try copy.close()
    return found
  }

  static func problems(_ db: Database) throws -> [String] {
    var found = try db.executeQuery("PRAGMA integrity_check").map {
      try $0.get(at: 0, as: String.self)
    }
    if found == ["ok"] { found = [] }
    if try db.value("SELECT count(*) FROM pragma_foreign_key_check", as: Int.self) != 0 {
      found.append("rows that refer to rows that aren't there")
    }
    return found
  }
}

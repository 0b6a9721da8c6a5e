import LarderSQLite
import TestSupport
import Testing

@Suite("Commit, rollback and update hooks")
struct HookTests {
  struct Refusal: Error {}

  @Test(
    "Commit, rollback and update hooks are called until their observation is released or cancelled",
    arguments: Company.threads)
  func life(company: Company) throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let events = Recorder<String>()
    var observations = try access.inDatabase { db in
      [
        try db.onCommit { events.add("commit") },
        try db.onRollback { events.add("rollback") },
        try db.onUpdate { events.add("\($0) \($1) \($2)") },
      ]
    }
    try access.inTransaction { try $0.executeUpdate("UPDATE city SET area = 1 WHERE id < 3") }
    try? access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      throw Refusal()
    }
    let expected = ["update city 1", "update city 2", "commit", "delete city 1", "rollback"]
    #expect(events.elements == expected)
    observations[2].cancel()
    observations.removeFirst()
    try access.inTransaction { try $0.executeUpdate("UPDATE city SET area = 1 WHERE id < 3") }
    #expect(events.elements == expected)
    try access.inDatabase { db in
      try db.begin()
      try db.rollback()
    }
    #expect(events.elements == expected + ["rollback"])
    _ = observations
  }

  @Test(
    "A commit hook that throws refuses the commit, and the caller's error names the reason",
    arguments: Company.threads)
  func refused(company: Company) throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let observation = try access.inDatabase { db in
      try db.onCommit { throw Refusal() }
    }
    for call in [
      { try access.inTransaction { try $0.executeUpdate("DELETE FROM city") } },
      { try access.inDatabase { try $0.executeUpdate("DELETE FROM city") } },
      {
        try access.inDatabase { db in
          try db.inSavepoint { try $0.executeUpdate("DELETE FROM city") }
        }
      },
    ] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.extendedCode == .constraintCommitHook)
      #expect(error?.message == "a hook refused the commit: Refusal()")
    }
    #expect(try access.read { try $0.cityCount() } == 4)
    observation.cancel()
    try access.inTransaction { try $0.executeUpdate("DELETE FROM city") }
    #expect(try access.read { try $0.cityCount() } == 0)
  }

  @Test("An update hook that uses its own connection gets an error, and nothing is written")
  func misuse() throws {
    let db = try makeCities()
    let handed = Handed(db)
    let errors = Recorder<String>()
    let observation = try db.onUpdate { _, _, _ in
      do { try handed.content.executeUpdate("DELETE FROM city") } catch { errors.add("\(error)") }
    }
    try db.executeUpdate("UPDATE city SET area = 1 WHERE id = 1")
    #expect(errors.elements.count == 1)
    #expect(try db.cityCount() == 4)
    observation.cancel()
  }

  @Test(
    "Hooks, an observed value and a feed all see the same commit", .needsPreupdateHook, .promptly)
  func together() async throws {
    let access = try DatabaseQueue()
    let events = Recorder<String>()
    let observations = try await access.inDatabase { db in
      try createCities(in: db)
      return [
        try db.onCommit { events.add("commit") }, try db.onRollback { events.add("rollback") },
        try db.onUpdate { operation, _, _ in events.add("\(operation)") },
      ]
    }
    let values = ObservedReads(access) { try $0.cityCount() }
    let feed = Followed(access.changes(of: ["city"]))
    #expect(try await values.next() == 4)
    try await feed.begin()
    events.removeAll()
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try await values.next() == 3)
    #expect(try await feed.next()?.changes.count == 1)
    #expect(events.elements.filter { $0 == "delete" }.count == 1)
    #expect(events.elements.contains("commit"))
    _ = observations
  }

  @Test("Adding a commit hook in a read scope throws SQLITE_READONLY")
  func readScope() throws {
    let queue = try DatabaseQueue()
    let error = #expect(throws: DatabaseError.self) { try queue.read { _ = try $0.onCommit {} } }
    #expect(error?.code == .readOnly)
  }
}

import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Group commit", .promptly)
struct GroupCommitTests {
  private struct Doubt: Error {}

  private let queue: DatabaseQueue
  private let statements = Recorder<String>()

  init() throws {
    queue = try Self.makeQueue(tracing: statements)
  }

  private static func makeQueue(
    groupCommit: Bool = true, tracing statements: Recorder<String>
  ) throws -> DatabaseQueue {
    var configuration = Configuration.patient
    configuration.groupCommit = groupCommit
    configuration.trace = { statements.add($0.sql) }
    let queue = try DatabaseQueue(configuration: configuration)
    try queue.inDatabase { db in
      try createCities(in: db)
      try db.executeStatements(
        """
        CREATE TABLE street (
          name TEXT UNIQUE, city INTEGER REFERENCES city DEFERRABLE INITIALLY DEFERRED)
        """)
    }
    return queue
  }

  private func count(_ sql: String) -> Int { statements.elements.count { $0 == sql } }

  private func insert(_ name: String, city: Int = 2) -> @Sendable () throws -> Void {
    { [queue] in
      _ = try queue.inTransaction { db in
        try db.executeUpdate("INSERT INTO street VALUES (?, ?)", name, city)
      }
    }
  }

  private func streets() throws -> [String] {
    try queue.read { try $0.texts("SELECT name FROM street ORDER BY rowid") }
  }

  @Test("Queued transactions each run their own BEGIN and COMMIT, without savepoints")
  func ownTransactions() throws {
    let failures = try queue.lineUp([insert("Storgata"), insert("Torggata"), insert("Grensen")])
    #expect(failures.allSatisfy { $0 == nil })
    #expect(count("COMMIT") == 3)
    #expect(count("BEGIN IMMEDIATE") == 3)
    #expect(!statements.elements.contains { $0.hasPrefix("SAVEPOINT") })
    #expect(try streets() == ["Storgata", "Torggata", "Grensen"])
  }

  @Test("Thirty queued transactions commit in the order in which they arrived")
  func many() throws {
    let failures = try queue.lineUp((0..<30).map { insert("street \($0)") })
    #expect(failures.allSatisfy { $0 == nil })
    #expect(count("COMMIT") == 30)
    #expect(try streets() == (0..<30).map { "street \($0)" })
  }

  @Test("Transactions without contention use no savepoint")
  func uncontended() throws {
    for name in ["Storgata", "Torggata"] { try insert(name)() }
    #expect(count("COMMIT") == 2)
    #expect(!statements.elements.contains { $0.hasPrefix("SAVEPOINT") })
  }

  @Test("A queued transaction doesn't return before its own COMMIT")
  func returnsAfterCommit() throws {
    let queue = queue
    let statements = statements
    let body: @Sendable () throws -> Void = {
      try queue.inTransaction { _ in statements.add("body") }
      statements.add("returned")
    }
    _ = try queue.lineUp([body, body, body])
    let events = statements.elements.filter { ["body", "returned", "COMMIT"].contains($0) }
    #expect(
      events.filter { $0 != "returned" } == ["body", "COMMIT", "body", "COMMIT", "body", "COMMIT"])
    for end in events.indices {
      let sofar = events[...end]
      #expect(sofar.count { $0 == "returned" } <= sofar.count { $0 == "COMMIT" })
    }
  }

  @Test("With `groupCommit` off, queued transactions each run their own COMMIT and share no sync")
  func turnedOff() throws {
    let statements = Recorder<String>()
    let queue = try Self.makeQueue(groupCommit: false, tracing: statements)
    let body: @Sendable () throws -> Void = {
      _ = try queue.inTransaction { try $0.executeUpdate("UPDATE city SET area = area + 1") }
    }
    #expect(try queue.lineUp([body, body, body]).allSatisfy { $0 == nil })
    #expect(statements.elements.count { $0 == "COMMIT" } == 3)
    #expect(!statements.elements.contains { $0.hasPrefix("SAVEPOINT") })
    // Only the durable commits of a file are synced.
    let folder = try ScratchFolder()
    for isOn in [true, false] {
      var configuration = Configuration(profile: .durable)
      configuration.scopeTimeout = .seconds(watchdogSeconds)
      configuration.groupCommit = isOn
      let queue = try DatabaseQueue(
        path: folder.file("\(isOn).db"), configuration: configuration)
      try queue.inTransaction { try createCities(in: $0) }
      let body: @Sendable () throws -> Void = {
        _ = try queue.inTransaction { try $0.executeUpdate("UPDATE city SET area = area + 1") }
      }
      #expect(try queue.lineUp([body, body, body]).allSatisfy { $0 == nil })
      #expect((queue.statistics.syncs > 0) == isOn)
    }
  }

  @Test("Deferred transactions and `inDatabase` scopes run in turn between immediate transactions")
  func alone() throws {
    let queue = queue
    let failures = try queue.lineUp([
      insert("Storgata"),
      { _ = try queue.inTransaction(.deferred) { try $0.executeUpdate("DELETE FROM street") } },
      insert("Torggata"),
      { try queue.inDatabase { db in #expect(!db.isInTransaction) } },
      insert("Grensen"),
    ])
    #expect(failures.allSatisfy { $0 == nil })
    #expect(count("COMMIT") == 4)
    #expect(try streets() == ["Torggata", "Grensen"])
  }

  @Test("VACUUM runs in an `inDatabase` scope that is queued between transactions")
  func standsAlone() throws {
    let queue = queue
    let failures = try queue.lineUp([
      insert("Storgata"), { _ = try queue.inDatabase { try $0.executeUpdate("VACUUM") } },
      insert("Torggata"),
    ])
    #expect(failures.allSatisfy { $0 == nil })
  }

  @Test("A queued transaction that throws undoes only itself", arguments: 0..<3)
  func throwing(place: Int) throws {
    let queue = queue
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    bodies[place] = {
      try queue.inTransaction { db in
        try db.executeUpdate("INSERT INTO street VALUES ('Nowhere', 1)")
        throw Doubt()
      }
    }
    let failures = try queue.lineUp(bodies)
    for (index, failure) in failures.enumerated() {
      #expect((failure is Doubt) == (index == place))
    }
    var names = ["Storgata", "Torggata", "Grensen"]
    names.remove(at: place)
    #expect(try streets() == names)
  }

  @Test("A constraint error in a queued transaction undoes only that transaction", arguments: 0..<3)
  func constraint(place: Int) throws {
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    try insert("Nygata")()
    bodies[place] = insert("Nygata")
    let failures = try queue.lineUp(bodies)
    for (index, failure) in failures.enumerated() {
      #expect(((failure as? DatabaseError)?.extendedCode == .constraintUnique) == (index == place))
    }
    #expect(try streets().count == 3)
  }

  @Test(
    "A deferred foreign key violation fails only the queued transaction that caused it",
    arguments: 0..<3)
  func deferredForeignKey(place: Int) throws {
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    bodies[place] = insert("Nowhere", city: 77)
    let failures = try queue.lineUp(bodies)
    for (index, failure) in failures.enumerated() {
      let error = failure as? DatabaseError
      #expect((error?.extendedCode == .constraintForeignKey) == (index == place), "\(index)")
      #expect((failure == nil) == (index != place), "\(index)")
    }
    #expect(try streets().count == 2)
    #expect(try streets().contains("Nowhere") == false)
  }

  @Test(
    "A queued transaction with `setRollbackOnly()` undoes only itself and returns its result",
    arguments: 0..<3)
  func rollbackOnly(place: Int) throws {
    let queue = queue
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    bodies[place] = {
      let count = try queue.inTransaction { db in
        db.setRollbackOnly()
        return try db.executeUpdate("INSERT INTO street VALUES ('Nowhere', 1)")
      }
      #expect(count == 1)
    }
    #expect(try queue.lineUp(bodies).allSatisfy { $0 == nil })
    #expect(try streets().count == 2)
    #expect(try streets().contains("Nowhere") == false)
  }

  @Test("A queued transaction with INSERT OR ROLLBACK undoes only itself", arguments: 0..<3)
  func conflictRollback(place: Int) throws {
    let queue = queue
    try insert("Nygata")()
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    bodies[place] = {
      try queue.inTransaction { db in
        try db.executeUpdate("INSERT INTO street VALUES ('Nowhere', 2)")
        try db.executeUpdate("INSERT OR ROLLBACK INTO street VALUES ('Nygata', 2)")
      }
    }
    let failures = try queue.lineUp(bodies)
    for (index, failure) in failures.enumerated() {
      #expect(((failure as? DatabaseError)?.extendedCode == .constraintUnique) == (index == place))
      #expect((failure == nil) == (index != place))
    }
    #expect(try streets().count == 3)
    #expect(try streets().contains("Nowhere") == false)
    #expect(try queue.inDatabase { $0.isInTransaction } == false)
  }

  @Test(
    "A queued transaction that ignores SQLite's rollback throws `.abort`, and the others commit",
    arguments: 0..<3)
  func hiddenRollback(place: Int) throws {
    let queue = queue
    try insert("Nygata")()
    var bodies = [insert("Storgata"), insert("Torggata"), insert("Grensen")]
    bodies[place] = {
      try queue.inTransaction { db in
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO street VALUES ('Nygata', 2)")
        _ = try? db.executeUpdate("INSERT INTO street VALUES ('Nowhere', 2)")
      }
    }
    let failures = try queue.lineUp(bodies)
    for (index, failure) in failures.enumerated() {
      #expect(((failure as? DatabaseError)?.code == .abort) == (index == place))
      #expect((failure == nil) == (index != place))
    }
    #expect(try streets().count == 3)
    #expect(try streets().contains("Nowhere") == false)
  }

  @Test("Queued transactions whose COMMIT fails throw `.busy` and leave no changes")
  func failedCommit() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration.patient
    configuration.journalMode = .delete
    configuration.busyTimeout = .zero
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    try queue.inTransaction { try createCities(in: $0) }
    // With a rollback journal, a reader prevents a transaction from committing, but not from beginning.
    configuration.readOnly = true
    let reader = try Database(path: folder.file("cities.db"), configuration: configuration)
    let rows = try reader.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let body: @Sendable () throws -> Void = {
      _ = try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    let failures = try queue.lineUp([body, body, body])
    #expect(failures.map { ($0 as? DatabaseError)?.code } == [.busy, .busy, .busy])
    rows.close()
    #expect(try queue.read { try $0.cityCount() } == 4)
    try body()
    #expect(try queue.read { try $0.cityCount() } == 3)
  }

  @Test("A result set that a queued transaction leaves open is closed before the next one runs")
  func leakedResultSet() throws {
    let queue = queue
    let leaking: @Sendable () throws -> Void = {
      try queue.inTransaction { db in
        #expect(!db.hasOpenStatements)
        #expect(try db.executeQuery("SELECT name FROM city").next())
        _ = try db.prepare("DELETE FROM city")
      }
    }
    #expect(try queue.lineUp([leaking, leaking, leaking]).allSatisfy { $0 == nil })
  }

  @Test("Tasks and threads can queue together, each with its own transaction")
  func tasks() async throws {
    let queue = queue
    let holder = try Holder(queue)
    let first = Task { try await queue.inTransaction { $0.isInTransaction } }
    try await yieldUntil { queue.waitingCount == 1 }
    let second = Caller(insert("Storgata"))
    try await yieldUntil { queue.waitingCount == 2 }
    let third = Task { try await queue.inTransaction { try $0.cityCount() } }
    try await yieldUntil { queue.waitingCount == 3 }
    try holder.release()
    #expect(try await first.value)
    try second.join()
    #expect(try await third.value == 4)
    #expect(count("COMMIT") == 3)
  }
}

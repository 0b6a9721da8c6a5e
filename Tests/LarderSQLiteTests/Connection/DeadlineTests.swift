import Foundation
import LarderSQLite
import Synchronization
import TestSupport
import Testing

@Suite("Interrupts and deadlines")
struct DeadlineTests {
  /// A query that runs for minutes.
  static let endless: SQL = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
    SELECT count(*) FROM n
    """

  private func limited(_ deadline: Duration) throws -> Database {
    var configuration = Configuration()
    configuration.statementDeadline = deadline
    return try Database(configuration: configuration)
  }

  @Test("An interrupt from another thread stops the running statement", .timeLimit(.minutes(1)))
  func fromAnotherThread() throws {
    let db = try Database()
    let handle = db.interruptHandle
    let isDone = Recorder<Bool>()
    // An interrupt before the statement runs does nothing: it is repeated until it has worked.
    Thread.detachNewThread {
      while isDone.elements.isEmpty {
        handle.interrupt()
        sched_yield()
      }
    }
    defer { isDone.add(true) }
    let error = #expect(throws: DatabaseError.self) { try db.value(Self.endless, as: Int.self) }
    #expect(error?.code == .interrupt)
    #expect(error?.code == .interrupt)
    #expect(error?.message == "interrupted")
  }

  @Test("A transaction that is interrupted while it writes is rolled back", .timeLimit(.minutes(1)))
  func transaction() throws {
    let db = try limited(.milliseconds(20))
    try db.executeUpdate("CREATE TABLE city (number)")
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        try db.executeUpdate("INSERT INTO city VALUES (1)")
        try db.executeUpdate(
          """
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000000)
          INSERT INTO city SELECT i FROM n
          """)
      }
    }
    #expect(error?.code == .interrupt)
    #expect(!db.isInTransaction)
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 0)
  }

  @Test("An interrupt while no statement runs has no effect on the next one")
  func idle() throws {
    let db = try Database()
    db.interrupt()
    db.interruptHandle.interrupt()
    #expect(try db.value("SELECT 1", as: Int.self) == 1)
  }

  @Test(
    "A statement that exceeds its deadline throws an error that mentions the deadline",
    .timeLimit(.minutes(1)))
  func deadline() throws {
    let db = try limited(.milliseconds(30))
    let time = ContinuousClock().measure {
      let error = #expect(throws: DatabaseError.self) { try db.value(Self.endless, as: Int.self) }
      #expect(error?.code == .interrupt)
      #expect(error?.message.contains("deadline") == true)
    }
    #expect(time >= .milliseconds(30))
    #expect(time < .seconds(5))
  }

  @Test(
    "A connection is usable after a deadline, and each statement has its own deadline",
    .timeLimit(.minutes(1)))
  func afterwards() throws {
    let db = try limited(.milliseconds(100))
    for _ in 0..<2 {
      #expect(throws: DatabaseError.self) { try db.value(Self.endless, as: Int.self) }
      #expect(try db.value("SELECT 1", as: Int.self) == 1)
    }
    #expect(!db.isInTransaction)
    #expect(!db.hasOpenStatements)
  }

  @Test(
    "An interrupt before the deadline isn't reported as an exceeded deadline",
    .timeLimit(.minutes(1))
  )
  func interruptIsNoDeadline() throws {
    let db = try limited(.seconds(3600))
    let handle = db.interruptHandle
    try db.createFunction("stop", argumentCount: 0) { _ in
      handle.interrupt()
      return 1
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.executeStatements("SELECT stop() UNION ALL SELECT 2 UNION ALL SELECT 3")
    }
    #expect(error?.message == "interrupted")
  }

  @Test("Without a deadline a statement runs to its end")
  func withoutLimit() throws {
    let db = try Database()
    let count = try db.value(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
      SELECT count(*) FROM n
      """, as: Int.self)
    #expect(count == 100_000)
  }
}

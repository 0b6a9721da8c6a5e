import Dispatch
import LarderSQLite
import Testing

@Suite("Stopping statements")
struct InterruptTests {
  /// A query that would take years.
  private let endless: SQL = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT count(*) FROM number
    """

  @Test("A statement that runs is stopped from another thread")
  func otherThread() throws {
    let db = try makeCities()
    let handle = db.interruptHandle
    let hasBegun = DispatchSemaphore(value: 0)
    try db.createFunction("begin_now", argumentCount: 0, deterministic: false) { _ in
      hasBegun.signal()
      return 1
    }
    DispatchQueue.global().async {
      hasBegun.wait()
      handle.interrupt()
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.value(
        """
        WITH RECURSIVE number(n) AS (SELECT begin_now() UNION ALL SELECT n + 1 FROM number)
        SELECT count(*) FROM number
        """, as: Int.self)
    }
    #expect(error?.code == .interrupt)
    #expect(error?.code == .interrupt)
    #expect(try db.cityCount() == 4)
  }

  @Test("An interrupt ends the statements that have begun, and none that begins later")
  func begun() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    db.interrupt()
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .interrupt)
    #expect(try db.cityCount() == 4)
  }

  @Test("Interrupting where nothing runs, or after closing, does nothing")
  func idle() throws {
    let db = try makeCities()
    let handle = db.interruptHandle
    handle.interrupt()
    #expect(try db.cityCount() == 4)
    try db.close()
    handle.interrupt()
    db.interrupt()
  }

  @Test("A statement that runs longer than its deadline is stopped")
  func deadline() throws {
    var configuration = Configuration()
    configuration.statementDeadline = .milliseconds(30)
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    let error = #expect(throws: DatabaseError.self) { try db.value(endless, as: Int.self) }
    #expect(error?.code == .interrupt)
    #expect(error?.message.contains("deadline") == true)
    #expect(try db.cityCount() == 4)
  }
}

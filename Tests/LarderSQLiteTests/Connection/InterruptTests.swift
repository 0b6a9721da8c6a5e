import Dispatch
import LarderSQLite
import Testing

@Suite("Interrupted statements")
struct InterruptTests {
  /// A query that would take years.
  private let endless: SQL = """
    WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
    SELECT count(*) FROM number
    """

  @Test(
    "An interrupt from another thread stops a running statement, and the connection stays usable")
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

  @Test("An interrupt ends the statements that have begun, but none that begins later")
  func begun() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    db.interrupt()
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .interrupt)
    #expect(try db.cityCount() == 4)
  }

  @Test("An interrupt does nothing when no statement runs or the database is closed")
  func idle() throws {
    let db = try makeCities()
    let handle = db.interruptHandle
    handle.interrupt()
    #expect(try db.cityCount() == 4)
    try db.close()
    handle.interrupt()
    db.interrupt()
  }

  @Test(
    "A statement that exceeds its deadline throws `.interrupt`, and the connection stays usable")
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

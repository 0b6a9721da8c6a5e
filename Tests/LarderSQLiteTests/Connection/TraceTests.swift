import LarderSQLite
import TestSupport
import Testing

@Suite("Tracing and logging")
struct TraceTests {
  let events = Recorder<TraceEvent>()
  let errors = Recorder<DatabaseError>()

  private func database(
    showsArguments: Bool = false, threshold: Duration = .zero
  ) throws -> Database {
    var configuration = Configuration()
    configuration.showsArguments = showsArguments
    configuration.slowStatementThreshold = threshold
    configuration.trace = { [events] in events.add($0) }
    configuration.log = { [errors] in errors.add($0) }
    let db = try Database(configuration: configuration)
    try db.executeUpdate("CREATE TABLE city (name TEXT UNIQUE)")
    return db
  }

  private func events(named text: String) -> [TraceEvent] {
    events.elements.filter { $0.sql.contains(text) }
  }

  @Test("Each run of a statement is traced once, with its row count and without its values")
  func runs() throws {
    let db = try database()
    for name in ["Oslo", "Bergen"] { try db.executeUpdate("INSERT INTO city VALUES (\(name))") }
    #expect(
      events(named: "INSERT").map(\.sql)
        == Array(repeating: "INSERT INTO city VALUES (?)", count: 2))
    #expect(events(named: "INSERT").allSatisfy { $0.expandedSQL == nil && $0.duration > .zero })
    let names = try db.executeQuery("SELECT name FROM city").map {
      try $0.get(at: 0, as: String.self)
    }
    #expect(names.count == 2)
    #expect(events(named: "SELECT name").map(\.rows) == [2])
  }

  @Test("A query that is closed early is traced with the number of rows that were read")
  func closedEarly() throws {
    let db = try database()
    let rows = try db.executeQuery("SELECT 1 UNION ALL SELECT 2")
    #expect(try rows.next())
    #expect(events(named: "UNION").isEmpty)
    rows.close()
    #expect(events(named: "UNION").map(\.rows) == [1])
  }

  @Test("The statements of a batch are traced separately")
  func batch() throws {
    let db = try database()
    try db.executeStatements("INSERT INTO city VALUES ('Oslo'); DELETE FROM city")
    #expect(events.elements.suffix(2).map { $0.sql.contains("DELETE") } == [false, true])
  }

  @Test("Each run of a prepared statement is traced")
  func prepared() throws {
    let db = try database()
    let insert = try db.prepare("INSERT INTO city VALUES (?)")
    try insert.execute("Oslo")
    try insert.execute("Bergen")
    #expect(events(named: "INSERT").count == 2)
  }

  @Test(
    "With `showsArguments`, a trace event has the expanded SQL beside the SQL with placeholders")
  func values() throws {
    let db = try database(showsArguments: true)
    try db.executeUpdate("INSERT INTO city VALUES (\("O'Brien"))")
    #expect(events(named: "INSERT").map(\.expandedSQL) == ["INSERT INTO city VALUES ('O''Brien')"])
    #expect(events(named: "INSERT").map(\.sql) == ["INSERT INTO city VALUES (?)"])
  }

  @Test("Statements below `slowStatementThreshold` aren't traced")
  func threshold() throws {
    let db = try database(threshold: .seconds(3600))
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    #expect(events.elements.isEmpty)
  }

  @Test("A trace event's duration doesn't include the program's time between rows")
  func duration() throws {
    let db = try database()
    let rows = try db.executeQuery("SELECT 1 UNION ALL SELECT 2")
    let clock = ContinuousClock()
    let time = try clock.measure {
      while try rows.next() {
        let end = clock.now + .milliseconds(30)
        while clock.now < end {}
      }
    }
    let event = try #require(events(named: "UNION").first)
    #expect(event.duration <= time - .milliseconds(60))
  }

  @Test("A failing statement is traced, and its error is logged once")
  func failures() throws {
    let db = try database()
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    #expect(errors.elements.isEmpty)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    }
    #expect(errors.elements == [try #require(error)])
    #expect(events(named: "INSERT").count == 2)
  }

  @Test("A syntax error is logged with its offset")
  func syntax() throws {
    let db = try database()
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FORM city") }
    #expect(errors.elements.map(\.offset) == [SQLiteLibrary.offset(7)])
  }

  @Test("SQL that is refused because of a second statement isn't logged as a syntax error")
  func refusedTail() throws {
    let db = try database()
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city; nonsense") }
    #expect(!errors.elements.contains { $0.message.contains("syntax error") })
  }

  @Test("A failure to open a database with an unknown VFS is logged once")
  func opening() throws {
    var configuration = Configuration()
    configuration.log = { [errors] in errors.add($0) }
    configuration.vfs = "no such thing"
    #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
    #expect(errors.elements.count == 1)
  }
}

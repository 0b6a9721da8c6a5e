import LarderSQLite
import TestSupport
import Testing

@Suite("Trace and log callbacks")
struct ReportingTests {
  @Test("The log callback gets each error that SQLite reports, with its SQL")
  func log() throws {
    let errors = Recorder<DatabaseError>()
    var configuration = Configuration()
    configuration.log = { errors.add($0) }
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    #expect(errors.elements.isEmpty)
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM river") }
    #expect(throws: DatabaseError.self) { try db.executeUpdate("UPDATE city SET name = 'Oslo'") }
    #expect(errors.elements.map(\.code) == [.error, .constraint])
    #expect(errors.elements.map(\.sql) == ["DELETE FROM river", "UPDATE city SET name = 'Oslo'"])
  }

  @Test("The log callback gets the error of a database file that can't be opened")
  func logOpening() throws {
    try withTemporaryFolder { folder in
      let errors = Recorder<DatabaseError>()
      var configuration = Configuration()
      configuration.log = { errors.add($0) }
      #expect(throws: DatabaseError.self) {
        try Database(path: folder + "/nowhere/cities.db", configuration: configuration)
      }
      #expect(errors.elements.map(\.code) == [.cannotOpen])
    }
  }

  @Test("The trace callback gets each statement with its row count and duration")
  func trace() throws {
    let events = Recorder<TraceEvent>()
    var configuration = Configuration()
    configuration.trace = { events.add($0) }
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    events.removeAll()
    try db.executeUpdate("DELETE FROM city WHERE id = ?", 1)
    _ = try db.texts("SELECT name FROM city WHERE id > ?", 2)
    #expect(
      events.elements.map(\.sql) == [
        "DELETE FROM city WHERE id = ?", "SELECT name FROM city WHERE id > ?",
      ])
    #expect(events.elements.map(\.rows) == [0, 2])
    #expect(events.elements.allSatisfy { $0.duration > .zero })
    #expect(events.elements.allSatisfy { $0.expandedSQL == nil })
  }

  @Test("With `showsArguments`, a trace event contains the SQL with its arguments")
  func traceArguments() throws {
    let events = Recorder<TraceEvent>()
    var configuration = Configuration()
    configuration.trace = { events.add($0) }
    configuration.showsArguments = true
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    events.removeAll()
    _ = try db.texts("SELECT name FROM city WHERE name = ?", "o'brien")
    #expect(events.elements.map(\.expandedSQL) == ["SELECT name FROM city WHERE name = 'o''brien'"])
  }

  @Test("The trace callback doesn't get statements faster than `slowStatementThreshold`")
  func threshold() throws {
    let events = Recorder<TraceEvent>()
    var configuration = Configuration()
    configuration.trace = { events.add($0) }
    configuration.slowStatementThreshold = .seconds(600)
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    #expect(events.elements.isEmpty)
  }
}

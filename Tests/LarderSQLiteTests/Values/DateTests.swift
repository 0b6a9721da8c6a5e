import FoundationEssentials
import LarderSQLite
import Testing

@Suite("Dates")
struct DateTests {
  /// November 21, 2026, 08:33:26.123 UTC.
  private let moment = Date(timeIntervalSince1970: 1_795_250_006.123)

  private func database(_ format: DateFormat) throws -> Database {
    var configuration = Configuration()
    configuration.dateFormat = format
    return try Database(configuration: configuration)
  }

  @Test("By default a date is stored as a real number of seconds since 1970")
  func standard() throws {
    let db = try Database()
    #expect(try db.value("SELECT ?", moment, as: DatabaseValue.self) == .real(1_795_250_006.123))
    #expect(try db.value("SELECT ?", moment, as: Date.self) == moment)
  }

  @Test("The current time is read back to within a microsecond")
  func present() throws {
    let now = Date()
    let read = try #require(try Database().value("SELECT ?", now, as: Date.self))
    #expect(abs(read.timeIntervalSince(now)) < 0.000_001)
  }

  @Test("NULL is nil as an optional Date and throws as a Date; 0 is January 1, 1970")
  func null() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE visit (city TEXT, arrival REAL)")
    try db.executeUpdate("INSERT INTO visit VALUES ('Oslo', ?), ('Lagos', ?)", nil, 0)
    let rows = try db.executeQuery("SELECT arrival FROM visit ORDER BY rowid")
    #expect(try rows.next())
    #expect(try rows.get("arrival", as: Date?.self) == nil)
    #expect(throws: ConversionError.self) { try rows.get("arrival", as: Date.self) }
    #expect(try rows.next())
    #expect(try rows.get("arrival", as: Date.self) == Date(timeIntervalSince1970: 0))
  }

  @Test(
    "A date is stored in the format of the connection",
    arguments: [
      (DateFormat.secondsSince1970, DatabaseValue.real(1_795_250_006.123)),
      (.unixMilliseconds, .integer(1_795_250_006_123)),
      (.iso8601, .text("2026-11-21T08:33:26.123Z")),
      (.sqlDateTime, .text("2026-11-21 08:33:26")),
    ])
  func stored(format: DateFormat, value: DatabaseValue) throws {
    let db = try database(format)
    #expect(try db.value("SELECT ?", moment, as: DatabaseValue.self) == value)
    #expect(try db.value("SELECT \(moment)", as: DatabaseValue.self) == value)
  }

  @Test(
    "A date survives a round trip in each format of the connection",
    arguments: [
      (DateFormat.secondsSince1970, 0.0), (.unixMilliseconds, 0.000_001), (.iso8601, 0.000_001),
      (.sqlDateTime, 0.5), (.julianDay, 0.000_1),
    ])
  func roundTrip(format: DateFormat, tolerance: Double) throws {
    let db = try database(format)
    let dates = [
      moment, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: -2_000_000_000.5),
    ]
    for date in dates {
      let read = try #require(try db.value("SELECT ?", date, as: Date.self))
      #expect(abs(read.timeIntervalSince(date)) <= tolerance)
    }
  }

  @Test(
    "SQLite's datetime() reads the values of each date format",
    arguments: [
      (DateFormat.secondsSince1970, "datetime(?, 'unixepoch')"),
      (.unixMilliseconds, "datetime(? / 1000, 'unixepoch')"), (.julianDay, "datetime(?)"),
      (.iso8601, "datetime(?)"), (.sqlDateTime, "datetime(?)"),
    ])
  func dateFunctions(format: DateFormat, expression: String) throws {
    let db = try database(format)
    #expect(
      try db.value(SQL(raw: "SELECT \(expression)"), moment, as: String.self)
        == "2026-11-21 08:33:26")
  }

  @Test(
    "Reading a value that isn't in the connection's date format throws an error with the column",
    arguments: [
      (DateFormat.secondsSince1970, "'2013-02-24'"), (.secondsSince1970, "x'00'"),
      (.unixMilliseconds, "1.5"), (.iso8601, "1795250006"), (.iso8601, "'yesterday'"),
      (.iso8601, "'2026-02-30'"), (.sqlDateTime, "'2026-11-21 25:00:00'"), (.julianDay, "'2026'"),
    ])
  func wrongForm(format: DateFormat, sql: String) throws {
    let db = try database(format)
    let error = #expect(throws: ConversionError.self) {
      try db.value(SQL(raw: "SELECT \(sql) AS founded"), as: Date.self)
    }
    #expect(error?.column == "founded")
  }

  @Test("A column can be written and read with a date format of its own")
  func ownFormat() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE city (name TEXT, founded TEXT)")
    let founded = try DateFormat.sqlDateTime.databaseValue(of: moment)
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo', ?)", founded)
    let rows = try db.executeQuery("SELECT founded FROM city")
    #expect(try rows.next())
    #expect(try rows["founded"] == "2026-11-21 08:33:26")
    let read = try DateFormat.sqlDateTime.date(from: rows["founded"])
    #expect(read == Date(timeIntervalSince1970: 1_795_250_006))
  }

  @Test("Storing a date beyond the year 9999 in ISO 8601, or an infinite one, throws")
  func inexpressible() throws {
    let db = try database(.iso8601)
    #expect(throws: ConversionError.self) {
      try db.value("SELECT ?", Date.distantFuture.addingTimeInterval(1e12), as: Date.self)
    }
    #expect(throws: ConversionError.self) {
      try Database().value("SELECT ?", Date(timeIntervalSince1970: .infinity), as: Date.self)
    }
  }
}

import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Edge cases of values and files")
struct EdgeTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test("A result set whose columns were read before its first row still throws once it is closed")
  func namesThenClose() throws {
    let db = try Database()
    let rows = try db.executeQuery("SELECT 'Oslo' AS name")
    #expect(rows.columnNames == ["name"])
    db.closeOpenStatements()
    let other = try db.executeQuery("SELECT 'Oslo' AS name")
    #expect(try other.next())
    #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(throws: DatabaseError.self) { try rows[0] }
    let closed = try db.executeQuery("SELECT 'Bergen' AS name")
    #expect(closed.columnCount == 1)
    try db.close()
    #expect(throws: DatabaseError.self) { try closed.next() }
    #expect(throws: DatabaseError.self) { try closed[0] }
  }

  @Test(
    "Storing a date that is too far away for the text formats throws",
    arguments: [
      -9_223_372_036_854_775_808, 9.3e18, -9_223_372_036_854_775.808, 1e300, -1e300,
    ])
  func farDates(seconds: Double) throws {
    let date = Date(timeIntervalSince1970: seconds)
    for format in [DateFormat.iso8601, .sqlDateTime] {
      #expect(throws: ConversionError.self) { try format.databaseValue(of: date) }
    }
    var configuration = Configuration()
    configuration.dateFormat = .sqlDateTime
    let db = try Database(configuration: configuration)
    #expect(throws: ConversionError.self) { try db.executeUpdate("SELECT ?", date) }
  }

  @Test("An integer that isn't exact as a Double can't be read as a date")
  func inexactDates() throws {
    for format in [DateFormat.secondsSince1970, .unixMilliseconds, .julianDay] {
      #expect(throws: ConversionError.self) { try format.date(from: .integer(.max)) }
    }
  }

  @Test("Timeouts and deadlines of extreme durations don't crash")
  func durations() throws {
    for duration in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero] {
      var configuration = Configuration()
      configuration.busyTimeout = duration
      configuration.statementDeadline = max(duration, .seconds(10))
      let db = try Database(configuration: configuration)
      #expect(try db.value("SELECT 1", as: Int.self) == 1)
      db.busyTimeout = duration
      #expect(db.busyTimeout >= .zero)
    }
  }

  @Test("Arguments for the same parameter with and without its prefix throw")
  func twice() throws {
    let db = try Database()
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT :a", arguments: [":a": 1, "a": 2], as: Int.self)
    }
    #expect(error?.code == .range)
  }

  @Test("Opening a pipe as a database throws `.cannotOpen` at once")
  func pipe() throws {
    let path = folder.file("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    for profile in [Configuration.Profile.service, .untrustedFile] {
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: Configuration(profile: profile))
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("The statement deadline also ends a wait for a lock")
  func deadlineWhileWaiting() throws {
    let path = folder.file("cities.db")
    let holder = try Database(path: path)
    try holder.executeUpdate("CREATE TABLE city (name TEXT)")
    try holder.begin()
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    configuration.statementDeadline = .milliseconds(50)
    let db = try Database(path: path, configuration: configuration)
    let start = ContinuousClock.now
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    #expect(error?.code == .interrupt)
    #expect(ContinuousClock.now - start < .seconds(30))
    try holder.rollback()
    try db.executeUpdate("DELETE FROM city")
  }

  @Test("A failed backup to a new file leaves no file behind")
  func failedBackup() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE city (name TEXT)")
    let path = folder.file("copy.db")
    #expect(throws: CancellationError.self) {
      try db.backup(to: path) { _, _ in throw CancellationError() }
    }
    #expect(!folder.exists("copy.db"))
  }

  @Test(
    "A backup with another page size fits a WAL file; a restore into a filled in-memory database throws"
  )
  func pageSizes() throws {
    let big = try Database()
    try big.executeStatements(
      "PRAGMA page_size = 16384; VACUUM; CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo')"
    )
    #expect(try big.value("PRAGMA page_size", as: Int.self) == 16_384)
    let path = folder.file("cities.db")
    try Database(path: path).executeUpdate("CREATE TABLE river (name)")
    try big.backup(to: path)
    let copy = try Database(path: path)
    #expect(try copy.value("SELECT name FROM city", as: String.self) == "Oslo")
    let empty = try Database()
    try empty.restore(from: path)
    #expect(try empty.value("SELECT name FROM city", as: String.self) == "Oslo")
    let filled = try Database()
    try filled.executeUpdate("CREATE TABLE lake (name)")
    let error = #expect(throws: DatabaseError.self) { try filled.restore(from: path) }
    #expect(error?.message.contains("16384") == true)
    #expect(try filled.tableExists("lake"))
  }

  @Test("A backup of a connection that is in a write transaction throws `.busy`")
  func backupInTransaction() throws {
    let db = try Database(path: folder.file("cities.db"))
    try db.executeUpdate("CREATE TABLE city (name)")
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
      let error = #expect(throws: DatabaseError.self) {
        try db.backup(to: folder.file("copy.db"))
      }
      #expect(error?.code == .busy)
    }
  }
}

import LarderSQLite
import Testing

@Suite("The SQLite library")
struct SQLiteLibraryTests {
  /// The parts of a version such as `3.40.1`, to compare as numbers rather than as text.
  private func parts(_ version: String) -> [Int] {
    version.split(separator: ".").compactMap { Int($0) }
  }

  @Test("`larderVersion` has three numbers")
  func larderVersion() {
    let version = SQLiteLibrary.larderVersion
    #expect(parts(version).count == 3)
    #expect(parts(version).map { "\($0)" }.joined(separator: ".") == version)
  }

  @Test("`SQLiteLibrary.version` equals sqlite_version(), and is 3.37 or newer")
  func version() throws {
    let parts = parts(SQLiteLibrary.version)
    try #require(parts.count >= 3)
    #expect(parts[0] == 3 && parts[1] >= 37)
    #expect(
      try Database().value("SELECT sqlite_version()", as: String.self) == SQLiteLibrary.version)
  }

  @Test("The SQLite library is compiled thread-safe")
  func threads() {
    #expect(!SQLiteLibrary.compileOptions.contains("THREADSAFE=0"))
  }

  @Test("`compileOptions` equals the result of PRAGMA compile_options")
  func compileOptions() throws {
    let options = SQLiteLibrary.compileOptions
    #expect(options.contains { $0.hasPrefix("THREADSAFE=") })
    #expect(try Database().texts("PRAGMA compile_options").sorted() == options.sorted())
  }

  @Test("Each limit can be read and set, up to the maximum that SQLite was built with")
  func limits() throws {
    let db = try Database()
    for limit in Limit.allCases {
      let before = db.limit(limit)
      #expect(try db.setLimit(limit, .max) == before)
      let most = db.limit(limit)
      #expect(most >= before && most < .max)
      #expect(try db.setLimit(limit, before) == most)
      #expect(db.limit(limit) == before)
    }
    try db.setLimit(.variables, 2)
    #expect(throws: DatabaseError.self) { try db.validate("SELECT ?, ?, ?") }
    #expect(try db.value("SELECT ? + ?", 1, 2, as: Int.self) == 3)
  }

  @Test("`Configuration.limits` sets limits when a database is opened")
  func configuredLimits() throws {
    var configuration = Configuration()
    configuration.limits = [.variables: 5, .attached: 0]
    let db = try Database(configuration: configuration)
    #expect(db.limit(.variables) == 5)
    #expect(throws: DatabaseError.self) { try db.executeUpdate("ATTACH ':memory:' AS other") }
  }
}

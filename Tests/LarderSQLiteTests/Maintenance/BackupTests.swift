import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Copying a database to a file and back")
struct BackupTests {
  private struct Doubt: Error {}

  @Test("Text that names no file is refused instead of a copy that goes away")
  func noFile() throws {
    let db = try Database()
    for path in ["", ":memory:"] {
      let error = #expect(throws: DatabaseError.self) { try db.backup(to: path) }
      #expect(error?.code == .misuse)
    }
  }

  @Test("A database in memory is copied to a file, and back into another one in memory")
  func roundTrip() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try makeCities()
      try db.backup(to: path)
      #expect(try Database(path: path).cityCount() == 4)
      try db.executeUpdate("DELETE FROM city")

      let other = try Database()
      try other.restore(from: path)
      #expect(
        try other.texts("SELECT name FROM city ORDER BY id") == ["Bergen", "Oslo", "Lagos", "北京市"])
    }
  }

  @Test("A copy replaces all that was there")
  func replaces() throws {
    try withTemporaryFolder { folder in
      let file = try Database(path: folder + "/rivers.db")
      try file.executeUpdate("CREATE TABLE river (name TEXT)")
      try makeCities().backup(to: folder + "/rivers.db")
      #expect(try file.schema().filter { $0.kind == .table }.map(\.name) == ["city"])
      #expect(try file.cityCount() == 4)
    }
  }

  @Test("A source that is missing throws, is not created, and leaves the database untouched")
  func missingSource() throws {
    try withTemporaryFolder { folder in
      let db = try makeCities()
      let error = #expect(throws: DatabaseError.self) { try db.restore(from: folder + "/none.db") }
      #expect(error?.code == .cannotOpen)
      #expect(try db.cityCount() == 4)
      #expect(!FileManager.default.fileExists(atPath: folder + "/none.db"))
    }
  }

  @Test("A source that is no database throws and leaves the database untouched")
  func noDatabase() throws {
    try withTemporaryFolder { folder in
      let text = String(repeating: "Oslo, Bergen, Lagos\n", count: 100)
      try text.write(toFile: folder + "/cities.txt", atomically: true, encoding: .utf8)
      let db = try makeCities()
      let error = #expect(throws: DatabaseError.self) {
        try db.restore(from: folder + "/cities.txt")
      }
      #expect(error?.code == .notADatabase)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("A destination in a folder that isn't there throws")
  func missingFolder() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) {
        try makeCities().backup(to: folder + "/nowhere/cities.db")
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("Progress counts down to no pages left")
  func progress() throws {
    let db = try makeCities()
    try db.executeUpdate(
      """
      WITH RECURSIVE n(i) AS (SELECT 5 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO city (id, name) SELECT i, 'City number ' || i FROM n
      """)
    var steps: [(left: Int, total: Int)] = []
    let copy = try Database()
    try db.backup(to: copy, pagesPerStep: 5) { steps.append(($0, $1)) }
    #expect(steps.count > 3)
    #expect(steps.map(\.left) == steps.map(\.left).sorted(by: >))
    #expect(steps.last?.left == 0)
    #expect(try steps.last?.total == db.value("PRAGMA page_count", as: Int.self))
    #expect(try copy.cityCount() == 2000)
  }

  @Test("What the progress closure throws ends the copy and leaves the file as it was")
  func progressThrows() throws {
    try withTemporaryFolder { folder in
      let file = try Database(path: folder + "/rivers.db")
      try file.executeUpdate("CREATE TABLE river (name TEXT)")
      #expect(throws: Doubt.self) {
        try makeCities().backup(to: folder + "/rivers.db", pagesPerStep: 1) { _, _ in throw Doubt()
        }
      }
      #expect(try file.tableExists("river"))
      #expect(try !file.tableExists("city"))
    }
  }

  @Test("A copy can't replace a database that has a transaction or result set open")
  func openDestination() throws {
    let db = try makeCities()
    let other = try makeCities()
    try other.executeUpdate("DELETE FROM city WHERE id > 1")
    try other.begin()
    #expect(throws: DatabaseError.self) { try db.backup(to: other) }
    try other.rollback()
    let rows = try other.executeQuery("SELECT name FROM city")
    #expect(throws: DatabaseError.self) { try db.backup(to: other) }
    #expect(try rows.next())
    rows.close()
    try db.backup(to: other)
    #expect(try other.cityCount() == 4)
  }

  @Test("A new file and an empty database in memory take over the page size")
  func pageSize() throws {
    try withTemporaryFolder { folder in
      let db = try Database()
      try db.executeUpdate("PRAGMA page_size = 16384")
      try createCities(in: db)
      try db.backup(to: folder + "/cities.db")
      let other = try Database()
      try other.restore(from: folder + "/cities.db")
      #expect(try other.cityCount() == 4)
      #expect(try other.value("PRAGMA page_size", as: Int.self) == 16384)
    }
  }

  @Test("A file with a write-ahead log in use is copied as it stands, and the copy can be written")
  func writeAheadLog() throws {
    try withTemporaryFolder { folder in
      let file = try Database(path: folder + "/cities.db")
      try createCities(in: file)
      let reader = try file.executeQuery("SELECT name FROM city")
      #expect(try reader.next())

      let memory = try Database()
      try memory.restore(from: folder + "/cities.db")
      #expect(try memory.executeUpdate("DELETE FROM city WHERE id = 1") == 1)
      #expect(try memory.cityCount() == 3)

      try file.backup(to: folder + "/copy.db")
      let copy = try Database(path: folder + "/copy.db")
      #expect(try copy.executeUpdate("DELETE FROM city WHERE id < 3") == 2)
      #expect(try copy.cityCount() == 2)
      #expect(try file.cityCount() == 4)
    }
  }

  @Test("A closed database can't be copied")
  func closed() throws {
    try withTemporaryFolder { folder in
      let db = try makeCities()
      try db.close()
      let path = folder + "/cities.db"
      #expect(throws: DatabaseError.self) { try db.backup(to: path) }
      #expect(throws: DatabaseError.self) { try db.restore(from: path) }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }
}

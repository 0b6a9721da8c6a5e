import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Copying a database to a file and back")
struct BackupTests {
  private struct Doubt: Error {}

  @Test("A backup to an empty path or `:memory:` throws")
  func noFile() throws {
    let db = try Database()
    for path in ["", ":memory:"] {
      let error = #expect(throws: DatabaseError.self) { try db.backup(to: path) }
      #expect(error?.code == .misuse)
    }
  }

  @Test("A backup of an in-memory database to a file is restored into another one")
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

  @Test("A backup over an existing database replaces all of its tables")
  func replaces() throws {
    try withTemporaryFolder { folder in
      let file = try Database(path: folder + "/rivers.db")
      try file.executeUpdate("CREATE TABLE river (name TEXT)")
      try makeCities().backup(to: folder + "/rivers.db")
      #expect(try file.schema().filter { $0.kind == .table }.map(\.name) == ["city"])
      #expect(try file.cityCount() == 4)
    }
  }

  @Test(
    "A backup to a name whose former log or journal is left throws, makes no file and keeps it",
    arguments: ["-wal", "-journal"])
  func leftLog(suffix: String) throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try makeCities()
      // Begins as a journal does whose transaction hasn't ended.
      var log = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]) + Data(count: 504)
      if suffix == "-wal" {
        var configuration = Configuration()
        configuration.journalMode = .wal
        let former = try Database(path: folder + "/former.db", configuration: configuration)
        try createCities(in: former)
        log = try Data(contentsOf: URL(fileURLWithPath: folder + "/former.db-wal"))
      }
      // As a killed process leaves it, while its database file is gone.
      try log.write(to: URL(fileURLWithPath: path + suffix))
      let error = #expect(throws: DatabaseError.self) { try db.backup(to: path) }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains(path + suffix) == true)
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + suffix)) == log)
      try FileManager.default.removeItem(atPath: path + suffix)
      try db.backup(to: path)
      #expect(try Database(path: path).cityCount() == 4)
    }
  }

  @Test("A backup to a name whose former log holds nothing removes it, and the log's index")
  func emptyLog() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      try Data().write(to: URL(fileURLWithPath: path + "-wal"))
      try Data(repeating: 7, count: 32_768).write(to: URL(fileURLWithPath: path + "-shm"))
      try Data(count: 512).write(to: URL(fileURLWithPath: path + "-journal"))
      try makeCities().backup(to: path)
      for suffix in ["-wal", "-shm"] {
        #expect(!FileManager.default.fileExists(atPath: path + suffix))
      }
      #expect(try Database(path: path).cityCount() == 4)
    }
  }

  @Test(
    "Restoring from a missing file throws, doesn't create it, and leaves the database unchanged")
  func missingSource() throws {
    try withTemporaryFolder { folder in
      let db = try makeCities()
      let error = #expect(throws: DatabaseError.self) { try db.restore(from: folder + "/none.db") }
      #expect(error?.code == .cannotOpen)
      #expect(try db.cityCount() == 4)
      #expect(!FileManager.default.fileExists(atPath: folder + "/none.db"))
    }
  }

  @Test("Restoring from a file that isn't a database throws and leaves the database unchanged")
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

  @Test("A backup of an in-memory database into a missing folder throws")
  func missingFolder() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) {
        try makeCities().backup(to: folder + "/nowhere/cities.db")
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("A backup's progress counts the remaining pages down to 0")
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

  @Test("An error of the progress closure ends the backup and leaves the existing file as it was")
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

  @Test("A backup into a database with an open transaction or result set throws")
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

  @Test("A backup keeps the page size in a new file and in an empty in-memory database")
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

  @Test("A file in WAL mode with a reader is backed up, and the copy can be written")
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

  @Test("Backing up or restoring a closed database throws, and no file is created")
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

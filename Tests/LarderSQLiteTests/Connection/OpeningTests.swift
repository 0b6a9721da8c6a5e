import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Opening a database")
struct OpeningTests {
  @Test("Without a path the database is in memory")
  func memory() throws {
    let db = try Database()
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
    #expect(db.path == nil)
    #expect(try db.value("SELECT file FROM pragma_database_list", as: String.self) == "")
  }

  @Test("Two databases in memory have nothing in common")
  func separateMemory() throws {
    let first = try makeCities()
    let second = try Database()
    #expect(try first.cityCount() == 4)
    #expect(throws: DatabaseError.self) { try second.cityCount() }
  }

  @Test("An empty path opens a temporary database that can be written")
  func temporary() throws {
    let db = try Database(path: "")
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
    #expect(db.path == "")
  }

  @Test("A file that is missing is created, and keeps what is written")
  func createsFile() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let first = try Database(path: path)
      try createCities(in: first)
      try first.close()
      let second = try Database(path: path)
      #expect(try second.cityCount() == 4)
      #expect(second.path == path)
    }
  }

  @Test("A new file can be read and written by its owner only")
  func fileMode() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
        let mode = try #require(attributes[.posixPermissions] as? Int)
        #expect(mode == 0o600, "\(file)")
      }
    }
  }

  @Test("A file URL opens the file at its path")
  func url() throws {
    try withTemporaryFolder { folder in
      let file = URL(filePath: folder + "/große städte.db")
      let db = try Database(url: file)
      try createCities(in: db)
      #expect(db.path == folder + "/große städte.db")
      #expect(FileManager.default.fileExists(atPath: folder + "/große städte.db"))
    }
  }

  @Test("A URL that is no file URL is refused")
  func webURL() throws {
    let url = try #require(URL(string: "https://example.org/cities.db"))
    let error = #expect(throws: DatabaseError.self) { try Database(url: url) }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("https://example.org/cities.db") == true)
  }

  @Test("The database list names the file")
  func databaseList() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      let rows = try db.executeQuery("PRAGMA database_list")
      #expect(try rows.next())
      #expect(try rows.get("name", as: String.self) == "main")
      let file = try rows.get("file", as: String.self)
      #expect(file == URL(filePath: folder).resolvingSymlinksInPath().path + "/cities.db")
      #expect(try rows.next() == false)
    }
  }

  @Test("A file may be opened twice, and each connection sees what the other has committed")
  func twice() throws {
    try withTemporaryFolder { folder in
      let first = try Database(path: folder + "/cities.db")
      let second = try Database(path: folder + "/cities.db")
      try createCities(in: first)
      #expect(try second.cityCount() == 4)
      try second.executeUpdate("DELETE FROM city WHERE name = 'Oslo'")
      #expect(try first.cityCount() == 3)
    }
  }

  @Test("A file in a folder that isn't there can't be opened, and the error tells its path")
  func missingFolder() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/nowhere/cities.db"
      let error = #expect(throws: DatabaseError.self) { try Database(path: path) }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains(path) == true)
    }
  }

  @Test("A path with NUL is refused instead of cut")
  func pathWithNUL() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) { try Database(path: folder + "/a\0b.db") }
      #expect(error?.code == .cannotOpen)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(files.isEmpty)
    }
  }

  @Test("A folder can't be opened as a database")
  func folder() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) { try Database(path: folder) }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("A file that is no database is found out when it is opened")
  func noDatabase() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.txt"
      let text = String(repeating: "Oslo, Bergen, Lagos\n", count: 100)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
      let error = #expect(throws: DatabaseError.self) { try Database(path: path) }
      #expect(error?.code == .notADatabase)
      #expect(error?.message.contains(path) == true)
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    }
  }

  @Test("Each connection is prepared by the closure in its configuration")
  func prepareDatabase() throws {
    var configuration = Configuration()
    configuration.prepareDatabase = { db in
      try db.executeUpdate("CREATE TEMP TABLE visited (city TEXT)")
    }
    let db = try Database(configuration: configuration)
    #expect(try db.executeUpdate("INSERT INTO visited VALUES ('Oslo')") == 1)
  }

  @Test("What the preparing closure throws makes opening fail")
  func prepareDatabaseFails() throws {
    var configuration = Configuration()
    configuration.prepareDatabase = { _ in throw CancellationError() }
    #expect(throws: CancellationError.self) { try Database(configuration: configuration) }
  }
}

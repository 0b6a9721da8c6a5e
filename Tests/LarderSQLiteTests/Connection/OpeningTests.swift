import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Opening a database")
struct OpeningTests {
  @Test("A database without a path is in memory")
  func memory() throws {
    let db = try Database()
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
    #expect(db.path == nil)
    #expect(try db.value("SELECT file FROM pragma_database_list", as: String.self) == "")
  }

  @Test("Two in-memory databases share no tables")
  func separateMemory() throws {
    let first = try makeCities()
    let second = try Database()
    #expect(try first.cityCount() == 4)
    #expect(throws: DatabaseError.self) { try second.cityCount() }
  }

  @Test("A database with an empty path is temporary and can be written")
  func temporary() throws {
    let db = try Database(path: "")
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
    #expect(db.path == "")
  }

  @Test("Opening a missing file creates it, and its rows are there when it is opened again")
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

  @Test("All files of a new database can be read and written by their owner only")
  func fileMode() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let db = try Database(path: path)
      try createCities(in: db)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(files.sorted() == ["cities.db", "cities.db-shm", "cities.db-wal"])
      for file in files {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
        let mode = try #require(attributes[.posixPermissions] as? Int)
        #expect(mode == 0o600, "\(file)")
      }
      try db.close()
    }
  }

  @Test("A database can be opened by a file URL with spaces and non-ASCII characters")
  func url() throws {
    try withTemporaryFolder { folder in
      let file = URL(filePath: folder + "/große städte.db")
      let db = try Database(url: file)
      try createCities(in: db)
      #expect(db.path == folder + "/große städte.db")
      #expect(FileManager.default.fileExists(atPath: folder + "/große städte.db"))
    }
  }

  @Test("Opening a database by a web URL throws an error that contains the URL")
  func webURL() throws {
    let url = try #require(URL(string: "https://example.org/cities.db"))
    let error = #expect(throws: DatabaseError.self) { try Database(url: url) }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("https://example.org/cities.db") == true)
  }

  @Test("PRAGMA `database_list` contains the path of the opened file")
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

  @Test("Two connections to the same file see each other's commits")
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

  @Test("Opening a file in a missing folder throws `.cannotOpen` with the path")
  func missingFolder() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/nowhere/cities.db"
      let error = #expect(throws: DatabaseError.self) { try Database(path: path) }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains(path) == true)
    }
  }

  @Test("Opening a path that contains NUL throws and creates no file")
  func pathWithNUL() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) { try Database(path: folder + "/a\0b.db") }
      #expect(error?.code == .cannotOpen)
      let files = try FileManager.default.contentsOfDirectory(atPath: folder)
      #expect(files.isEmpty)
    }
  }

  @Test("Opening a folder as a database throws `.cannotOpen`")
  func folder() throws {
    try withTemporaryFolder { folder in
      let error = #expect(throws: DatabaseError.self) { try Database(path: folder) }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("Opening a text file throws `.notADatabase` and doesn't change it")
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

  @Test("`prepareDatabase` runs when a connection is opened and can create temporary tables")
  func prepareDatabase() throws {
    var configuration = Configuration()
    configuration.prepareDatabase = { db in
      try db.executeUpdate("CREATE TEMP TABLE visited (city TEXT)")
    }
    let db = try Database(configuration: configuration)
    #expect(try db.executeUpdate("INSERT INTO visited VALUES ('Oslo')") == 1)
  }

  @Test("An error thrown by `prepareDatabase` makes opening throw it")
  func prepareDatabaseFails() throws {
    var configuration = Configuration()
    configuration.prepareDatabase = { _ in throw CancellationError() }
    #expect(throws: CancellationError.self) { try Database(configuration: configuration) }
  }
}

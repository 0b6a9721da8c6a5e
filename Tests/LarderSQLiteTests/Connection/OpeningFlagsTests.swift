import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Flags for opening")
struct OpeningFlagsTests {
  @Test("Without the flag `.create`, opening a missing file throws and an existing one opens")
  func missingFile() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      var configuration = Configuration()
      configuration.flags = []
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: configuration)
      }
      #expect(error?.code == .cannotOpen)
      #expect(!FileManager.default.fileExists(atPath: path))

      let creator = try Database(path: path)
      try createCities(in: creator)
      let db = try Database(path: path, configuration: configuration)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("Opening a missing file with `readOnly` throws and doesn't create it")
  func missingFileReadOnly() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      var configuration = Configuration()
      configuration.readOnly = true
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: configuration)
      }
      #expect(error?.code == .cannotOpen)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test("A database that is opened with `readOnly` can be read but not written")
  func readOnly() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/cities.db"
      let writer = try Database(path: path)
      try createCities(in: writer)
      var configuration = Configuration()
      configuration.readOnly = true
      let db = try Database(path: path, configuration: configuration)
      #expect(db.isReadOnly)
      #expect(!writer.isReadOnly)
      #expect(try db.cityCount() == 4)
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
      #expect(error?.code == .readOnly)
      #expect(try writer.cityCount() == 4)
    }
  }

  @Test("A path that begins with `file:` is a URI only with the flag `.uri`")
  func uri() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.flags = [.create, .uri]
      let db = try Database(
        path: "file:\(folder)/cities.db?cache=private", configuration: configuration)
      try createCities(in: db)
      #expect(FileManager.default.fileExists(atPath: folder + "/cities.db"))
      // As a plain name, the path leads to a folder called "file:", which doesn't exist.
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: "file:\(folder)/cities.db")
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("The flag `.noFollow` refuses a symbolic link to an existing database")
  func noFollow() throws {
    try withTemporaryFolder { folder in
      try createCities(in: Database(path: folder + "/cities.db"))
      let link = folder + "/link.db"
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: folder + "/cities.db")
      #expect(try Database(path: link).cityCount() == 4)
      var configuration = Configuration()
      configuration.flags.insert(.noFollow)
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: link, configuration: configuration)
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("`Configuration.vfs` chooses the VFS of a file")
  func vfs() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.vfs = "unix-dotfile"
      let path = folder + "/cities.db"
      let db = try Database(path: path, configuration: configuration)
      try createCities(in: db)
      // This VFS locks with a folder beside the file instead of a lock of the system's.
      #expect(!FileManager.default.fileExists(atPath: path + ".lock"))
      try db.inTransaction(.exclusive) { _ in
        #expect(FileManager.default.fileExists(atPath: path + ".lock"))
      }
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("`Configuration.vfs` can be set for an in-memory database")
  func vfsInMemory() throws {
    var configuration = Configuration()
    configuration.vfs = "unix-none"
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
  }

  @Test("Opening an in-memory database with an unknown VFS throws an error that names it")
  func unknownVFS() {
    var configuration = Configuration()
    configuration.vfs = "floppy"
    let error = #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
    #expect(error?.message.contains("floppy") == true)
  }
}

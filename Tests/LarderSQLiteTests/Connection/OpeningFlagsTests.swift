import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Choices for opening")
struct OpeningFlagsTests {
  @Test("Without the flag to create it, a missing file is an error and stays missing")
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

  @Test("Opened read-only, a missing file is an error and stays missing")
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

  @Test("Opened read-only, a database can be read and not written")
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

  @Test("A path that begins with file: is a plain name unless URIs are asked for")
  func uri() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.flags = [.create, .uri]
      let db = try Database(
        path: "file:\(folder)/cities.db?cache=private", configuration: configuration)
      try createCities(in: db)
      #expect(FileManager.default.fileExists(atPath: folder + "/cities.db"))
      // As a plain name it leads to a folder called "file:", which isn't there.
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: "file:\(folder)/cities.db")
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test("A symbolic link is refused where links are not to be followed")
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

  @Test("A VFS can be chosen by its name")
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

  @Test("A VFS can be chosen for a database in memory")
  func vfsInMemory() throws {
    var configuration = Configuration()
    configuration.vfs = "unix-none"
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    #expect(try db.cityCount() == 4)
  }

  @Test("An unknown VFS is an error that names it")
  func unknownVFS() {
    var configuration = Configuration()
    configuration.vfs = "floppy"
    let error = #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
    #expect(error?.message.contains("floppy") == true)
  }
}

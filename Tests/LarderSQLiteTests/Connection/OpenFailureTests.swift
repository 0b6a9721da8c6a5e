import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Opening fails with the path and the cause")
struct OpenFailureTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  private func error(
    _ path: String?, _ configuration: Configuration = .init(),
    _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> DatabaseError {
    try #require(throws: DatabaseError.self, sourceLocation: sourceLocation) {
      try Database(path: path, configuration: configuration)
    }
  }

  @Test("A missing folder")
  func missingFolder() throws {
    let found = try error(folder.file("no such folder/cities.db"))
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains(folder.file("no such folder/cities.db")))
    #expect(found.message.contains("No such file or directory"))
    #expect(!folder.exists("no such folder"))
  }

  @Test("A folder instead of a file")
  func folderInstead() throws {
    let found = try error(folder.path)
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains(folder.path))
  }

  @Test("A path below a file")
  func belowAFile() throws {
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    #expect(try error(path + "/cities.db").code == .cannotOpen)
  }

  @Test("No permission", .enabled(if: geteuid() != 0, "root may do anything"))
  func noPermission() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }
    let found = try error(path)
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains("Permission denied"))
  }

  @Test("A place where nobody, not even root, can create files")
  func pseudoFileSystem() throws {
    #expect(try error("/proc/cities.db").code == .cannotOpen)
  }

  @Test("A file that is no database", arguments: [100, 5_000])
  func noDatabase(size: Int) throws {
    let content = Data(repeating: UInt8(ascii: "x"), count: size)
    try content.write(to: URL(fileURLWithPath: path))
    for profile in [Configuration.Profile.service, .durable, .untrustedFile] {
      let found = try error(path, Configuration(profile: profile))
      #expect(found.code == .notADatabase)
      #expect(found.message.contains(path))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
  }

  @Test("A missing file that is to be read, or not to be created")
  func missingFile() throws {
    var configuration = Configuration()
    configuration.readOnly = true
    #expect(try error(path, configuration).code == .cannotOpen)
    configuration = Configuration()
    configuration.flags = []
    #expect(try error(path, configuration).code == .cannotOpen)
    #expect(try error(path, Configuration(profile: .untrustedFile)).code == .cannotOpen)
    #expect(!folder.exists("cities.db"))
  }

  @Test(
    "An unknown VFS, and no file is left behind", arguments: ["no such vfs", "unix-nonsense", ""])
  func unknownVFS(name: String) throws {
    var configuration = Configuration()
    configuration.vfs = name
    let found = try error(path, configuration)
    #expect(found.message.contains("no such vfs"))
    #expect(!folder.exists("cities.db"))
  }

  @Test("A path with NUL, at which the system would stop reading")
  func nul() throws {
    let found = try error(path + "\0.db")
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains("NUL"))
    #expect(!folder.exists("cities.db"))
    #expect(try error("\0").code == .cannotOpen)
    var configuration = Configuration()
    configuration.vfs = "unix\0nonsense"
    #expect(throws: DatabaseError.self) { try Database(path: path, configuration: configuration) }
  }

  @Test("A symbolic link, where links aren't to be followed")
  func noFollow() throws {
    _ = try Database(path: path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.db"), withDestinationPath: path)
    var configuration = Configuration()
    configuration.flags = [.create, .noFollow]
    #expect(try error(folder.file("link.db"), configuration).code == .cannotOpen)
    #expect(throws: Never.self) { try Database(path: folder.file("link.db")) }
  }

  @Test("A path that begins with file: is a file's name, not a URI, unless asked for")
  func fileScheme() throws {
    let uri = "file:" + path
    #expect(try error(uri).code == .cannotOpen)
    #expect(!folder.exists("cities.db"))
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    _ = try Database(path: uri, configuration: configuration)
    #expect(folder.exists("cities.db"))
  }

  @Test("Not even one whose colon carries an accent")
  func fileSchemeWithAnAccent() throws {
    // As a URI this would be a database in memory.
    let name = "file:\u{301}cities-\(UUID().uuidString).db?mode=memory"
    defer { try? FileManager.default.removeItem(atPath: name) }
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Database(path: name, configuration: configuration)
    try db.executeUpdate("CREATE TABLE city (name)")
    let file = try #require(
      try db.value("SELECT file FROM pragma_database_list WHERE name = 'main'", as: String.self))
    #expect(file.hasSuffix("mode=memory"))
  }

  @Test("A URL that is no file's")
  func notAFileURL() throws {
    let url = try #require(URL(string: "https://example.org/cities.db"))
    let found = try #require(throws: DatabaseError.self) { try Database(url: url) }
    #expect(found.message.contains("https://example.org/cities.db"))
    let db = try Database(url: URL(fileURLWithPath: folder.file("big cities.db")))
    #expect(db.path == folder.file("big cities.db"))
    #expect(folder.exists("big cities.db"))
  }

  @Test("A lock that lasts longer than the timeout")
  func locked() throws {
    var configuration = Configuration()
    configuration.journalMode = .delete
    let holder = try Database(path: path, configuration: configuration)
    try holder.begin(.exclusive)
    try holder.executeUpdate("CREATE TABLE city (name)")
    configuration = Configuration()
    configuration.busyTimeout = .zero
    let found = try error(path, configuration)
    #expect(found.isBusy)
    #expect(found.message.contains(path))
    try holder.rollback()
    #expect(throws: Never.self) { try Database(path: path, configuration: configuration) }
  }

  @Test("What the closure for preparing throws")
  func prepareDatabase() throws {
    struct Refused: Error {}
    var configuration = Configuration()
    configuration.prepareDatabase = { _ in throw Refused() }
    #expect(throws: Refused.self) { try Database(configuration: configuration) }
    configuration.prepareDatabase = { db in
      try db.createFunction("answer", argumentCount: 0) { _ in 42 }
    }
    #expect(try Database(configuration: configuration).value("SELECT answer()", as: Int.self) == 42)
  }

  @Test("Failing to open loses no file descriptor")
  func descriptors() throws {
    try Data(repeating: 1, count: 5_000).write(to: URL(fileURLWithPath: path))
    func count() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        .compactMap {
          try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        .count { $0.hasPrefix(folder.path) }
    }
    for _ in 0..<50 { _ = try error(path) }
    #expect(try count() == 0)
  }
}

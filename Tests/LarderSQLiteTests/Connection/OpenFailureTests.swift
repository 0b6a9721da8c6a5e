import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Failures to open a database")
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

  @Test(
    "Opening a file in a missing folder throws an error with the path and cause, and creates nothing"
  )
  func missingFolder() throws {
    let found = try error(folder.file("no such folder/cities.db"))
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains(folder.file("no such folder/cities.db")))
    #expect(found.message.contains("No such file or directory"))
    #expect(!folder.exists("no such folder"))
  }

  @Test("Opening a folder throws `.cannotOpen` with its path")
  func folderInstead() throws {
    let found = try error(folder.path)
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains(folder.path))
  }

  @Test("Opening a path below a file throws `.cannotOpen`")
  func belowAFile() throws {
    #expect(FileManager.default.createFile(atPath: path, contents: Data()))
    #expect(try error(path + "/cities.db").code == .cannotOpen)
  }

  @Test(
    "Opening a file in a folder without write permission throws an error that says so",
    .enabled(if: geteuid() != 0, "root may do anything"))
  func noPermission() throws {
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: folder.path)
    defer {
      try? FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
    }
    let found = try error(path)
    #expect(found.code == .cannotOpen)
    #expect(found.message.contains("Permission denied"))
  }

  @Test("Opening a file in `/proc`, where even root can't create files, throws `.cannotOpen`")
  func pseudoFileSystem() throws {
    #expect(try error("/proc/cities.db").code == .cannotOpen)
  }

  @Test(
    "Opening a file that isn't a database throws `.notADatabase` and leaves the file unchanged",
    arguments: [100, 5_000])
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

  @Test("Opening a missing file read-only or without the create flag throws and creates none")
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
    "Opening a file with an unknown VFS throws and creates no file",
    arguments: ["no such vfs", "unix-nonsense", ""])
  func unknownVFS(name: String) throws {
    var configuration = Configuration()
    configuration.vfs = name
    let found = try error(path, configuration)
    #expect(found.message.contains("no such vfs"))
    #expect(!folder.exists("cities.db"))
  }

  @Test("A path or VFS name that contains NUL is refused instead of being truncated")
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

  @Test("Opening a symbolic link throws `.cannotOpen` with the flag `.noFollow` and works without")
  func noFollow() throws {
    _ = try Database(path: path)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.db"), withDestinationPath: path)
    var configuration = Configuration()
    configuration.flags = [.create, .noFollow]
    #expect(try error(folder.file("link.db"), configuration).code == .cannotOpen)
    #expect(throws: Never.self) { try Database(path: folder.file("link.db")) }
  }

  @Test("A path that begins with `file:` is a file's name unless the flag `.uri` is set")
  func fileScheme() throws {
    let uri = "file:" + path
    #expect(try error(uri).code == .cannotOpen)
    #expect(!folder.exists("cities.db"))
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    _ = try Database(path: uri, configuration: configuration)
    #expect(folder.exists("cities.db"))
  }

  @Test("A path that begins with `file:` and a combining accent is a file's name, not a URI")
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

  @Test(
    "Opening a web URL throws an error with the URL, and a file URL with a space opens its file")
  func notAFileURL() throws {
    let url = try #require(URL(string: "https://example.org/cities.db"))
    let found = try #require(throws: DatabaseError.self) { try Database(url: url) }
    #expect(found.message.contains("https://example.org/cities.db"))
    let db = try Database(url: URL(fileURLWithPath: folder.file("big cities.db")))
    #expect(db.path == folder.file("big cities.db"))
    #expect(folder.exists("big cities.db"))
  }

  @Test("Opening a file that is locked longer than the busy timeout throws an error with its path")
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

  @Test("Opening throws the error of `prepareDatabase`, which can also register functions")
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

  @Test("Failing to open leaks no file descriptor")
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

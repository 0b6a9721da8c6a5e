import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Files that are opened and created")
struct FilePlaceTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  private func makeFile(_ journalMode: Configuration.JournalMode = .delete) throws {
    var configuration = Configuration()
    configuration.journalMode = journalMode
    let db = try Database(path: path, configuration: configuration)
    try db.executeStatements("CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo')")
    try db.close()
  }

  @Test(
    "A pipe in place of a journal, log or its index makes opening throw instead of wait",
    .timeLimit(.minutes(1)), arguments: ["-journal", "-wal", "-shm"],
    [Configuration.JournalMode.delete, .wal])
  func pipes(suffix: String, mode: Configuration.JournalMode) throws {
    try makeFile(mode)
    #expect(mkfifo(path + suffix, 0o600) == 0)
    for profile in [Configuration.Profile.service, .untrustedFile] {
      var configuration = Configuration(profile: profile)
      configuration.busyTimeout = .milliseconds(50)
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: path, configuration: configuration)
      }
      // A journal has SQLite undo something, which it can't in a file that is opened for reading.
      let isReadOnly = profile == .untrustedFile && suffix == "-journal"
      #expect(error?.code == (isReadOnly ? .readOnly : .cannotOpen), "\(profile)")
    }
  }

  @Test("A journal that is a symbolic link is refused, and the link's target is unchanged")
  func linkedJournal() throws {
    try makeFile()
    let secret = folder.file("secret")
    let text = Data(repeating: UInt8(ascii: "s"), count: 5000)
    try text.write(to: URL(fileURLWithPath: secret))
    for suffix in ["-journal", "-wal"] {
      try FileManager.default.createSymbolicLink(
        atPath: path + suffix, withDestinationPath: secret)
      var configuration = Configuration()
      configuration.busyTimeout = .milliseconds(50)
      #expect(throws: DatabaseError.self) {
        let db = try Database(path: path, configuration: configuration)
        try db.executeUpdate("INSERT INTO city VALUES ('Bergen')")
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: secret)) == text)
      unlink(path + suffix)
    }
  }

  @Test("Opening a file location throws `.readOnlyMoved` after another file has taken its path")
  func renamed() throws {
    try makeFile()
    let first = try Database(path: path)
    let location = try #require(try first.fileLocation())
    #expect(throws: Never.self) { try Database(at: location, configuration: Configuration()) }
    try first.close()
    #expect(rename(path, folder.file("old.db")) == 0)
    try makeFile()
    let error = #expect(throws: DatabaseError.self) {
      try Database(at: location, configuration: Configuration())
    }
    #expect(error?.extendedCode == .readOnlyMoved)
  }

  @Test(
    "A pool whose file was renamed throws `.readOnlyMoved` instead of reading another file at its path"
  )
  func renamedUnderAPool() throws {
    try makeFile(.wal)
    let pool = try DatabasePool(path: path)
    let name = try pool.read { try $0.value("SELECT name FROM city", as: String.self) }
    #expect(name == "Oslo")
    pool.releaseIdleConnections()
    #expect(rename(path, folder.file("old.db")) == 0)
    let error = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
    #expect(error?.extendedCode == .readOnlyMoved)
    try Database(path: path).executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('elsewhere')")
    let other = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
    #expect(other?.extendedCode == .readOnlyMoved)
  }

  @Test("The location of a file opened by a relative path or URI is absolute, without `..`")
  func relative() throws {
    try makeFile()
    // All tests share one working directory, so it can't be changed here.
    let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
    let up = String(repeating: "../", count: depth)
    let path = String(path.drop { $0 == "/" })
    var configuration = Configuration()
    for (path, isURI) in [(up + path, false), ("file:\(up)\(path)?cache=private", true)] {
      configuration.flags = isURI ? [.create, .uri] : .create
      let db = try Database(path: path, configuration: configuration)
      let location = try #require(try db.fileLocation())
      #expect(location.name.hasPrefix(isURI ? "file:///" : "/"))
      #expect(!location.name.contains(".."))
      #expect(location.name.hasSuffix("?cache=private") == isURI)
      let other = try Database(at: location, configuration: configuration)
      #expect(try other.value("SELECT name FROM city", as: String.self) == "Oslo")
    }
  }

  @Test("In-memory and temporary databases have no file location")
  func nowhere() throws {
    #expect(try Database().fileLocation() == nil)
    #expect(try Database(path: "").fileLocation() == nil)
  }

  @Test(
    "A URI whose mode forbids creating a file throws and creates none",
    arguments: ["mode=rw", "mode=ro", "immutable=1&mode=ro", "mode=rw&cache=private"])
  func forbidden(query: String) throws {
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    #expect(throws: DatabaseError.self) {
      try Database(path: "file:\(path)?\(query)", configuration: configuration)
    }
    #expect(!folder.exists("cities.db"))
  }

  @Test("A URI with an escaped NUL in its path or query throws and creates no file")
  func escapedNUL() throws {
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    for uri in ["file:\(path)%00.db", "file:\(path)?mode=rw%00c"] {
      let error = #expect(throws: DatabaseError.self) {
        try Database(path: uri, configuration: configuration)
      }
      #expect(error?.message.contains("NUL") == true)
    }
    #expect(!folder.exists("cities.db"))
  }

  @Test(
    "Files that ATTACH and VACUUM INTO create, and their logs, are only accessible by their owner")
  func otherFiles() throws {
    try makeFile()
    let db = try Database(path: path)
    try db.executeUpdate("ATTACH ? AS other", folder.file("other.db"))
    try db.executeStatements(
      "CREATE TABLE other.town (name); PRAGMA other.journal_mode = wal; DELETE FROM other.town")
    try db.executeUpdate("VACUUM INTO ?", folder.file("copy.db"))
    for name in ["other.db", "other.db-wal", "other.db-shm", "copy.db"] {
      #expect(try folder.mode(of: name) == 0o600, "\(name)")
    }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("VACUUM INTO ?", folder.file("copy.db"))
    }
  }

  @Test(
    "Reading a WAL file with profile `.untrustedFile` leaves no log unless another connection uses it"
  )
  func leftovers() throws {
    try makeFile(.wal)
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    do {
      let db = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
      #expect(try db.value("SELECT name FROM city", as: String.self) == "Oslo")
      #expect(folder.exists("cities.db-wal"))
      let other = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
      #expect(try other.value("SELECT name FROM city", as: String.self) == "Oslo")
      try db.close()
      #expect(try other.value("SELECT count(*) FROM city", as: Int.self) == 1)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    let writer = try Database(path: path)
    try writer.executeUpdate("INSERT INTO city VALUES ('Bergen')")
    let reader = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    #expect(try reader.value("SELECT count(*) FROM city", as: Int.self) == 2)
    try reader.close()
    #expect(folder.exists("cities.db-wal"))
    try writer.close()
    #expect(!folder.exists("cities.db-wal") && !folder.exists("cities.db-shm"))
  }

  @Test("Closing the last `.untrustedFile` connection to a WAL file leaves no log")
  func lastOut() throws {
    try makeFile(.wal)
    let db = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    try db.close()
    #expect(!folder.exists("cities.db-wal") && !folder.exists("cities.db-shm"))
  }
}

import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

/// An accident that can happen to an open file, for example by an operator's mistake.
enum Mishap: CaseIterable, Sendable {
  case deleted, renamed, replaced, logDeleted, indexDeleted, folderRenamed, linkTurned
}

@Suite("Files that are moved while they are open", .promptly)
struct MovedFileTests {
  let folder: ScratchFolder
  /// The folder of the database.
  var home: String { folder.file("home") }
  var file: String { home + "/cities.db" }
  var link: String { folder.file("current.db") }
  /// A second hard link to the open file, so that it can be read afterwards.
  var kept: String { folder.file("kept.db") }
  var foreign: String { folder.file("foreign.db") }

  init() throws {
    folder = try ScratchFolder()
    try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    let other = try Database(path: foreign)
    try other.executeStatements("CREATE TABLE city (name); INSERT INTO city VALUES ('elsewhere')")
    try other.close()
  }

  func open(_ company: Company, at path: String? = nil) throws -> any DatabaseAccess {
    var configuration = Configuration(profile: .durable)
    configuration.groupCommit = company.sharesSyncs
    configuration.scopeTimeout = .seconds(watchdogSeconds)
    let path = path ?? file
    let access: any DatabaseAccess =
      company.storage == .pool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    #expect(Glibc.link(file, kept) == 0)
    return access
  }

  func happen(_ mishap: Mishap) throws {
    let code =
      switch mishap {
      case .deleted: unlink(file)
      case .renamed: rename(file, home + "/old.db")
      case .replaced: rename(foreign, file)
      case .logDeleted: unlink(file + "-wal")
      case .indexDeleted: unlink(file + "-shm")
      case .folderRenamed: rename(home, folder.file("elsewhere"))
      case .linkTurned: unlink(link) + symlink(foreign, link)
      }
    #expect(code == 0)
  }

  /// The number of cities in the formerly open file, read without a log.
  func keptCities() throws -> Int {
    let alone = folder.file("alone")
    try FileManager.default.createDirectory(atPath: alone, withIntermediateDirectories: true)
    #expect(rename(kept, alone + "/kept.db") == 0)
    let db = try Database(path: alone + "/kept.db")
    #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    return try db.cityCount() ?? -1
  }

  func write(_ access: any DatabaseAccess, _ company: Company) async throws {
    let insert: @Sendable (Database) throws -> Void = {
      try $0.executeUpdate("INSERT INTO city (name) VALUES (hex(randomblob(8)))")
    }
    if company.isAsynchronous {
      try await access.inTransaction(insert)
    } else {
      try onThisThread { try access.inTransaction(insert) }
    }
  }

  @Test(
    "After a mishap to an open file, every write throws, and the original file has all commits",
    arguments: Company.files, Mishap.allCases)
  func mishap(company: Company, mishap: Mishap) async throws {
    let access = try open(company, at: mishap == .linkTurned ? link : nil)
    for _ in 0..<20 { try await write(access, company) }
    let foreignBytes = try Data(contentsOf: URL(fileURLWithPath: foreign))
    try happen(mishap)
    for _ in 0..<3 {
      let error = await #expect(throws: DatabaseError.self) { try await write(access, company) }
      #expect(error?.extendedCode == .readOnlyMoved)
      #expect(error?.message.contains(folder.path) == true)
    }
    for isAsynchronous in [false, true] {
      let error = await #expect(throws: DatabaseError.self) {
        if isAsynchronous {
          try await access.inDatabase { _ in }
        } else {
          try onThisThread { try access.inDatabase { _ in } }
        }
      }
      #expect(error?.extendedCode == .readOnlyMoved)
    }
    try await access.close()
    let foreignPath = mishap == .replaced ? file : foreign
    #expect(try Data(contentsOf: URL(fileURLWithPath: foreignPath)) == foreignBytes)
    if mishap == .replaced {
      // The rest of the log contains nothing for the file that has taken the path.
      let db = try Database(path: file)
      #expect(try db.texts("SELECT name FROM city") == ["elsewhere"])
    }
    #expect(try keptCities() == 24)
  }

  @Test("A renamed file can be written again once it is back at its path", arguments: Company.files)
  func comesBack(company: Company) async throws {
    let access = try open(company)
    for _ in 0..<3 {
      #expect(rename(file, home + "/old.db") == 0)
      let error = await #expect(throws: DatabaseError.self) { try await write(access, company) }
      #expect(error?.extendedCode == .readOnlyMoved)
      #expect(rename(home + "/old.db", file) == 0)
      try await write(access, company)
    }
    #expect(try await access.read { try $0.cityCount() } == 7)
    try await access.close()
    #expect(try keptCities() == 7)
  }

  @Test(
    "Closing after a rename moves the log into the file, even without a further write",
    arguments: Company.files)
  func closedUnwritten(company: Company) async throws {
    let access = try open(company)
    for _ in 0..<20 { try await write(access, company) }
    #expect(rename(file, home + "/old.db") == 0)
    try await access.close()
    #expect(try keptCities() == 24)
  }

  @Test("An idle queue or pool moves its log into its file when that is renamed", .promptly)
  func idle() async throws {
    for isPool in [false, true] {
      let path = folder.file("idle-\(isPool).db")
      let access: any DatabaseAccess =
        isPool ? try DatabasePool(path: path) : try DatabaseQueue(path: path)
      try await access.inTransaction { try createCities(in: $0) }
      let log = path + "-wal"
      // Watching usually begins a second after opening. Here it begins at once.
      let watcher = try #require(access.connections.moveWatcher)
      FileEvents.moves.queue.sync { watcher.begin() }
      #expect(try ScratchFolder.contents(of: log).count > 0)
      #expect(rename(path, path + ".old") == 0)
      try await yieldUntil { try ScratchFolder.contents(of: log).isEmpty }
      withExtendedLifetime(access) {}
    }
  }

  @Test(
    "After a file was replaced, the pool doesn't shorten the log at its path that another process uses"
  )
  func foreignCommits() throws {
    let pool = try DatabasePool(path: file)
    try pool.inTransaction { try createCities(in: $0) }
    #expect(rename(foreign, file) == 0)
    let before = try ScratchFolder.contents(of: file + "-wal").count
    // Another process opens the new file at the same path, and thereby uses the same path for its log.
    let shell = try ChildProcess("sqlite3", ["-batch", file])
    shell.say(".timeout 1000")
    shell.say("PRAGMA user_version = 7;")
    shell.say("PRAGMA user_version;")
    #expect(shell.line() == "7")
    #expect(throws: DatabaseError.self) { try pool.inTransaction { _ in } }
    #expect(try ScratchFolder.contents(of: file + "-wal").count >= before)
    shell.kill()
    try? pool.close()
  }

  @Test(
    "Reads throw `.readOnlyMoved` once a write has noticed that another file has taken the path")
  func readsOfReplaced() async throws {
    let pool = try DatabasePool(path: file)
    try await pool.inTransaction { try createCities(in: $0) }
    #expect(try await pool.read { try $0.cityCount() } == 4)
    #expect(rename(foreign, file) == 0)
    await #expect(throws: DatabaseError.self) { try await pool.inTransaction { _ in } }
    let error = await #expect(throws: DatabaseError.self) {
      try await pool.read { try $0.cityCount() }
    }
    #expect(error?.extendedCode == .readOnlyMoved)
    try await pool.close()
  }

  @Test(
    "Opening the location of a deleted or replaced file throws, creates no file and keeps the log")
  func furtherConnections() throws {
    let pool = try DatabasePool(path: file)
    try pool.inTransaction { try createCities(in: $0) }
    let location = try #require(pool.connections.writer?.location)
    let log = try ScratchFolder.contents(of: file + "-wal")
    #expect(unlink(file) == 0)
    for readOnly in [false, true] {
      var configuration = Configuration()
      configuration.readOnly = readOnly
      let error = #expect(throws: DatabaseError.self) {
        try Database(at: location, configuration: configuration)
      }
      #expect(error?.extendedCode == .readOnlyMoved)
      #expect(!FileManager.default.fileExists(atPath: file))
    }
    #expect(rename(foreign, file) == 0)
    #expect(throws: DatabaseError.self) {
      try Database(at: location, configuration: Configuration())
    }
    #expect(try ScratchFolder.contents(of: file + "-wal") == log)
    try? pool.close()
  }

  @Test("A queue can write after a scope has changed the journal mode and thereby the log")
  func journalMode() throws {
    for shares in [true, false] {
      var configuration = Configuration(profile: .durable)
      configuration.groupCommit = shares
      let queue = try DatabaseQueue(
        path: folder.file("modes-\(shares).db"), configuration: configuration)
      try queue.inTransaction { try createCities(in: $0) }
      for mode in ["delete", "wal", "truncate", "wal"] {
        try queue.inDatabase { db in
          let found = try db.value(SQL(raw: "PRAGMA journal_mode = \(mode)"), as: String.self)
          #expect(found == mode)
        }
        try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
      }
      try queue.close()
    }
  }

  @Test("A path that can't be checked for lack of permission doesn't make writes fail")
  func withoutPermission() throws {
    // Root can look at every path, so another user runs this check.
    let process = try ChildProcess(
      ChildProcess.built("test-process"), ["unsearchable", folder.path])
    #expect(process.remainingLines(patience: .seconds(60)) == ["written", "written again"])
    #expect(process.end() == 0)
  }
}

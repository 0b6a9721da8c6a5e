import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite(
  "Migrations and attached files", .onlySQLite(.files))
struct AttachedFileTests {
  private let folder: ScratchFolder
  private let archive: String

  init() throws {
    folder = try ScratchFolder()
    archive = folder.file("archive.db")
    try Database(path: archive).executeStatements(
      "CREATE TABLE old (name TEXT); INSERT INTO old VALUES ('Oslo')")
  }

  private func count(_ path: String? = nil) throws -> Int? {
    try Database(path: path ?? archive).value("SELECT count(*) FROM old")
  }

  private var configuration: Configuration {
    var configuration = Configuration()
    let archive = archive
    configuration.prepareDatabase = { db in
      try db.executeUpdate("ATTACH \(archive) AS archive")
      try db.executeUpdate("ATTACH ':memory:' AS scratch")
    }
    return configuration
  }

  private let archiving = Migration(
    "archive",
    sql: """
      CREATE TABLE scratch.names AS SELECT name FROM archive.old;
      INSERT INTO archive.old SELECT name FROM scratch.names;
      CREATE TABLE done (x TEXT);
      """)

  @Test("A dry run writes to copies of attached files")
  func dryRun() throws {
    let queue = try DatabaseQueue(path: folder.file("main.db"), configuration: configuration)
    let report = try Migrator([archiving]).dryRun(queue)
    #expect(report.isSuccess, "\(report)")
    #expect(report.migrations[0].changes >= 1)
    #expect(try count() == 1)
    try Migrator([archiving]).migrate(queue)
    #expect(try count() == 2)
  }

  @Test("A dry run doesn't write to a file that a migration attaches")
  func attaching() throws {
    let attaching = Migration("attach") { [archive] db in
      try db.executeUpdate("ATTACH \(archive) AS archive")
      try db.executeUpdate("INSERT INTO archive.old VALUES ('Bergen')")
    }
    let db = try Database(path: folder.file("main.db"))
    let report = try Migrator([attaching]).dryRun(db)
    #expect(!report.isSuccess)
    #expect(try count() == 1)
    try Migrator([attaching]).migrate(db)
    #expect(try count() == 2)
    #expect(try db.value("SELECT count(*) FROM pragma_database_list") == 1)
  }

  @Test("Checking migrations writes to copies of attached files")
  func check() throws {
    try Database(path: folder.file("old.db")).executeStatements("CREATE TABLE city (name TEXT)")
    // The schema that the old databases have already.
    let city = Migration("city", sql: "CREATE TABLE IF NOT EXISTS city (name TEXT)")
    try Migrator([city, archiving]).check(
      oldDatabases: [folder.file("old.db")], dumps: ["CREATE TABLE city (name TEXT)"],
      configuration: configuration)
    #expect(try count() == 1)
  }

  @Test("A file attached by a migration that fails or is cancelled is detached")
  func failing() async throws {
    struct Doubt: Error {}
    let attachesAndFails: @Sendable (Database) throws -> Void = { [archive] db in
      try db.executeUpdate("ATTACH \(archive) AS archive")
      throw Doubt()
    }
    let failing = Migration("attach", attachesAndFails)
    let cancelled = Migration("attach") { db in
      withUnsafeCurrentTask { $0?.cancel() }
      try attachesAndFails(db)
    }
    let db = try Database.empty()
    #expect(throws: MigrationError.self) { try Migrator([failing]).migrate(db) }
    #expect(try db.value("SELECT count(*) FROM pragma_database_list") == 1)
    let queue = try DatabaseQueue()
    let task = Task { [queue] in
      try await queue.inDatabase { try Migrator([cancelled]).migrate($0) }
    }
    await #expect(throws: (any Error).self) { try await task.value }
    let count = try await queue.inDatabase {
      try $0.value("SELECT count(*) FROM pragma_database_list", as: Int.self)
    }
    #expect(count == 1)
  }
}

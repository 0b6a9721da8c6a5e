import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Migrations")
struct MigratorTests {
  private let createCity = Migration(
    "create city",
    sql: """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE INDEX city_name ON city (name);
      INSERT INTO city VALUES (1, 'Oslo'), (2, 'Bergen');
      """)
  private let addPopulation = Migration(
    "add population", sql: "ALTER TABLE city ADD COLUMN population INTEGER NOT NULL DEFAULT 0")
  private let fill = Migration("fill in Oslo's population") { db in
    try db.executeUpdate("UPDATE city SET population = 709037 WHERE name = 'Oslo'")
  }
  private var all: Migrator { Migrator([createCity, addPopulation, fill]) }

  @Test("Migrations run in order on a queue, a pool and a bare connection")
  func order() throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue()
    let pool = try DatabasePool(path: folder.file("cities.db"))
    let db = try Database.empty()
    try all.migrate(queue)
    try all.migrate(pool)
    try all.migrate(db)
    func check(_ db: Database) throws {
      #expect(try db.value("SELECT population FROM city WHERE name = 'Oslo'") == 709_037)
      #expect(try all.pending(db) == [])
    }
    try queue.read(check)
    try pool.read(check)
    try check(db)
  }

  @Test("A migration runs once, also when the list grows")
  func once() throws {
    let db = try Database.empty()
    try Migrator([createCity]).migrate(db)
    try Migrator([createCity]).migrate(db)
    #expect(try all.pending(db) == ["add population", "fill in Oslo's population"])
    try all.migrate(db)
    try all.migrate(db)
    #expect(try db.value("SELECT count(*) FROM city") == 2)
  }

  @Test("The database keeps the name, checksum, date and duration of each migration")
  func bookkeeping() throws {
    let db = try Database.empty()
    let before = Date()
    try all.migrate(db)
    let applied = try all.applied(db)
    #expect(applied.map(\.name) == all.migrations.map(\.name))
    #expect(applied.map(\.checksum) == all.migrations.map(\.checksum))
    #expect(applied[2].checksum == nil)
    for migration in applied {
      let date = try #require(migration.date)
      // The date is stored in milliseconds.
      #expect(date > before - 0.01 && date < Date() + 0.01)
      let duration = try #require(migration.duration)
      #expect(duration >= .zero && duration < .seconds(60))
    }
  }

  @Test("`pending` and `applied` don't write, and work on a read-only connection")
  func asking() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    try Database(path: path).close()
    var configuration = Configuration()
    configuration.readOnly = true
    let reader = try Database(path: path, configuration: configuration)
    #expect(try all.pending(reader) == all.migrations.map(\.name))
    #expect(try all.applied(reader) == [])
    #expect(try reader.schema().isEmpty)
    #expect(throws: MigrationError.self) { try all.migrate(reader) }
    let writer = try Database(path: path)
    try all.migrate(writer)
    #expect(try all.pending(reader) == [])
    try all.migrate(reader)
    #expect(try writer.inTransaction { try all.pending($0) } == [])
  }

  @Test("Progress is reported before and after each migration")
  func progress() throws {
    let queue = try DatabaseQueue()
    try Migrator([createCity]).migrate(queue)
    var told: [(name: String, index: Int, count: Int, duration: Duration?)] = []
    try all.migrate(queue) { told.append($0) }
    #expect(told.map(\.index) == [1, 1, 2, 2])
    #expect(told.map(\.count) == [3, 3, 3, 3])
    #expect(told.map(\.name)[2] == "fill in Oslo's population")
    #expect(told.map { $0.duration == nil } == [true, false, true, false])
    told = []
    try all.migrate(queue) { told.append($0) }
    #expect(told.isEmpty)
  }

  @Test(
    "A migration's name may contain any text",
    arguments: [
      "O'Higgins", #"the "old" names"#, "  ", "北京 市", "'; DROP TABLE larder_migration; --",
      "two\nlines", "[x]", "%s",
    ] + (TestEngine.isPostgres ? [] : ["a\0b"]))
  func names(name: String) throws {
    let db = try Database.empty()
    let migrator = Migrator([
      Migration(name, sql: "CREATE TABLE city (name TEXT)", down: "DROP TABLE city"),
      Migration(name + " 2") { _ in },
    ])
    #expect(try migrator.pending(db) == [name, name + " 2"])
    try migrator.migrate(db)
    #expect(try migrator.applied(db).map(\.name) == [name, name + " 2"])
    #expect(throws: MigrationError.self) { try migrator.migrate(db, downTo: nil) }
    try Migrator([migrator.migrations[0]]).migrate(try Database.empty())
  }

  @Test("Migration names are compared byte by byte: composed and decomposed “é” differ")
  func bytes() throws {
    let db = try Database.empty()
    let migrator = Migrator([Migration("caf\u{e9}") { _ in }, Migration("cafe\u{301}") { _ in }])
    try migrator.migrate(db)
    #expect(try migrator.applied(db).count == 2)
  }

  @Test("Values in a migration's SQL are bound, and count in its checksum")
  func values() throws {
    func migration(_ name: String) -> Migration {
      Migration("fill", sql: "CREATE TABLE city (name TEXT); INSERT INTO city VALUES (\(name))")
    }
    let db = try Database.empty()
    try Migrator([migration("O'Higgins")]).migrate(db)
    #expect(try db.value("SELECT name FROM city") == "O'Higgins")
    #expect(throws: MigrationError.self) { try Migrator([migration("Oslo")]).migrate(db) }
  }

  @Test("Checksums ignore case, comments and white space, and don't change between versions")
  func checksums() {
    func checksum(_ sql: SQL) -> String? { Migration("x", sql: sql).checksum }
    let sum = checksum("CREATE TABLE city (name TEXT DEFAULT 'Oslo')")
    #expect(sum == "f3924eb9fdf29209")
    #expect(checksum("create table CITY(name text -- of the city\n DEFAULT 'Oslo' )") == sum)
    #expect(checksum("CREATE TABLE city (name TEXT DEFAULT 'oslo')") != sum)
    let values: SQL = "SELECT \(1), \(2.5), \("Oslo"), \([1, 2] as [UInt8]), \(nil as Int?)"
    #expect(checksum(values) == "14b1b8f2ca0975ee")
    #expect(checksum("SELECT \("1")") != checksum("SELECT \(1)"))
    #expect(checksum("SELECT a b") != checksum("SELECT ab"))
  }

  @Test("300 migrations are applied and recorded in order")
  func many() throws {
    let migrator = Migrator(
      (0..<300).map { Migration("\($0)", sql: SQL(raw: "CREATE TABLE city_\($0) (name TEXT)")) })
    let db = try Database.empty()
    try migrator.migrate(db)
    #expect(try migrator.applied(db).map(\.name) == (0..<300).map { "\($0)" })
  }

  @Test("Migrations and dry runs can call functions that `prepareDatabase` defines")
  func functions() throws {
    var configuration = Configuration()
    configuration.prepareDatabase = { db in
      try db.createFunction("shout", argumentCount: 1) { values in
        guard case .text(let text) = values[0] else { return nil }
        return text.uppercased()
      }
    }
    let queue = try DatabaseQueue(configuration: configuration)
    let migrator = Migrator([
      createCity, Migration("shout", sql: "UPDATE city SET name = shout(name)"),
    ])
    #expect(try migrator.dryRun(queue).isSuccess)
    try migrator.migrate(queue)
    #expect(try queue.read { try $0.value("SELECT name FROM city") } == "OSLO")
  }

  @Test("Cancelling a task that migrates undoes the running migration only")
  func cancelled() async throws {
    let queue = try DatabaseQueue()
    let migrator = Migrator([
      createCity,
      Migration("cancelled") { db in
        try db.executeUpdate("DELETE FROM city")
        _ = try db.value(
          "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
          as: Int.self)
      },
    ])
    let begun = AsyncStream<Void>.makeStream()
    let task = Task {
      try await queue.inDatabase { db in
        try migrator.migrate(db) { if $0.index == 1 { begun.continuation.yield() } }
      }
    }
    for await _ in begun.stream { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let (names, foreignKeys) = try await queue.inDatabase { db in
      (try migrator.applied(db).map(\.name), try db.effectiveSettings.foreignKeys)
    }
    #expect(names == ["create city"])
    #expect(foreignKeys)
    #expect(try await queue.read { try $0.value("SELECT count(*) FROM city") } == 2)
  }
}

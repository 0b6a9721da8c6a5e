import Larder
import PostgresSupport
import Testing

@Suite(
  "Adopting databases that have a user_version",
  .onlySQLite(.migrations))
struct MigrationAdoptionTests {
  private let migrator = Migrator([
    Migration("create city", sql: "CREATE TABLE city (name TEXT)").replacing(userVersion: 1),
    Migration("create river", sql: "CREATE TABLE river (name TEXT)"),
    Migration("add length", sql: "ALTER TABLE river ADD COLUMN length").replacing(userVersion: 4),
    Migration("create lake", sql: "CREATE TABLE lake (name TEXT)"),
  ])

  private func database(version: Int32, _ sql: SQL) throws -> Database {
    let db = try Database.empty()
    try db.executeStatements(sql)
    try db.setUserVersion(version)
    return db
  }

  @Test("An adopted database continues after the migration that replaces its user_version")
  func adopted() throws {
    let db = try database(version: 1, "CREATE TABLE city (name TEXT)")
    #expect(try migrator.pending(db) == ["create river", "add length", "create lake"])
    let adopted = try migrator.applied(db)
    #expect(adopted.map(\.name) == ["create city"])
    #expect(adopted[0].date == nil && adopted[0].duration == nil)
    try migrator.migrate(db)
    let applied = try migrator.applied(db)
    #expect(applied.map(\.name) == migrator.migrations.map(\.name))
    #expect(applied.map { $0.duration == nil } == [true, false, false, false])
    #expect(applied.allSatisfy { $0.date != nil })
    #expect(applied[0].checksum == migrator.migrations[0].checksum)
    #expect(try db.userVersion == 1)
    #expect(try db.columns(of: "river").map(\.name) == ["name", "length"])
  }

  @Test(
    "Adopting an up-to-date database records its migrations, and user_version no longer counts"
  )
  func upToDate() throws {
    let first = Migrator(Array(migrator.migrations.prefix(3)))
    let db = try database(
      version: 4, "CREATE TABLE city (name TEXT); CREATE TABLE river (name, length)")
    #expect(try first.pending(db) == [])
    #expect(try !db.tableExists("larder_migration"))
    try first.migrate(db)
    #expect(try db.tableExists("larder_migration"))
    try db.setUserVersion(99)
    try migrator.migrate(db)
    #expect(try db.tableExists("lake"))
  }

  @Test("An adopted database with a user_version that is too new or unknown is refused")
  func refused() throws {
    func refusal(_ version: Int32) throws -> String? {
      let db = try database(version: version, "CREATE TABLE city (name TEXT)")
      let error = failure(MigrationError.self) { try migrator.migrate(db) }
      #expect(try db.schema().count == 1)
      return error.map { "\($0)" }
    }
    #expect(
      try refusal(5)
        == "the database is newer than this program: its user_version is 5, the highest known is 4")
    #expect(
      try refusal(2) == "no migration replaces the database's user_version 2, only 1, 4")
    #expect(try refusal(-1) != nil)
  }

  @Test("A first migration that fails on another program's tables says how they are adopted")
  func otherHistories() throws {
    let db = try Database.empty()
    try db.executeStatements("CREATE TABLE city (name TEXT)")
    let plain = Migrator([Migration("create city", sql: "CREATE TABLE city (name TEXT)")])
    let error = failure(MigrationError.self) { try plain.migrate(db) }
    #expect(error?.description.contains("adopting") == false)
    try db.executeStatements("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
    let advised = failure(MigrationError.self) { try plain.migrate(db) }
    #expect(
      advised?.description.contains(
        "“grdb_migrations”; migrate(_:adopting:) takes it over — while executing") == true)
    try plain.migrate(db, adopting: "create city")
    #expect(try plain.pending(db) == [])
  }

  @Test("user_version 0 means a new database, and is ignored if no migration replaces a version")
  func unmarked() throws {
    try migrator.migrate(try Database.empty())
    let db = try database(version: 7, "CREATE TABLE mountain (name TEXT)")
    let plain = Migrator([Migration("create city", sql: "CREATE TABLE city (name TEXT)")])
    try plain.migrate(db)
    #expect(try db.userVersion == 7)
    #expect(try plain.applied(db).count == 1)
  }

  @Test("A failing first migration leaves an adopted database as it was")
  func failing() throws {
    let db = try database(
      version: 1, "CREATE TABLE city (name TEXT); CREATE TABLE river (name TEXT)")
    let schema = try db.schema()
    #expect(throws: MigrationError.self) { try migrator.migrate(db) }
    #expect(try db.schema() == schema)
  }
}

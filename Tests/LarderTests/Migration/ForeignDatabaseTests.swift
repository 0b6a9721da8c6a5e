import Larder
import PostgresSupport
import TestSupport
import Testing

@Suite("Adopting databases that other tools have made")
struct ForeignDatabaseTests {
  private let migrator = Migrator([
    Migration(
      "create city", sql: "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"),
    Migration("index names", sql: "CREATE INDEX city_name ON city (name)"),
    Migration("add population", sql: "ALTER TABLE city ADD COLUMN population INTEGER"),
  ])

  /// What another tool has made of the first two migrations, and its history.
  private let foreign: SQL = """
    CREATE TABLE django_migrations (id INTEGER PRIMARY KEY, app VARCHAR(255) NOT NULL);
    CREATE TABLE "city" ("id" integer NOT NULL PRIMARY KEY, "name" text NOT NULL);
    CREATE INDEX "city_name_5f2" ON "city" ("name");
    INSERT INTO city VALUES (1, 'Oslo');
    """

  private func database(_ sql: SQL) throws -> Database {
    let db = try Database.empty()
    try db.executeStatements(sql)
    return db
  }

  @Test("A database as the migrations make it is adopted, and migrated on; its rows stay")
  func adopted() throws {
    let db = try database(foreign)
    for _ in 0..<2 { try migrator.migrate(db, adopting: "index names") }
    let applied = try migrator.applied(db)
    #expect(applied.map(\.name) == migrator.migrations.map(\.name))
    #expect(applied.map { $0.duration == nil } == [true, true, false])
    #expect(try migrator.pending(db) == [])
    #expect(try db.columns(of: "city").map(\.name) == ["id", "name", "population"])
    #expect(try db.value("SELECT name FROM city", as: String.self) == "Oslo")
    #expect(try db.indexes(of: "city").contains { $0.name == "city_name_5f2" })
    try migrator.migrate(db)
  }

  @Test("In an empty database all migrations run, even if another tool's history is there")
  func empty() throws {
    for sql: SQL in ["SELECT 1", "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"]
    {
      let db = try database(sql)
      try migrator.migrate(db, adopting: "index names")
      #expect(try migrator.applied(db).allSatisfy { $0.duration != nil })
      #expect(try db.indexes(of: "city").contains { $0.name == "city_name" })
    }
  }

  @Test("Each difference between the migrations and the database is named, and nothing is recorded")
  func differences() throws {
    let db = try database(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, mayor TEXT);
      CREATE TABLE river (name TEXT);
      """)
    let before = try db.schema()
    let error = failure(MigrationError.self) { try migrator.migrate(db, adopting: "index names") }
    guard case .differences("index names", let differences)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    let found = Set(differences.map { "\($0.kind) \($0.table) \($0.column ?? "")" })
    #expect(
      found == ["nullability city name", "column city mayor", "index city name", "table river "])
    #expect("\(differences)".contains("declared nothing, found"))
    #expect(try db.schema() == before)
    #expect(try !db.tableExists("larder_migration"))
  }

  @Test("Differences that the caller accepts remain")
  func accepted() throws {
    let db = try database(
      "\(foreign) CREATE TABLE audit (note TEXT); ALTER TABLE city ADD COLUMN mayor TEXT;")
    var asked: [String] = []
    try migrator.migrate(db, adopting: "index names") {
      asked.append($0.column ?? $0.table)
      return $0.table == "audit" || $0.column == "mayor"
    }
    #expect(Set(asked) == ["audit", "mayor"])
    #expect(try db.tableExists("audit") && migrator.pending(db) == [])
    struct Refusal: Error {}
    let other = try database("CREATE TABLE city (id INTEGER PRIMARY KEY)")
    #expect(throws: Refusal.self) {
      try migrator.migrate(other, adopting: "index names") { _ in throw Refusal() }
    }
    #expect(try !other.tableExists("larder_migration") && !other.isInTransaction)
  }

  @Test("A name that isn't in the list is refused, unless the database has a history already")
  func unknownName() throws {
    let db = try database(foreign)
    #expect(
      throws: MigrationError.self, performing: { try migrator.migrate(db, adopting: "create town") }
    )
    #expect(try !db.tableExists("larder_migration"))
    try db.inTransaction { db in
      #expect(throws: DatabaseError.self) { try migrator.migrate(db, adopting: "create city") }
    }
  }

  @Test("A migration that fails on the empty copy is named, and the database stays as it was")
  func failing() throws {
    let db = try database(foreign)
    let broken = Migrator([
      migrator.migrations[0], Migration("fill", sql: "INSERT INTO river VALUES (1)"),
    ])
    let error = failure(MigrationError.self) { try broken.migrate(db, adopting: "fill") }
    #expect("\(String(describing: error))".contains("fill"))
    #expect(try !db.tableExists("larder_migration") && !db.isInTransaction)
    #expect(try db.value("SELECT name FROM city", as: String.self) == "Oslo")
  }

  @Test("Views and triggers count as well")
  func views() throws {
    let list = Migrator([
      migrator.migrations[0],
      Migration("view", sql: "CREATE VIEW names AS SELECT name FROM city"),
    ])
    let db = try database("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    let error = failure(MigrationError.self) { try list.migrate(db, adopting: "view") }
    guard case .differences(_, let differences)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(differences.map(\.kind) == [.view])
    try db.executeStatements("CREATE VIEW names AS SELECT name FROM city")
    try list.migrate(db, adopting: "view")
    #expect(try list.pending(db) == [])
  }

  @Test("A file is adopted by one of the processes that start together, and migrated once")
  func together() async throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let first = try Database(path: path)
    try first.executeStatements(foreign)
    try first.close()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let pool = try DatabasePool(path: path)
          try migrator.migrate(pool, adopting: "index names")
          try pool.close()
        }
      }
      try await group.waitForAll()
    }
    let db = try Database(path: path)
    #expect(try migrator.applied(db).count == 3)
  }
}

import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Dry runs of migrations")
struct DryRunTests {
  private let folder: ScratchFolder
  private let path: String
  private let create = Migration(
    "create city",
    sql: "CREATE TABLE city (name TEXT UNIQUE); INSERT INTO city VALUES ('Oslo'), ('Bergen')")
  private let add = Migration("add") { db in
    try db.executeUpdate("ALTER TABLE city ADD COLUMN population INTEGER")
    for (name, population) in [("Oslo", 709_037), ("Bergen", 291_940)] {
      try db.executeUpdate("UPDATE city SET population = ? WHERE name = ?", population, name)
    }
  }

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  @Test("A dry run reports each pending migration's statements and changes, and changes nothing")
  func report() throws {
    let queue = try DatabaseQueue(path: path)
    try Migrator([create]).migrate(queue)
    let schema = try queue.read { try $0.schema() }
    let report = try Migrator([create, add]).dryRun(queue)
    #expect(report.isSuccess)
    #expect(report.migrations.map(\.name) == ["add"])
    let migration = try #require(report.migrations.first)
    #expect(
      migration.statements.map(\.sql) == [
        "ALTER TABLE city ADD COLUMN population INTEGER",
        "UPDATE city SET population = ? WHERE name = ?",
      ])
    #expect(migration.statements.map(\.count) == [1, 2])
    #expect(migration.statements.allSatisfy { $0.duration > .zero })
    #expect(migration.changes == 2)
    #expect(migration.duration > .zero)
    #expect(try queue.read { try $0.schema() } == schema)
    #expect(try queue.read { try Migrator([create, add]).pending($0) } == ["add"])
    #expect("\(report)".contains("  2 × UPDATE city SET population = ? WHERE name = ?"))
  }

  @Test(
    "A dry run works on a new in-memory database, and on a file of any page size",
    arguments: [512, 65536]
  )
  func sizes(pageSize: Int) throws {
    #expect(
      try Migrator([create, add]).dryRun(Database()).migrations.map(\.changes) == [2, 2])
    var configuration = Configuration()
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    try db.executeUpdate(SQL(raw: "PRAGMA page_size = \(pageSize)"))
    try Migrator([create]).migrate(db)
    try db.executeUpdate("PRAGMA journal_mode = wal")
    #expect(try Migrator([create, add]).dryRun(db).isSuccess)
    #expect("\(try Migrator([create]).dryRun(db))" == "nothing to migrate")
  }

  @Test("A dry run works while another connection writes, and on a read-only connection")
  func others() throws {
    let pool = try DatabasePool(path: path)
    try Migrator([create]).migrate(pool)
    let other = try Database(path: path)
    try other.begin()
    try other.executeUpdate("DELETE FROM city")
    #expect(try Migrator([create, add]).dryRun(pool).migrations.map(\.changes) == [2])
    try other.commit()
    var configuration = Configuration()
    configuration.readOnly = true
    let reader = try Database(path: path, configuration: configuration)
    #expect(try Migrator([create, add]).dryRun(reader).migrations.map(\.changes) == [0])
  }

  @Test(
    "A dry run reports a failing migration with the statements that ran before",
    .onlySQLite(.catalog))
  func failing() throws {
    let db = try Database.empty()
    let wrong = Migration("wrong", sql: "DELETE FROM city; INSERT INTO town VALUES (1)")
    let report = try Migrator([create, wrong, add]).dryRun(db)
    #expect(!report.isSuccess)
    #expect(report.migrations.map(\.name) == ["create city", "wrong"])
    #expect(report.migrations[1].statements.map(\.sql) == ["DELETE FROM city;"])
    #expect(report.migrations[1].changes == 2)
    #expect((report.error as? MigrationError)?.sql == " INSERT INTO town VALUES (1)")
    #expect("\(report)".contains("error: the migration “wrong” failed"))
  }

  @Test(
    "A dry run reports foreign key violations and integrity problems",
    .onlySQLite(.keys))
  func checks() throws {
    let careless = Migration(
      "careless",
      sql: "CREATE TABLE street (city REFERENCES city(name)); INSERT INTO street VALUES ('Rome')")
    let report = try Migrator([create, careless]).dryRun(Database())
    guard case .foreignKeys("careless", let violations)? = report.error as? MigrationError else {
      return _ = Issue.record("\(report)")
    }
    #expect(violations.map(\.table) == ["street"])
    var configuration = Configuration()
    configuration.foreignKeys = false
    let unenforced = try Migrator([create, careless]).dryRun(
      Database(configuration: configuration))
    #expect(unenforced.error == nil)
    #expect(unenforced.foreignKeyViolations.count == 1)
    #expect(!unenforced.isSuccess)
    let db = try Database.empty()
    try db.executeStatements(
      """
      CREATE TABLE town (population CHECK (population > 0));
      PRAGMA ignore_check_constraints = ON;
      INSERT INTO town VALUES (0);
      """)
    let unchecked = try Migrator([create]).dryRun(db)
    #expect(unchecked.integrityProblems == ["CHECK constraint failed in town"])
    #expect(!unchecked.isSuccess)
  }
}

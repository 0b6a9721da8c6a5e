import LarderSQLite
import TestSupport
import Testing

@Suite("Authorizers")
struct AuthorizerTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    try Database(path: path).executeStatements(
      """
      CREATE TABLE city (name TEXT, population INTEGER);
      CREATE TABLE person (name TEXT, password TEXT);
      CREATE VIEW capital AS SELECT name FROM city WHERE population > 500000;
      CREATE TABLE log (entry TEXT);
      CREATE INDEX cityByName ON city (name);
      CREATE TRIGGER founded AFTER INSERT ON city BEGIN INSERT INTO log VALUES (new.name); END;
      INSERT INTO city VALUES ('Oslo', 709037), ('Bergen', 291940);
      INSERT INTO person VALUES ('Kari', 'hunter2');
      """)
  }

  private func database(_ preset: Authorizer) throws -> Database {
    var configuration = Configuration()
    configuration.authorizer = preset
    return try Database(path: path, configuration: configuration)
  }

  private func isDenied(_ db: Database, _ sql: SQL) -> Bool {
    do {
      try db.executeStatements(sql)
      return false
    } catch let error as DatabaseError {
      return error.code == .authorization || error.message.hasPrefix("not authorized")
        || error.message == "authorization denied"
    } catch {
      return false
    }
  }

  private let schemaChanges: [SQL] = [
    "CREATE TABLE town (name)", "DROP TABLE city", "ALTER TABLE city ADD COLUMN x",
    "CREATE INDEX i ON city (name)", "CREATE TEMP TABLE t (a)", "CREATE VIEW v AS SELECT 1",
    "CREATE TRIGGER t AFTER INSERT ON city BEGIN SELECT 1; END", "REINDEX", "ANALYZE",
    "ATTACH ':memory:' AS other", "CREATE VIRTUAL TABLE doc USING fts5 (text)",
  ]

  @Test("With the authorizer `.readOnly`, queries work and every statement that writes is denied")
  func readOnly() throws {
    let db = try database(.readOnly)
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    #expect(try db.value("SELECT name FROM capital", as: String.self) == "Oslo")
    #expect(try db.value("PRAGMA user_version", as: Int.self) == 0)
    let writing: [SQL] = [
      "INSERT INTO city VALUES ('Bodø', 1)", "UPDATE city SET population = 0", "DELETE FROM city",
      "PRAGMA user_version = 1", "PRAGMA journal_mode = DELETE", "PRAGMA writable_schema = ON",
      "VACUUM",
    ]
    for sql in writing + schemaChanges { #expect(isDenied(db, sql), "\(sql)") }
    let one = try db.inTransaction { try $0.value("SELECT 1", as: Int.self) }
    #expect(one == 1)
  }

  @Test(
    "The authorizers `.readOnly` and `.dataOnly` allow the schema to be inspected",
    arguments: [Authorizer.readOnly, .dataOnly])
  func schema(preset: Authorizer) throws {
    let db = try database(preset)
    #expect(try db.tableExists("city"))
    #expect(try db.value("PRAGMA table_info(city)", as: Int.self) == 0)
    #expect(try db.columnExists("name", in: "city"))
    #expect(try db.columns(of: "city").map(\.name) == ["name", "population"])
    #expect(try db.indexes(of: "city").map(\.name) == ["cityByName"])
  }

  @Test("The authorizer `.readOnly` denies a PRAGMA that writes even without an argument")
  func pragmasThatWrite() throws {
    let db = try database(.readOnly)
    for sql: SQL in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint"] {
      #expect(isDenied(db, sql), "\(sql)")
    }
  }

  @Test("With the authorizer `.dataOnly`, rows can be written and schema changes are denied")
  func dataOnly() throws {
    let db = try database(.dataOnly)
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø', 53259)")
    try db.executeUpdate("UPDATE city SET population = population + 1")
    try db.executeUpdate("DELETE FROM city WHERE name = 'Bergen'")
    #expect(try db.value("SELECT count(*) FROM log", as: Int.self) == 1 + 2)
    for sql in schemaChanges { #expect(isDenied(db, sql), "\(sql)") }
    #expect(isDenied(db, "PRAGMA user_version = 1"))
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("UPDATE sqlite_schema SET sql = ''")
    }
  }

  @Test("With the authorizer `.tables`, the tables that views and triggers use must be listed too")
  func someTables() throws {
    let db = try database(.tables(["CITY", "capital"]))
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    #expect(try db.value("SELECT name FROM capital", as: String.self) == "Oslo")
    #expect(isDenied(db, "INSERT INTO city VALUES ('Bodø', 53259)"), "its trigger writes the log")
    let logging = try database(.tables(["city", "log"]))
    #expect(try logging.executeUpdate("INSERT INTO city VALUES ('Bodø', 53259)") == 1)
    #expect(isDenied(logging, "SELECT name FROM capital"), "the view isn't listed")
    let others: [SQL] = [
      "SELECT password FROM person", "SELECT count(*) FROM person", "SELECT 1 FROM person",
      "DELETE FROM person", "INSERT INTO person VALUES ('a', 'b')", "SELECT * FROM log",
      "SELECT sql FROM sqlite_schema", "PRAGMA table_info(person)",
      "SELECT * FROM pragma_table_info('person')", "SELECT (SELECT password FROM person) FROM city",
      "SELECT name FROM city UNION SELECT password FROM person",
      "UPDATE city SET name = (SELECT password FROM person)",
      "SELECT * FROM city JOIN person USING (name)",
      "SELECT x FROM (SELECT password AS x FROM person)",
    ]
    for sql in others + schemaChanges { #expect(isDenied(db, sql), "\(sql)") }
  }

  @Test(
    "With the authorizer `.tables`, a common table expression gives no access to an unlisted table",
    arguments: ["city", "anything"])
  func commonTableExpressions(name: String) throws {
    let db = try database(.tables(["city", "capital"]))
    let name = SQL(raw: name)
    #expect(isDenied(db, "WITH \(name) AS (SELECT password FROM person) SELECT * FROM \(name)"))
    #expect(
      isDenied(
        db,
        "WITH \(name) (p) AS (SELECT password FROM person) INSERT INTO city SELECT p, 1 FROM \(name)"
      ))
  }

  @Test("The authorizer also applies to statements that `prepareDatabase` compiled while opening")
  func duringOpening() throws {
    var configuration = Configuration()
    configuration.authorizer = .readOnly
    configuration.prepareDatabase = { db in
      #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    }
    let db = try Database(path: path, configuration: configuration)
    #expect(isDenied(db, "DELETE FROM city"))
  }
}

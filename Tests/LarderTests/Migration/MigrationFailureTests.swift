import Dispatch
import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Migrations that fail")
struct MigrationFailureTests {
  private struct Doubt: Error {}

  private let create = Migration(
    "create city",
    sql: """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
      INSERT INTO city VALUES (1, 'Oslo'), (2, 'Bergen');
      """)

  /// Runs the migration after one that works, and expects it to throw and leave nothing behind.
  private func failure(
    of migration: Migration, _ db: Database? = nil
  ) throws -> MigrationError {
    let db = try db ?? Database()
    try Migrator([create]).migrate(db)
    let schema = try db.schema()
    let later = Migration("later", sql: "CREATE TABLE later (x TEXT)")
    let error = #expect(throws: MigrationError.self) {
      try Migrator([create, migration, later]).migrate(db)
    }
    #expect(try db.schema() == schema)
    #expect(try Migrator([]).applied(db).map(\.name) == ["create city"])
    #expect(
      try db.executeQuery("SELECT name FROM city ORDER BY id").map { try $0.get(at: 0) }
        == ["Oslo", "Bergen"])
    #expect(!db.isInTransaction)
    #expect(try db.effectiveSettings.foreignKeys)
    #expect(try db.value("PRAGMA integrity_check") == "ok")
    return try #require(error)
  }

  private func cause(_ error: MigrationError) -> DatabaseError? {
    guard case .failed("new", let error) = error else { return nil }
    return error as? DatabaseError
  }

  @Test("An error thrown by a migration's closure is reported with the migration's name")
  func throwing() throws {
    let error = try failure(
      of: Migration("new") { db in
        try db.executeUpdate("DELETE FROM city")
        try db.executeUpdate("CREATE TABLE river (name TEXT)")
        throw Doubt()
      })
    guard case .failed("new", is Doubt) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(error.sql == nil)
    #expect("\(error)" == "the migration “new” failed and was undone: Doubt()")
  }

  @Test("A failing statement in a migration's SQL is reported with its SQL")
  func statement() throws {
    let error = try failure(
      of: Migration(
        "new",
        sql: """
          CREATE TABLE river (name TEXT NOT NULL);
          UPDATE city SET name = 'Oslo' WHERE name = 'Bergen';
          CREATE TABLE lake (name TEXT);
          """))
    #expect(cause(error)?.constraint?.kind == .unique)
    #expect(
      error.sql?.trimmingCharacters(in: .whitespacesAndNewlines)
        == "UPDATE city SET name = 'Oslo' WHERE name = 'Bergen';")
  }

  @Test(
    "A syntax error in a migration's third statement undoes the first two and reports its place"
  )
  func syntax() throws {
    let error = try failure(
      of: Migration(
        "new",
        sql: "CREATE TABLE river (name TEXT); DELETE FROM city; CRATE TABLE lake (name); SELECT 1"))
    #expect(error.sql == " CRATE TABLE lake (name);")
    #expect(cause(error)?.offset == 1)
    #expect("\(error)".hasPrefix("the migration “new” failed and was undone: SQLite error 1: near"))
  }

  @Test(
    "BEGIN, COMMIT and ROLLBACK in a migration throw misuse",
    arguments: ["COMMIT", "ROLLBACK", "END", "BEGIN"])
  func transactions(control: String) throws {
    let bySQL = try failure(of: Migration("new", sql: SQL(raw: "DELETE FROM city; \(control)")))
    #expect(cause(bySQL)?.code == .misuse)
    let byClosure = try failure(
      of: Migration("new") { db in
        try db.executeUpdate("DELETE FROM city")
        if control == "BEGIN" { try db.begin() } else { try db.commit() }
      })
    #expect(cause(byClosure)?.code == .misuse)
  }

  @Test(
    "Changing `larder_migration` in a migration throws misuse",
    arguments: [
      "DELETE FROM larder_migration",
      "UPDATE larder_migration SET name = 'old'",
      "INSERT INTO larder_migration VALUES (99, 'next', NULL, '', 0)",
      """
      CREATE TRIGGER forget BEFORE INSERT ON larder_migration
      BEGIN SELECT RAISE(IGNORE); END
      """,
    ])
  func bookkeeping(sql: String) throws {
    let error = try failure(of: Migration("new", sql: SQL(raw: "DELETE FROM city; \(sql)")))
    #expect(cause(error)?.code == .misuse)
  }

  @Test("setRollbackOnly in a migration without an error throws misuse")
  func rollbackOnly() throws {
    let error = try failure(
      of: Migration("new") { db in
        try db.executeUpdate("DELETE FROM city")
        db.setRollbackOnly()
      })
    #expect(cause(error)?.code == .misuse)
  }

  @Test("A conflict that rolls back the whole transaction fails the migration, even if swallowed")
  func automaticRollback() throws {
    let error = try failure(
      of: Migration(
        "new",
        sql: "DELETE FROM city WHERE id = 2; INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')"))
    #expect(cause(error)?.constraint?.kind == .unique)
    let swallowed = try failure(
      of: Migration("new") { db in
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
      })
    #expect(cause(swallowed)?.code == .abort)
  }

  @Test(
    "A full disk undoes a migration, which succeeds once there is room", arguments: [true, false]
  )
  func full(isSQL: Bool) throws {
    let folder = try ScratchFolder()
    let db = try Database(path: folder.file("cities.db"))
    try Migrator([create]).migrate(db)
    let fill: SQL = """
      CREATE TABLE river (name TEXT);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 1000)
      INSERT INTO river SELECT zeroblob(1000) FROM n;
      """
    let migration =
      isSQL
      ? Migration("new", sql: fill) : Migration("new") { try $0.executeStatements(fill) }
    let pages = try #require(try db.value("PRAGMA page_count", as: Int.self))
    try db.executeUpdate(SQL(raw: "PRAGMA max_page_count = \(pages + 20)"))
    let error = try failure(of: migration, db)
    #expect(cause(error)?.code == .full)
    #expect(error.sql?.contains("zeroblob") == true)
    try db.executeUpdate("PRAGMA max_page_count = 100000")
    try Migrator([create, migration]).migrate(db)
    #expect(try db.value("SELECT count(*) FROM river") == 1000)
  }

  @Test("An interrupt from another thread undoes the running migration")
  func interrupted() throws {
    let queue = try DatabaseQueue()
    try Migrator([create]).migrate(queue)
    // The queue is captured weakly: the connection retains its functions.
    let years = Migration("new") { [weak queue] db in
      try db.executeUpdate("DELETE FROM city")
      try db.createFunction("begun", argumentCount: 0, deterministic: false) { [weak queue] _ in
        Thread.detachNewThread { [weak queue] in queue?.interrupt() }
        return 1
      }
      _ = try db.value(
        """
        WITH RECURSIVE n(x) AS (SELECT begun() UNION ALL SELECT x + 1 FROM n)
        SELECT count(*) FROM n
        """, as: Int.self)
    }
    let error = #expect(throws: MigrationError.self) {
      try Migrator([create, years]).migrate(queue)
    }
    #expect(error.flatMap(cause)?.code == .interrupt)
    #expect(try queue.read { try $0.value("SELECT count(*) FROM city") } == 2)
    #expect(try queue.read { try Migrator([create, years]).pending($0) } == ["new"])
  }

  @Test("Migrating waits for another connection's lock until the busy timeout")
  func busy() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.busyTimeout = .milliseconds(50)
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    let error = #expect(throws: DatabaseError.self) { try Migrator([create]).migrate(queue) }
    #expect(error?.isBusy == true)
    #expect(error?.sql == "BEGIN IMMEDIATE")
    try other.rollback()
    try Migrator([create]).migrate(queue)
    #expect(try Migrator([create]).pending(other) == [])
  }

  @Test("Closing the database inside of a migration throws and undoes the migration")
  func closing() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let db = try Database(path: path)
    let close = Migration("close") { db in
      try db.executeUpdate("DELETE FROM city")
      try db.close()
    }
    let error = #expect(throws: MigrationError.self) { try Migrator([create, close]).migrate(db) }
    guard case .failed("close", _)? = error else { return _ = Issue.record("\(error as Any)") }
    let again = try Database(path: path)
    #expect(try again.value("SELECT count(*) FROM city") == 2)
    #expect(try Migrator([create, close]).pending(again) == ["close"])
    let queue = try DatabaseQueue(path: path)
    #expect(throws: MigrationError.self) { try Migrator([create, close]).migrate(queue) }
    #expect(try queue.read { try Migrator([create, close]).pending($0) } == ["close"])
  }

  @Test("Open result sets don't prevent a migration's commit or rollback")
  func openStatements() throws {
    let db = try Database.empty()
    var kept: [ResultSet] = []
    let lazy = Migration("read") { db in
      let rows = try db.executeQuery("SELECT name FROM city")
      _ = try rows.next()
      try db.executeUpdate("UPDATE city SET name = name || '!'")
    }
    try Migrator([create, lazy]).migrate(db)
    kept.append(try db.executeQuery("SELECT name FROM city"))
    _ = try kept[0].next()
    let fail = Migration("fail") { db in
      try db.executeUpdate("DELETE FROM city")
      throw Doubt()
    }
    #expect(throws: MigrationError.self) { try Migrator([create, lazy, fail]).migrate(db) }
    #expect(try db.value("SELECT name FROM city") == "Oslo!")
  }

  @Test("A migration that drops the bookkeeping table fails and is undone")
  func bookkeeping() throws {
    let error = try failure(of: Migration("new", sql: "DROP TABLE larder_migration"))
    #expect(error.sql?.contains("larder_migration") == true)
  }

  @Test("A temporary table named `larder_migration` doesn't hide the bookkeeping")
  func shadow() throws {
    let db = try Database.empty()
    let table: SQL = "CREATE TEMP TABLE larder_migration (x TEXT)"
    // Behind a pooler, a program has no temporary tables of its own.
    if TestEngine.hasPooler {
      #expect(throws: DatabaseError.self) { try db.executeUpdate(table) }
    } else {
      try db.executeUpdate(table)
    }
    try Migrator([create]).migrate(db)
    try Migrator([create]).migrate(db)
    #expect(try Migrator([create]).applied(db).count == 1)
  }
}

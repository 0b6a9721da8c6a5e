import Dispatch
import Larder
import PostgresSupport
import Testing

@Suite(
  "Rebuilding a table that others refer to",
  .onlySQLite(.keys))
struct RebuildRelationTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.executeStatements(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY, name VARCHAR(9));
      CREATE TABLE town (id INTEGER PRIMARY KEY, country TEXT REFERENCES country ON DELETE CASCADE);
      INSERT INTO country VALUES ('NO', 'Norway'), ('SE', 'Sweden');
      INSERT INTO town VALUES (1, 'NO'), (2, 'SE'), (3, 'NO');
      """)
  }

  private func count(_ table: String) throws -> Int? {
    try db.value("SELECT count(*) FROM \(identifier: table)", as: Int.self)
  }

  @Test("A rebuild keeps rows that refer to the table with ON DELETE CASCADE")
  func children() throws {
    try Country.table.rebuild(db)
    #expect(try count("town") == 3)
    #expect(try db.foreignKeys(of: "town").map(\.referencedTable) == ["country"])
    #expect(try db.value("PRAGMA foreign_keys") == 1)
    #expect(violation("INSERT INTO town VALUES (4, 'DK')", db) == .foreignKey)
    try db.executeUpdate("DELETE FROM country WHERE code = 'NO'")
    #expect(try count("town") == 1)
  }

  @Test("Rebuilding a referenced table in a transaction throws unless foreign keys are off")
  func transactions() throws {
    try db.inTransaction { db in
      #expect(
        failure(SchemaError.self) { try Country.table.rebuild(db) }
          == .foreignKeysAreOn(table: "country"))
      // No table refers to towns.
      try TableSchema(
        "town", [.column("id", .integer, .primaryKey), .column("country", .text)]
      ).rebuild(db)
    }
    #expect(try count("town") == 3)
    #expect(try count("country") == 2)
    try db.executeUpdate("PRAGMA foreign_keys = 0")
    try db.inTransaction { try Country.table.rebuild($0) }
    #expect(try count("town") == 3)
    #expect(try db.value("PRAGMA foreign_keys") == 0)
    #expect(try Country.table.differences(db) == [])
  }

  @Test("A table that refers to itself counts as referenced in a rebuild")
  func selfReference() throws {
    try db.executeStatements(
      """
      CREATE TABLE bridge (id INTEGER PRIMARY KEY, older INTEGER REFERENCES bridge ON DELETE CASCADE);
      INSERT INTO bridge VALUES (1, NULL), (2, 1), (3, 2)
      """)
    let table = try TableSchema(
      "bridge",
      [
        .column("id", .integer, .primaryKey),
        .column(
          "older", .integer.optional, .references("bridge", column: "id", onDelete: .cascade)),
      ])
    try db.inTransaction { db in
      #expect(
        failure(SchemaError.self) { try table.rebuild(db) } == .foreignKeysAreOn(table: "bridge"))
    }
    try table.rebuild(db)
    #expect(try count("bridge") == 3)
    #expect(table.differences(from: try Schema(db).table("bridge")) == [])
    try db.executeUpdate("DELETE FROM bridge WHERE id = 2")
    #expect(try count("bridge") == 1)
  }

  @Test("A rebuild that would break foreign keys throws and is undone")
  func brokenKeys() throws {
    let before = try db.schema()
    #expect(
      failure(SchemaError.self) { try Country.table.rebuild(db, copying: ["code": "lower(code)"]) }
        == .brokenForeignKeys(table: "country", count: 3))
    let towns = try TableSchema(
      "town",
      [
        .column("id", .integer, .primaryKey),
        .column("country", .text, .references("country", column: "name")),
      ])
    // The column isn't unique in the other table.
    #expect(throws: DatabaseError.self) { try towns.rebuild(db) }
    #expect(try db.schema() == before)
    #expect(try count("town") == 3)
    #expect(try db.value("PRAGMA foreign_keys") == 1)
  }

  @Test("A rebuild keeps indexes and triggers, and other tables' triggers and views still work")
  func dependents() throws {
    try db.executeStatements(
      """
      CREATE TABLE log (text TEXT);
      CREATE UNIQUE INDEX [by "name"] ON country (name COLLATE NOCASE) WHERE code > 'A';
      CREATE INDEX by_code ON country (code, name);
      CREATE TRIGGER named AFTER UPDATE OF name ON country BEGIN
        INSERT INTO log SELECT new.name || ' ' || count(*) FROM named_countries; END;
      CREATE TRIGGER founded AFTER INSERT ON town BEGIN
        UPDATE country SET name = name || '!' WHERE code = new.country; END;
      CREATE VIEW named_countries AS SELECT * FROM country WHERE name <> '';
      CREATE TRIGGER gone INSTEAD OF DELETE ON named_countries BEGIN
        DELETE FROM country WHERE code = old.code; END;
      CREATE TEMP TRIGGER noted AFTER DELETE ON country BEGIN INSERT INTO log VALUES ('gone'); END;
      """)
    let before = try db.schema().filter { $0.kind != .table }.map { "\($0)" }.sorted()
    let unique = Table(
      "country", Country.init, Country.columns.code, Column("name", \Country.name))
    try unique.rebuild(db)
    #expect(try db.schema().filter { $0.kind != .table }.map { "\($0)" }.sorted() == before)
    try db.executeStatements(
      "INSERT INTO town VALUES (9, 'SE'); DELETE FROM named_countries WHERE code = 'NO'")
    #expect(
      try db.executeQuery("SELECT text FROM log").map { try $0.get(at: 0, as: String.self) } == [
        "Sweden! 2", "gone",
      ])
    #expect(violation("INSERT INTO country VALUES ('S', 'sweden!')", db) == .unique)
  }

  @Test("A rebuild drops indexes of dropped columns, and doesn't duplicate an equivalent index")
  func indexes() throws {
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
        mayor TEXT);
      CREATE INDEX mayors ON city (mayor); CREATE INDEX sizes ON city (population);
      CREATE INDEX names ON city (name) WHERE mayor IS NULL;
      """)
    try City.table.rebuild(db, losing: .columns)
    #expect(try db.indexes(of: "city").map(\.name) == ["sizes"])
    #expect(try City.table.differences(db) == [])
  }

  @Test(
    "A rebuild that would break a view or trigger is undone, unless it was broken before",
    arguments: [
      ("CREATE VIEW names AS SELECT name FROM country", "names"),
      (
        "CREATE TRIGGER t AFTER DELETE ON country BEGIN UPDATE log SET text = old.name; END",
        "DELETE from country"
      ),
      (
        "CREATE TRIGGER t AFTER INSERT ON town BEGIN SELECT name FROM country; END",
        "INSERT into town"
      ),
      (
        "CREATE TRIGGER t AFTER UPDATE ON country BEGIN SELECT new.name; END",
        "UPDATE of country"
      ),
      (
        "CREATE TRIGGER t AFTER UPDATE OF code, \"Name\" ON country BEGIN SELECT 1; END", "t"
      ),
    ])
  func brokenDependents(sql: String, dependent: String) throws {
    let smaller = try TableSchema("country", [.column("code", .text, .primaryKey)])
    try db.executeStatements(
      """
      CREATE TABLE log (text TEXT); CREATE VIEW broken AS SELECT * FROM nowhere;
      CREATE TRIGGER broken INSTEAD OF INSERT ON broken BEGIN SELECT 1; END;
      """)
    try db.executeStatements(SQL(raw: sql))
    let before = try db.schema()
    guard
      case .brokenDependent("country", dependent, _)? = failure(
        SchemaError.self, { try smaller.rebuild(db, losing: .columns) })
    else {
      Issue.record("the rebuild was not refused")
      return
    }
    #expect(try db.schema() == before)
    try Country.table.rebuild(db)
  }

  @Test("Cancelling a rebuild undoes it, and enforces foreign keys again")
  func cancelled() async throws {
    let queue = try DatabaseQueue()
    let (begins, begin) = AsyncStream<Void>.makeStream()
    let isCancelled = DispatchSemaphore(value: 0)
    try await queue.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE town (country TEXT REFERENCES country ON DELETE CASCADE);
        INSERT INTO country VALUES ('NO', 'Norway'); INSERT INTO town VALUES ('NO');
        """)
      // Blocks in the middle of the copy until the task is cancelled.
      try db.createFunction("stop", argumentCount: 1, deterministic: false) { arguments in
        begin.yield()
        _ = isCancelled.wait(timeout: .now() + .seconds(600))
        return arguments[0]
      }
    }
    let task = Task {
      try await queue.inDatabase { db in
        try Country.table.rebuild(db, copying: ["name": "stop(name)"])
      }
    }
    for await _ in begins { break }
    task.cancel()
    isCancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await queue.inDatabase { db in
      let entries = try db.schema().count
      #expect(try db.value("PRAGMA foreign_keys") == 1)
      #expect(try db.value("PRAGMA legacy_alter_table") == 0)
      #expect(entries == 3)
      #expect(try db.value("SELECT count(*) FROM town") == 1)
    }
  }
}

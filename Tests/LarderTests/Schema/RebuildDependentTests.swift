import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite(
  "Views, triggers and indexes of a rebuilt table",
  .onlySQLite(.triggers))
struct RebuildDependentTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test("A rebuild keeps the order of columns for views and triggers that count them")
  func order() throws {
    try db.executeStatements(
      """
      CREATE TABLE t (a TEXT, b TEXT, c TEXT);
      INSERT INTO t VALUES ('a', 'b', 'c');
      CREATE TABLE source (a TEXT, b TEXT, c TEXT);
      CREATE TRIGGER copied AFTER INSERT ON source BEGIN
        INSERT INTO t VALUES (new.a, new.b, new.c); END;
      CREATE VIEW v (x, y, z) AS SELECT * FROM t;
      """)
    let table = try TableSchema(
      "t",
      [
        .column("d", .text.optional), .column("c", .text.optional), .column("a", .text),
        .column("b", .text.optional, .collate("NOCASE")),
      ], constraints: [.unique("c", "b"), .check("t.a <> 'z'")], options: .noPrimaryKey)
    #expect(throws: SchemaError.self) { try table.rebuild(db) }
    let same = try TableSchema(
      "t",
      [
        .column("c", .text.optional), .column("a", .text),
        .column("b", .text.optional, .collate("NOCASE")),
      ], constraints: [.unique("c", "b"), .check("t.a <> 'z'")], options: .noPrimaryKey)
    try same.rebuild(db)
    try db.executeStatements("INSERT INTO source VALUES ('1', '2', '3')")
    #expect(
      try db.executeQuery("SELECT x || y || z || a || b || c FROM v, t WHERE x = a").map {
        try $0.get(at: 0, as: String.self)
      } == ["abcabc", "123123"])
    #expect(
      try Schema(tables: [same]).differences(from: Schema(db)).filter { $0.table == "t" } == [])
    #expect(violation("INSERT INTO t VALUES ('z', 'b', 'd')", db) == .check)
    #expect(violation("INSERT INTO t VALUES ('x', 'B', 'c')", db) == .unique)
  }

  @Test("A rebuild puts a new column in the place of a dropped one")
  func replaced() throws {
    try db.executeStatements(
      "CREATE TABLE t (a TEXT, b TEXT, c TEXT); INSERT INTO t VALUES ('a', 'b', 'c')")
    let table = try TableSchema(
      "t", [.column("c", .text), .column("renamed", .text), .column("a", .text)],
      options: .noPrimaryKey)
    try table.rebuild(db, copying: ["renamed": "b"])
    #expect(try db.columns(of: "t").map(\.name) == ["a", "renamed", "c"])
    #expect(try db.value("SELECT a || renamed || c FROM t") == "abc")
  }

  @Test("Adding a column throws if a trigger inserts without naming columns")
  func added() throws {
    try db.executeStatements(
      """
      CREATE TABLE t (a TEXT) STRICT; CREATE TABLE source (a);
      CREATE TRIGGER copied AFTER INSERT ON source BEGIN INSERT INTO t VALUES (new.a); END;
      """)
    let table = try TableSchema(
      "t", [.column("a", .text.optional), .column("b", .text.optional)], options: .noPrimaryKey)
    let before = try db.schema()
    #expect(throws: SchemaError.self) { try table.addMissingColumns(db) }
    var declared = try Schema(db)
    declared.tables[0] = table
    let steps = declared.steps(from: try Schema(db))
    #expect(steps.map(\.sql) == [#"ALTER TABLE "t" ADD COLUMN "b" TEXT"#])
    #expect(throws: SchemaError.self) { try steps[0].execute(db) }
    #expect(try db.schema() == before)
  }

  @Test("A rebuild keeps checks that name their table")
  func qualified() throws {
    let sql: SQL = """
      CREATE TABLE "my t" (a INTEGER CHECK ("my t".a > 0 AND 1.5 > 1), b AS (a + 1),
        CHECK (main.[my t].a < 100))
      """
    try db.executeStatements(sql)
    try db.executeStatements("INSERT INTO \"my t\" (a) VALUES (5)")
    let found = try #require(try Schema(db).table("my t"))
    #expect(try found.rebuild(db) == 1)
    #expect(found.differences(from: try Schema(db).table("my t")) == [])
    #expect(try db.value("SELECT b FROM \"my t\"") == 6)
    #expect(violation("INSERT INTO \"my t\" (a) VALUES (100)", db) == .check)
    #expect(violation("INSERT INTO \"my t\" (a) VALUES (0)", db) == .check)
  }

  @Test("A rebuild that would break a temporary view or trigger throws")
  func temporary() throws {
    try db.executeStatements(
      "CREATE TABLE t (a TEXT, b TEXT); CREATE TEMP VIEW v AS SELECT b FROM t; CREATE TEMP TABLE n (x)"
    )
    let smaller = try TableSchema("t", [.column("a", .text.optional)], options: .noPrimaryKey)
    guard
      case .brokenDependent("t", "temporary v", _)? = failure(
        SchemaError.self, { try smaller.rebuild(db, losing: .columns) })
    else {
      Issue.record("the rebuild was not refused")
      return
    }
    try db.executeStatements(
      """
      DROP VIEW v;
      CREATE TEMP TRIGGER noted AFTER INSERT ON n BEGIN UPDATE t SET a = b; END
      """)
    guard
      case .brokenDependent("t", "INSERT into temporary n", _)? = failure(
        SchemaError.self, { try smaller.rebuild(db, losing: .columns) })
    else {
      Issue.record("the rebuild was not refused")
      return
    }
  }

  @Test("A rebuild keeps triggers of the same name in other databases")
  func names() throws {
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population INT);
      CREATE TABLE log (text TEXT);
      ATTACH ':memory:' AS other; CREATE TABLE other.city (name TEXT);
      CREATE TRIGGER noted AFTER INSERT ON city BEGIN INSERT INTO log VALUES ('main'); END;
      CREATE TEMP TRIGGER noted AFTER INSERT ON city BEGIN INSERT INTO log VALUES ('temp'); END;
      CREATE TEMP TRIGGER elsewhere AFTER INSERT ON other.city BEGIN
        INSERT INTO log VALUES ('other'); END;
      CREATE INDEX "city rebuilt" ON log (text);
      """)
    try City.table.rebuild(db)
    try db.executeStatements(
      "INSERT INTO city VALUES (1, 'Oslo', 1); INSERT INTO other.city VALUES ('Oslo')")
    #expect(
      try db.executeQuery("SELECT text FROM log ORDER BY text").map {
        try $0.get(at: 0, as: String.self)
      } == ["main", "other", "temp"])
  }

  @Test("A rebuild keeps indexes whose SQL has strings in double quotes")
  func quotedStrings() throws {
    let folder = try ScratchFolder()
    let path = folder.file("old.db")
    // The text has the same length as its replacement.
    try Database(path: path).executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population INT, code TEXT);
      CREATE INDEX norway ON city ("name" COLLATE "nocase", ifnull(code, '?')) WHERE code = 'N"O';
      PRAGMA wal_checkpoint(truncate)
      """)
    try folder.replace("= 'N\"O'", by: "= \"N'O\"", in: "old.db")
    try folder.replace("'?'", by: "\"?\"", in: "old.db")
    let db = try Database(path: path)
    #expect(try db.schema().last?.sql?.contains("\"?\"") == true)
    let table = try TableSchema(
      "city",
      [
        .column("id", .integer, .primaryKey), .column("name", .text),
        .column("population", .integer), .column("code", .text),
      ])
    try db.executeUpdate("INSERT INTO city VALUES (1, 'Oslo', 1, 'N''O')")
    try table.rebuild(db)
    #expect(
      try db.schema().last?.sql
        == #"CREATE INDEX norway ON city ("name" COLLATE "nocase", ifnull(code, '?')) WHERE code = 'N''O'"#
    )
    #expect(try db.value("PRAGMA integrity_check") == "ok")
  }
}

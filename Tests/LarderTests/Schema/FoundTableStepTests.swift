import Larder
import PostgresSupport
import Testing

/// Tables that another program has made in ways in which steps make none.
@Suite("Steps over another program's tables")
struct FoundTableStepTests {
  private func database(_ sql: String) throws -> Database {
    let db = try Database()
    try db.executeStatements(SQL(raw: sql))
    return db
  }

  private func rows(_ db: Database, _ sql: SQL) throws -> [[DatabaseValue]] {
    try db.executeQuery(sql).map { row in try row.columnNames.indices.map { try row.get(at: $0) } }
  }

  private func problem(_ db: Database, _ step: SchemaStep) -> String? {
    failure(SchemaError.self) { try db.inTransaction { try step.execute($0) } }?.description
  }

  @Test(
    "A key that isn't the row id becomes one only with its own values", .onlySQLite(.keys),
    arguments: [
      "a INT PRIMARY KEY, b TEXT", "a BIGINT PRIMARY KEY, b TEXT", "a INT, b TEXT, PRIMARY KEY (a)",
      "a INTEGER PRIMARY KEY DESC, b TEXT",
    ])
  func keys(columns: String) throws {
    let db = try database("CREATE TABLE t (\(columns)); INSERT INTO t VALUES (50, 'x'), (7, 'y')")
    let before = try rows(db, "SELECT * FROM t ORDER BY b")
    let change = SchemaStep.change(.column("a", Int64.self), of: "t")
    #expect(problem(db, change)?.contains("row id") == true)
    #expect(try rows(db, "SELECT * FROM t ORDER BY b") == before)
    try SchemaStep.change(.column("a", Int64.self), of: "t", losing: .rowIDs).execute(db)
    #expect(try rows(db, "SELECT a, b FROM t ORDER BY b") == [[50, "x"], [7, "y"]])
  }

  @Test("A key is added with the values that the step gives it", .onlySQLite(.keys))
  func addedKey() throws {
    let db = try database("CREATE TABLE t (n INT); INSERT INTO t VALUES (50), (7)")
    try SchemaStep.add(.column("id", Int64?.self, .primaryKey), to: "t", filling: "n").execute(db)
    #expect(try rows(db, "SELECT id, n FROM t ORDER BY id") == [[7, 7], [50, 50]])
  }

  @Test("A row id that becomes a text key keeps its rows' ids", .onlySQLite(.keys))
  func textKey() throws {
    let db = try database(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (7, 'x'), (50, 'y')
      """)
    try SchemaStep.change(.column("id", String.self), of: "t", losing: [.values]).execute(db)
    #expect(try rows(db, "SELECT rowid, id FROM t ORDER BY rowid") == [[7, "7"], [50, "50"]])
  }

  @Test(
    "A split whose other table changes the values is refused, and nothing is lost",
    .onlySQLite(.anyTyped),
    arguments: [
      ("author TEXT COLLATE NOCASE", "'Ann'), ('ann'", "id INTEGER PRIMARY KEY, name TEXT UNIQUE"),
      ("author TEXT", "'007'", "id INTEGER PRIMARY KEY, name INTEGER UNIQUE"),
      ("author REAL", "0.30000000000000004", "id INTEGER PRIMARY KEY, name TEXT UNIQUE"),
      ("author TEXT", "'x'", "id TEXT PRIMARY KEY, name TEXT UNIQUE"),
    ])
  func split(column: String, values: String, columns: String) throws {
    let db = try database(
      """
      CREATE TABLE e (\(column)); INSERT INTO e VALUES (\(values));
      CREATE TABLE author (\(columns));
      """)
    let before = try rows(db, "SELECT author, typeof(author) FROM e")
    let id = ColumnDefinition.column(
      "author_id", Int64?.self, .references("author", column: "id"))
    let step = SchemaStep.split("author", of: "e", into: "author", "name", by: id)
    #expect(problem(db, step)?.contains("would be lost") == true)
    #expect(try rows(db, "SELECT author, typeof(author) FROM e") == before)
  }

  @Test(
    "A move whose other table changes or drops the values is refused, and nothing is lost",
    .onlySQLite(.anyTyped),
    arguments: [
      ("TEXT", "'007'", "zip INTEGER"), ("INTEGER", "9007199254740993", "zip REAL"),
      ("TEXT", "'x'), (2, 'x'", "zip TEXT UNIQUE ON CONFLICT IGNORE"),
      ("TEXT", "'x'), (2, 'x'", "zip TEXT UNIQUE ON CONFLICT REPLACE"),
    ])
  func move(type: String, values: String, column: String) throws {
    let db = try database(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, zip \(type)); INSERT INTO a VALUES (1, \(values));
      CREATE TABLE b (a INTEGER PRIMARY KEY, \(column));
      """)
    let before = try rows(db, "SELECT id, zip, typeof(zip) FROM a")
    let step = SchemaStep.move("zip", from: "a", to: "b", key: ["a": "id"])
    #expect(problem(db, step)?.contains("would have other values") == true)
    #expect(try rows(db, "SELECT id, zip, typeof(zip) FROM a") == before)
  }

  @Test("A move keeps NULLs, real numbers that are whole, and texts with NUL", .onlySQLite(.nul))
  func moved() throws {
    let db = try database(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, x REAL, y TEXT);
      INSERT INTO a VALUES (1, 2, NULL), (2, NULL, 'a' || char(0) || 'b'), (3, -0.5, '');
      CREATE TABLE b (a INTEGER PRIMARY KEY, x REAL, y TEXT);
      """)
    let before = try rows(db, "SELECT id, x, y FROM a")
    try SchemaStep.move("x", "y", from: "a", to: "b", key: ["a": "id"]).execute(db)
    #expect(try rows(db, "SELECT a, x, y FROM b") == before)
  }

  @Test("A removed UNIQUE takes its conflict clause with it", .onlySQLite(.definitions))
  func conflictClause() throws {
    let db = try database(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL UNIQUE ON CONFLICT IGNORE, b TEXT,
        UNIQUE (b COLLATE NOCASE DESC) ON CONFLICT REPLACE)
      """)
    try SchemaStep.remove(.unique("a"), from: "t").execute(db)
    #expect(throws: DatabaseError.self) { try db.executeUpdate("INSERT INTO t (b) VALUES ('x')") }
    try db.executeUpdate("INSERT INTO t (a, b) VALUES ('x', 'y'), ('x', 'z')")
    try SchemaStep.remove(.unique("b"), from: "t").execute(db)
    try db.executeUpdate("INSERT INTO t (a, b) VALUES ('x', 'Y')")
    #expect(try rows(db, "SELECT count(*) FROM t") == [[3]])
  }

  @Test(
    "A change of a column whose definition says more than a step can is refused",
    .onlySQLite(.definitions),
    arguments: [
      "a INT UNIQUE ON CONFLICT REPLACE", "a INT NOT NULL ON CONFLICT IGNORE",
      "a INT REFERENCES u REFERENCES v",
    ])
  func changed(column: String) throws {
    let db = try database("CREATE TABLE t (id INTEGER PRIMARY KEY, \(column))")
    let found = problem(db, .change(.column("a", Int64?.self), of: "t"))
    #expect(found?.contains("ON CONFLICT clause") == true || found?.contains("two foreign") == true)
  }

  @Test(
    "A backfill ends over keys with NUL, and over infinite ones", .onlySQLite(.nul),
    .timeLimit(.minutes(1)))
  func backfill() throws {
    let db = try database(
      """
      CREATE TABLE t (k PRIMARY KEY, a INT) WITHOUT ROWID;
      INSERT INTO t VALUES ('ab', 1), ('ab' || char(0) || 'c', 2), ('abc', 3), (9e999, 4), (-9e999, 5),
        (1.5, 6), (x'00', 7), ('it''s', 8);
      """)
    try SchemaStep.backfill("a", of: "t", with: "a + 100", rows: 1).execute(db)
    #expect(try rows(db, "SELECT a FROM t ORDER BY a") == (101...108).map { [.integer($0)] })
  }

  @Test(
    "A table that a view, a trigger or another program's full-text table reads isn't dropped",
    .onlySQLite(.triggers))
  func dependents() throws {
    let db = try database(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE u (a TEXT);
      CREATE VIEW v AS SELECT a FROM t;
      """)
    #expect(problem(db, .drop("t", losing: .rows))?.contains("v") == true)
    try db.executeStatements(
      """
      DROP VIEW v;
      CREATE TRIGGER g AFTER INSERT ON u BEGIN INSERT INTO t (a) VALUES (new.a); END;
      """)
    #expect(problem(db, .drop("t", losing: .rows))?.contains("u") == true)
    try db.executeStatements("DROP TRIGGER g; CREATE VIRTUAL TABLE f USING fts5(a, content=t)")
    #expect(problem(db, .drop("t", losing: .rows))?.contains("another program's") == true)
    try db.executeStatements("DROP TABLE f")
    try SchemaStep.drop("t", losing: []).execute(db)
    #expect(try rows(db, "SELECT name FROM sqlite_schema ORDER BY name") == [["u"]])
  }

  @Test("A table is renamed to the same name in other case", .onlySQLite(.definitions))
  func otherCase() throws {
    let db = try database(
      "CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t")
    try SchemaStep.rename("t", to: "T").execute(db)
    #expect(try rows(db, "SELECT name FROM sqlite_schema WHERE type = 'table'") == [["T"]])
    #expect(try rows(db, "SELECT count(*) FROM v") == [[0]])
  }
}

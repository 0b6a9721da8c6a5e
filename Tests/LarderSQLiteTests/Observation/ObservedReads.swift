import LarderSQLite
import Synchronization

/// An observed value that counts how often it is read.
final class ObservedReads<Value: Sendable> {
  private var iterator: ObservedValues<Value>.AsyncIterator
  private let reads: Counter

  final class Counter: Sendable {
    let count = Atomic<Int>(0)
  }

  init(
    _ access: any DatabaseAccess, _ fetch: @escaping @Sendable (Database) throws -> Value
  ) {
    let reads = Counter()
    self.reads = reads
    iterator = access.values { db in
      reads.count.add(1, ordering: .relaxed)
      return try fetch(db)
    }.makeAsyncIterator()
  }

  var count: Int { reads.count.load(ordering: .relaxed) }

  func next() async throws -> Value? { try await iterator.next() }
}

/// A write and a query whose result it changes.
struct SeenWrite: Sendable, CustomStringConvertible {
  let name: String
  var schema = ""
  let read: String
  let write: String

  var description: String { name }

  /// One case for each way in which SQLite can change a query's result.
  static let all: [SeenWrite] = [
    SeenWrite(
      name: "INSERT", read: "SELECT name FROM city",
      write: "INSERT INTO city VALUES (9, 'Rome', 1, 1)"),
    SeenWrite(
      name: "UPDATE", read: "SELECT name FROM city",
      write: "UPDATE city SET name = 'x' WHERE id = 1"),
    SeenWrite(name: "DELETE of all rows", read: "SELECT name FROM city", write: "DELETE FROM city"),
    SeenWrite(
      name: "count", read: "SELECT count(*) FROM city", write: "DELETE FROM city WHERE id = 1"),
    SeenWrite(
      name: "REPLACE", read: "SELECT name FROM city",
      write: "REPLACE INTO city VALUES (1, 'Rome', 1, 1)"),
    SeenWrite(
      name: "rows that make room", read: "SELECT population FROM city",
      write: "UPDATE OR REPLACE city SET name = 'Oslo' WHERE id = 1"),
    SeenWrite(
      name: "a constraint that makes room",
      schema:
        "CREATE TABLE t (a INTEGER UNIQUE ON CONFLICT REPLACE, b); INSERT INTO t VALUES (1, 'x'), (2, 'y')",
      read: "SELECT b FROM t", write: "UPDATE t SET a = 2 WHERE a = 1"),
    SeenWrite(
      name: "upsert", read: "SELECT population FROM city",
      write:
        "INSERT INTO city (name, population) VALUES ('Oslo', 1) ON CONFLICT (name) DO UPDATE SET population = 2"
    ),
    SeenWrite(
      name: "trigger",
      schema:
        "CREATE TABLE log (t); CREATE TRIGGER t AFTER UPDATE ON city BEGIN INSERT INTO log VALUES (new.name); END",
      read: "SELECT t FROM log", write: "UPDATE city SET area = 1 WHERE id = 1"),
    SeenWrite(
      name: "trigger that updates another column",
      schema:
        "CREATE TRIGGER t AFTER UPDATE OF area ON city BEGIN UPDATE city SET population = 1 WHERE id = new.id; END",
      read: "SELECT population FROM city", write: "UPDATE city SET area = 1 WHERE id = 1"),
    SeenWrite(
      name: "view", schema: "CREATE VIEW big AS SELECT name FROM city WHERE population > 1000000",
      read: "SELECT * FROM big", write: "UPDATE city SET population = 0"),
    SeenWrite(
      name: "view with a trigger",
      schema:
        "CREATE VIEW v AS SELECT name FROM city; CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN INSERT INTO city (name) VALUES (new.name); END",
      read: "SELECT name FROM city", write: "INSERT INTO v VALUES ('Rome')"),
    SeenWrite(
      name: "ON DELETE CASCADE",
      schema:
        "CREATE TABLE p (city REFERENCES city(id) ON DELETE CASCADE, n); INSERT INTO p VALUES (1, 'x')",
      read: "SELECT n FROM p", write: "DELETE FROM city WHERE id = 1"),
    SeenWrite(
      name: "ON UPDATE SET NULL",
      schema:
        "CREATE TABLE p (city REFERENCES city(id) ON UPDATE SET NULL, n); INSERT INTO p VALUES (1, 'x')",
      read: "SELECT city FROM p", write: "UPDATE city SET id = 77 WHERE id = 1"),
    SeenWrite(
      name: "WITHOUT ROWID",
      schema: "CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('a', 1)",
      read: "SELECT v FROM w", write: "UPDATE w SET v = 2"),
    SeenWrite(
      name: "generated column",
      schema: "CREATE TABLE g (a, b AS (a + 1)); INSERT INTO g VALUES (1)",
      read: "SELECT b FROM g", write: "UPDATE g SET a = 2"),
    SeenWrite(
      name: "stored generated column",
      schema: "CREATE TABLE g (a, b AS (a + 1) STORED); INSERT INTO g VALUES (1)",
      read: "SELECT b FROM g", write: "UPDATE g SET a = 2"),
    SeenWrite(
      name: "row id", read: "SELECT id FROM city", write: "UPDATE city SET rowid = 77 WHERE id = 1"),
    SeenWrite(
      name: "a join by a column's name",
      schema: "CREATE TABLE big (id); INSERT INTO big VALUES (1), (2)",
      read: "SELECT count(*) FROM city JOIN big USING (id)", write: "UPDATE big SET id = 9"),
    SeenWrite(
      name: "a view that joins by names",
      schema:
        "CREATE TABLE big (id); INSERT INTO big VALUES (1), (2); CREATE VIEW v AS SELECT name FROM city NATURAL JOIN big; CREATE VIEW w AS SELECT * FROM v",
      read: "SELECT count(*) FROM w", write: "DELETE FROM big"),
    SeenWrite(
      name: "the keys of AUTOINCREMENT",
      schema: "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO a VALUES (5)",
      read: "SELECT seq FROM sqlite_sequence", write: "INSERT INTO a DEFAULT VALUES"),
    SeenWrite(
      name: "a row's place", read: "SELECT json_group_array(population) FROM city",
      write: "UPDATE city SET id = 77 WHERE id = 1"),
    SeenWrite(
      name: "FTS5",
      schema: "CREATE VIRTUAL TABLE f USING fts5(t); INSERT INTO f VALUES ('one two')",
      read: "SELECT t FROM f WHERE f MATCH 'two'", write: "DELETE FROM f"),
    SeenWrite(
      name: "FTS5 behind triggers",
      schema: """
        CREATE VIRTUAL TABLE f USING fts5(name, content='city', content_rowid='id');
        INSERT INTO f(f) VALUES ('rebuild');
        CREATE TRIGGER fi AFTER INSERT ON city BEGIN INSERT INTO f(rowid, name) VALUES (new.id, new.name); END;
        """,
      read: "SELECT rowid FROM f WHERE f MATCH 'rome'",
      write: "INSERT INTO city (name) VALUES ('Rome')"),
    SeenWrite(
      name: "FTS5 vocabulary",
      schema:
        "CREATE VIRTUAL TABLE f USING fts5(t); CREATE VIRTUAL TABLE v USING fts5vocab(f, row); INSERT INTO f VALUES ('one')",
      read: "SELECT term FROM v", write: "INSERT INTO f VALUES ('two')"),
    SeenWrite(
      name: "R-tree",
      schema: "CREATE VIRTUAL TABLE r USING rtree(id, a, b); INSERT INTO r VALUES (1, 1, 2)",
      read: "SELECT a FROM r", write: "UPDATE r SET a = 0"),
    SeenWrite(
      name: "a schema change", read: "SELECT name FROM sqlite_schema", write: "CREATE TABLE new (a)"
    ),
    SeenWrite(
      name: "ALTER TABLE", read: "SELECT * FROM city",
      write: "ALTER TABLE city ADD COLUMN x DEFAULT 5"),
    SeenWrite(
      name: "a view that is made anew", schema: "CREATE VIEW v AS SELECT 1 AS a",
      read: "SELECT a FROM v",
      write: "DROP VIEW v; CREATE VIEW v AS SELECT count(*) AS a FROM city"),
    SeenWrite(
      name: "a version", read: "SELECT user_version FROM pragma_user_version",
      write: "PRAGMA user_version = 12"),
    SeenWrite(
      name: "subqueries", schema: "CREATE TABLE big (id); ",
      read: "SELECT name FROM city WHERE id IN (SELECT id FROM big)",
      write: "INSERT INTO big VALUES (1), (2)"),
    SeenWrite(
      name: "WITH", read: "WITH c AS (SELECT name FROM city) SELECT count(*) FROM c",
      write: "WITH n AS (SELECT 'Rome') INSERT INTO city (name) SELECT * FROM n"),
    SeenWrite(
      name: "RETURNING", read: "SELECT name FROM city",
      write: "INSERT INTO city (name) VALUES ('Rome'), ('Bonn') RETURNING id"),
    SeenWrite(
      name: "UPDATE FROM", read: "SELECT population FROM city",
      write: "UPDATE city SET population = o.id FROM city o WHERE o.id = city.id"),
    SeenWrite(
      name: "JSON", schema: "CREATE TABLE j (d); INSERT INTO j VALUES ('[1,2]')",
      read: "SELECT value FROM j, json_each(d)", write: "UPDATE j SET d = '[3]'"),
  ]
}

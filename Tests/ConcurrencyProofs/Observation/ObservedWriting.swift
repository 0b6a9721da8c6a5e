import Larder
import TestSupport

/// What those write who are observed: random transactions, of which each counts itself.
enum ObservedWriting {
  static let tables = ["counter", "item", "part", "word", "log", odd]
  /// A table as others make them.
  private static let odd = "odd.Tabelle Ü"

  private static let schema: SQL = """
    CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
    INSERT INTO counter VALUES (1, 0);
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, amount REAL);
    CREATE TABLE part (item REFERENCES item (id) ON DELETE CASCADE ON UPDATE CASCADE, n);
    CREATE TABLE word (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
    CREATE TABLE log (id INTEGER PRIMARY KEY, n);
    INSERT INTO log VALUES (0, 0), (1, 0), (2, 0);
    CREATE TRIGGER logged AFTER UPDATE ON item BEGIN
      DELETE FROM log WHERE id = new.id % 3; INSERT INTO log VALUES (new.id % 3, 0);
    END;
    CREATE TABLE "odd.Tabelle Ü" (a, "b c" TEXT);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
    INSERT INTO "odd.Tabelle Ü" SELECT i, i FROM n;
    ALTER TABLE "odd.Tabelle Ü" ADD COLUMN state INTEGER DEFAULT '0';
    ALTER TABLE "odd.Tabelle Ü" ADD COLUMN mark DEFAULT pending;
    ALTER TABLE "odd.Tabelle Ü" ADD COLUMN weight REAL DEFAULT '4';
    """

  static func createTables(_ db: Database) throws { try db.executeStatements(schema) }

  /// The tables with some rows, of which some take more than a page.
  @Sendable static func fill(_ db: Database) throws {
    try createTables(db)
    try db.executeStatements(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO item SELECT i, 'n' || i, i / 2.0 FROM n WHERE i % 2 = 0;
      INSERT INTO part SELECT id, id % 3 FROM item;
      INSERT INTO word SELECT id, CASE WHEN id % 3 = 0 THEN hex(zeroblob(600)) ELSE 0 END FROM item;
      """)
  }

  struct Undone: Error {}

  /// One transaction: it counts itself, and does some things that can fail or are undone in part.
  static func write(_ db: Database, _ generator: inout SeededGenerator) throws {
    try db.executeUpdate("UPDATE counter SET value = value + 1")
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0:
        try? db.inSavepoint { db in
          _ = try db.executeUpdate(SQL(raw: statement(&generator)))
          if Bool.random(using: &generator) { throw Undone() }
        }
      case 1: throw Undone()
      case 2:
        db.setRollbackOnly()
        return
      default: _ = try? db.executeUpdate(SQL(raw: statement(&generator)))
      }
    }
  }

  private static func statement(_ generator: inout SeededGenerator) -> String {
    let id = Int.random(in: 1...40, using: &generator)
    let other = Int.random(in: 1...40, using: &generator)
    let or =
      ["", "", "", "OR REPLACE", "OR FAIL", "OR IGNORE", "OR ROLLBACK"].randomElement(
        using: &generator) ?? ""
    return [
      "INSERT \(or) INTO item VALUES (\(id), 'a\(other)', \(other)), (\(other), 'b\(id)', 0.5)",
      "UPDATE \(or) item SET name = 'a\(other)', amount = \(id) WHERE id BETWEEN \(id) AND \(id + 2)",
      "UPDATE \(or) item SET id = \(other) WHERE id = \(id)",
      "DELETE FROM item WHERE id = \(id)", "DELETE FROM part",
      "INSERT INTO part VALUES (\(id), \(other))",
      "UPDATE part SET n = n + 1 WHERE rowid % 3 = 0",
      "INSERT \(or) INTO word VALUES ('\(id)', \(other))",
      "UPDATE \(or) word SET k = '\(other)' WHERE k = '\(id)'",
      "INSERT INTO word VALUES ('\(id)', 0) ON CONFLICT DO UPDATE SET v = v + 1",
      "DELETE FROM word WHERE k = '\(id)'",
      "UPDATE \"odd.Tabelle Ü\" SET \"b c\" = '\(id % 2 == 0 ? "caf\u{e9}" : "cafe\u{301}")' WHERE a = \(other)",
      "UPDATE \"odd.Tabelle Ü\" SET weight = \(id % 2 == 0 ? "" : "-")0.0 WHERE a BETWEEN \(other) AND \(other + 2)",
      "UPDATE \"odd.Tabelle Ü\" SET state = a WHERE a = \(id)",
      id < 3
        ? "DELETE FROM \"odd.Tabelle Ü\" WHERE a = \(other)"
        : "INSERT INTO \"odd.Tabelle Ü\" (a) VALUES (\(id))",
      "UPDATE OR FAIL item SET name = CASE WHEN id < \(id) THEN name ELSE 'a\(other)' END",
    ].randomElement(using: &generator) ?? ""
  }

  /// Writes from a process of its own, once its parent says so.
  static func writeElsewhere(_ path: String, _ count: Int, _ seed: UInt64) throws {
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    var generator = SeededGenerator(seed: seed &+ 99)
    Parent.tell("ready")
    Parent.wait()
    for _ in 0..<count { try? queue.inTransaction { try write($0, &generator) } }
    Parent.tell("done")
  }

  static let configuration = {
    var configuration = Configuration(profile: .durable)
    configuration.busyTimeout = .seconds(60)
    return configuration
  }()
}

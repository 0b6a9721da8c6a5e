import LarderSQLite
import TestSupport

/// Random transactions on three related tables, with every way to roll back a part.
final class RandomChanges: @unchecked Sendable {
  private var generator: SeededGenerator
  static let tables = ["a", "b", "w"]

  init(seed: UInt64) throws { generator = SeededGenerator(seed: seed) }

  func createTables(in db: Database) throws {
    try db.executeStatements(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y REAL);
      CREATE TABLE b (a REFERENCES a (id) ON DELETE CASCADE ON UPDATE CASCADE, z);
      CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
      """)
    try db.executeUpdate("PRAGMA foreign_keys = ON")
  }

  /// Runs a transaction. An error that it throws has rolled back all or part of it, and is ignored.
  func runTransaction(_ access: any DatabaseAccess) {
    let count = Int.random(in: 1...8, using: &generator)
    if Bool.random(using: &generator) {
      try? access.inTransaction { db in
        try run(count, db)
        if Int.random(in: 0..<5, using: &generator) == 0 { db.setRollbackOnly() }
      }
    } else {
      try? access.inDatabase { try run(count, $0) }
    }
  }

  private func run(_ count: Int, _ db: Database) throws {
    for _ in 0..<count {
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        try? db.inSavepoint { db in
          try run(2, db)
          if Bool.random(using: &generator) { throw CancellationError() }
        }
      case 1 where db.isInTransaction:
        _ = try? db.executeUpdate("SAVEPOINT s")
        try? run(2, db)
        _ = try? db.executeUpdate(Bool.random(using: &generator) ? "RELEASE s" : "ROLLBACK TO s")
      case 2: throw CancellationError()
      default: _ = try? db.executeUpdate(SQL(raw: statement()))
      }
    }
  }

  private func statement() -> String {
    let id = Int.random(in: 1...12, using: &generator)
    let other = Int.random(in: 1...12, using: &generator)
    let word = ["'p'", "'q'", "'r'", "'s'", "NULL"].randomElement(using: &generator) ?? ""
    let conflict =
      ["", "", "OR REPLACE", "OR FAIL", "OR IGNORE", "OR ROLLBACK", "OR ABORT"]
      .randomElement(using: &generator) ?? ""
    return [
      "INSERT \(conflict) INTO a VALUES (\(id), \(word), \(other)), (\(other), 'n\(id)', 0.5)",
      "INSERT \(conflict) INTO a (x, y) VALUES (\(word), 1)",
      "UPDATE \(conflict) a SET x = \(word), y = \(id)  WHERE id >= \(id)",
      "UPDATE \(conflict) a SET id = id + 1 WHERE id > \(id)",
      "UPDATE a SET id = \(other) WHERE id = \(id)",
      "DELETE FROM a WHERE id = \(id)",
      id < 3 ? "DELETE FROM a" : "DELETE FROM b WHERE rowid = \(id)",
      "INSERT INTO b VALUES (\(id), \(other))",
      "INSERT INTO b SELECT id, x FROM a",
      "UPDATE b SET z = \(word) WHERE rowid % 2 = 0",
      "INSERT \(conflict) INTO w VALUES ('\(id)', \(word))",
      "UPDATE \(conflict) w SET k = '\(other)', v = \(id) WHERE k = '\(id)'",
      "INSERT INTO w VALUES ('\(id)', 1) ON CONFLICT DO UPDATE SET v = v || 'x'",
      id < 3 ? "DELETE FROM w" : "DELETE FROM w WHERE k = '\(id)'",
      "INSERT INTO a (x) VALUES ('u\(id)') RETURNING id",
    ].randomElement(using: &generator) ?? ""
  }
}

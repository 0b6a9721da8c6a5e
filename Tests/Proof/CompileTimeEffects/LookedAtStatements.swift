import Larder

/// Statements of every kind, and every PRAGMA in every form.
enum LookedAtStatements {
  static func all(pragmas: [String]) -> [String] {
    var statements = kinds
    for pragma in pragmas {
      statements.append("PRAGMA \(pragma)")
      for value in values {
        statements += [
          "PRAGMA \(pragma) = \(value)", "pragma\r\nmain.\"\(pragma)\"(\(value))",
          "-- one\n;/**/ PRAGMA [\(pragma)]=\(value)", "EXPLAIN PRAGMA \(pragma)(\(value))",
          "EXPLAIN QUERY PLAN PRAGMA \(pragma) = \(value)",
        ]
      }
    }
    return statements
  }

  /// What differs once they have run: else nothing would be known of those that are only looked at.
  static let effective = [
    "PRAGMA synchronous = OFF", "PRAGMA foreign_keys = OFF", "PRAGMA cache_size = -500",
    "PRAGMA main.synchronous = 3", "PRAGMA recursive_triggers(1)", "PRAGMA busy_timeout = 17",
    "PRAGMA query_only = ON", "PRAGMA query_only = OFF", "PRAGMA user_version = 4",
  ]

  private static let values = ["0", "1", "-500", "exclusive", "'fast'"]

  private static let kinds = [
    "SELECT * FROM town", "VALUES (1)", "WITH t(a) AS (SELECT 1) SELECT * FROM t",
    "INSERT INTO town VALUES (9, 'Narvik')", "REPLACE INTO town VALUES (1, 'Narvik')",
    "UPDATE town SET name = 'Narvik'", "DELETE FROM town", "DELETE FROM town RETURNING id",
    "CREATE TABLE other (id INTEGER)", "CREATE TEMP TABLE other (id INTEGER)",
    "CREATE TABLE other AS SELECT * FROM town", "CREATE INDEX other ON town (name)",
    "CREATE VIEW other AS SELECT 1", "CREATE VIRTUAL TABLE other USING fts5(name)",
    "CREATE TRIGGER other AFTER INSERT ON town BEGIN DELETE FROM town; END",
    "ALTER TABLE town RENAME TO other", "ALTER TABLE town ADD COLUMN other",
    "ALTER TABLE town DROP COLUMN name", "DROP TABLE town", "REINDEX", "ANALYZE", "VACUUM",
    "ATTACH ':memory:' AS other", "DETACH other", "BEGIN IMMEDIATE", "COMMIT", "END", "ROLLBACK",
    "SAVEPOINT other", "RELEASE other", "ROLLBACK TO other", "EXPLAIN DELETE FROM town",
    "EXPLAIN QUERY PLAN DELETE FROM town",
  ]
}

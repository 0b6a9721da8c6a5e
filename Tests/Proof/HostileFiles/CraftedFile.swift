import Foundation

/// A file that was made to do harm: the statements that make it, run without any of the rules that
/// keep a program from writing the schema.
struct CraftedFile: Sendable {
  var name: String
  var sql: String
  /// Whether reading it takes long where values have no limit.
  var isSlow = false
  /// What else is done to the file and beside it.
  var prepare: (@Sendable (String) throws -> Void)?

  static let all = calling + slow + wrong + beside

  init(
    _ name: String, _ sql: String, isSlow: Bool = false,
    prepare: (@Sendable (String) throws -> Void)? = nil
  ) {
    self.name = name.count > 120 ? name.prefix(120) + "…" : name
    self.sql = sql
    self.isSlow = isSlow
    self.prepare = prepare
  }

  /// Puts another statement into the schema than the one that made a table.
  static func rewriting(_ table: String, to sql: String) -> String {
    "UPDATE sqlite_schema SET sql = '\(sql.replacing("'", with: "''"))' WHERE name = '\(table)';"
  }

  static let city = """
    CREATE TABLE city (id INTEGER PRIMARY KEY, name);
    INSERT INTO city (name) VALUES (1), ('Oslo'), (3);
    """

  /// A table of three rows whose statement says something else than the one that made it.
  static func city(as statement: String) -> String { city + rewriting("city", to: statement) }

  /// The same with further columns or constraints.
  static func city(with more: String) -> String {
    city(as: "CREATE TABLE city (id INTEGER PRIMARY KEY, name, \(more))")
  }

  /// Those that would like to call the program's functions.
  private static var calling: [CraftedFile] {
    let parts = [
      "a AS (wire(name))", "a AS (wire(name)) NOT NULL", "a AS (wire(name, id, wire(1))) STORED",
      "a CHECK (wire(name))", "a CHECK (wire_twice(name))",
      "a CHECK (\"wire_twice\"(name) IS NOT 7)", "CHECK (CASE WHEN wire_twice() THEN 1 END)",
      "a DEFAULT (wire_twice(1))", "a DEFAULT (wire(1)) NOT NULL",
      "a CHECK (fts3_tokenizer('simple', x'4141414141414141'))",
      "a CHECK (load_extension('/tmp/x'))",
    ]
    let objects = [
      "CREATE INDEX i ON city (wire(name));", "CREATE INDEX i ON city (name) WHERE wire(name);",
      "CREATE UNIQUE INDEX i ON city (wire(name), id);",
      "CREATE VIEW v AS SELECT wire(name), wire_twice(name) FROM city;",
      """
      CREATE TRIGGER t AFTER INSERT ON city BEGIN SELECT wire(1), wire_twice(new.name); END;
      CREATE TRIGGER u BEFORE DELETE ON city WHEN wire_twice(old.id) BEGIN SELECT 1; END;
      """,
      """
      CREATE VIEW v AS SELECT id, wire_twice(name) AS name FROM city;
      CREATE VIRTUAL TABLE f USING fts5 (name, content = 'v', content_rowid = 'id');
      """,
    ]
    return parts.map { CraftedFile($0, city(with: $0)) }
      + objects.map { CraftedFile($0, city + $0) }
  }

  /// Those that come with something in the place of a journal.
  private static var beside: [CraftedFile] {
    var files = [CraftedFile("a log", "PRAGMA journal_mode = wal;" + city)]
    for suffix in ["-journal", "-wal", "-shm"] {
      for mode in ["", "PRAGMA journal_mode = wal;"] {
        files.append(
          CraftedFile("a pipe as \(suffix), \(mode)", mode + city) {
            _ = mkfifo($0 + suffix, 0o600)
          })
      }
    }
    return files
  }
}

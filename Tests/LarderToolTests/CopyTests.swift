import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder copy")
struct CopyTests {
  private static let isOnServer = PostgresServer.isInstalled
  private static let whyNot = Comment(rawValue: PostgresServer.whySkipped)

  static let specimens = """
    CREATE TABLE country (code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x''y') WITHOUT ROWID;
    CREATE TABLE city (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT REFERENCES country, pop INTEGER DEFAULT 0,
      lat REAL, ok BOOLEAN DEFAULT 1, day DATE, price DECIMAL(10, 2), photo BLOB, untyped,
      parent INT REFERENCES city (id), twice AS (pop * 2), UNIQUE (name, country), CHECK (lat <> 7));
    CREATE INDEX by_pop ON city (pop DESC, name);
    CREATE INDEX by_word ON city (lower(name));
    CREATE TABLE "we""ird
    name" ("select" TEXT, "a	b" INTEGER, "中国" ANY) STRICT;
    CREATE TABLE empty (a);
    CREATE VIEW names AS SELECT name FROM city;
    CREATE TRIGGER added AFTER INSERT ON empty BEGIN SELECT 1; END;
    INSERT INTO country VALUES ('NO', 'Norge'), ('CN', '中国 \\ 	' || char(13, 10, 8, 127));
    INSERT INTO city (id, name, country, pop, lat, ok, day, price, photo, untyped, parent) VALUES
      (5, 'Oslo', 'NO', 4611686018427387903, 0.1, 1, '2024-01-01', 12.5, x'00ff', 't', 7),
      (-9223372036854775808, '\\N', 'CN', -9, 9e999, 0, NULL, 3.5, x'', NULL, NULL),
      (7, '', NULL, NULL, -0.0, NULL, 'x', NULL, NULL, '\\.', 5),
      (9223372036854775807, 'null', NULL, 0, 5e-324, 1, '', -0.5, x'5c783030', '\\x00', NULL);
    INSERT INTO "we""ird
    name" VALUES ('x', 1, x'00'), (NULL, NULL, NULL);
    """

  private func rows(_ tool: Tool, _ file: String) throws -> [[[DatabaseValue]]] {
    try ["country", "city", "\"we\"\"ird\nname\"", "empty"].map {
      try tool.values(file, "SELECT * FROM \($0) ORDER BY 1")
    }
  }

  /// The address of a new database with these tables.
  private func server(_ sql: String? = nil) throws -> String {
    let address = try PostgresServer.newDatabase()
    guard let sql else { return address }
    try run(sql, address)
    return address
  }

  private func run(_ sql: String, _ address: String) throws {
    let db = try Database.postgres(address)
    try db.executeStatements(SQL(raw: sql))
    try db.close()
  }

  private func number(_ sql: String, _ address: String) throws -> Int? {
    let db = try Database.postgres(address)
    defer { try? db.close() }
    return try db.value(SQL(raw: sql), as: Int?.self) ?? nil
  }

  @Test(
    "larder copy from SQLite to PostgreSQL and back keeps every value",
    .enabled(if: isOnServer, whyNot))
  func roundTrip() throws {
    let tool = try Tool()
    try tool.make("a.db", Self.specimens)
    let before = try tool.contents(of: "a.db")
    let address = try server()
    let result = try tool.run("copy", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    for words in ["“names”", "“added”", "“by_word”", "CHECK (lat <> 7)", "“twice”, whose values"] {
      #expect(result.errors.contains(words), "\(words)")
    }
    #expect(result.output.contains("city: 4 rows\n"))
    let back = try tool.run("copy", address, "b.db")
    #expect(back.status == 0, "\(back.errors)")
    #expect(try rows(tool, "b.db") == rows(tool, "a.db"))
    #expect(try tool.contents(of: "a.db") == before)
    #expect(
      try tool.values(
        "b.db", "SELECT dflt_value FROM pragma_table_info('city') WHERE name IN ('pop', 'ok')")
        == [["0"], ["1"]])
    #expect(
      try tool.values("b.db", "SELECT dflt_value FROM pragma_table_info('country')") == [
        [nil], ["'x''y'"],
      ])
    // The server's new keys follow the copied ones. The largest possible key was copied: none is left.
    #expect(throws: DatabaseError.self) { try run("INSERT INTO city (name) VALUES ('x')", address) }
    #expect(
      try number(
        "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND conrelid = 'city'::regclass",
        address)
        == 2)
    #expect(
      try number(
        "SELECT count(*) FROM pg_class WHERE relname IN ('by_pop', 'larder_copy')", address) == 1)
    #expect(try tool.files() == ["a.db", "b.db"])
  }

  @Test(
    "larder copy from PostgreSQL to SQLite and back keeps every value of every type",
    .enabled(if: isOnServer, whyNot))
  func serverRoundTrip() throws {
    let tool = try Tool()
    let schema = """
      CREATE TYPE mood AS ENUM ('sad', 'it''s ok');
      CREATE TABLE city (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, s smallint, i integer, b bigint, r real,
        d double precision, n numeric, m numeric(10, 2), t text, v varchar(20), c char(5), y bytea, ok boolean,
        day date, moment timestamptz, plain timestamp, span interval, u uuid, mood mood, tags text[], j jsonb,
        twice bigint GENERATED ALWAYS AS (id * 2) STORED,
        words tsvector DEFAULT 'x');
      """
    let from = try server(
      schema
        + """
        INSERT INTO city (s, i, b, r, d, n, m, t, v, c, y, ok, day, moment, plain, span, u, mood, tags, j) VALUES
          (32767, -2147483648, 9223372036854775807, 0.1, 'infinity', 123456789012345678901234567890.5, 12.50,
           E'a\\tb\\\\N\\n', 'x', 'ab', '\\x00ff5c', true, '0044-03-15 BC', 'infinity', '2024-02-29 23:59:59.999999',
           '1 year 2 mons 3 days 04:05:06.7', '11111111-2222-3333-4444-555555555555', 'it''s ok',
           '{a,"b\\"c",NULL}', '{"a": [1, null]}'),
          (NULL, NULL, -9223372036854775808, -0.0, 5e-324, 5, 5, '', '', '', '', false, NULL, NULL, NULL, NULL, NULL,
           NULL, '{}', 'null'), (NULL);
        """.replacing(", (NULL);", with: ";"))
    let there = try tool.run("copy", from, "a.db")
    #expect(there.status == 0, "\(there.errors)")
    #expect(there.errors.contains("the search vector “city”.“words”"), "\(there.errors)")
    #expect(
      try tool.values("a.db", "SELECT id, n, m, moment, ok, typeof(y), twice FROM city") == [
        [1, "123456789012345678901234567890.5", "12.50", "infinity", 1, "blob", 2],
        [2, "5", "5.00", nil, 0, "blob", 4],
      ])
    let to = try server(schema)
    let result = try tool.run("copy", "a.db", to, "--data-only", "--table", "city")
    #expect(result.status == 0, "\(result.errors)")
    let all = "SELECT * FROM city ORDER BY id"
    #expect(
      try tool.run("query", to, all, "--csv").output == tool.run("query", from, all, "--csv").output
    )
    try run("INSERT INTO city (s) VALUES (1)", to)
    #expect(try number("SELECT max(id) FROM city", to) == 3)
  }

  @Test("larder copy from file to file keeps schema, values and AUTOINCREMENT sequence")
  func files() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      Self.specimens + """
        CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, a); INSERT INTO log VALUES (9, -0.0);
        DELETE FROM log; INSERT INTO log VALUES (4, CAST(x'FF' AS TEXT));
        """)
    let result = try tool.run("copy", "a.db", "b.db", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try rows(tool, "b.db") == rows(tool, "a.db"))
    let schema = "SELECT type, name, sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type, name"
    #expect(try tool.values("b.db", schema) == tool.values("a.db", schema))
    #expect(try tool.values("b.db", "SELECT seq FROM sqlite_sequence") == [[9]])
    #expect(
      try tool.values("b.db", "SELECT id, quote(CAST(a AS BLOB)) FROM log") == [[4, "X'FF'"]])
    #expect(try tool.run("copy", "a.db", "b.db").status == 1)
    #expect(try tool.run("copy", "a.db", "c.db", "--table", "city").output == "city: 4 rows\n")
    #expect(
      try tool.values("c.db", "SELECT count(*) FROM sqlite_schema WHERE sql NOT NULL") == [[3]])
    #expect(try tool.run("copy", "a.db", "./a.db").status == 2)
    #expect(
      try tool.run("copy", "a.db", "b.db", "--resume").output.contains(
        "city: 4 rows, complete already"))
  }

  @Test(
    "larder copy to a server refuses a value that doesn't fit, with its row, and copies nothing of the table",
    .enabled(if: isOnServer, whyNot),
    arguments: [
      (
        "k TEXT PRIMARY KEY, a INTEGER", "('y', 'abc')",
        "“a”, the row with k = y: a text isn't an integer"
      ),
      (
        "k INTEGER, a TEXT, PRIMARY KEY (k)", "(5, 'a' || char(0))",
        "k = 5: the text contains a NUL"
      ),
      ("k TEXT, a INTEGER", "(1, 1.5)", "“a”, row 2: a real number isn't an integer of 64 bits"),
      ("k TEXT, a TEXT", "(1, x'00')", "“a”, row 2: a blob isn't a text"),
      ("k TEXT, a DATE", "(1, '2024-01-01')", "“a”, row 1: an integer isn't a text"),
      ("k TEXT, a TEXT", "(1, CAST(x'FF' AS TEXT))", "“a”, row 2: the text isn't valid UTF-8"),
    ])
  func misfits(_ columns: String, _ row: String, _ problem: String) throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (\(columns)); INSERT INTO t (k, a) VALUES (\(columns.hasPrefix("k INT") ? "1" : "'x'"), 1), \(row);
      CREATE TABLE a (x TEXT); INSERT INTO a VALUES ('first')
      """)
    let address = try server()
    let result = try tool.run("copy", "a.db", address, "--table", "a", "--table", "t")
    #expect(result.status == 1 && result.errors.contains(problem), "\(result.errors)")
    #expect(try number("SELECT count(*) FROM t", address) == 0)
    #expect(try number("SELECT count(*) FROM a", address) == 1)
    try tool.make("a.db", "UPDATE t SET a = NULL")
    #expect(try tool.run("copy", "a.db", address).status == 1)
    let resumed = try tool.run("copy", "a.db", address, "--resume")
    #expect(resumed.status == 0, "\(resumed.errors)")
    #expect(resumed.output.contains("a: 1 row, complete already\n"))
    #expect(resumed.output.contains("t: 2 rows\n"))
    #expect(try number("SELECT count(*) FROM pg_class WHERE relname = 'larder_copy'", address) == 0)
  }

  @Test(
    "larder copy --resume copies changed tables again, but never removes others' rows",
    .enabled(if: isOnServer, whyNot))
  func resuming() throws {
    let tool = try Tool()
    let address = try server(
      """
      CREATE TABLE a (x bigint); INSERT INTO a VALUES (1); CREATE TABLE b (x float8);
      INSERT INTO b VALUES ('NaN')
      """)
    let failed = try tool.run("copy", address, "a.db", "--table", "a", "--table", "b")
    #expect(
      failed.status == 1 && failed.errors.contains("SQLite can't store NaN"), "\(failed.errors)"
    )
    #expect(failed.errors.contains("--resume goes on"))
    #expect(try tool.values("a.db", "SELECT * FROM a") == [[1]])
    try run("UPDATE b SET x = 2; INSERT INTO a VALUES (2)", address)
    let result = try tool.run("copy", address, "a.db", "--resume", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try tool.values("a.db", "SELECT * FROM a") == [[1], [2]])
    #expect(try tool.values("a.db", "SELECT * FROM b") == [[2.0]])
    // Rows that other programs wrote are never removed.
    try tool.make("a.db", "UPDATE a SET x = 7 WHERE x = 2")
    let other = try tool.run("copy", address, "a.db", "--resume")
    #expect(other.status == 1 && other.errors.contains("has other rows"), "\(other.errors)")
    #expect(try tool.values("a.db", "SELECT * FROM a") == [[1], [7]])
  }

  @Test(
    "Ctrl-C during larder copy leaves no rows of a half-copied table, and --resume completes it",
    .enabled(if: isOnServer, whyNot))
  func interrupt() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      "CREATE TABLE a (x INTEGER); CREATE TABLE b (x INTEGER); INSERT INTO a VALUES (1); INSERT INTO b VALUES (2)"
    )
    let address = try server("CREATE TABLE a (x bigint); CREATE TABLE b (x bigint)")
    let other = try Database.postgres(address)
    try other.begin()
    try other.executeUpdate("LOCK TABLE b IN EXCLUSIVE MODE")
    let process = try tool.start(["copy", "a.db", address, "--data-only"], output: "run-copy")
    let waiting =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while try number(waiting, address) == 0 { sched_yield() }
    process.send(SIGINT)
    #expect(process.end() == 130)
    #expect(try tool.text("run-copy.err") == "larder: interrupted\n")
    try other.rollback()
    try other.close()
    #expect(try number("SELECT count(*) FROM a", address) == 1)
    #expect(try number("SELECT count(*) FROM b", address) == 0)
    let result = try tool.run("copy", "a.db", address, "--data-only", "--resume")
    #expect(result.output == "a: 1 row, complete already\nb: 1 row\n", "\(result.errors)")
  }

  @Test(
    "larder copy --schema-only makes the tables, and --data-only fills matching empty ones",
    .enabled(if: isOnServer, whyNot))
  func parts() throws {
    let tool = try Tool()
    try tool.make("a.db", Self.specimens)
    let address = try server()
    #expect(
      try tool.run("copy", "a.db", address, "--schema-only").output == "The tables were created.\n")
    #expect(try number("SELECT count(*) FROM city", address) == 0)
    #expect(try number("SELECT count(*) FROM pg_class WHERE relname = 'larder_copy'", address) == 0)
    let country = try tool.run("copy", "a.db", address, "--data-only", "--table", "COUNTRY")
    #expect(country.output == "country: 2 rows\n", "\(country.errors)")
    let again = try tool.run("copy", "a.db", address, "--data-only", "--table", "country")
    #expect(again.status == 1 && again.errors.contains("“country” has rows already"))
    try tool.make("b.db", "CREATE TABLE country (code TEXT, surplus TEXT); CREATE TABLE none (a)")
    let surplus = try tool.run("copy", "b.db", address, "--data-only", "--table", "country")
    #expect(surplus.status == 1 && surplus.errors.contains("has no column “surplus”"))
    #expect(try tool.run("copy", "b.db", address, "--data-only", "--table", "none").status == 1)
    #expect(try tool.run("copy", "b.db", address, "--table", "missing").status == 1)
    #expect(try tool.run("copy", "b.db", address, "--schema-only", "--resume").status == 2)
    #expect(try tool.run("copy", address, address).status == 2)
  }

  @Test(
    "larder copy refuses names that the other database can't have before it makes anything",
    .enabled(if: isOnServer, whyNot))
  func names() throws {
    let tool = try Tool()
    let long = String(repeating: "é", count: 32)
    for sql in [
      "CREATE TABLE \"\" (a)", "CREATE TABLE a (\"\")", "CREATE TABLE \"\(long)\" (a)",
      "CREATE TABLE a (\"\(long)\")",
    ] {
      try? FileManager.default.removeItem(atPath: tool.file("a.db"))
      try tool.make("a.db", "CREATE TABLE first (a); \(sql)")
      let address = try server()
      #expect(try tool.run("copy", "a.db", address).status == 1, "\(sql)")
      #expect(
        try number("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", address) == 0)
    }
    for sql in [
      "CREATE TABLE a (x int); CREATE TABLE \"A\" (x int)", "CREATE TABLE a (x int, \"X\" int)",
    ] {
      let result = try tool.run("copy", try server(sql), "b.db")
      #expect(
        result.status == 1 && result.errors.contains("same name for SQLite"), "\(result.errors)")
      #expect(try tool.files() == ["a.db"])
    }
  }

  @Test(
    "larder copy copies tables with circular foreign keys, and refuses dangling references",
    .enabled(if: isOnServer, whyNot))
  func circle() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE a (id INTEGER PRIMARY KEY, b INT REFERENCES b ON DELETE CASCADE);
      CREATE TABLE b (id INTEGER PRIMARY KEY, a INT REFERENCES a DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1)
      """)
    let address = try server()
    #expect(try tool.run("copy", "a.db", address).status == 0)
    #expect(try tool.run("copy", address, "b.db").status == 0)
    #expect(try tool.values("b.db", "SELECT * FROM a, b") == [[1, 1, 1, 1]])
    #expect(try tool.run("copy", "a.db", "c.db").status == 0)
    // A dangling reference is reported when the constraints are made.
    try tool.make("a.db", "PRAGMA foreign_keys = OFF; UPDATE a SET b = 9")
    let result = try tool.run("copy", "a.db", try server())
    #expect(result.status == 1 && result.errors.contains("FOREIGN KEY"), "\(result.errors)")
    let file = try tool.run("copy", "a.db", "d.db", "--table", "a", "--table", "b")
    #expect(
      file.status == 1 && file.errors.contains("refer to missing rows"), "\(file.errors)")
  }

  @Test(
    "larder copy of a missing, unreadable or locked database exits with status 3, and makes no file"
  )
  func badInput() throws {
    let tool = try Tool.withCities()
    try tool.write("letter", String(repeating: "This is a letter. ", count: 100).utf8)
    #expect(try tool.run("copy", "missing.db", "b.db").status == 3)
    #expect(try tool.run("copy", "letter", "b.db").status == 3)
    #expect(try tool.run("copy", "cities.db", "letter").status == 3)
    #expect(try tool.run("copy", "cities.db", "no/folder.db").status == 3)
    #expect(try tool.run("copy", "postgres://u:s3cret@127.0.0.1:1/x", "b.db").status == 3)
    #expect(try tool.run("copy", "cities.db", "postgres://u:s3cret@127.0.0.1:1/x").status == 3)
    let other = try tool.database("cities.db")
    try other.begin(.immediate)
    try tool.make("a.db", "CREATE TABLE x (a)")
    let locked = try tool.run("copy", "a.db", "cities.db", "--wait", "0")
    #expect(
      locked.status == 3 && locked.errors.contains("another program is writing"), "\(locked.errors)"
    )
    try other.rollback()
    #expect(try tool.files() == ["a.db", "cities.db", "letter"])
  }
}

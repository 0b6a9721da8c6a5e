import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@testable import LarderTool

/// A copy that would change a value is refused or reports it.
@Suite("larder copy doesn't lose data silently")
struct CopyLossTests {
  private static let isOnServer = PostgresServer.isInstalled
  private static let whyNot = Comment(rawValue: PostgresServer.whySkipped)

  private func execute(_ sql: String, _ address: String) throws {
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
    "larder copy refuses a value that the server's type would change, and copies nothing",
    .enabled(if: isOnServer, whyNot),
    arguments: [
      ("numeric(10, 2)", "1.5", "1.555"), ("numeric(4, 0)", "12", "12.5"),
      ("timestamp", "2024-01-01 10:00:00", "2024-01-01 10:00:00+02"),
      ("timestamp(0)", "2024-01-01 10:00", "2024-01-01 10:00:00.5"),
      ("timestamp", "2024-01-01", "2024-01-01 10:00:00.1234567"),
      ("timestamptz", "2024-01-01T10:00:00Z", "yesterday"),
      ("timestamptz", "2024-01-01 10:00+02", "2024-01-01 10:00:00.1234567Z"),
      ("date", "2024-01-01", "2024-01-01 10:00:00"), ("date", "2024-01-01", "2024-1-2"),
      ("date", "2024-01-01", "today"), ("time", "10:00:00", "10:00:00.1234567"),
      ("varchar(3)", "ab", "abc  "), ("uuid", "A3BB189E-8BF9-3888-9912-ACE4E6543002", ""),
      ("jsonb", #"{"b": 1.0, "a": [null]}"#, #"{"a": 1, "a": 2}"#), ("real", "0.1", "16777217"),
      ("real", "1.5", "3.14159265358979"), ("money", "$5.00", "7"),
    ])
  func changedValues(_ type: String, _ kept: String, _ changed: String) throws {
    let tool = try Tool()
    let affinity = type == "real" ? "REAL" : "TEXT"
    try tool.make(
      "a.db",
      "CREATE TABLE t (k INTEGER PRIMARY KEY, a \(affinity)); INSERT INTO t VALUES (1, '\(kept)'), (2, NULL)"
    )
    let address = try PostgresServer.newDatabase()
    try execute("CREATE TABLE t (k bigint PRIMARY KEY, a \(type))", address)
    let copied = try tool.run("copy", "a.db", address, "--data-only")
    #expect(copied.status == 0, "\(copied.errors)")
    let again = try tool.run("copy", "a.db", address, "--data-only", "--resume")
    #expect(again.output == "t: 2 rows, complete already\n", "\(again.errors)")
    try execute("DELETE FROM t", address)
    try tool.make("a.db", "INSERT INTO t VALUES (7, '\(changed)')")
    let result = try tool.run("copy", "a.db", address, "--data-only")
    #expect(result.status == 1, "\(result.output)")
    if !changed.isEmpty {
      #expect(result.errors.contains("“t”.“a”, the row with k = 7: "), "\(result.errors)")
    }
    #expect(try number("SELECT count(*) FROM t", address) == 0)
  }

  @Test(
    "larder copy --resume compares existing rows by value before it calls them complete",
    .enabled(if: isOnServer, whyNot))
  func resuming() throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a TEXT, b TEXT); INSERT INTO t VALUES ('1.5', '2024-01-01')")
    let address = try PostgresServer.newDatabase()
    try execute(
      "CREATE TABLE t (a numeric, b date); INSERT INTO t VALUES (1.50, '2024-01-01')", address)
    let same = try tool.run("copy", "a.db", address, "--data-only", "--resume")
    #expect(same.output == "t: 1 row, complete already\n", "\(same.errors)")
    try execute("UPDATE t SET a = 1.51", address)
    let other = try tool.run("copy", "a.db", address, "--data-only", "--resume")
    #expect(other.status == 1 && other.errors.contains("has other rows"), "\(other.errors)")
  }

  @Test(
    "larder copy sets the server's sequence past every AUTOINCREMENT key ever used",
    .enabled(if: isOnServer, whyNot))
  func sequence() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT); INSERT INTO t VALUES (9, 'x'); DELETE FROM t;
      CREATE TABLE u (id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT);
      INSERT INTO u VALUES (9, 'x'), (3, 'y'); DELETE FROM u WHERE id = 9
      """)
    let address = try PostgresServer.newDatabase()
    let result = try tool.run("copy", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    try execute("INSERT INTO t (a) VALUES ('new'); INSERT INTO u (a) VALUES ('new')", address)
    #expect(try number("SELECT max(id) FROM t", address) == 10)
    #expect(try number("SELECT max(id) FROM u", address) == 10)
  }

  @Test(
    "larder copy --data-only fills existing tables, and skips Larder's bookkeeping tables",
    .enabled(if: isOnServer, whyNot))
  func migratedServer() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE note (id INTEGER PRIMARY KEY, word TEXT NOT NULL);
      INSERT INTO note VALUES (4, 'four'), (7, 'seven');
      CREATE VIRTUAL TABLE note_text USING fts5(word, content='note', content_rowid='id');
      CREATE TABLE note_text_replaced (id INTEGER PRIMARY KEY);
      CREATE TABLE larder_migration (position INTEGER PRIMARY KEY, name TEXT NOT NULL);
      INSERT INTO larder_migration VALUES (1, 'of the file');
      """)
    // An address as key=value pairs, as libpq takes it.
    let address = try PostgresServer.shared.database()
    try execute(
      """
      CREATE TABLE note (id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, word text NOT NULL);
      CREATE TABLE larder_migration (position bigint PRIMARY KEY, name text NOT NULL);
      INSERT INTO larder_migration VALUES (1, 'of the server');
      CREATE TABLE larder_commit (token uuid PRIMARY KEY);
      """, address)
    let result = try tool.run("copy", "--data-only", "a.db", address)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("note: 2 rows"))
    try execute("INSERT INTO note (word) VALUES ('next')", address)
    #expect(try number("SELECT max(id) FROM note", address) == 8)
    #expect(
      try number("SELECT count(*) FROM larder_migration WHERE name = 'of the server'", address) == 1
    )
    #expect(try tool.files().filter { !$0.hasPrefix("a.db") }.isEmpty)
  }

  @Test("larder copy recognizes key=value addresses, and prints no password in errors")
  func pairs() throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE t (a)")
    for address in [
      "host=/nowhere dbname=app password=geheim", "dbname = app host=/nowhere password='ge heim'",
      "password=ge heim host=/nowhere", "host=/nowhere nokey=1 password=geheim",
    ] {
      let result = try tool.run("copy", "a.db", address)
      #expect(result.status != 0)
      #expect(!result.errors.contains("heim"), "\(result.errors)")
    }
    #expect(try tool.run("copy", "a.db", "./dbname=app").status == 0)
    #expect(try tool.run("copy", "a.db", "a=b.db").status == 0)
    let files = try tool.files().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    #expect(files.sorted() == ["a.db", "a=b.db", "dbname=app"])
  }

  @Test(
    "larder query of a server without --write creates no large object",
    .enabled(if: isOnServer, whyNot))
  func largeObjects() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase()
    _ = try tool.run("query", address, "SELECT lo_create(777)")
    #expect(try number("SELECT count(*) FROM pg_largeobject_metadata", address) == 0)
  }

  /// A database with a full-text table that triggers keep up to date.
  private static let searched = """
    PRAGMA user_version = 7; PRAGMA application_id = 99;
    CREATE TABLE note (word TEXT);
    INSERT INTO note (rowid, word) VALUES (5, 'five'), (90, 'ninety');
    CREATE TABLE other (a);
    CREATE VIRTUAL TABLE search USING fts5(word, content='note');
    CREATE TRIGGER note_added AFTER INSERT ON note BEGIN
      INSERT INTO "search" (rowid, word) VALUES (new.rowid, new.word);
    END;
    CREATE TRIGGER other_added AFTER INSERT ON other BEGIN SELECT 1; END;
    CREATE VIEW found AS SELECT * FROM search;
    CREATE VIEW few AS SELECT * FROM found LIMIT 1;
    CREATE VIEW words AS SELECT word FROM note;
    INSERT INTO search (search) VALUES ('rebuild');
    """

  @Test(
    "larder copy to a new file keeps full-text tables, row ids, user_version and application_id")
  func wholeFile() throws {
    let tool = try Tool()
    try tool.make("a.db", Self.searched)
    let result = try tool.run("copy", "a.db", "b.db")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.isEmpty)
    #expect(result.lines.contains("note: 2 rows"))
    try tool.make("b.db", "INSERT INTO note VALUES ('hundred')")
    #expect(
      try tool.values(
        "b.db", "SELECT rowid FROM search WHERE search MATCH 'five OR hundred' ORDER BY rowid")
        == [[5], [91]])
    #expect(try tool.values("b.db", "PRAGMA user_version") == [[7]])
    #expect(try tool.values("b.db", "PRAGMA application_id") == [[99]])
  }

  @Test("larder copy copies an ordinary table with a full-text shadow table's name")
  func helperName() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE VIRTUAL TABLE doc USING fts5(x); CREATE TABLE doc_replaced (id INTEGER PRIMARY KEY, old TEXT);
      INSERT INTO doc_replaced VALUES (1, 'precious')
      """)
    try tool.make("b.db", "PRAGMA user_version = 0")
    #expect(try tool.run("copy", "a.db", "b.db").output == "doc_replaced: 1 row\n")
    #expect(try tool.values("b.db", "SELECT * FROM doc_replaced") == [[1, "precious"]])
  }

  @Test("larder copy into an existing file leaves out what uses a virtual table, and reports it")
  func existingFile() throws {
    let tool = try Tool()
    try tool.make("a.db", Self.searched)
    try tool.make("b.db", "PRAGMA user_version = 0")
    let result = try tool.run("copy", "a.db", "b.db")
    #expect(result.status == 0, "\(result.errors)")
    for name in ["virtual table “search”", "trigger “note_added”", "view “found”", "view “few”"] {
      #expect(result.errors.contains("left out: the \(name)"), "\(name): \(result.errors)")
    }
    let others = "SELECT name FROM sqlite_schema ORDER BY name"
    #expect(
      try tool.values("b.db", others) == [["note"], ["other"], ["other_added"], ["words"]])
    try tool.make("b.db", "INSERT INTO note VALUES ('hundred')")
    #expect(try tool.values("b.db", "SELECT rowid FROM note") == [[5], [90], [91]])
    #expect(try tool.values("b.db", "PRAGMA user_version") == [[7]])
    // A database that is in use keeps its user_version.
    try tool.make("c.db", "CREATE TABLE own (a); PRAGMA user_version = 3")
    let own = try tool.run("copy", "a.db", "c.db", "--table", "other")
    #expect(
      own.status == 0 && own.errors.contains("left out: user_version 7: it is 3"), "\(own.errors)")
    #expect(try tool.values("c.db", "PRAGMA user_version") == [[3]])
  }

  @Test(
    "larder copy to a server copies the rows of virtual tables that keep them, and names those that don't",
    .enabled(if: isOnServer, whyNot))
  func virtualTables() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE note (id INTEGER PRIMARY KEY, word TEXT);
      CREATE VIRTUAL TABLE doc USING fts5(title, body UNINDEXED, tokenize = 'porter');
      INSERT INTO doc (rowid, title, body) VALUES (7, 'Oslo', 'by'), (9, NULL, 'Norge');
      CREATE VIRTUAL TABLE old USING fts4(body);
      INSERT INTO old (docid, body) VALUES (3, 'three');
      CREATE VIRTUAL TABLE of_note USING fts5(word, content=note, content_rowid=id);
      CREATE VIRTUAL TABLE words USING fts5(word, content='');
      CREATE VIRTUAL TABLE area USING rtree(id, x0, x1);
      INSERT INTO area VALUES (1, 0.5, 2), (2, -1, 3.25);
      CREATE VIRTUAL TABLE vocabulary USING fts5vocab(doc, row);
      """)
    let address = try PostgresServer.newDatabase()
    let report = try tool.object("copy", "a.db", address)
    #expect(
      Set(try #require(report["leftOut"] as? [String])) == [
        "the full-text index of “doc”, whose texts are copied as a table",
        "the full-text index of “old”, whose texts are copied as a table",
        "the full-text index “of_note” of “note”",
        "the full-text index “words”, which doesn't keep its texts",
        "the module rtree of “area”, whose rows are copied as a table",
        "the virtual table “vocabulary” of the module fts5vocab",
      ])
    #expect(
      try number(
        "SELECT count(*) FROM doc WHERE (rowid, title, body) IN ((7, 'Oslo', 'by'))", address) == 1)
    #expect(try number("SELECT rowid FROM doc WHERE title IS NULL", address) == 9)
    #expect(try number("SELECT rowid FROM old WHERE body = 'three'", address) == 3)
    #expect(try number("SELECT id FROM area WHERE x0 = -1 AND x1 = 3.25", address) == 2)
    let again = try tool.run("copy", "a.db", address, "--resume")
    #expect(again.output.contains("doc: 2 rows, complete already"), "\(again.errors)")
    let back = try tool.run("copy", address, "b.db")
    #expect(back.status == 0, "\(back.errors)")
    #expect(
      try tool.values("b.db", "SELECT rowid, title, body FROM doc ORDER BY 1")
        == [[7, "Oslo", "by"], [9, nil, "Norge"]])
    // Into existing tables, a virtual table without a counterpart is told.
    try execute("DROP TABLE doc; DELETE FROM old; DELETE FROM area; DELETE FROM note", address)
    let data = try tool.object("copy", "a.db", address, "--data-only")
    #expect(data["leftOut"] as? [String] == ["“doc”, for which there is no table"])
    let named = try tool.run("copy", "a.db", address, "--data-only", "--table", "words")
    #expect(named.status == 1 && named.errors.contains("doesn't keep its texts"), "\(named.errors)")
  }

  @Test(
    "larder copy copies each row of inherited and partitioned tables once, and names the inheritance",
    .enabled(if: isOnServer, whyNot))
  func inheritance() throws {
    let tool = try Tool()
    let address = try PostgresServer.newDatabase()
    try execute(
      """
      CREATE TABLE place (id bigint PRIMARY KEY, name text);
      CREATE TABLE capital (country text) INHERITS (place);
      CREATE TABLE reading (day bigint, value bigint) PARTITION BY RANGE (day);
      CREATE TABLE reading_1 PARTITION OF reading FOR VALUES FROM (0) TO (10);
      INSERT INTO place VALUES (1, 'Bergen');
      INSERT INTO capital VALUES (2, 'Oslo', 'NO');
      INSERT INTO reading VALUES (1, 2), (3, 4);
      """, address)
    let report = try tool.object("copy", address, "a.db")
    #expect(
      (report["leftOut"] as? [String])?.contains("the inheritance of “capital” from “place”")
        == true)
    #expect(try tool.values("a.db", "SELECT id FROM place") == [[1]])
    #expect(try tool.values("a.db", "SELECT id FROM capital") == [[2]])
    #expect(try tool.values("a.db", "SELECT count(*) FROM reading") == [[2]])
    // The rows of `capital` aren't those of `place` in a target either.
    try execute("DELETE FROM ONLY place; DELETE FROM reading", address)
    let back = try tool.run(
      "copy", "a.db", address, "--data-only", "--table", "place", "--table", "reading")
    #expect(back.status == 0, "\(back.errors)")
    #expect(try number("SELECT count(*) FROM place", address) == 2)
    #expect(try number("SELECT count(*) FROM reading", address) == 2)
  }
}

import Foundation
import Larder
import Testing

@testable import LarderTool

@Suite("The rules of larder check")
struct CheckRuleTests {
  @Test("larder check reports nothing for schemas and values that only resemble problems")
  func good() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      -- Keys by an index in another order, by a part of a key, or by a partial index; to unique columns.
      CREATE TABLE parent (a INTEGER NOT NULL, b INTEGER NOT NULL, code TEXT NOT NULL UNIQUE, PRIMARY KEY (a, b));
      CREATE TABLE child (
        id INTEGER PRIMARY KEY, a INTEGER, b INTEGER, code VARCHAR(5) REFERENCES PARENT (CODE),
        FOREIGN KEY (a, b) REFERENCES parent);
      CREATE INDEX child_b ON child (b, a, id);
      CREATE INDEX child_code ON child (code) WHERE code IS NOT NULL;
      CREATE TABLE member (
        parent TEXT NOT NULL REFERENCES parent (code) ON DELETE CASCADE, number INT NOT NULL,
        PRIMARY KEY (parent, number)) WITHOUT ROWID;
      -- Indexes that begin alike.
      CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, language TEXT, length INTEGER);
      CREATE INDEX word_text ON word (text COLLATE NOCASE);
      CREATE INDEX word_text_length ON word (text, length);
      CREATE INDEX word_long ON word (text) WHERE length > 10;
      CREATE INDEX word_order ON word (text DESC);
      CREATE INDEX word_lower ON word (lower(text), language);
      -- Names in double quotes, also of functions and collations.
      CREATE VIEW "long words" AS SELECT "text", "word"."length" FROM "word" WHERE "length" > 10;
      CREATE TABLE "quoted" ("id" INTEGER PRIMARY KEY, "a" TEXT COLLATE "NOCASE" CHECK ("lower"("a") = "quoted"."a"));
      -- Triggers that end.
      CREATE TRIGGER word_changed AFTER UPDATE OF text ON word BEGIN
        UPDATE word SET length = length(new.text) WHERE id = new.id; END;
      CREATE TRIGGER word_again AFTER UPDATE ON word WHEN new.length IS NULL BEGIN
        UPDATE word SET length = 0 WHERE id = new.id; END;
      CREATE TRIGGER word_added INSTEAD OF INSERT ON "long words" BEGIN
        INSERT INTO word (text, length) VALUES (new.text, new.length); END;
      -- A full-text index that is kept up to date, and one of its own.
      CREATE VIRTUAL TABLE word_text USING fts5(text, content='word', content_rowid='id');
      CREATE TRIGGER word_text_added AFTER INSERT ON word BEGIN
        INSERT INTO word_text (rowid, text) VALUES (new.id, new.text); END;
      CREATE VIRTUAL TABLE letter USING fts5(body);
      INSERT INTO word (text, language, length) VALUES ('spring', 'en', 6), ('été', 'fr', 3), ('', 'fr', 0);
      INSERT INTO letter VALUES ('Dear all'), ('Yours');
      -- Keys that were given and are gone, and such as are to count on.
      CREATE TABLE ticket (id INTEGER PRIMARY KEY AUTOINCREMENT, seat TEXT);
      INSERT INTO ticket (seat) VALUES ('A1'), ('A2'), ('A3');
      DELETE FROM ticket WHERE id = 2;
      """.replacing(
        "CREATE VIRTUAL TABLE word_text USING",
        with: "DROP INDEX word_text; CREATE VIRTUAL TABLE word_text USING"),
      """
      -- Values that are as they should be.
      CREATE TABLE sample (
        id INTEGER PRIMARY KEY, created_at TEXT DEFAULT CURRENT_TIMESTAMP, day DATE, seen_at INTEGER, bytes INTEGER,
        is_open INTEGER, ratio REAL, price NUMERIC(10, 2), zip TEXT, unit TEXT UNIQUE, uuid TEXT, payload TEXT,
        version TEXT, anything ANY, photo BLOB, flag BOOLEAN, point POINT, note TEXT);
      INSERT INTO sample VALUES
        (1, '2026-01-05 10:00:00', '2026-01-05', 1767225600, 1767225600123, 1, 1, 9.5, '0150', 'm',
         'a3bb189e-8bf9-3888-9912-ace4e6543002', '{"a": [1]}', '1.2.2024', 1, x'00', 1, 'POINT(1 2)', ' a '),
        (2, '2026-01-06 10:00:01', '2024-02-29', 1767225601, 5, 0, 2.5, 10, '94040', 'M',
         'b3bb189e-8bf9-3888-9912-ace4e6543002', ' [] ', '1.3.0', 2, x'0102', 0, 'POINT(3 4)', '{x}'),
        (3, '2026-01-06 10:00:02', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
      CREATE TABLE settled (name TEXT PRIMARY KEY NOT NULL, value ANY) STRICT;
      INSERT INTO settled VALUES ('size', 10), ('title', 'Larder');
      """)
    let (report, status) = try tool.check("a.db")
    #expect(report.findings.isEmpty && status == 0, "\(report.findings)")
    #expect(report.remarks.isEmpty, "\(report.remarks)")
  }

  @Test("larder check reports nothing where a type, a small table or another value explains it")
  func explained() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      -- Types that say that values are of several kinds.
      CREATE TABLE crs (id INTEGER PRIMARY KEY, code INTEGER_OR_TEXT NOT NULL, size "INT OR REAL");
      INSERT INTO crs VALUES (1, 4326, 1.5), (2, 'ESRI', 2);
      -- Indexes of a table with nine rows.
      CREATE TABLE colour (id INTEGER PRIMARY KEY, name TEXT, parent INTEGER REFERENCES colour (id));
      CREATE INDEX colour_name ON colour (name);
      CREATE INDEX colour_name_again ON colour (name);
      CREATE INDEX colour_id ON colour (id);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9)
      INSERT INTO colour SELECT i, 'colour ' || i, NULL FROM n;
      -- AUTOINCREMENT with keys to spare.
      CREATE TABLE ticket (id INTEGER PRIMARY KEY AUTOINCREMENT, seat TEXT);
      INSERT INTO ticket (seat) VALUES ('A1'), ('A2');
      -- Dates whose order another value shows, and those with points.
      CREATE TABLE due (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT);
      INSERT INTO due VALUES (1, '01/02/2024', '01/02/2024', '01.02.2024'), (2, '28/02/2024', '02/28/2024', '3.4.2024');
      -- Texts that differ in case on purpose: many, short, or compared without it.
      CREATE TABLE term (id INTEGER PRIMARY KEY, word TEXT, unit TEXT, kind TEXT COLLATE NOCASE);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
      INSERT INTO term SELECT i, iif(i = 1, 'WORD 2', 'word ' || i), iif(i % 2, 'mA', 'MA'), iif(i % 2, 'noun', 'Noun') FROM n;
      -- Lengths in characters.
      CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR(3), code CHARACTER VARYING(2), area DECIMAL(5, 2));
      INSERT INTO city VALUES (1, '北京市', 'NO', 123456.789);
      -- One kind of answer, and words among others.
      CREATE TABLE moment (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
      INSERT INTO moment VALUES (1, '2026-01-05 10:00:00', '2026-01-05T10:00:00+00:00'),
        (2, '2026-01-05 10:00:00.000001', '2026-01-05T10:00:00.5+00:00'), (3, '2026-01-05 10:00:01.25', NULL);
      CREATE TABLE poll (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT);
      INSERT INTO poll VALUES (1, 'yes', '1', '1'), (2, 'no', '0', 'true'), (3, 'yes', '1', '17');
      CREATE TABLE timer (id INTEGER PRIMARY KEY, seconds INTEGER, started_ms INTEGER, bytes INTEGER);
      INSERT INTO timer VALUES (1, 1767225600, 1767225600123, 1767225600123);
      -- Keys that compare alike.
      CREATE TABLE tag (name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE);
      CREATE TABLE tagged (id INTEGER PRIMARY KEY, tag TEXT COLLATE nocase REFERENCES tag);
      CREATE INDEX tagged_tag ON tagged (tag);
      INSERT INTO tag VALUES ('Fish'), ('rice');
      INSERT INTO tagged VALUES (1, 'fish'), (2, NULL), (3, 'rice');
      """)
    let (report, status) = try tool.check("a.db")
    #expect(report.findings.isEmpty && status == 0, "\(report.findings)")
    #expect(report.remarks.isEmpty, "\(report.remarks)")
  }

  @Test(
    "larder check reports milliseconds beside a column of seconds, and a word beside its usual spelling"
  )
  func besideOthers() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE visit (id INTEGER PRIMARY KEY, created_at INTEGER, updated_at INTEGER, state TEXT);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20)
      INSERT INTO visit SELECT i, 1767225600 + i, 1767225600123 + i, iif(i = 7, 'OPEN', 'open') FROM n;
      """)
    let (report, _) = try tool.check("a.db")
    #expect(report.findings.map(\.rule) == ["epoch-unit", "mixed-case"], "\(report)")
    #expect(report.findings.first?.evidence.columns == ["updated_at"])
    #expect(
      report.findings.last?.evidence.found
        == "1 of 20 rows differ only in case from more frequent values, such as “OPEN” beside “open”"
    )
    #expect(report.findings.last?.evidence.rowIDs == [7])
  }

  @Test("larder check --fail-on takes the least severity that makes the status 1")
  func levels() throws {
    let tool = try Tool()
    try tool.make("note.db", "CREATE TABLE \"order\" (id INTEGER PRIMARY KEY)")
    try tool.make("warning.db", "CREATE TABLE note (text TEXT)")
    try tool.make("error.db", "CREATE VIEW ghosts AS SELECT name FROM ghost")
    for (name, failing) in [
      ("note", ["note"]), ("warning", ["warning", "note"]),
      ("error", ["error", "warning", "note"]),
    ] {
      for level in ["error", "warning", "note"] {
        let result = try tool.run("check", "\(name).db", "--fail-on", level)
        #expect(result.status == (failing.contains(level) ? 1 : 0), "\(name) \(level)")
        #expect(result.output.contains("1 \(name) ("), "\(result.output)")
      }
    }
    let wrong = try tool.run("check", "note.db", "--fail-on", "all")
    #expect(wrong.status == 2)
    #expect(wrong.errors == "larder: --fail-on takes error, warning or note, not “all”\n")
    let help = try tool.run("check", "--help").output
    #expect(help.contains("--fail-on LEVEL") && help.contains("For CI, the status is 1"))
  }

  @Test("larder check reports a virtual table whose module is missing")
  func missingModule() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY);
      CREATE VIRTUAL TABLE "a using b" USING rtree(id, left, right);
      """)
    #expect(try tool.check("a.db").status == 0)
    var bytes = try tool.contents(of: "a.db")
    let place = try #require(bytes.firstRange(of: Data("USING rtree".utf8)))
    bytes.replaceSubrange(place, with: Data("USING rtrex".utf8))
    try tool.write("a.db", bytes)
    let (report, _) = try tool.check("a.db", "--only", "missing-module")
    #expect(report.findings.map(\.evidence.table) == ["a using b"])
    #expect(report.findings.first?.evidence.found.contains("“rtrex”") == true)
  }

  @Test("The SQL that larder check proposes for mixed dates selects the row in another format")
  func mixedDates() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT);
      INSERT INTO visit (day) VALUES ('1/2/2024'), ('28/2/2024'), ('03/12/2024'), ('1/11/2024'), ('2024-05-06');
      """)
    let finding = try #require(try tool.check("a.db").0.findings.first { $0.rule == "mixed-dates" })
    let sql = try #require(finding.evidence.sql.first)
    #expect(try tool.values("a.db", sql).count == 1, "\(sql)")
    // A Z after fewer digits sorts after more of them.
    try tool.make(
      "b.db",
      """
      CREATE TABLE visit (id INTEGER PRIMARY KEY, day TEXT);
      INSERT INTO visit (day) VALUES ('2024-05-06T10:00:00Z'), ('2024-05-06T10:00:00.5Z');
      CREATE TABLE other (id INTEGER PRIMARY KEY, day TEXT);
      INSERT INTO other (day) VALUES ('2024-05-06 10:00:00'), ('2024-05-06 10:00:00.5'), ('2024-05-06');
      """)
    let findings = try tool.check("b.db").0.findings
    #expect(findings.map(\.rule) == ["mixed-dates", "mixed-dates"])
    let last = try #require(findings.last?.evidence.sql.first)
    #expect(findings.last?.evidence.rows == 1)
    #expect(try tool.values("b.db", last).count == 1, "\(last)")
  }

  @Test(
    "larder check reports double-quoted strings in defaults, generated columns, indexes, views and triggers"
  )
  func quotedStrings() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT DEFAULT "none", b TEXT AS (a || "x"));
      CREATE INDEX t_a ON t (a) WHERE a <> "gone";
      CREATE INDEX t_b ON t (coalesce(a, "empty"));
      CREATE VIEW v AS SELECT * FROM t WHERE a = "none";
      CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = "new" WHERE id = new.id; END;
      """)
    let (report, _) = try tool.check("a.db")
    #expect(report.findings.allSatisfy { $0.rule == "double-quoted-string" }, "\(report)")
    let places = report.findings.map {
      $0.evidence.object ?? $0.evidence.columns.first ?? $0.evidence.table
    }
    #expect(Set(places) == ["a", "b", "t_a", "t_b", "v", "g"])
  }

  @Test("larder check notes views and triggers with unknown functions as unchecked, not as broken")
  func foreignFunctions() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT);
      CREATE VIEW v AS SELECT distance_km(id, 1) AS d FROM t;
      CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT notify(new.id); END;
      """)
    let (report, status) = try tool.check("a.db")
    #expect(report.findings.isEmpty && status == 0, "\(report.findings)")
    #expect(
      report.remarks.count == 2
        && report.remarks.allSatisfy { $0.contains("is only in the program") })
  }

  @Test("larder check --untrusted skips views, and says so")
  func untrusted() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("check", "cities.db", "--untrusted")
    #expect(result.status == 0)
    #expect(result.output.contains("Not in full: views weren't checked: they are switched off\n"))
  }

  @Test("The SQL that larder check proposes for impossible dates selects exactly those rows")
  func impossibleDates() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE holiday (id INTEGER PRIMARY KEY, day TEXT);
      INSERT INTO holiday VALUES (1, '2026-02-28'), (2, '2026-02-29'), (3, '2028-02-29 23:30:00+02:00'),
        (4, '2026-04-31 10:00:00'), (5, NULL), (6, '2026-01-05 24:00:00'), (7, '2026-01-05T10:61:00'),
        (8, '2026-12-31'), (9, '2026-12-31T10:00:00Z'), (10, '2026-12-30'), (11, '2026-12-29');
      """)
    let (report, _) = try tool.check("a.db")
    let finding = try #require(report.findings.first { $0.rule == "impossible-date" })
    let sql = try #require(finding.evidence.sql.first)
    #expect(try tool.values("a.db", sql).map(\.first) == [2, 4, 6, 7])
  }

  @Test("`DateText` recognizes the format of a date, and whether the day exists")
  func dates() {
    func form(_ text: String) -> String? { DateText(Array(text.utf8))?.form }
    #expect(form("2026-01-05") == "YYYY-MM-DD")
    #expect(form("2026-01-05T10:30:00.123Z") == "YYYY-MM-DDTHH:MM:SS.SSSZ")
    #expect(form("2026-01-05 10:30:00+02:00") == "YYYY-MM-DD HH:MM:SS+HH:MM")
    #expect(form("5.1.2026") == "D.M.YYYY" && form("05/01/2026 8:30") == "D/M/YYYY H:MM")
    for text in [
      "", "2026", "2026-1-5", "2026-01-05x", "2026-01/05", "1.2.3", "192.168.0.1", "2026-01-05 10",
    ] {
      #expect(form(text) == nil, "\(text)")
    }
    func isPossible(_ text: String) -> Bool { DateText(Array(text.utf8))?.isPossible ?? false }
    #expect(isPossible("2024-02-29") && !isPossible("2026-02-29") && !isPossible("1900-02-29"))
    #expect(isPossible("31/12/2026") && isPossible("12/31/2026") && !isPossible("31/13/2026"))
    #expect(!isPossible("0000-00-00") && !isPossible("2026-01-05 24:00:00"))
  }
}

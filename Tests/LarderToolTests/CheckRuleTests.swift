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

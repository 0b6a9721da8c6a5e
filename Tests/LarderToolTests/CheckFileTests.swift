import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder check: files, query plans and large tables")
struct CheckFileTests {
  /// 2,000 rows, and an index on one of the columns.
  private static let numbers = """
    CREATE TABLE number (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER);
    CREATE INDEX number_a ON number (a);
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO number SELECT i, i % 50, 2001 - i FROM n;
    """

  @Test("larder check reports an index that differs from its table, and proposes REINDEX")
  func damagedIndex() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO city VALUES (1, 'Oslo'), (2, 'Trondheim'), (3, 'Bergen');
      CREATE INDEX city_name ON city (name);
      """)
    var bytes = try tool.contents(of: "a.db")
    let places = bytes.ranges(of: Data("Trondheim".utf8))
    try #require(places.count == 2)
    // The second occurrence is the index's: its page comes after the table's.
    bytes.replaceSubrange(places[1], with: Data("Drammen..".utf8))
    try tool.write("a.db", bytes)
    let (report, status) = try tool.check("a.db")
    #expect(status == 1)
    #expect(report.findings.map(\.rule) == ["integrity"])
    #expect(report.findings.first?.evidence.table == "city")
    #expect(report.findings.first?.evidence.found.contains("row 2 missing from index") == true)
    #expect(report.findings.first?.evidence.sql == ["REINDEX \"city\""])
  }

  @Test("larder check reports a NULL in a NOT NULL column as a violated constraint")
  func notNull() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NULL  ); INSERT INTO t VALUES (1, NULL)")
    var bytes = try tool.contents(of: "a.db")
    let text = try #require(bytes.firstRange(of: Data("TEXT NULL  ".utf8)))
    // The text must keep its length.
    bytes.replaceSubrange(text, with: Data("   NOT NULL".utf8))
    try tool.write("a.db", bytes)
    let (report, _) = try tool.check("a.db", "--only", "integrity,constraint-violated")
    #expect(report.findings.map(\.rule) == ["constraint-violated"], "\(report)")
    #expect(report.findings.first?.evidence.table == "t")
    #expect(report.findings.first?.evidence.columns == ["a"])
  }

  @Test("larder check reports many free pages, small pages and UTF-16, each alone")
  func settings() throws {
    let tool = try Tool()
    let rows = """
      CREATE TABLE file (id INTEGER PRIMARY KEY, data BLOB);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO file SELECT i, zeroblob(3000) FROM n;
      """
    try tool.make("free.db", rows, "DELETE FROM file WHERE id > 30")
    #expect(try tool.check("free.db").0.findings.map(\.rule) == ["free-pages"])
    try tool.make("small.db", "PRAGMA page_size = 512", rows)
    #expect(try tool.check("small.db").0.findings.map(\.rule) == ["small-pages"])
    try tool.make("wide.db", "PRAGMA encoding = 'UTF-16le'", rows)
    #expect(try tool.check("wide.db").0.findings.map(\.rule) == ["utf-16"])
    try tool.make("full.db", rows)
    #expect(try tool.check("full.db").0.findings.isEmpty)
  }

  @Test("larder check reports a WAL that is much larger than its database")
  func log() throws {
    let tool = try Tool.withCities("wal")
    let other = try tool.database("cities.db")
    try other.executeUpdate("PRAGMA wal_autocheckpoint = 0")
    try other.executeUpdate("CREATE TABLE file (id INTEGER PRIMARY KEY, data BLOB)")
    #expect(try !tool.run("check", "cities.db").output.contains("large-log"))
    try other.executeUpdate("INSERT INTO file VALUES (1, zeroblob(6000000))")
    let result = try tool.run("check", "cities.db")
    #expect(result.status == 1)
    #expect(result.output.hasPrefix("warning  large-log\n"), "\(result.output)")
    try other.close()
  }

  @Test("larder check reports a WAL file in use if the local SQLite has the WAL-reset bug")
  func resetBug() throws {
    let tool = try Tool.withCities("wal")
    #expect(try tool.run("check", "cities.db").status == 0)
    let other = try tool.database("cities.db")
    try other.executeUpdate("CREATE TABLE file (id INTEGER PRIMARY KEY, data BLOB)")
    let rules = try tool.check("cities.db").0.findings.map(\.rule)
    #expect(rules == (SQLiteLibrary.hasWALResetBug ? ["wal-reset-bug"] : []))
    try other.close()
    #expect(try tool.run("check", "cities.db").status == 0)
  }

  @Test(
    "larder check --query reports scans, sorts and automatic indexes, with an index that helps",
    arguments: [
      ("SELECT * FROM number WHERE b = ?", ["query-scan"]),
      ("SELECT * FROM number AS x WHERE x.b = ?", ["query-scan"]),
      ("SELECT * FROM number WHERE a = 3 ORDER BY b", ["query-sort"]),
      (
        "SELECT * FROM number AS x JOIN number AS y USING (b)",
        ["query-scan", "query-automatic-index"]
      ),
    ])
  func plans(sql: String, rules: [String]) throws {
    let tool = try Tool()
    try tool.make("a.db", Self.numbers)
    let (report, status) = try tool.check(
      "a.db", "--query", "SELECT * FROM number WHERE a = 1", "--query", sql)
    #expect(status == 1)
    #expect(report.findings.map(\.rule) == rules, "\(report)")
    #expect(report.findings.allSatisfy { $0.evidence.sql.count == 1 })
    #expect(try tool.check("a.db", "--query", "SELECT * FROM number WHERE a = 1").status == 0)
    let wrong = try tool.run("check", "a.db", "--query", "SELECT gone FROM number")
    #expect(wrong.status == 2)
    #expect(wrong.errors.contains("the SQL can't be run: no such column: gone"))
  }

  @Test("larder check reads all of a table whose rest isn't larger than the samples would be")
  func littleRest() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE number (id INTEGER PRIMARY KEY, a INTEGER);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 28000)
      INSERT INTO number SELECT i, i FROM n;
      UPDATE number SET a = 'x' WHERE id = 28000;
      """)
    let report = try tool.check("a.db").0
    #expect(report.findings.map(\.rule) == ["text-in-number"])
    #expect(report.remarks.isEmpty)
  }

  @Test("larder check samples a large table and says so, and reads all of it with --all")
  func sampling() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE number (id INTEGER PRIMARY KEY, a INTEGER);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO number SELECT i * 3, i FROM n;
      UPDATE number SET a = 'x' WHERE id = 3 * 22500;
      """)
    let (part, status) = try tool.check("a.db")
    #expect(status == 0 && part.findings.isEmpty)
    #expect(part.remarks == ["“number”: only 29,000 rows were checked"])
    let (all, _) = try tool.check("a.db", "--all")
    #expect(all.findings.map(\.rule) == ["text-in-number"] && all.remarks.isEmpty)
    #expect(all.findings.first?.evidence.rowIDs == [67_500])
    try tool.make("a.db", "UPDATE number SET a = 'x' WHERE id = 180000 - 3")
    // The samples are spread over the whole table, so a single row may be missed but not many.
    #expect(try tool.check("a.db", "--only", "text-in-number").0.findings.isEmpty)
    try tool.make("a.db", "UPDATE number SET a = 'x' WHERE id BETWEEN 90000 AND 120000")
    #expect(try tool.check("a.db", "--only", "text-in-number").0.findings.count == 1)
  }

  @Test("Sampling works for row ids from Int64.min to Int64.max")
  func extremes() throws {
    let db = try Database()
    try db.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a INTEGER)")
    for id in [Int64.min, -1, 0, 1, .max] {
      try db.executeUpdate("INSERT INTO t VALUES (?, 1)", id)
    }
    let table = try #require(try Schema(db).table("t"))
    for rows in 1...6 {
      var bounds = CheckBounds()
      bounds.rows = rows
      let profile = try TableProfile(of: table, without: [], in: db, bounds, until: nil)
      // After the fifth row there is none, which the largest row id tells.
      #expect(profile.isWhole == (rows >= 5))
      #expect(profile.rows <= 5 && profile.columns[1].count(.integer) == profile.rows)
    }
  }

  @Test("larder check quotes hostile names in its SQL, and prints no control characters")
  func hostileNames() throws {
    let tool = try Tool()
    let names = [
      "a\"b", "a'b", "a]b`c", "; DROP TABLE x; --", "表\n二", "\u{1B}[31mred", " ", "SELECT",
      "e\u{301}",
      "👩‍👩‍👧", "a,b", "a:b", "%s", "rowid", String(repeating: "x", count: 1000),
    ]
    let db = try tool.database("a.db")
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    for name in names {
      try db.executeUpdate(
        "CREATE TABLE \(identifier: name) (\(identifier: name) INTEGER, price REAL, old INTEGER REFERENCES \(identifier: name))"
      )
      try db.executeUpdate(
        "CREATE INDEX \(identifier: name + "1") ON \(identifier: name) (\(identifier: name))")
      try db.executeUpdate(
        "CREATE INDEX \(identifier: name + "2") ON \(identifier: name) (\(identifier: name), price)"
      )
      // Indexes matter from a hundred rows on.
      for _ in 0..<100 {
        try db.executeUpdate("INSERT INTO \(identifier: name) VALUES (\(name), 1, NULL)")
      }
      try db.executeUpdate(
        "CREATE VIEW \(identifier: name + "3") AS SELECT * FROM \(identifier: name + "4")")
    }
    try db.close()
    let (report, status) = try tool.check("a.db")
    #expect(status == 1)
    let rules = [
      "float-money", "foreign-key-index", "foreign-key-not-unique", "no-primary-key",
      "redundant-index", "text-in-number",
    ]
    for name in names {
      let own = report.findings.filter { $0.evidence.table == name }
      #expect(own.map(\.rule).sorted().filter { $0 != "keyword-name" } == rules, "\(name)")
    }
    #expect(report.findings.filter { $0.rule == "broken-view" }.count == names.count)
    let result = try tool.run("check", "a.db")
    #expect(result.status == 1)
    #expect(!result.output.contains("\u{1B}"))
    // The proposed SQL can be run, and resolves the findings.
    let repaired = try tool.database("a.db")
    for finding in report.findings where ["redundant-index", "broken-view"].contains(finding.rule) {
      for sql in finding.evidence.sql { try repaired.executeUpdate(SQL(raw: sql)) }
    }
    try repaired.close()
    let (after, _) = try tool.check("a.db", "--only", "redundant-index,broken-view")
    #expect(after.findings.isEmpty)
  }

  @Test("larder check of a randomly altered file ends with status 0, 1 or 3, and doesn't change it")
  func mutated() throws {
    let tool = try Tool.withCities()
    let bytes = try tool.contents(of: "cities.db")
    var generator = SeededGenerator(seed: 24)
    for _ in 0..<60 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...20, using: &generator) {
        changed[Int.random(in: 100..<changed.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      try tool.write("a.db", changed)
      let result = try tool.run("check", "a.db")
      #expect([0, 1, 3].contains(result.status), "\(result.status) \(result.errors)")
      #expect(try tool.contents(of: "a.db") == changed)
    }
  }
}

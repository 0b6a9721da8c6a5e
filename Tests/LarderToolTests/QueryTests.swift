import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder query")
struct QueryTests {
  @Test("larder query prints aligned columns, and counts wide characters as two")
  func table() throws {
    let tool = try Tool.withCities()
    let sql = "SELECT code, name, 12 AS n, NULL AS mayor FROM country ORDER BY code"
    #expect(
      try tool.run("query", "cities.db", sql).output == """
        code  name    n  mayor
        CN    中国   12  NULL
        NO    Norge  12  NULL

        """)
  }

  @Test("larder query --csv distinguishes NULL from empty text, and quotes where needed")
  func csv() throws {
    let tool = try Tool.withCities()
    let sql = """
      SELECT NULL AS a, '' AS "b c", 'x,"y"' AS d, 'line' || char(13, 10) || 'two' AS e, x'00FF' AS f,
        1.5 AS g
      """
    #expect(
      try tool.run("query", "cities.db", sql, "--csv").output
        == "a,\"b c\",d,e,f,g\n,\"\",\"x,\"\"y\"\"\",\"line\r\ntwo\",00FF,1.5\n")
  }

  @Test("larder query --json is exact for numbers, text, blobs, infinity and duplicate names")
  func json() throws {
    let tool = try Tool.withCities()
    let sql = """
      SELECT 9223372036854775807 AS i, 0.1 AS r, 9e999 AS inf, 'é"\\' || char(10, 27) AS t, x'00ff' AS b,
        NULL AS n, 1 AS i
      """
    let output = try tool.run("query", "cities.db", sql, "--json").output
    #expect(
      output == """
        [
          {"i": 9223372036854775807, "r": 0.1, "inf": 9e999, "t": "é\\"\\\\\\n\\u001b", "b": "AP8=", "n": null, "i:2": 1}
        ]

        """)
    #expect(try tool.run("query", "cities.db", "SELECT 1 WHERE 0", "--json").output == "[]\n")
    #expect(RowOutput.distinct(["a", "a", "a:2", "a"]) == ["a", "a:3", "a:2", "a:4"])
  }

  @Test("larder query binds values by position and by name")
  func parameters() throws {
    let tool = try Tool.withCities()
    let sql = "SELECT typeof(?) AS a, typeof(?) AS b, typeof(?) AS c, typeof(?) AS d, ? AS e"
    #expect(
      try tool.rows("cities.db", sql, "5", "0.5", "NULL", "x'00'", "'5'") == [
        ["a": "integer", "b": "real", "c": "null", "d": "blob", "e": "5"]
      ])
    #expect(
      try tool.rows("cities.db", "SELECT :a || @b AS c", "--bind", "a=x=y", "--bind", ":b=z")
        == [["c": "x=yz"]])
    #expect(try tool.rows("cities.db", "SELECT ? AS a", "-5") == [["a": -5]])
    let few = try tool.run("query", "cities.db", "SELECT ?, ?", "1")
    #expect(few.status == 2 && few.errors.hasPrefix("larder: the SQL can't be run: "))
  }

  @Test(
    "larder query reads an argument as NULL, number, blob or text",
    arguments: [
      ("NULL", .null), ("null", .text("null")), ("", .text("")), ("-7", .integer(-7)), ("7", 7),
      ("01581", .text("01581")), ("+4712345678", .text("+4712345678")), ("-0", .text("-0")),
      ("12345678901234567890", .text("12345678901234567890")), ("1.50", .text("1.50")),
      ("-0.5", -0.5),
      ("1e+20", 1e20), ("1e3", .text("1e3")), (".5", .text(".5")), ("1e999", .text("1e999")),
      ("nan", .text("nan")), ("inf", .text("inf")),
      ("0x10", .text("0x10")), ("x'0aFf'", .blob([10, 255])), ("x'0'", .text("x'0'")),
      ("x''", .blob([])), ("'it''s'", .text("it's")), ("'", .text("'")), ("''", .text("")),
      ("9223372036854775808", .text("9223372036854775808")), ("日本", .text("日本")),
    ] as [(String, DatabaseValue)])
  func words(word: String, value: DatabaseValue) {
    #expect(QueryParameters.value(of: word) == value)
  }

  @Test(
    "larder query --json and --csv refuse text that isn't UTF-8", arguments: ["--json", "--csv"])
  func invalidText(_ format: String) throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (CAST(x'61FF' AS TEXT))")
    let result = try tool.run("query", "a.db", "SELECT 1 AS n, a FROM t", format)
    #expect(result.status == 1)
    #expect(result.errors.contains("row 2, column “a”: the text isn't valid"), "\(result.errors)")
    let bytes = try tool.run("query", "a.db", "SELECT CAST(a AS BLOB) AS a FROM t", format)
    #expect(bytes.status == 0 && bytes.output.contains(format == "--csv" ? "61FF" : "Yf8="))
    #expect(try tool.run("query", "a.db", "SELECT a FROM t").lines == ["a", "x", "a\u{FFFD}"])
  }

  @Test(
    "larder query without --write refuses statements that write",
    arguments: [
      "DELETE FROM city", "INSERT INTO country VALUES ('SE', 'Sverige')", "DROP TABLE city",
      "PRAGMA user_version = 5", "PRAGMA journal_mode = wal", "VACUUM", "VACUUM INTO 'copy.db'",
      "ATTACH 'other.db' AS other", "CREATE TEMP TABLE t (a)", "REINDEX", "ANALYZE",
    ])
  func readOnly(sql: String) throws {
    let tool = try Tool.withCities()
    let before = try tool.contents(of: "cities.db")
    let result = try tool.run("query", "cities.db", sql)
    #expect([2, 3].contains(result.status), "\(result)")
    #expect(try tool.contents(of: "cities.db") == before)
    #expect(try tool.files() == ["cities.db"])
  }

  @Test("larder query --write changes the file, and a failed statement is undone")
  func write() throws {
    let tool = try Tool.withCities()
    let result = try tool.run(
      "query", "cities.db", "--write", "UPDATE city SET name = ? WHERE id <= 2 RETURNING id", "Oslo"
    )
    #expect(result.status == 0)
    #expect(result.lines == ["id", " 1", " 2"])
    #expect(result.errors == "2 rows were changed\n")
    let before = try tool.contents(of: "cities.db")
    let failed = try tool.run(
      "query", "cities.db", "--write",
      "INSERT INTO country VALUES ('SE', 'Sverige'), ('NO', 'Norge')")
    #expect(failed.status == 1)
    #expect(failed.errors.contains("the database doesn't allow that"), "\(failed.errors)")
    #expect(try tool.contents(of: "cities.db") == before)
  }

  @Test("larder query accepts SQL that begins with a comment")
  func comment() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("query", "cities.db", "-- five\nSELECT 5 AS n", "--csv")
    #expect(result.output == "n\n5\n", "\(result.errors)")
    #expect(try tool.run("query", "cities.db", "--none", "SELECT 5").status == 2)
  }

  @Test("larder query --write prints the number of changed rows only after the commit")
  func countAfterCommit() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INT REFERENCES a DEFERRABLE INITIALLY DEFERRED)"
    )
    let failed = try tool.run("query", "a.db", "--write", "INSERT INTO b VALUES (7)")
    #expect(failed.status == 1 && !failed.errors.contains("changed"), "\(failed.errors)")
    let result = try tool.run("query", "a.db", "--write", "INSERT INTO a VALUES (7)")
    #expect(result.errors == "1 row was changed\n")
  }

  @Test("larder query reports an error in the SQL with line and character")
  func wrongSQL() throws {
    let tool = try Tool.withCities()
    let wrong = try tool.run("query", "cities.db", "SELECT *\nFROM city\nWHERE 東京 = 1")
    #expect(wrong.status == 2)
    #expect(
      wrong.errors == "larder: the SQL can't be run: no such column: 東京, at line 3, character 7\n")
    let two = try tool.run("query", "cities.db", "SELECT 1; DELETE FROM city")
    #expect(two.errors == "larder: the SQL can't be run: the SQL has more than one statement\n")
    #expect(try tool.run("query", "cities.db", "").status == 2)
  }

  @Test("larder query shortens long values, except with --wide")
  func wide() throws {
    let tool = try Tool.withCities()
    let sql = "SELECT printf('%.100c', 'x') AS t"
    #expect(
      try tool.run("query", "cities.db", sql).lines[1] == String(repeating: "x", count: 59) + "…")
    #expect(try tool.run("query", "cities.db", sql, "--wide").lines[1].count == 100)
    #expect("日本語".cut(to: 4) == "日…")
    #expect("日本".cut(to: 4) == "日本")
  }

  @Test("larder query --vertical prints a line for each value, and an empty one between rows")
  func vertical() throws {
    let tool = try Tool.withCities()
    let sql = """
      SELECT code AS "kód", name, NULL AS mayor, printf('%.70c', 'x') AS t, x'00FF' AS b,
        'a' || char(13, 10) || 'b' || char(9, 27) AS lines FROM country ORDER BY code
      """
    func row(_ code: String, _ name: String) -> String {
      """
      kód    \(code)
      name   \(name)
      mayor  NULL
      t      \(String(repeating: "x", count: 70))
      b      x'00FF'
      lines  a⏎b \u{FFFD}

      """
    }
    #expect(
      try tool.run("query", "cities.db", sql, "--vertical").output
        == row("CN", "中国") + "\n" + row("NO", "Norge"))
    #expect(try tool.run("query", "cities.db", "SELECT 1 WHERE 0", "--vertical").output == "")
    #expect(try tool.run("query", "cities.db", sql, "--vertical", "--csv").status == 2)
  }

  @Test("larder query prints the rows before one that it can't print, and nothing of that one")
  func beforeError() throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (CAST(x'61FF' AS TEXT))")
    let sql = "SELECT 1 AS n, a FROM t"
    #expect(try tool.run("query", "a.db", sql, "--csv").output == "n,a\n1,x\n")
    #expect(
      try tool.run("query", "a.db", sql, "--json").output == "[\n  {\"n\": 1, \"a\": \"x\"}")
  }

  @Test(
    "A cell of larder query's table is the value on one line, cut to the width",
    arguments: [nil, 1, 2, 10, 60] as [Int?])
  func cells(limit: Int?) throws {
    let parts = [
      "", "a", " ", "x\u{301}", "é", "中", "한", "👨‍👩‍👧", "🇩🇪", "\r", "\n", "\r\n", "\t", "\0", "\u{1B}",
      "\u{85}", "\u{AD}", "\u{202E}", "\u{2028}", "\u{4DC0}", "\u{FFFD}",
    ]
    let texts = parts.flatMap { part in
      [1, 5, 31, 60, 61].flatMap { count in
        ["", "ab", "中"].map { $0 + String(repeating: part, count: count) }
      }
    }
    let values: [DatabaseValue] =
      texts.map { .text($0) } + [
        .null, 1, -5, .integer(.min), .integer(.max), 0.1, 1e300, .real(-.infinity), .blob([]),
        .blob([0, 255]), .blob(Array(0...15)), .blob(Array(0...16)),
      ]
    let db = try Database()
    for value in values {
      let rows = try db.executeQuery("SELECT \(value)")
      #expect(try rows.next())
      var cell = TableCell("what was there")
      try cell.read(rows.reader(at: 0), limit)
      let expected = limit.map { value.plain.cut(to: $0) } ?? value.plain
      #expect(String(decoding: cell.bytes, as: UTF8.self) == expected)
      #expect(cell.width == expected.displayWidth)
      #expect(cell.isCut == (expected != value.plain))
    }
  }

  @Test("larder query prints all rows, also those after the ones that determine the widths")
  func manyRows() throws {
    let tool = try Tool.withCities()
    let sql = "SELECT a.id FROM city AS a, city AS b LIMIT 5000"
    #expect(try tool.run("query", "cities.db", sql).lines.count == 5001)
  }

  @Test("Ctrl-C ends larder query with status 130, and leaves no files behind")
  func interrupt() throws {
    let tool = try Tool.withCities("wal")
    let endless = """
      WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers)
      SELECT i FROM numbers
      """
    let process = try tool.start(["query", "cities.db", endless, "--csv"], output: "run-endless")
    while (try? tool.contents(of: "run-endless.out").count) ?? 0 == 0 { sched_yield() }
    process.send(SIGINT)
    #expect(process.end() == 130)
    #expect(try tool.text("run-endless.err") == "larder: interrupted\n")
    #expect(try tool.files() == ["cities.db"])
  }
}

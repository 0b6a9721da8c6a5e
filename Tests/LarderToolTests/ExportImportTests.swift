import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder export and import")
struct ExportImportTests {
  static let formats = ["--csv", "--tsv", "--jsonl", "--delimiter=;"]

  /// A table with every kind of value in columns of every affinity.
  private static let specimens = """
    CREATE TABLE "t" (id INTEGER PRIMARY KEY, i INTEGER, r REAL, x TEXT, b BLOB, n, d DATE,
      twice AS (i * 2));
    INSERT INTO t (i, r, x, b, n, d) VALUES
      (9223372036854775807, 9e999, '', x'', NULL, '2024-01-01'),
      (-9223372036854775808, -9e999, 'a"b' || char(10) || 'c,d;' || char(9), x'00ff', '5', 5),
      ('abc', 'xyz', x'0102', 'text', 5, 5.5),
      (1.5, 0.1, 'x''41''', 5, 5.0, NULL),
      (NULL, 1e300, 'nul' || char(0) || 'x', '007', '007', ''),
      (9.3e18, 5e-324, ' sp ', 'x''', -0.0, '1e3'),
      (x'', 1.7976931348623157e308, '5', 9223372036854775807, '9223372036854775808', 'null'),
      ('-', 0.30000000000000004, char(13, 10), '-5', '1e5', '+5 '),
      (0, -1.0, '中国 🇳🇴' || char(127, 0x85, 0x2028), '9e999', 9e999, '12:00'),
      ('true', 1e16, '\\', '{"base64": "AA=="}', 123456789.125, x'27');
    """

  @Test("larder export and import keep every value", arguments: formats)
  func roundTrip(_ format: String) throws {
    let tool = try Tool()
    try tool.make("a.db", Self.specimens)
    try tool.make("b.db", String(Self.specimens.prefix { $0 != ";" }))
    let result = try tool.shell(
      "larder export a.db t '\(format)' | larder import b.db T '\(format)'")
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "10 rows were imported into “T”\n")
    let rows = try tool.values("a.db", "SELECT * FROM t")
    #expect(rows.count == 10)
    #expect(try tool.values("b.db", "SELECT * FROM t") == rows)
    // -0.0 == 0.0, so the sign is compared by quote(). NaN can't be stored.
    let signs = "SELECT quote(n) FROM t WHERE id = 6"
    #expect(try tool.values("b.db", signs) == tool.values("a.db", signs))
  }

  @Test(
    "larder export and import keep STRICT tables with ANY columns and hostile names",
    arguments: formats)
  func hostileNames(_ format: String) throws {
    let tool = try Tool()
    let names = [
      "\"; DROP TABLE x; --", "a\nb", "select", "🇳🇴", "", "a,b;c\td", "'", "\u{1}\u{7F}",
      String(repeating: "long", count: 250),
    ]
    for name in names {
      let quoted = "\"" + name.replacing("\"", with: "\"\"") + "\""
      let definition = """
        CREATE TABLE \(quoted) (\(quoted) TEXT, "2\(quoted.dropFirst()) ANY, k INT PRIMARY KEY)
          STRICT, WITHOUT ROWID
        """
      for file in ["a.db", "b.db"] {
        try? FileManager.default.removeItem(atPath: tool.file(file))
        try tool.make(file, definition)
      }
      try tool.make(
        "a.db", "INSERT INTO \(quoted) VALUES ('x''41''', '5', 1), (NULL, 5, 2), ('', x'05', 3)")
      #expect(
        try tool.run("export", "a.db", name, format, "--output", "rows", "--replace").status == 0)
      let result = try tool.run("import", "b.db", name, "rows", format)
      #expect(result.status == 0, "\(result.errors)")
      let all = "SELECT * FROM \(quoted)"
      #expect(try tool.values("b.db", all) == tool.values("a.db", all))
      #expect(try tool.values("b.db", all).count == 3)
    }
  }

  @Test("larder export quotes CSV only where needed, and distinguishes NULL from empty text")
  func csv() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (a TEXT, "b c" INTEGER, d);
      INSERT INTO t VALUES ('Oslo', 1, 'x'), ('', NULL, NULL), ('a,"b"', 2.5, '7'), (NULL, 'n', x'0A')
      """)
    #expect(
      try tool.run("export", "a.db", "t").output
        == "a,b c,d\nOslo,1,x\n\"\",,\n\"a,\"\"b\"\"\",2.5,\"7\"\n,\"n\",x'0A'\n")
    #expect(
      try tool.run("export", "a.db", "t", "--columns", "d,A", "--null", "NULL", "--no-header")
        .output == "x,Oslo\nNULL,\"\"\n\"7\",\"a,\"\"b\"\"\"\nx'0A',NULL\n")
    #expect(
      try tool.run(
        "export", "a.db", "--query", "SELECT a, a FROM t WHERE a = :a", "--bind", "a=Oslo"
      )
      .output == "a,a:2\nOslo,Oslo\n")
    #expect(
      try tool.run("export", "a.db", "t", "--jsonl").lines[3]
        == #"{"a": null, "b c": "n", "d": {"base64": "Cg=="}}"#)
  }

  @Test("larder import reads files with a byte order mark, CRLF and quotes around everything")
  func otherPrograms() throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE t (a INTEGER, b REAL, c TEXT)")
    try tool.write("t.csv", "\u{FEFF}\"c\",\"a\",b\r\n\"Oslo\r\n\",\"1\",\"2.5\"\r\n00123,7,8".utf8)
    let result = try tool.run("import", "a.db", "t", "t.csv")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      try tool.values("a.db", "SELECT * FROM t") == [[1, 2.5, "Oslo\r\n"], [7, 8.0, "00123"]])
    try tool.write(
      "t.jsonl",
      "\u{FEFF}{\"c\": [1, {\"x\": 2}], \"a\": true, \"b\": 1}\r\n\n{\"a\":2,\"b\":null,\"c\":\"\\ud83d\\ude00\"}\n"
        .utf8)
    #expect(try tool.run("import", "a.db", "t", "t.jsonl").status == 0)
    #expect(
      try tool.values("a.db", "SELECT * FROM t LIMIT 2 OFFSET 2")
        == [[1, 1.0, "[1, {\"x\": 2}]"], [2, nil, "😀"]])
  }

  @Test(
    "larder import of bad CSV reports the line, and imports nothing",
    arguments: [
      ("a,b\n1,x\n2\n", "t.csv:3: there is 1 field, for 2 columns"),
      ("a,b\n1,x,3\n", "t.csv:2: there are 3 fields, for 2 columns"),
      (
        "a,b\n1,\"x\ny\"\nx,y\n", "t.csv:4: “a”: “x” isn't an integer; in quotes it would be stored"
      ),
      (
        "a,b\n9223372036854775808,x\n", "t.csv:2: “a”: “9223372036854775808” doesn't fit into"
      ),
      ("a,b\n1,x\n1,y\n", "t.csv:3: UNIQUE constraint failed: t.a"),
      ("a,b\n1,\"x\n", "t.csv:2: a quote is never closed"),
      ("a,b\n1,x\"\n", "t.csv:2: a field contains a quote"),
      ("a,A\n1,2\n", "t.csv:1: the name “A” occurs twice"),
      ("a,b\0\n1,2\n", "t.csv:1: a column name contains a NUL"),
      ("a,z\n1,2\n", "“t” has no column “z”"),
      ("a,g\n1,2\n", "the column “g” of “t” is generated"),
      ("", "t.csv:1: the file is empty"),
    ])
  func errors(_ text: String, _ problem: String) throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a INTEGER UNIQUE, b TEXT, g AS (a)); INSERT INTO t VALUES (7, '')")
    try tool.write("t.csv", text.utf8)
    let before = try tool.contents(of: "a.db")
    let result = try tool.run("import", "a.db", "t", "t.csv")
    #expect(result.status == 1 && result.errors.contains(problem), "\(result.errors)")
    #expect(try tool.contents(of: "a.db") == before)
    #expect(try tool.files() == ["a.db", "t.csv"])
  }

  @Test(
    "larder import of bad JSON lines reports the line, and imports nothing",
    arguments: [
      ("{\"a\": 1}\n{\"a\": 1,}\n", ":2: the line isn't JSON"),
      ("{\"a\": 1}\n[1]\n", ":2: the line isn't a JSON object"),
      ("{\"a\": 1}\n{\"b\": 1}\n", ":2: “b” isn't a column of the first line"),
      ("{\"a\": 1, \"b\": 2}\n{\"b\": 1}\n", ":2: “a” is missing"),
      ("{\"a\": 1, \"A\": 2}\n", ":1: the name “A” occurs twice"),
      ("{\"b\": \"\\ud800\"}\n", ":1: “b”: the text has half a surrogate pair"),
      ("{\"b\": {\"base64\": \"?\"}}\n", ":1: “b”: the value of base64 isn't valid Base64"),
    ])
  func jsonErrors(_ text: String, _ problem: String) throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE t (a INTEGER, b TEXT)")
    try tool.write("t.jsonl", text.utf8)
    let result = try tool.run("import", "a.db", "t", "t.jsonl")
    #expect(result.status == 1 && result.errors.contains("t.jsonl" + problem), "\(result.errors)")
    #expect(try tool.values("a.db", "SELECT * FROM t").isEmpty)
  }

  @Test("larder export and import refuse text that isn't UTF-8")
  func malformed() throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x'), (CAST(x'FF' AS TEXT))")
    let result = try tool.run("export", "a.db", "t", "--output", "t.csv")
    #expect(
      result.status == 1 && result.errors.contains("row 2, column “a”: the text isn't valid"),
      "\(result.errors)")
    #expect(try tool.files() == ["a.db"])
    try tool.write("t.csv", [97, 10, 0xFF, 10])
    let other = try tool.run("import", "a.db", "t", "t.csv")
    #expect(other.status == 1 && other.errors.contains("t.csv:2: “a”: the text is not valid UTF-8"))
  }

  @Test(
    "larder import --skip-errors leaves out that many bad lines, each reported on standard error")
  func skipping() throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL)")
    try tool.write("t.csv", "a,b\n1,x\n1,y\n2,z\"\n3,\n4,w\n".utf8)
    let few = try tool.run("import", "a.db", "t", "t.csv", "--skip-errors", "2")
    #expect(few.status == 1 && few.errors.contains("t.csv:5: "), "\(few.errors)")
    #expect(try tool.values("a.db", "SELECT * FROM t").isEmpty)
    let enough = try tool.run("import", "a.db", "t", "t.csv", "--skip-errors", "3", "--json")
    #expect(enough.status == 0 && enough.errors.split(separator: "\n").count == 3)
    #expect(enough.output.contains("\"skipped\" : 3"))
    #expect(try tool.values("a.db", "SELECT * FROM t") == [[1, "x"], [4, "w"]])
  }

  @Test("larder import --on-conflict ignores or replaces existing rows")
  func conflicts() throws {
    let tool = try Tool()
    try tool.make(
      "a.db", "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); INSERT INTO t VALUES (1, 'x')")
    try tool.write("t.csv", "1,y\n2,z\n".utf8)
    let ignored = try tool.run(
      "import", "a.db", "t", "t.csv", "--no-header", "--on-conflict", "ignore")
    #expect(ignored.output == "1 row was imported into “t”, 1 ignored\n")
    #expect(try tool.values("a.db", "SELECT * FROM t") == [[1, "x"], [2, "z"]])
    #expect(
      try tool.run("import", "a.db", "t", "t.csv", "--no-header", "--on-conflict", "replace")
        .status == 0)
    #expect(try tool.values("a.db", "SELECT * FROM t") == [[1, "y"], [2, "z"]])
    #expect(try tool.run("import", "a.db", "t", "t.csv", "--on-conflict", "what").status == 2)
  }

  @Test("larder import --create makes database and table with types that fit the first records")
  func creating() throws {
    let tool = try Tool()
    try tool.write(
      "t.csv", "id,lat,code,name,photo,none\n1,59.9,007,Oslo,x'00',\n2,60,1,\"5\",,\n".utf8)
    #expect(try tool.run("import", "new.db", "city", "t.csv").status == 3)
    #expect(try tool.files() == ["t.csv"])
    let result = try tool.run("import", "new.db", "city", "t.csv", "--create")
    #expect(result.status == 0, "\(result.errors)")
    #expect(
      try tool.values("new.db", "SELECT name, type FROM pragma_table_info('city')") == [
        ["id", "INTEGER"], ["lat", "REAL"], ["code", "TEXT"], ["name", "TEXT"], ["photo", "BLOB"],
        ["none", "TEXT"],
      ])
    #expect(
      try tool.values("new.db", "SELECT * FROM city") == [
        [1, 59.9, "007", "Oslo", .blob([0]), nil], [2, 60.0, "1", "5", nil, nil],
      ])
    // With --create bad lines are reported or left out in the same way.
    try tool.write("bad.jsonl", "{\"a\": 1}\n{\"a\": \"\\ud800\"}\n{\"a\": 2\n{\"a\": 3}\n".utf8)
    let half = try tool.run("import", "other.db", "t", "bad.jsonl", "--create")
    #expect(half.status == 1 && half.errors.contains("bad.jsonl:2: “a”: the text has half"))
    let rest = try tool.run("import", "new.db", "t", "bad.jsonl", "--create", "--skip-errors", "2")
    #expect(rest.output == "2 rows were imported into “t”, 2 bad ones left out\n", "\(rest.errors)")
    try FileManager.default.removeItem(atPath: tool.file("bad.jsonl"))
    try tool.write("bad.csv", "a\n1\nx\"\n".utf8)
    #expect(try tool.run("import", "other.db", "t", "bad.csv", "--create").status == 1)
    #expect(try tool.files() == ["bad.csv", "new.db", "t.csv"])
  }

  @Test("larder import accepts references to later rows, and refuses dangling ones")
  func foreignKeys() throws {
    let tool = try Tool()
    try tool.make("a.db", "CREATE TABLE t (id INTEGER PRIMARY KEY, parent INT REFERENCES t)")
    try tool.write("t.csv", "id,parent\n1,2\n2,\n".utf8)
    #expect(try tool.run("import", "a.db", "t", "t.csv").status == 0)
    try tool.write("t.csv", "id,parent\n3,9\n".utf8)
    let result = try tool.run("import", "a.db", "t", "t.csv")
    #expect(result.status == 1 && result.errors.contains("refer to missing rows"))
    #expect(try tool.values("a.db", "SELECT count(*) FROM t") == [[2]])
  }

  @Test(
    "larder export and import handle empty tables, single columns with NULL, and views",
    arguments: ["--csv", "--jsonl"])
  func small(_ format: String) throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE one (a TEXT); CREATE TABLE two (a TEXT);
      INSERT INTO one VALUES (NULL), (''), (NULL), ('x'); CREATE VIEW v AS SELECT a FROM one
      """)
    #expect(
      try tool.shell("larder export a.db two \(format) | larder import a.db one \(format)").output
        == "0 rows were imported into “one”\n")
    #expect(
      try tool.shell("larder export a.db v \(format) | larder import a.db two \(format)").status
        == 0)
    #expect(
      try tool.values("a.db", "SELECT * FROM two") == tool.values("a.db", "SELECT * FROM one"))
    #expect(try tool.run("import", "a.db", "v", "/dev/null", "--jsonl").status == 1)
    #expect(try tool.run("export", "a.db", "none").status == 1)
    #expect(try tool.run("export", "a.db").status == 2)
  }

  @Test(
    "larder export and import keep records longer than the read buffer",
    arguments: ["--csv", "--jsonl"])
  func long(_ format: String) throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE t (a TEXT, b BLOB); CREATE TABLE u (a TEXT, b BLOB);
      INSERT INTO t VALUES (printf('%.3000000c', '"'), randomblob(2000000)), ('x', x'');
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO t SELECT 'Line ' || char(10) || i, randomblob(i % 50) FROM n
      """)
    #expect(
      try tool.shell("larder export a.db t \(format) > rows && larder import a.db u rows \(format)")
        .status == 0)
    #expect(
      try tool.values("a.db", "SELECT count(*) FROM (SELECT * FROM t EXCEPT SELECT * FROM u)") == [
        [0]
      ]
    )
    #expect(try tool.values("a.db", "SELECT count(*) FROM u") == [[20002]])
  }

  @Test("Ctrl-C during larder import leaves the table as it was")
  func interrupt() throws {
    let tool = try Tool.withCities()
    let process = try ChildProcess(
      ChildProcess.built("larder"), ["import", "cities.db", "city", "--columns", "id,name"],
      in: tool.folder, errors: .file(tool.file("run-err")))
    process.say("id,name")
    for id in 1000..<1500 { process.say("\(id),City") }
    // The process has begun to write once there is a journal. Checking the lock would disturb it.
    let journal = tool.file("cities.db-journal")
    while !process.hasEnded, !FileManager.default.fileExists(atPath: journal) { sched_yield() }
    process.send(SIGINT)
    #expect(process.end() == 130)
    #expect(try tool.text("run-err") == "larder: interrupted\n")
    #expect(try tool.values("cities.db", "SELECT count(*) FROM city") == [[300]])
    #expect(try tool.files() == ["cities.db"])
  }

  @Test("larder export and import report locked databases and files that can't be read or replaced")
  func locked() throws {
    let tool = try Tool.withCities()
    try tool.write("t.csv", "code,name\nSE,Sverige\n".utf8)
    let other = try tool.database("cities.db")
    try other.begin(.immediate)
    let result = try tool.run("import", "cities.db", "country", "t.csv", "--wait", "0")
    #expect(result.status == 3 && result.errors.contains("another program is writing"))
    try other.rollback()
    #expect(try tool.run("import", "cities.db", "country", "missing.csv").status == 1)
    #expect(try tool.run("import", "cities.db", "country", ".").status == 1)
    #expect(try tool.run("import", "cities.db", "country", "cities.db").status == 1)
    #expect(try tool.run("import", "t.csv", "country", "t.csv").status == 3)
    #expect(try tool.run("export", "t.csv", "country").status == 3)
    #expect(try tool.run("export", "cities.db", "country", "--output", "t.csv").status == 1)
    #expect(
      try tool.run("export", "cities.db", "country", "--output", "cities.db", "--replace").status
        == 2)
    #expect(try tool.text("t.csv") == "code,name\nSE,Sverige\n")
  }

  @Test("larder export refuses contradictory options")
  func options() throws {
    let tool = try Tool.withCities()
    for words in [
      ["--csv", "--jsonl"], ["--null", "5"], ["--null", "x'"], ["--delimiter", "ab"],
      ["--delimiter", "\""], ["--jsonl", "--null", "x"], ["--json"], ["--bind", "a=1"],
      ["--columns", "a,a"], ["--columns", "\"a\"b"],
    ] {
      let result = try tool.run(["export", "cities.db", "city"] + words)
      #expect(result.status == 2, "\(words): \(result.errors)")
    }
    #expect(try tool.run("export", "cities.db", "--query", "DELETE FROM city").status == 2)
  }
}

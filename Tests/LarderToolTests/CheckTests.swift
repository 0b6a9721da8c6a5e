import Foundation
import Larder
import LarderTerminal
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder check")
struct CheckTests {
  @Test("larder check finds each planted problem, and nothing else", arguments: PlantedProblem.all)
  func planted(problem: PlantedProblem) throws {
    let tool = try Tool()
    try tool.make("a.db", problem.sql)
    let (report, status) = try tool.check("a.db")
    #expect(status == 1)
    #expect(report.findings.map(\.rule) == [problem.rule], "\(report)")
    #expect(report.findings.first?.evidence.table == problem.table)
    #expect(report.findings.first?.evidence.columns == problem.columns)
    #expect(report.remarks.isEmpty, "\(report.remarks)")
  }

  @Test("larder check finds all planted problems in one database, each once, sorted by severity")
  func allPlanted() throws {
    let tool = try Tool()
    try tool.make("a.db", PlantedProblem.all.map(\.sql).joined(separator: ";"))
    let (report, _) = try tool.check("a.db")
    #expect(PlantedProblem.all.count >= 30)
    #expect(report.findings.map(\.rule).sorted() == PlantedProblem.all.map(\.rule).sorted())
    // All proposed SQL compiles.
    let db = try tool.database("a.db")
    for sql in report.findings.flatMap(\.evidence.sql) { try db.validate(SQL(raw: sql)) }
    let order = ["error", "warning", "note"]
    let places = report.findings.compactMap { order.firstIndex(of: $0.severity) }
    #expect(places == places.sorted())
  }

  @Test("larder check reports a damaged table's pages, and still checks the other tables")
  func damaged() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      PRAGMA page_size = 512; CREATE TABLE large (id INTEGER PRIMARY KEY, text TEXT) STRICT;
      CREATE TABLE other (text TEXT) STRICT; INSERT INTO other VALUES ('Oslo');
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO large SELECT i, 'some text of row ' || i FROM n;
      """)
    var bytes = [UInt8](try tool.contents(of: "a.db"))
    for index in 512 * 20..<512 * 25 { bytes[index] = 0xa5 }
    try tool.write("a.db", bytes)
    let (report, status) = try tool.check("a.db")
    #expect(status == 1)
    let found = try #require(report.findings.first { $0.rule == "integrity" })
    #expect("\(found)".contains("Page 2"), "\(found)")
    #expect(
      report.findings.contains { $0.rule == "no-primary-key" && $0.evidence.table == "other" })
    let tables = try #require(try tool.object("inspect", "a.db")["tables"] as? [[String: Any]])
    #expect(tables.count == 2)
  }

  @Test("larder check finds nothing in a good database and exits with status 0")
  func good() throws {
    let tool = try Tool.withCities("wal")
    let result = try tool.run("check", "cities.db")
    #expect(result.status == 0 && result.errors.isEmpty)
    #expect(result.output == "Nothing was found (\(Rule.all.count) rules, 2 tables).\n")
    for mode in ["delete", "wal"] {
      let db = try tool.database("chinook-\(mode).db")
      try db.executeStatements(SQL(raw: "PRAGMA journal_mode = \(mode)"))
      try db.executeStatements(ChinookTables.sql)
      try db.executeStatements(ChinookTables.rows)
      try db.close()
      let (report, status) = try tool.check("chinook-\(mode).db")
      #expect(report.findings.isEmpty && report.remarks.isEmpty, "\(report)")
      #expect(status == 0)
    }
  }

  @Test(
    "larder check --rules lists each rule with its reason, and names are lowercase with hyphens")
  func rules() throws {
    let tool = try Tool()
    let result = try tool.run("check", "--rules")
    #expect(result.status == 0)
    #expect(result.lines.count == Rule.all.count + 1)
    #expect(Rule.all.count >= 30 && Set(Rule.all.map(\.name)).count == Rule.all.count)
    for rule in Rule.all {
      #expect(
        rule.name.utf8.allSatisfy {
          (0x61...0x7A).contains($0) || $0 == 0x2D || $0.decimalDigit != nil
        })
      #expect(rule.reason.hasSuffix(".") && result.output.contains(rule.reason))
    }
  }

  @Test("larder check without a file exits with status 2, except with --rules")
  func withoutFile() throws {
    let tool = try Tool()
    let result = try tool.run("check")
    #expect(result.status == 2)
    #expect(result.errors == "larder: check takes FILE; see “larder check --help”\n")
    let listed = try tool.run("check", "--rules", "--json", "--only", "integrity")
    #expect(listed.status == 0)
    let rules =
      try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [[String: String]]
    #expect(rules?.map { $0["name"] } == ["integrity"] && rules?.first?["severity"] == "error")
  }

  @Test("larder check of a table with 2,000 columns checks all but the last, and says so")
  func manyColumns() throws {
    let tool = try Tool()
    let columns = (1..<2000).map { "c\($0) INTEGER" }.joined(separator: ", ")
    try tool.make(
      "a.db",
      "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns)); INSERT INTO wide (c5, c1998) VALUES ('x', 'y')"
    )
    let (report, _) = try tool.check("a.db")
    #expect(report.findings.map(\.evidence.columns) == [["c5"], ["c1998"]], "\(report)")
    #expect(report.remarks == ["“wide”: the columns from “c1999” on weren't checked"])
  }

  @Test(
    "larder check prints findings with reason, evidence and proposed SQL in the expected format")
  func text() throws {
    let tool = try Tool.withCities()
    try tool.make(
      "cities.db", "DROP INDEX city_country; UPDATE city SET population = 'many' WHERE id = 7")
    let result = try tool.run("check", "cities.db")
    #expect(result.status == 1)
    #expect(
      result.output == """
        warning  foreign-key-index  city.country
          Without an index on a foreign key, each deletion of a row that it may refer to scans this table.
          Found: no index begins with this key to “country”, in a table of 300 rows
          To do: Create one.
            CREATE INDEX "city_country_index" ON "city" ("country");

        warning  text-in-number  city.population
          Text among numbers sorts after all of them, isn't added up, and fails in programs.
          Found: 1 of 300 rows hold text, and the column is INTEGER, such as “many” (rowid 7)
          To do: Convert them, and make the table STRICT.
            SELECT rowid, "population" FROM "city" WHERE typeof("population") = 'text';

        2 warnings (\(Rule.all.count) rules, 2 tables).

        """)
  }

  @Test("larder check --ignore and --only select rules, also for a table or column")
  func ignoring() throws {
    let tool = try Tool()
    let names = ["a,b", "A.b:c", "plain"]
    let tables = names.map {
      "CREATE TABLE \"\($0)\" (id INTEGER PRIMARY KEY, price REAL, cost REAL, \"x.y\" STRING)"
    }
    try tool.make("a.db", tables.joined(separator: ";"))
    func count(_ options: String...) throws -> Int {
      let result = try tool.run(["check", "a.db", "--json"] + options)
      let report = try JSONDecoder().decode(CheckedReport.self, from: Data(result.output.utf8))
      #expect(result.status == (report.findings.isEmpty ? 0 : 1))
      return report.findings.count
    }
    #expect(try count() == 9)
    #expect(try count("--ignore", "float-money") == 3)
    #expect(try count("--ignore", "float-money,misread-type") == 0)
    #expect(try count("--ignore", "float-money", "--ignore", "misread-type") == 0)
    #expect(try count("--ignore", "float-money:PLAIN") == 7)
    #expect(try count("--ignore", "float-money:plain.price") == 8)
    #expect(try count("--ignore", "float-money:a,b,misread-type:plain.x.y") == 6)
    #expect(try count("--ignore", "float-money:A.b:c.cost") == 8)
    #expect(try count("--only", "misread-type") == 3)
    #expect(try count("--only", "float-money:plain,misread-type") == 5)
    #expect(try count("--not", "float-money,misread-type") == 0)
    #expect(try count("--not", "float-money:plain", "--ignore", "misread-type") == 4)
    #expect(try count("--only", "float-money", "--not", "float-money:plain.cost") == 5)
    for option in ["--ignore", "--not", "--only"] {
      let result = try tool.run("check", "a.db", option, "float-money,speed")
      #expect(result.status == 2)
      #expect(
        result.errors
          == "larder: \(option): there is no rule “speed”; “larder check --rules” lists them\n")
    }
  }
}

import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder explain")
struct ExplainTests {
  @Test(
    "larder explain marks scans and temporary B-trees, and shows the plan with a suggested index")
  func suggestion() throws {
    let tool = try Tool.withCities()
    let result = try tool.run(
      "explain", "cities.db", "SELECT name FROM city WHERE population = ? ORDER BY name, id")
    #expect(result.status == 0)
    #expect(result.lines.first == "├─ SCAN city  ← full scan of 300 rows")
    #expect(result.output.contains("USE TEMP B-TREE FOR ORDER BY  ← temporary B-tree"))
    #expect(result.output.contains("would help:\n  CREATE INDEX \"city_"))
    let json = try tool.object(
      "explain", "cities.db", "SELECT name FROM city WHERE population = 5")
    #expect(
      json["suggestedIndexes"] as? [String]
        == ["CREATE INDEX \"city_population\" ON \"city\" (\"population\")"])
    let after = try #require((json["planWithIndexes"] as? [[String: Any]])?.first)
    #expect(after["detail"] as? String == "SEARCH city USING INDEX city_population (population=?)")
    #expect(after["cost"] == nil)
  }

  @Test("The plan that larder explain predicts is the one after creating the suggested indexes")
  func promise() throws {
    let tool = try Tool.withCities()
    let db = try tool.database("cities.db")
    let sql =
      "SELECT * FROM city JOIN country ON code = country WHERE population = 5 AND city.name > 'A'"
    let explanation = try Explanation(db, sql)
    for index in explanation.suggestedIndexes { try db.executeUpdate(SQL(raw: index)) }
    let after = try Explanation(db, sql)
    #expect(!explanation.planWithIndexes.isEmpty)
    #expect(after.plan.map(\.detail) == explanation.planWithIndexes.map(\.detail))
    #expect(after.suggestedIndexes.isEmpty && after.planWithIndexes.isEmpty)
  }

  @Test("larder explain runs nothing, and suggests nothing for queries that no index helps")
  func nothing() throws {
    let tool = try Tool.withCities()
    let before = try tool.contents(of: "cities.db")
    #expect(
      try tool.run("explain", "cities.db", "SELECT * FROM city WHERE id = 5").output
        == "└─ SEARCH city USING INTEGER PRIMARY KEY (rowid=?)\n")
    #expect(try tool.run("explain", "cities.db", "DELETE FROM city").status == 0)
    #expect(try tool.run("explain", "cities.db", "SELECT 1").status == 0)
    #expect(try tool.contents(of: "cities.db") == before)
    let wrong = try tool.run("explain", "cities.db", "SELECT mayor FROM city")
    #expect(wrong.status == 2 && wrong.errors.contains("no such column: mayor"))
  }

  /// 40,000 readings of 500 devices, with four flags.
  private func readings() throws -> Tool {
    let tool = try Tool()
    try tool.make(
      "readings.db",
      """
      CREATE TABLE reading (id INTEGER PRIMARY KEY, device INTEGER, flags INTEGER, value REAL);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
        INSERT INTO reading SELECT i, i * 7919 % 500, i * 31 % 4, i * 104729 % 100003 FROM n;
      """)
    return tool
  }

  @Test(
    "larder explain suggests the index that is fastest on a copy: selective columns first, then the order",
    arguments: [
      (
        "SELECT * FROM reading WHERE flags = 2 AND device = 5 ORDER BY value DESC LIMIT 10",
        ["device", "flags", "value"]
      ),
      ("SELECT device, max(value) FROM reading GROUP BY device", ["device", "value"]),
      ("SELECT * FROM reading WHERE device = ? AND value > ?", ["device", "value"]),
    ])
  func measured(_ sql: String, _ columns: [String]) throws {
    let tool = try readings()
    let before = try tool.contents(of: "readings.db")
    let json = try tool.object("explain", "readings.db", sql)
    let indexes = try #require(json["suggestedIndexes"] as? [String])
    #expect(indexes.count == 1)
    let first = "ON \"reading\" (\"\(columns[0])\""
    #expect(indexes.first?.contains(first) == true, "\(indexes)")
    for column in columns.prefix(2) { #expect(indexes.first?.contains("\"\(column)\"") == true) }
    let times = try #require(json["measurement"] as? [String: Any])
    let (old, new) = (times["before"] as? Double ?? 0, times["after"] as? Double ?? 0)
    #expect(new < old * 0.87)
    #expect(try tool.contents(of: "readings.db") == before)
    #expect(try tool.files() == ["readings.db"])
  }

  @Test(
    "larder explain tries an index of all columns where no star stands for the others",
    arguments: [
      ("SELECT count(*) FROM reading WHERE flags = 2 AND value * 2 <> 14", ["flags", "value"]),
      ("SELECT * FROM reading WHERE flags = 2", []), ("SELECT r.* FROM reading AS r", []),
      ("SELECT flags, * FROM reading", []), ("SELECT DISTINCT * FROM reading", []),
    ])
  func star(_ sql: String, _ covered: [String]) throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE reading (id INTEGER PRIMARY KEY, flags INT, value REAL)")
    let table = try #require(try Schema(db).table("reading"))
    let terms = try TrialTerms(table, sql.sqlTokens) { _ in
      []
    } distinct: { _ in
      1
    }
    #expect(terms.named == covered)
    #expect(terms.candidates.contains { $0.map(\.column) == covered } == !covered.isEmpty)
  }

  @Test(
    "larder explain suggests no index that makes its statement slower, and runs no hostile file")
  func slower() throws {
    let tool = try readings()
    // Nearly all rows: a search of an index for each is slower than the scan.
    let json = try tool.object(
      "explain", "readings.db", "SELECT sum(id) FROM reading WHERE flags < 9 AND value >= 0")
    for index in json["suggestedIndexes"] as? [String] ?? [] {
      #expect(index.contains("\"flags\"") && index.contains("\"value\""), "\(index)")
    }
    let untrusted = try tool.object(
      "explain", "readings.db", "SELECT * FROM reading WHERE device = 5", "--untrusted")
    #expect(untrusted["measurement"] == nil)
    #expect((untrusted["suggestedIndexes"] as? [String])?.count == 1)
  }

  @Test(
    "larder explain measures a sample of a large file's rows, and changes nothing by DELETE or UPDATE"
  )
  func sampled() throws {
    let tool = try Tool()
    try tool.make(
      "large.db",
      """
      CREATE TABLE page (id INTEGER PRIMARY KEY, site INTEGER, text TEXT);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000)
        INSERT INTO page SELECT i, i % 3000, hex(zeroblob(2000)) FROM n;
      """)
    let found = try tool.object("explain", "large.db", "SELECT id FROM page WHERE site = 7")
    #expect(
      found["suggestedIndexes"] as? [String] == [
        "CREATE INDEX \"page_site\" ON \"page\" (\"site\")"
      ])
    let times = try #require(found["measurement"] as? [String: Any])
    #expect(times["sampledTables"] as? [String] == ["page"])
    #expect(try tool.run("explain", "large.db", "DELETE FROM page WHERE site = 7").status == 0)
    #expect(
      try tool.run("explain", "large.db", "UPDATE page SET text = '' WHERE site = ?").status == 0)
    #expect(
      try tool.values("large.db", "SELECT count(*) FROM page WHERE text <> ''") == [
        [.integer(15000)]
      ])
  }

  @Test("larder explain indents the steps of a subquery")
  func tree() throws {
    let tool = try Tool.withCities()
    let result = try tool.run(
      "explain", "cities.db",
      "SELECT * FROM city WHERE country IN (SELECT code FROM country WHERE name = 'Norge')")
    #expect(result.lines.contains { $0.hasPrefix("   └─ ") }, "\(result.output)")
  }

  @Test(
    "larder explain recognizes full scans, index scans, temporary B-trees and automatic indexes",
    arguments: [
      ("SCAN city", .fullScan), ("SCAN c USING COVERING INDEX i", .indexScan),
      ("SCAN CONSTANT ROW", nil), ("SCAN 3 CONSTANT ROWS", nil),
      ("SCAN json_each VIRTUAL TABLE INDEX 1:", nil), ("SEARCH city USING INDEX i (a=?)", nil),
      ("USE TEMP B-TREE FOR ORDER BY", .temporaryBTree),
      ("SEARCH t USING AUTOMATIC COVERING INDEX (a=?)", .automaticIndex),
    ] as [(String, ExplainedStep.Cost?)])
  func costs(detail: String, cost: ExplainedStep.Cost?) {
    #expect(ExplainedStep.Cost(detail) == cost)
  }
}

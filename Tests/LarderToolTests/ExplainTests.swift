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
      "explain", "cities.db", "SELECT name FROM city WHERE population > ? ORDER BY name, id")
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

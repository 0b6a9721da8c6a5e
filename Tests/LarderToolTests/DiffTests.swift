import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder schema and diff")
struct DiffTests {
  @Test("larder schema prints SQL and JSON that larder diff finds equal to the database")
  func schema() throws {
    let tool = try Tool.withCities()
    let text = try tool.run("schema", "cities.db")
    #expect(text.status == 0)
    #expect(text.lines.first?.hasPrefix("CREATE TABLE country (code TEXT") == true)
    let copy = try tool.database("copy.db")
    try copy.executeStatements(SQL(raw: text.output))
    try copy.close()
    #expect(try tool.run("diff", "cities.db", "copy.db").output == "The schemas are the same.\n")
    try tool.write("schema.json", try tool.run("schema", "cities.db", "--json").output.utf8)
    let same = try tool.run("diff", "cities.db", "schema.json", "--check")
    #expect(same.status == 0 && same.output == "The schemas are the same.\n")
    #expect(try tool.run("diff", "schema.json", "schema.json", "--check").status == 0)
  }

  @Test("The steps of larder diff leave no difference, and mark those that lose data")
  func steps() throws {
    let tool = try Tool.withCities()
    let new = try tool.database("new.db")
    try new.executeStatements(
      SQL(
        raw: """
          CREATE TABLE country (code TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;
          CREATE TABLE city (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE,
            country TEXT REFERENCES country (code) ON DELETE CASCADE, mayor TEXT);
          CREATE INDEX city_name ON city (name);
          """))
    let result = try tool.run("diff", "cities.db", "new.db")
    #expect(result.status == 0)
    #expect(result.output.contains("city.population"))
    #expect(result.output.contains("loses something"))
    #expect(try tool.run("diff", "cities.db", "new.db", "--check").status == 1)
    #expect(try tool.run("diff", "cities.db", "new.db", "--check").errors.isEmpty)
    let json = try tool.object("diff", "cities.db", "new.db")
    let steps = try #require(json["steps"] as? [[String: Any]])
    #expect(steps.contains { $0["isDestructive"] as? Bool == true })
    let old = try tool.database("cities.db")
    let wanted = try Schema(new)
    let proposed = try wanted.steps(from: Schema(old))
    #expect(steps.map { $0["detail"] as? String } == proposed.map(\.detail))
    try old.executeUpdate("PRAGMA foreign_keys = OFF")
    for step in proposed { try step.execute(old) }
    try old.close()
    #expect(try tool.run("diff", "cities.db", "new.db", "--check").status == 0)
  }

  @Test("larder diff refuses a malformed schema file, and one with statements other than CREATE")
  func wrongFiles() throws {
    let tool = try Tool.withCities()
    func diff(_ json: String) throws -> Tool.Result {
      try tool.write("schema.json", json.utf8)
      return try tool.run("diff", "cities.db", "schema.json")
    }
    for (json, message) in [
      ("{}", "neither a database nor the output of “larder schema --json”"),
      ("{\"format\": \"x\", \"statements\": []}", "the schema's format “x” is unknown"),
      (
        "{\"format\": \"larder schema 1\", \"statements\": [\"ATTACH 'a.db' AS a\"]}",
        "doesn't begin with CREATE"
      ),
      (
        "{\"format\": \"larder schema 1\", \"statements\": [\"CREATE TABLE t (a); DROP TABLE t\"]}",
        "can't be run"
      ), ("{\"format\"", "neither a database"),
    ] {
      let result = try diff(json)
      #expect(result.status == 3 && result.errors.contains(message), "\(json): \(result.errors)")
    }
    #expect(try tool.files() == ["cities.db", "schema.json"])
  }
}

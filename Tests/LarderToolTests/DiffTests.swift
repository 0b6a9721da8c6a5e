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

  @Test("larder diff tells the order of columns and names of indexes, and --strictly counts them")
  func silentDifferences() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, country TEXT, population INTEGER);
      CREATE INDEX by_country ON city (country);
      CREATE INDEX same ON city (population);
      """)
    try tool.make(
      "b.db",
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT, name TEXT, population INTEGER);
      CREATE INDEX same ON city (population);
      CREATE INDEX city_country ON city (country ASC);
      """)
    let told = try tool.run("diff", "a.db", "b.db", "--check")
    #expect(told.status == 0, "\(told.errors)")
    #expect(
      told.output == """
        The schemas are the same, apart from this (− in the first, + in the second):
          city, order of columns
             − id, name, country, population
             + id, country, name, population
          city, name of index
             − by_country
             + city_country

        """)
    let json = try tool.object("diff", "a.db", "b.db")
    #expect((json["differences"] as? [Any])?.count == 0 && (json["silent"] as? [Any])?.count == 2)
    let strict = try tool.run("diff", "a.db", "b.db", "--check", "--strictly")
    #expect(strict.status == 1)
    #expect(strict.output.contains("Differences (− in the first"), "\(strict.output)")
    #expect(try tool.run("diff", "a.db", "a.db", "--check", "--strictly").status == 0)
  }

  @Test("larder diff proposes to drop an index that equals another one, and nothing else")
  func equivalentIndexes() throws {
    let tool = try Tool()
    let table = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);"
    try tool.make(
      "a.db",
      table
        + """
        CREATE INDEX i ON city (name); CREATE INDEX j ON city ("name" ASC);
        CREATE INDEX k ON city (name) WHERE id > 5; CREATE INDEX l ON city (name COLLATE NOCASE);
        """)
    try tool.make(
      "b.db",
      table
        + """
        CREATE INDEX j ON city (name);
        CREATE INDEX k ON city (name) WHERE id > 5; CREATE INDEX l ON city (name COLLATE NOCASE);
        """)
    let json = try tool.object("diff", "a.db", "b.db")
    let steps = try #require(json["steps"] as? [[String: Any]])
    #expect(steps.map { $0["sql"] as? String } == ["DROP INDEX \"i\""])
    #expect(steps.allSatisfy { $0["isDestructive"] as? Bool == false })
    let script = try tool.run("diff", "a.db", "b.db", "--sql")
    #expect(script.output.contains("\nDROP INDEX \"i\";\n"), "\(script.errors)")
    let migration = try tool.run("diff", "a.db", "b.db", "--swift")
    #expect(migration.output.contains("DROP INDEX"), "\(migration.errors)")
    // In the other direction there is nothing to make.
    let back = try tool.object("diff", "b.db", "a.db")
    #expect((back["steps"] as? [Any])?.isEmpty == true)
    try tool.make("a.db", "DROP INDEX \"i\"")
    #expect(
      try tool.run("diff", "a.db", "b.db", "--strictly").output == "The schemas are the same.\n")
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

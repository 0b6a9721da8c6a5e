import Foundation
import Larder
import TestSupport
import Testing

@Suite("larder diff --sql and --swift")
struct DiffStepsTests {
  // MARK: SQL

  @Test(
    "The script of larder diff --sql leaves no difference, and keeps the rows",
    arguments: SchemaPair.all.indices)
  func script(_ index: Int) throws {
    let pair = SchemaPair.all[index]
    let tool = try Tool()
    try tool.make("old.db", "PRAGMA foreign_keys = OFF; \(pair.old)")
    try tool.make("new.db", "PRAGMA foreign_keys = OFF; \(pair.new)")
    let result = try tool.run("diff", "old.db", "new.db", "--sql")
    try #require(result.status == 0, "\(pair.title): \(result.errors)")
    let queries = try tool.sharedQueries()
    let rows = try queries.map { try tool.values("old.db", $0) }
    try tool.runScript(result.output, on: "old.db")
    let check = try tool.run("diff", "old.db", "new.db", "--check")
    #expect(check.status == 0, "\(pair.title): \(check.output)")
    #expect(try queries.map { try tool.values("old.db", $0) } == rows, "\(pair.title)")
    #expect(try tool.values("old.db", "PRAGMA integrity_check") == [[.text("ok")]])
  }

  @Test(
    "After larder diff --sql AUTOINCREMENT keys aren't reused, and full-text indexes still match")
  func whatBelongsToTables() throws {
    let tool = try Tool()
    try tool.change(SchemaPair.all.first { $0.title.contains("used once") })
    try tool.make(
      "old.db", "INSERT INTO city (name) VALUES ('b'); INSERT INTO empty (name) VALUES ('c')")
    #expect(try tool.values("old.db", "SELECT max(id) FROM city") == [[.integer(91)]])
    #expect(try tool.values("old.db", "SELECT id FROM empty") == [[.integer(41)]])
    let other = try Tool()
    try other.change(SchemaPair.all.first { $0.title.contains("full-text") })
    let found = try other.values(
      "old.db",
      "SELECT note.id FROM note_text JOIN note ON id = note_text.rowid WHERE note_text MATCH 'two'")
    #expect(found == [[.integer(8)]])
  }

  @Test("larder diff marks destructive steps, and those that need a decision")
  func marks() throws {
    let tool = try Tool()
    try tool.make(
      "old.db", "CREATE TABLE city (id INTEGER PRIMARY KEY, mayor TEXT, a); CREATE TABLE x (a)")
    try tool.make(
      "new.db", "CREATE TABLE city (id INTEGER PRIMARY KEY, chief TEXT NOT NULL, a NOT NULL)")
    for form in ["--sql", "--swift"] {
      let text = try tool.run("diff", "old.db", "new.db", form).output
      #expect(text.contains(" DESTRUCTIVE: rebuild the table “city”, losing “mayor”"))
      #expect(text.contains(" DESTRUCTIVE: drop the table “x” with its rows"))
      #expect(
        text.contains("To be decided: the value of existing rows for “chief”, which is NOT NULL"))
      #expect(text.contains("“a” can't be NULL any more. To be decided"))
      #expect(text.contains("If “chief” is “mayor” renamed, first rename it"))
    }
  }

  @Test(
    "A script of larder diff --sql that would lose data fails, and changes nothing",
    arguments: [
      ("NULL", "a TEXT NOT NULL", "INSERT INTO t VALUES (NULL)"),
      ("no value", "a TEXT, b TEXT NOT NULL", "INSERT INTO t VALUES ('x')"),
      ("another value", "a INTEGER", "INSERT INTO t VALUES ('7'), ('007')"),
      ("a check", "a TEXT CHECK (a <> 'x')", "INSERT INTO t VALUES ('x')"),
      ("rows left out", "a TEXT UNIQUE ON CONFLICT IGNORE", "INSERT INTO t VALUES ('x'), ('x')"),
      ("a foreign key", "a TEXT REFERENCES other", "INSERT INTO t VALUES ('gone')"),
    ])
  func failing(_ what: String, columns: String, rows: String) throws {
    let tool = try Tool()
    let other = "CREATE TABLE other (key TEXT PRIMARY KEY);"
    try tool.make("old.db", "\(other) CREATE TABLE t (a TEXT); CREATE TABLE before (a);")
    try tool.make("new.db", "\(other) CREATE TABLE t (\(columns));")
    let script = try tool.run("diff", "old.db", "new.db", "--sql")
    try #require(script.status == 0, "\(script.errors)")
    try tool.make("old.db", rows)
    let dump = try tool.values("old.db", "SELECT * FROM t")
    let schema = try tool.run("schema", "old.db").output
    #expect(throws: ScriptError.self, "\(what)") {
      try tool.runScript(script.output, on: "old.db")
    }
    #expect(try tool.values("old.db", "SELECT * FROM t") == dump)
    #expect(try tool.run("schema", "old.db").output == schema)
    // Without the rows the script succeeds.
    try tool.make("old.db", "DELETE FROM t")
    try tool.runScript(script.output, on: "old.db")
    #expect(try tool.run("diff", "old.db", "new.db", "--check").status == 0)
  }

  @Test("larder diff prints no steps if a trigger would no longer work, and names it")
  func impossible() throws {
    let tool = try Tool()
    let trigger = "CREATE TRIGGER city_named AFTER UPDATE OF name ON city BEGIN SELECT 1; END;"
    try tool.make("old.db", "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT); \(trigger)")
    try tool.make("new.db", "CREATE TABLE city (id INTEGER PRIMARY KEY, title TEXT); \(trigger)")
    for form in ["--sql", "--swift"] {
      let result = try tool.run("diff", "old.db", "new.db", form)
      #expect(result.status == 1 && result.output.isEmpty)
      #expect(result.errors.contains("“city_named” would no longer work"), "\(result.errors)")
    }
  }

  @Test("larder diff --swift refuses a table with double-quoted strings, and --sql accepts it")
  func quotedStrings() throws {
    let tool = try Tool()
    let old = "CREATE TABLE t (a); CREATE TABLE u (a CHECK (a <> \"y\"), b);"
    let new = "CREATE TABLE t (a, CHECK (a <> \"x\")); CREATE TABLE u (a CHECK (a <> \"y\"), b);"
    try tool.make("old.db", old)
    try tool.make("new.db", new)
    let migration = try tool.run("diff", "old.db", "new.db", "--swift")
    #expect(migration.status == 1 && migration.output.isEmpty)
    #expect(migration.errors.contains("“t”") && migration.errors.contains("no such column"))
    let script = try tool.run("diff", "old.db", "new.db", "--sql")
    #expect(script.status == 0 && script.output.contains("<> \"x\""))
    // A table with such strings that doesn't change is accepted.
    try tool.make(
      "other.db",
      "CREATE TABLE t (a); CREATE TABLE u (a CHECK (a <> \"y\"), b); CREATE TABLE more (a);")
    #expect(try tool.run("diff", "old.db", "other.db", "--swift").status == 0)
  }

  @Test("larder diff --sql and --swift take schema files, and refuse contradictory options")
  func options() throws {
    let tool = try Tool.withCities()
    try tool.write("schema.json", try tool.run("schema", "cities.db", "--json").output.utf8)
    for form in ["--sql", "--swift"] {
      let same = try tool.run("diff", "cities.db", "schema.json", form, "--check")
      #expect(same.status == 0 && same.output.contains("The schemas are the same."))
    }
    try tool.make("new.db", "CREATE TABLE country (code TEXT)")
    let changed = try tool.run("diff", "schema.json", "new.db", "--sql", "--check")
    #expect(changed.status == 1 && changed.output.contains("BEGIN IMMEDIATE;"))
    for words in [
      ["--sql", "--swift"], ["--sql", "--json"], ["--name", "x"], ["--sql", "--name", "x"],
      ["--swift", "--name", ""],
    ] {
      let result = try tool.run(["diff", "cities.db", "new.db"] + words)
      #expect(result.status == 2 && result.output.isEmpty && !result.errors.isEmpty, "\(words)")
    }
  }

  @Test("The output of larder schema runs even if a view ends with a comment")
  func comments() throws {
    let tool = try Tool()
    try tool.make("old.db", "CREATE VIEW one AS SELECT 1 -- one\n; CREATE VIEW two AS SELECT 2")
    let db = try tool.database("copy.db")
    try db.executeStatements(SQL(raw: try tool.run("schema", "old.db").output))
    try db.close()
    #expect(try tool.run("diff", "old.db", "copy.db", "--check").status == 0)
  }

  // MARK: Swift

  @Test(
    "Migrations of larder diff --swift compile without warnings, keep rows and leave no difference")
  func migrations() throws {
    let tool = try Tool()
    var sources = ["main.swift"]
    var main = "import Larder\n"
    for (index, pair) in SchemaPair.all.enumerated() {
      try tool.make("old\(index).db", "PRAGMA foreign_keys = OFF; \(pair.old)")
      try tool.make("new\(index).db", "PRAGMA foreign_keys = OFF; \(pair.new)")
      let result = try tool.run(
        "diff", "old\(index).db", "new\(index).db", "--swift", "--name", "pair \(index)")
      try #require(result.status == 0, "\(pair.title): \(result.errors)")
      try tool.write("Pair\(index).swift", result.output.utf8)
      sources.append("Pair\(index).swift")
      main += "try Migrator([.pair\(index)]).migrate(Database(path: \"old\(index).db\"))\n"
    }
    try tool.write("main.swift", (main + "print(\"done\")\n").utf8)
    let compiler = try tool.runOther("swiftc", BuiltModules.compilerArguments + sources)
    try #require(compiler.status == 0, "\(compiler.output)\(compiler.errors)")
    let queries = try SchemaPair.all.indices.map { try tool.sharedQueries("\($0)") }
    func rows(_ index: Int) throws -> [[[DatabaseValue]]] {
      try queries[index].map { try tool.values("old\(index).db", $0) }
    }
    let before = try queries.indices.map(rows)
    let program = try tool.runOther("./main", [])
    #expect(program.output == "done\n", "\(program.errors)")
    for (index, pair) in SchemaPair.all.enumerated() {
      let check = try tool.run("diff", "old\(index).db", "new\(index).db", "--check")
      #expect(check.status == 0, "\(pair.title): \(check.output)")
      #expect(try rows(index) == before[index], "\(pair.title)")
    }
  }
}

/// An error of the sqlite3 shell, or of Larder, while a script runs.
private struct ScriptError: Error {
  let text: String
}

extension Tool {
  /// Runs a script in the sqlite3 shell, or with Larder if the shell isn't installed.
  fileprivate func runScript(_ script: String, on name: String) throws {
    try write("steps.sql", script.utf8)
    let hasShell = try shell("command -v sqlite3").status == 0
    if hasShell {
      let result = try shell("sqlite3 \(name) < steps.sql")
      guard result.status == 0, result.errors.isEmpty else {
        throw ScriptError(text: result.errors)
      }
      #expect(result.output.isEmpty)
      return
    }
    let db = try database(name)
    defer { try? db.close() }
    do {
      try db.executeStatements(SQL(raw: script.replacing(".bail on\n", with: "\n")))
    } catch let error as DatabaseError {
      throw ScriptError(text: "\(error)")
    }
  }

  /// Makes a database of the old version, and changes it to the new one with `larder diff --sql`.
  fileprivate func change(_ pair: SchemaPair?) throws {
    let pair = try #require(pair)
    try make("old.db", pair.old)
    try make("new.db", pair.new)
    try runScript(try run("diff", "old.db", "new.db", "--sql").output, on: "old.db")
  }

  /// Queries for the rows of all tables in both versions, with the columns in both versions as text.
  fileprivate func sharedQueries(_ number: String = "") throws -> [String] {
    let schemas = try ["old", "new"].map { name in
      let db = try database("\(name)\(number).db")
      defer { try? db.close() }
      return try Schema(db)
    }
    return schemas[0].tables.compactMap { table in
      guard let other = schemas[1].table(table.name) else { return nil }
      let columns = table.columns.filter { column in
        column.generated == nil && other.columns.contains { $0.name == column.name }
      }.map { "CAST(\($0.name.quotedIdentifier) AS TEXT)" }.joined(separator: ", ")
      return "SELECT \(columns) FROM \(table.name.quotedIdentifier) ORDER BY \(columns)"
    }
  }
}

import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder changes and migrate")
struct ChangesTests {
  /// Starts `larder changes`, and waits until it has taken its first look.
  private func following(_ tool: Tool, _ words: String...) throws -> ChildProcess {
    let process = try ChildProcess(
      ChildProcess.built("larder"), ["changes", "cities.db"] + words, in: tool.folder,
      input: .nothing, errors: .file(tool.file("run-err")))
    while try tool.text("run-err").isEmpty, !process.hasEnded { sched_yield() }
    return process
  }

  /// The next line, without its time.
  private func next(_ process: ChildProcess) throws -> String {
    let line = try #require(process.line())
    return String(line.drop { $0 != " " }.dropFirst(2))
  }

  @Test(
    "larder changes prints inserts, updates, deletes and schema changes of other programs",
    arguments: ["wal", "delete"])
  func rows(_ mode: String) throws {
    let tool = try Tool.withCities(mode)
    let process = try following(tool, "--count", "5")
    let db = try tool.database("cities.db")
    try db.executeUpdate("INSERT INTO country VALUES ('SE', 'Sve' || char(27) || 'rige')")
    #expect(try next(process) == "+ country  code=SE, name=Sve\u{FFFD}rige")
    try db.executeUpdate("UPDATE city SET population = NULL, name = 'Oslo' WHERE id = 7")
    #expect(try next(process) == "~ city  id=7: name: City 7 → Oslo, population: 7 → NULL")
    try db.executeUpdate("DELETE FROM city WHERE id = 8")
    #expect(try next(process) == "- city  id=8, name=City 8, country=CN, population=8")
    try db.inTransaction { db in
      try db.executeStatements("CREATE TABLE \"a\nb\" (x); INSERT INTO \"a\nb\" VALUES (1)")
    }
    #expect(try next(process).hasPrefix("* the schema has changed: “a\u{FFFD}b” was created"))
    try db.executeUpdate("UPDATE \"a\nb\" SET x = x'00'")
    #expect(try next(process).hasSuffix("a\u{FFFD}b  rowid=1: x: 1 → x'00'"))
    #expect(process.end() == 0)
    try db.close()
    #expect(try tool.text("run-err") == "larder: following cities.db\n")
  }

  @Test("larder changes distinguishes texts and keys that differ only in Unicode normalization")
  func decomposed() throws {
    let tool = try Tool.withCities()
    let process = try following(tool, "--table", "country", "--count", "2")
    let db = try tool.database("cities.db")
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO country VALUES ('\u{e9}', 'one scalar')")
      try db.executeUpdate("INSERT INTO country VALUES ('e\u{301}', 'two')")
    }
    let told = [try next(process), try next(process)]
    #expect(told.contains { $0.hasSuffix("name=one scalar") })
    #expect(told.contains { $0.hasSuffix("name=two") })
    #expect(process.end() == 0)
    let second = try following(tool, "--table", "country", "--count", "1")
    try db.executeUpdate("UPDATE country SET name = 'caf\u{e9}' WHERE code = 'CN'")
    #expect(try next(second).contains("caf\u{e9}"))
    #expect(second.end() == 0)
    let third = try following(tool, "--table", "country", "--count", "1")
    try db.executeUpdate("UPDATE country SET name = 'cafe\u{301}' WHERE code = 'CN'")
    #expect(try next(third).contains("→ cafe\u{301}"))
    #expect(third.end() == 0)
    try db.close()
  }

  @Test("larder changes --json prints an object per change, with the old and new values")
  func json() throws {
    let tool = try Tool.withCities()
    let process = try following(tool, "--table", "CITY", "--json", "--count", "1")
    let db = try tool.database("cities.db")
    try db.executeUpdate("INSERT INTO country VALUES ('SE', 'Sverige')")
    try db.executeUpdate("UPDATE city SET population = 1e300 WHERE id = 7")
    let line = try #require(process.line())
    let object = try #require(
      JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["operation"] as? String == "update" && object["table"] as? String == "city")
    #expect(object["key"] as? [String: Int] == ["id": 7])
    #expect(object["old"] as? [String: Int] == ["population": 7])
    #expect(object["new"] as? [String: Double] == ["population": 1e300])
    #expect(process.end() == 0)
    try db.close()
  }

  @Test(
    "larder changes prints only appended rows of a table above --rows, and notes other commits")
  func large() throws {
    let tool = try Tool.withCities("wal")
    let process = try following(tool, "--rows", "100", "--table", "city")
    let db = try tool.database("cities.db")
    try db.executeUpdate("INSERT INTO city VALUES (900, 'Oslo', 'NO', 1)")
    #expect(try next(process) == "+ city  id=900, name=Oslo, country=NO, population=1")
    try db.executeUpdate("UPDATE city SET population = 2 WHERE id = 7")
    #expect(try next(process) == "* a commit; too large to compare: “city”")
    process.send(SIGINT)
    #expect(process.end() == 130)
    try db.close()
  }

  @Test("Ctrl-C ends larder changes with status 130, and leaves no files behind")
  func interrupt() throws {
    for mode in ["wal", "delete"] {
      let tool = try Tool.withCities(mode)
      let before = try tool.contents(of: "cities.db")
      let process = try following(tool)
      process.send(SIGINT)
      #expect(process.end() == 130)
      #expect(try tool.text("run-err") == "larder: following cities.db\nlarder: interrupted\n")
      #expect(try tool.files() == ["cities.db"])
      #expect(try tool.contents(of: "cities.db") == before)
    }
  }

  @Test("larder changes exits with a one-line error for a bad file, option or table")
  func impossible() throws {
    let tool = try Tool.withCities()
    try tool.write("letter", "This is a letter, and no database at all.".utf8)
    #expect(try tool.run("changes", "letter").status == 3)
    #expect(try tool.run("changes", "missing").status == 3)
    #expect(try tool.run("changes", "cities.db", "--count", "0").status == 2)
    let result = try tool.run("changes", "cities.db", "--table", "large")
    #expect(
      result.status == 1
        && result.errors == "larder: cities.db: there is no table “large” that can be followed\n",
      "\(result.errors)")
  }

  @Test("larder migrate status prints the migrations, or that there is no history")
  func migrations() throws {
    let tool = try Tool()
    let db = try tool.database("a.db")
    try db.setUserVersion(7)
    #expect(
      try tool.run("migrate", "status", "a.db").output
        == "a.db: there is no history of migrations; its user_version is 7\n")
    #expect(try tool.object("migrate", "status", "a.db")["isRecorded"] as? Bool == false)
    try db.setUserVersion(0)
    let migrations = [
      Migration("create city", sql: "CREATE TABLE city (id INTEGER PRIMARY KEY)"),
      Migration("by\nhand") { _ in },
    ]
    try Migrator(migrations).migrate(db)
    let before = try tool.contents(of: "a.db")
    let lines = try tool.run("migrate", "status", "a.db").lines
    #expect(lines.count == 3 && lines[0].hasPrefix("MIGRATION"))
    #expect(lines[1].hasPrefix("create city") && lines[2].hasPrefix("by\u{FFFD}hand"))
    let found = try tool.object("migrate", "status", "a.db")
    let applied = try #require(found["migrations"] as? [[String: Any]])
    #expect(applied.map { $0["name"] as? String } == ["create city", "by\nhand"])
    let expected = try Migrator(migrations).applied(db).map(\.checksum)
    #expect(applied.map { $0["checksum"] as? String } == expected)
    #expect(applied.allSatisfy { $0["appliedAt"] is String && $0["seconds"] is Double })
    #expect(try tool.contents(of: "a.db") == before)
    #expect(try tool.run("migrate", "up", "a.db").status == 2)
    try db.close()
    try tool.make("b.db", "CREATE TABLE larder_migration (x)")
    #expect(try tool.run("migrate", "status", "b.db").status == 3)
  }
}

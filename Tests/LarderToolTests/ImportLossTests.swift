import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

/// An import that would change a value is refused.
@Suite("larder import doesn't lose data silently")
struct ImportLossTests {
  @Test(
    "larder import --create refuses a later number that the guessed type would change, with its line",
    arguments: [
      ("1", "007"), ("1", "+5"), ("1", "-0"), ("1", "\"007\""), ("1.5", "9007199254740993"),
      ("1.5", "007.5"), ("1.5", "0.12345678901234567890"), ("1.5", "1e999"),
      ("1", "12345678901234567890"),
    ])
  func guessedTypes(_ first: String, _ later: String) throws {
    let tool = try Tool()
    let rows = String(repeating: "\(first)\n", count: 1000)
    try tool.write("t.csv", "a\n\(rows)\(later)\n".utf8)
    let result = try tool.run("import", "a.db", "t", "t.csv", "--create")
    #expect(result.status == 1 && result.errors.contains("t.csv:1002: “a”: "), "\(result.errors)")
    #expect(try tool.files() == ["t.csv"])
    // Among the first records such a value makes it a TEXT column.
    try tool.write("t.csv", "a\n\(later)\n\(first)\n".utf8)
    #expect(try tool.run("import", "a.db", "t", "t.csv", "--create").status == 0)
    let text = later.filter { $0 != "\"" }
    #expect(
      try tool.values("a.db", "SELECT CAST(a AS TEXT) FROM t") == [[.text(text)], [.text(first)]])
  }

  @Test("larder import --create of JSON lines keeps text and numbers distinct")
  func guessedJSON() throws {
    let tool = try Tool()
    let lines =
      "{\"a\": 5, \"b\": 1, \"c\": 1.5}\n{\"a\": 6, \"b\": \"1\", \"c\": 9223372036854775807}\n"
    try tool.write("t.jsonl", lines.utf8)
    #expect(try tool.run("import", "a.db", "t", "t.jsonl", "--create").status == 0)
    #expect(try tool.run("export", "a.db", "t", "--jsonl").output == lines)
    for text in ["007", "7", "1e3", " 7 ", ".5"] {
      try tool.write(
        "u.jsonl", (String(repeating: "{\"a\": 5}\n", count: 1000) + "{\"a\": \"\(text)\"}\n").utf8)
      let result = try tool.run("import", "a.db", "u", "u.jsonl", "--create")
      #expect(result.status == 1 && result.errors.contains("u.jsonl:1001: “a”"), "\(result.errors)")
    }
  }

  @Test("larder import --on-conflict replace keeps other columns, and rows that refer to the row")
  func replacing() throws {
    let tool = try Tool()
    try tool.make(
      "a.db",
      """
      CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT UNIQUE, note TEXT);
      CREATE TABLE invoice (customer INT REFERENCES customer ON DELETE CASCADE);
      INSERT INTO customer VALUES (1, 'Ann', 'likes tea'); INSERT INTO invoice VALUES (1), (1)
      """)
    try tool.write("t.csv", "id,name\n1,Anne\n2,Bob\n".utf8)
    let result = try tool.run("import", "a.db", "customer", "t.csv", "--on-conflict", "replace")
    #expect(result.output == "2 rows were imported into “customer”\n", "\(result.errors)")
    #expect(
      try tool.values("a.db", "SELECT * FROM customer") == [
        [1, "Anne", "likes tea"], [2, "Bob", nil],
      ])
    #expect(try tool.values("a.db", "SELECT count(*) FROM invoice") == [[2]])
  }

  @Test("larder import --create stores numbers as numbers if they keep their value")
  func keptNumbers() throws {
    let tool = try Tool()
    try tool.write("t.csv", "i,r\n-5,1.50\n9223372036854775807,3\n0,1e5\n,9e999\n".utf8)
    #expect(try tool.run("import", "a.db", "t", "t.csv", "--create").status == 0)
    #expect(
      try tool.values("a.db", "SELECT * FROM t") == [
        [-5, 1.5], [9_223_372_036_854_775_807, 3.0], [0, 100000.0], [nil, .real(.infinity)],
      ])
    // An integer that a REAL column would round is refused too.
    try tool.write("t.csv", "i,r\n1,9007199254740993\n".utf8)
    let result = try tool.run("import", "a.db", "t", "t.csv")
    #expect(result.status == 1 && result.errors.contains("t.csv:2: “r”"), "\(result.errors)")
  }
}

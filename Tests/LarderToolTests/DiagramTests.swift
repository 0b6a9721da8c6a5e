import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder diagram")
struct DiagramTests {
  @Test("larder diagram prints Mermaid with typed columns, and relations with their cardinality")
  func mermaid() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("diagram", "cities.db")
    #expect(
      result.output == """
        erDiagram
          "country" {
            TEXT code PK
            TEXT name
          }
          "city" {
            INTEGER id PK
            TEXT name
            TEXT country FK
            INTEGER population
          }
          "country" |o--o{ "city" : "country"

        """)
    #expect(try tool.run("diagram", "cities.db", "--mermaid").output == result.output)
    #expect(try tool.run("diagram", "cities.db", "--dot", "--mermaid").status == 2)
  }

  @Test("A diagram's relation is optional if its column allows NULL, and to-one if it is unique")
  func cardinality() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY);
      CREATE TABLE capital (country TEXT PRIMARY KEY REFERENCES Country);
      CREATE TABLE flag (id INTEGER PRIMARY KEY, country TEXT UNIQUE REFERENCES country (code));
      CREATE TABLE street (a TEXT NOT NULL REFERENCES country, b TEXT, UNIQUE (a, b));
      CREATE TABLE lost (a REFERENCES nowhere (b));
      """)
    let diagram = Diagram(try Schema(db))
    #expect(diagram.relations.map(\.table) == ["capital", "flag", "street", "lost"])
    #expect(diagram.relations.map(\.isOptional) == [false, true, false, true])
    #expect(diagram.relations.map(\.isUnique) == [true, true, false, false])
    #expect(
      diagram.relations.map(\.referencedTable) == ["country", "country", "country", "nowhere"])
    #expect(diagram.relations.map(\.referencedColumns) == [["code"], ["code"], ["code"], ["b"]])
    #expect(diagram.mermaid.contains("\"country\" ||--o| \"capital\" : \"country\""))
  }

  /// The program that draws graphs; nil if it isn't installed.
  private static let graphviz = ["/bin/dot", "/usr/bin/dot"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// A folder with a database in which some tables have hostile names.
  private func withHostileNames() throws -> Tool {
    let tool = try Tool.withCities()
    let db = try tool.database("cities.db")
    for name in ["a\"b", "<b>&amp;", "表\n二", " ", "x}]; {", "\u{1B}[31m"] {
      try db.executeUpdate(
        "CREATE TABLE \(identifier: name) (\(identifier: name) \(identifier: name) REFERENCES city)"
      )
    }
    try db.close()
    return tool
  }

  @Test("larder diagram --dot and --mermaid escape hostile names")
  func dot() throws {
    let tool = try withHostileNames()
    let result = try tool.run("diagram", "cities.db", "--dot")
    #expect(result.status == 0)
    #expect(result.output.contains("t1:d2:e -> t0:c0:w [arrowtail=crowodot, arrowhead=teeodot];"))
    #expect(result.output.contains("&lt;b&gt;&amp;amp;") && !result.output.contains("\u{1B}"))
    let mermaid = try tool.run("diagram", "cities.db")
    #expect(mermaid.output.contains("\"a'b\"") && !mermaid.output.contains("\u{1B}"))
  }

  @Test(
    "Graphviz draws the output of larder diagram --dot, whatever the tables' names",
    .enabled(if: graphviz != nil, "Graphviz isn't installed"))
  func drawn() async throws {
    let dot = try #require(Self.graphviz)
    let tool = try withHostileNames()
    try tool.write("graph.dot", try tool.run("diagram", "cities.db", "--dot").output.utf8)
    let drawn = try await ChildProcess.run(dot, ["-Tsvg", tool.file("graph.dot")])
    #expect(drawn.status == 0 && drawn.output.contains("<svg"), "\(drawn.output)")
  }
}

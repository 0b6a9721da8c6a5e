import Foundation
import FoundationXML
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("larder diagram --svg")
struct DiagramSVGTests {
  /// The elements, attributes and texts of an XML document.
  private final class Elements: NSObject, XMLParserDelegate {
    var names: [String] = []
    var attributes: [[String: String]] = []
    var texts: [String] = []

    static func read(_ text: String) throws -> Elements {
      let elements = Elements()
      let parser = XMLParser(data: Data(text.utf8))
      parser.delegate = elements
      try #require(parser.parse(), "\(String(describing: parser.parserError))")
      return elements
    }

    func parser(
      _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
      qualifiedName: String?, attributes: [String: String]
    ) {
      names.append(name)
      self.attributes.append(attributes)
      texts.append("")
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
      // A line break follows each element, and isn't part of its text.
      if !texts.isEmpty { texts[texts.count - 1] += string.filter { $0 != "\n" } }
    }

    /// The attributes of all elements of a class.
    func of(_ name: String) -> [[String: String]] { attributes.filter { $0["class"] == name } }
  }

  private static func svg(_ sql: SQL) throws -> String {
    let db = try Database()
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    try db.executeStatements(sql)
    return Diagram(try Schema(db)).svg
  }

  @Test("The SVG diagram of Chinook equals the reviewed file Golden/chinook.svg")
  func chinook() throws {
    let golden = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Golden/chinook.svg")
    let drawn = try Self.svg(ChinookTables.sql) + "\n"
    #expect(drawn == String(decoding: try Data(contentsOf: golden), as: UTF8.self))
    #expect(try Self.svg(ChinookTables.sql) + "\n" == drawn)
  }

  @Test(
    "larder diagram --svg prints XML with boxes, columns, types, keys and relation titles"
  )
  func content() throws {
    let tool = try Tool.withCities()
    let result = try tool.run("diagram", "cities.db", "--svg")
    #expect(result.status == 0 && result.errors.isEmpty)
    let elements = try Elements.read(result.output)
    #expect(elements.of("box").count == 2 && elements.of("head").count == 2)
    for text in [
      "country", "city", "code", "population", "PK", "FK", "INTEGER", "city (country) → country",
    ] {
      #expect(elements.texts.contains(text), "\(text)")
    }
    #expect(try tool.run("diagram", "cities.db", "--svg", "--dot").status == 2)
  }

  @Test("The marks of an SVG diagram's lines show one or many, and optional or mandatory")
  func marks() throws {
    func marks(_ column: String) throws -> (circles: Int, feet: Int, bars: Int) {
      let text = try Self.svg(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY, \(SQL(raw: column)));"
      )
      let elements = try Elements.read(text)
      let lines = elements.of("line").compactMap { $0["d"] }.dropFirst()
      return (
        elements.of("mark").count, lines.filter { $0.contains("L") }.count,
        lines.filter { $0.contains("V") }.count
      )
    }
    #expect(try marks("a INTEGER NOT NULL REFERENCES a") == (1, 1, 2))
    #expect(try marks("a INTEGER REFERENCES a") == (2, 1, 1))
    #expect(try marks("a INTEGER NOT NULL UNIQUE REFERENCES a") == (1, 0, 3))
    #expect(try marks("a INTEGER UNIQUE REFERENCES a") == (2, 0, 2))
  }

  @Test(
    "In an SVG diagram optional and mandatory relations leave a table from separate ports"
  )
  func mixed() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE person (id INTEGER PRIMARY KEY);
      CREATE TABLE post (id INTEGER PRIMARY KEY, author INTEGER NOT NULL REFERENCES person,
        editor INTEGER REFERENCES person);
      CREATE TABLE note (id INTEGER PRIMARY KEY, person INTEGER REFERENCES person);
      """)
    let graph = DiagramDrawing(Diagram(try Schema(db))).graph
    #expect(graph.links.map(\.parentPort) == [35, 45, 45])
  }

  @Test("An SVG diagram's box is as wide as its text, with Chinese characters twice as wide")
  func widths() throws {
    func width(_ name: String) throws -> Int {
      let text = try Self.svg("CREATE TABLE t (\(identifier: name) INTEGER PRIMARY KEY)")
      return try #require(try Elements.read(text).of("box").first?["width"].flatMap { Int($0) })
    }
    #expect(try width("abcdefghijklmnopqrst") == width("一二三四五六七八九十"))
    #expect(try width("abcdefghijklmnopqrst") > width("一二三四五六七八"))
    #expect(try width("a") == 130)
    #expect(try width(String(repeating: "x", count: 1000)) < 600)
  }

  @Test("Hostile names in an SVG diagram are text only, and add no elements")
  func hostileNames() throws {
    let names = [
      "a\"b", "<script>alert(1)</script>", "&amp;&lt;", "]]>", "表\n二", "\u{1B}[31m", "--", " ",
      "\u{FFFE}",
      "\u{202E}x", "'", String(repeating: "長", count: 1000),
    ]
    let tool = try Tool()
    let db = try tool.database("a.db")
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    for name in names {
      try db.executeUpdate(
        "CREATE TABLE \(identifier: name) (\(identifier: name) \(identifier: name) REFERENCES \(identifier: names[0]))"
      )
    }
    try db.close()
    let result = try tool.run("diagram", "a.db", "--svg")
    #expect(result.status == 0)
    let elements = try Elements.read(result.output)
    #expect(
      Set(elements.names) == ["svg", "style", "rect", "g", "path", "circle", "title", "text"])
    #expect(elements.of("box").count == names.count)
    #expect(elements.texts.contains("<script>alert(1)</script>"))
  }

  @Test(
    "An SVG diagram is drawn without tables, with a missing parent, and with 2,000 columns"
  )
  func unusual() throws {
    #expect(try Self.svg("SELECT 1").contains("There are no tables."))
    let lost = try Elements.read(
      try Self.svg("CREATE TABLE a (b REFERENCES nowhere (c), d REFERENCES Nowhere)"))
    #expect(lost.of("missing").count == 1)
    let columns = (0..<2000).map { "c\($0)" }.joined(separator: ", ")
    let wide = try Elements.read(
      try Self.svg(
        "CREATE TABLE wide (\(SQL(raw: columns)), FOREIGN KEY (c1999) REFERENCES wide (c1998))"))
    #expect(wide.texts.contains("… 1,960 more"))
  }
}

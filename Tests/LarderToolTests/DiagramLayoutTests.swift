import Foundation
import Larder
import TestSupport
import Testing

@testable import LarderTool

@Suite("The layout of diagrams")
struct DiagramLayoutTests {
  /// A graph of boxes with these numbers of rows, and links from a child's row to its parent's first row.
  private static func graph(_ rows: [Int], _ links: [(child: Int, row: Int, parent: Int)])
    -> LayoutGraph
  {
    LayoutGraph(
      boxes: rows.enumerated().map {
        LayoutGraph.Box(width: 140 + $0 % 5 * 20, height: 32 + 20 * $1)
      },
      links: links.map {
        LayoutGraph.Link(
          child: $0.child, childPort: 40 + 20 * $0.row, parent: $0.parent, parentPort: 40)
      })
  }

  private static func drawing(_ sql: SQL) throws -> DiagramDrawing {
    let db = try Database()
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    try db.executeStatements(sql)
    return DiagramDrawing(Diagram(try Schema(db)))
  }

  @Test("The diagram of Chinook's eleven tables has no crossing lines")
  func chinook() throws {
    let geometry = DiagramGeometry(try Self.drawing(ChinookTables.sql).graph)
    #expect(geometry.problems.isEmpty, "\(geometry.problems)")
    #expect(geometry.crossings == 0)
    #expect(geometry.layout.boxes.count == 11 && geometry.layout.routes.count == 11)
  }

  @Test("The diagram of a tree of a hundred tables has no crossing lines", arguments: 0..<6)
  func tree(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let span = [1, 4, 12, 30, 60, 99][Int(seed)]
    let geometry = DiagramGeometry(
      Self.graph(
        (0..<100).map { _ in Int.random(in: 2...9, using: &generator) },
        (1..<100).map { ($0, 1, Int.random(in: max(0, $0 - span)..<$0, using: &generator)) }))
    #expect(geometry.problems.isEmpty, "\(geometry.problems)")
    #expect(geometry.crossings == 0)
  }

  @Test(
    "The diagram of a random graph with cycles and self-references hides or overlaps no line",
    arguments: 0..<60)
  func anyGraph(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...24, using: &generator)
    let rows = (0..<count).map { _ in Int.random(in: 3...9, using: &generator) }
    var links: [(child: Int, row: Int, parent: Int)] = []
    for child in 0..<count {
      for row in 1..<3 where Int.random(in: 0..<4, using: &generator) > 0 {
        links.append((child, row, Int.random(in: 0..<count, using: &generator)))
      }
    }
    var graph = Self.graph(rows, links)
    #expect(DiagramGeometry(graph).problems.isEmpty, "\(DiagramGeometry(graph).problems)")
    // Links may leave their parent from either of two nearby ports.
    graph.links = graph.links.map { link in
      LayoutGraph.Link(
        child: link.child, childPort: link.childPort, parent: link.parent,
        parentPort: Bool.random(using: &generator) ? 35 : 45)
    }
    #expect(DiagramGeometry(graph).problems.isEmpty, "\(DiagramGeometry(graph).problems)")
  }

  @Test("The diagram of a hundred tables with random links hides no line, and isn't a narrow strip")
  func large() {
    var generator = SeededGenerator(seed: 7)
    var links: [(child: Int, row: Int, parent: Int)] = []
    for child in 1..<100 {
      for row in 1...Int.random(in: 1...3, using: &generator) {
        let lowest = Bool.random(using: &generator) ? 0 : max(0, child - 40)
        links.append((child, row, Int.random(in: lowest..<child, using: &generator)))
      }
    }
    let graph = Self.graph(Array(repeating: 5, count: 100), links)
    let geometry = DiagramGeometry(graph)
    #expect(geometry.problems.isEmpty, "\(geometry.problems)")
    // The diagram isn't a narrow strip.
    let (width, height) = (Double(geometry.layout.width), Double(geometry.layout.height))
    #expect(width < 4 * height && height < 4 * width)
    #expect(DiagramLayout(graph).boxes == geometry.layout.boxes)
  }

  @Test("The diagram of a star of sixty tables isn't a single tall column")
  func star() {
    let geometry = DiagramGeometry(
      Self.graph(Array(repeating: 4, count: 61), (1...60).map { ($0, 1, 0) }))
    #expect(geometry.problems.isEmpty, "\(geometry.problems)")
    #expect(geometry.crossings == 0)
    #expect(geometry.layout.height < 3 * geometry.layout.width)
  }

  @Test(
    "A diagram places a child to the right of its parent, and a self-reference beside its table")
  func simple() throws {
    let layout = try Self.drawing(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, country TEXT REFERENCES country (code), twin INTEGER REFERENCES city);
      CREATE TABLE country (code TEXT PRIMARY KEY);
      """
    ).layout
    let (city, country) = (layout.boxes[0], layout.boxes[1])
    #expect(country.left + country.width < city.left)
    #expect(layout.routes[0].map(\.y).min() == layout.routes[0].map(\.y).max())
    #expect(layout.routes[1].allSatisfy { $0.x >= city.left + city.width })
    #expect(layout.routes[1].map(\.y).max() == city.top + 28 + 2 + 20 * 2 + 10)
  }

  @Test("A diagram arranges tables without relations in several rows and columns")
  func single() throws {
    let tables = (0..<30).map { "CREATE TABLE t\($0) (id INTEGER PRIMARY KEY, a, b);" }
    let text =
      tables.joined() + "CREATE TABLE child (id INTEGER PRIMARY KEY, t INTEGER REFERENCES t0);"
    let geometry = DiagramGeometry(try Self.drawing(SQL(raw: text)).graph)
    #expect(geometry.problems.isEmpty, "\(geometry.problems)")
    #expect(Set(geometry.layout.boxes.map(\.left)).count > 3)
    #expect(Set(geometry.layout.boxes.map(\.top)).count > 3)
  }

  @Test("Empty, single-table, self-referencing and cyclic graphs are laid out without defects")
  func small() {
    #expect(DiagramLayout(LayoutGraph(boxes: [], links: [])).boxes.isEmpty)
    let one = DiagramGeometry(Self.graph([1], []))
    #expect(one.layout.boxes == [.init(left: 0, top: 0, width: 140, height: 52)])
    let loop = DiagramGeometry(Self.graph([3], [(0, 1, 0), (0, 2, 0)]))
    #expect(loop.problems.isEmpty, "\(loop.problems)")
    let loops = DiagramGeometry(
      LayoutGraph(
        boxes: [LayoutGraph.Box(width: 140, height: 100)],
        links: [
          LayoutGraph.Link(child: 0, childPort: 60, parent: 0, parentPort: 35),
          LayoutGraph.Link(child: 0, childPort: 80, parent: 0, parentPort: 45),
        ]))
    #expect(loops.problems.isEmpty, "\(loops.problems)")
    #expect(loops.layout.width == 170)
    let cycle = DiagramGeometry(Self.graph([3, 3], [(0, 1, 1), (1, 1, 0), (0, 2, 1)]))
    #expect(cycle.problems.isEmpty, "\(cycle.problems)")
  }
}

import Larder
import LarderTerminal

// A diagram as an SVG picture, with Larder's own layout.

extension Diagram {
  /// The picture as [SVG](https://www.w3.org/TR/SVG11/): dark on light, and readable without colours.
  var svg: String { DiagramDrawing(self).text }
}

/// The boxes and lines of a diagram, and their SVG.
struct DiagramDrawing {
  let boxes: [DiagramBox]
  let layout: DiagramLayout
  private let relations: [Diagram.Relation]
  let graph: LayoutGraph

  private static let margin = 24
  private static let colors = [
    "#33619a", "#a8502a", "#3f7d43", "#7d4f92", "#8f6f1c", "#2b7a80", "#9a4063", "#4f5d70",
  ]

  init(_ diagram: Diagram) {
    var boxes = diagram.tables.map { DiagramBox($0) }
    var numbers: [String: Int] = [:]
    for (number, table) in diagram.tables.enumerated() { numbers[table.name] = number }
    for relation in diagram.relations where numbers[relation.referencedTable] == nil {
      let spelled = numbers.keys.first { $0.foldedName == relation.referencedTable.foldedName }
      numbers[relation.referencedTable] = spelled.flatMap { numbers[$0] } ?? boxes.count
      if spelled != nil { continue }
      boxes.append(DiagramBox(missing: relation.referencedTable))
    }
    func port(_ table: String, _ column: String?) -> Int {
      let number = numbers[table] ?? 0
      let columns = number < diagram.tables.count ? diagram.tables[number].columns : []
      return boxes[number].port(columns.firstIndex { $0.name.lowercased() == column?.lowercased() })
    }
    relations = diagram.relations
    var links = diagram.relations.map { relation in
      LayoutGraph.Link(
        child: numbers[relation.table] ?? 0,
        childPort: port(relation.table, relation.columns.first),
        parent: numbers[relation.referencedTable] ?? 0,
        parentPort: port(relation.referencedTable, relation.referencedColumns.first))
    }
    // Optional and mandatory relations are moved apart if they share a port of the parent: their marks differ.
    for shared in Dictionary(grouping: links.indices, by: { Port(links[$0]) }).values
    where Set(shared.map { diagram.relations[$0].isOptional }).count == 2 {
      for index in shared {
        links[index].parentPort += diagram.relations[index].isOptional ? 5 : -5
      }
    }
    self.boxes = boxes
    graph = LayoutGraph(
      boxes: boxes.map { LayoutGraph.Box(width: $0.width, height: $0.height) }, links: links)
    layout = DiagramLayout(graph)
  }

  /// A port of a parent, at which links end.
  private struct Port: Hashable {
    let parent: Int
    let offset: Int

    init(_ link: LayoutGraph.Link) { (parent, offset) = (link.parent, link.parentPort) }
  }

  var text: String {
    let width = max(layout.width, 240) + 2 * Self.margin
    let height = max(layout.height, 20) + 2 * Self.margin
    var lines = [
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\""
        + " viewBox=\"0 0 \(width) \(height)\" role=\"img\">",
      Self.style,
      "<rect width=\"\(width)\" height=\"\(height)\" fill=\"#ffffff\"/>",
      "<g transform=\"translate(\(Self.margin) \(Self.margin))\">",
    ]
    if boxes.isEmpty { lines.append("<text x=\"0\" y=\"14\">There are no tables.</text>") }
    for net in nets { lines += draw(net) }
    for (box, place) in zip(boxes, layout.boxes) { lines += draw(box, place) }
    return (lines + ["</g>", "</svg>"]).joined(separator: "\n")
  }

  private static let style = """
    <style>
    text { font-family: 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; font-size: 12px; fill: #1b2430; white-space: pre }
    .title { font-size: 13px; font-weight: bold }
    .type, .more { fill: #66707d }
    .key { font-size: 10px; fill: #66707d }
    .primary { font-weight: bold }
    .box { fill: #ffffff; stroke: #8592a3 }
    .head { fill: #e6ecf4; stroke: #8592a3 }
    .missing { fill: #ffffff; stroke: #b03a2e; stroke-dasharray: 4 3 }
    .line { fill: none; stroke-width: 1.5; stroke-linejoin: round }
    .mark { fill: #ffffff; stroke-width: 1.5 }
    </style>
    """
}

// MARK: Lines

extension DiagramDrawing {
  /// The relations whose lines leave one port of a parent, and are drawn together.
  private struct Net {
    let color: String
    var members: [Int]
  }

  private var nets: [Net] {
    var nets: [Net] = []
    var numbers: [Port: Int] = [:]
    var colors: [Int: String] = [:]
    for (index, link) in graph.links.enumerated() where layout.routes[index].count > 1 {
      let color = colors[link.parent] ?? Self.colors[colors.count % Self.colors.count]
      colors[link.parent] = color
      if let number = numbers[Port(link)] {
        nets[number].members.append(index)
      } else {
        numbers[Port(link)] = nets.count
        nets.append(Net(color: color, members: [index]))
      }
    }
    return nets
  }

  /// The SVG of a net: its lines, and the cardinality marks at their ends (crow's foot notation).
  private func draw(_ net: Net) -> [String] {
    let path = net.members.map { Self.path(layout.routes[$0]) }.joined()
    var lines = ["<g stroke=\"\(net.color)\">", "<path class=\"line\" d=\"\(path)\"/>"]
    var marked: Set<LayoutGeometry.Point> = []
    for index in net.members {
      let (relation, points) = (relations[index], layout.routes[index])
      let (first, last) = (points[0], points[points.count - 1])
      let start = points[1].x >= first.x ? 1 : -1
      let end = points[points.count - 2].x >= last.x ? 1 : -1
      if marked.insert(first).inserted {
        lines.append(Self.bar(first.x + 6 * start, first.y))
        lines.append(
          relation.isOptional
            ? Self.circle(first.x + 14 * start, first.y) : Self.bar(first.x + 11 * start, first.y))
      }
      let what =
        "\(relation.table) (\(relation.columns.joined(separator: ", "))) → \(relation.referencedTable)"
      let mark = relation.isUnique ? Self.bar(last.x + 7 * end, last.y) : Self.crowsFoot(last, end)
      lines.append(
        "<g><title>\(what.escapedForXML)</title>\(mark)\(Self.circle(last.x + 16 * end, last.y))</g>"
      )
    }
    return lines + ["</g>"]
  }

  private static func crowsFoot(_ end: LayoutGeometry.Point, _ side: Int) -> String {
    "<path class=\"line\" d=\"M\(end.x) \(end.y - 6)L\(end.x + 12 * side) \(end.y)L\(end.x) \(end.y + 6)\"/>"
  }

  private static func bar(_ x: Int, _ y: Int) -> String {
    "<path class=\"line\" d=\"M\(x) \(y - 5)V\(y + 5)\"/>"
  }

  private static func circle(_ x: Int, _ y: Int) -> String {
    "<circle class=\"mark\" cx=\"\(x)\" cy=\"\(y)\" r=\"4\"/>"
  }

  /// The path of a line with rounded corners.
  private static func path(_ points: [LayoutGeometry.Point]) -> String {
    var path = "M\(points[0].x) \(points[0].y)"
    for index in points.indices.dropFirst().dropLast() {
      let (before, corner, after) = (points[index - 1], points[index], points[index + 1])
      let radius = min(6, corner.distance(to: before) / 2, corner.distance(to: after) / 2)
      let (from, to) = (corner.moved(radius, to: before), corner.moved(radius, to: after))
      path += "L\(from.x) \(from.y)Q\(corner.x) \(corner.y) \(to.x) \(to.y)"
    }
    let last = points[points.count - 1]
    return path + "L\(last.x) \(last.y)"
  }
}

extension LayoutGeometry.Point {
  /// The distance to a point on the same row or column.
  fileprivate func distance(to other: Self) -> Int { abs(x - other.x) + abs(y - other.y) }

  fileprivate func moved(_ length: Int, to other: Self) -> Self {
    Self(x: x + (other.x - x).signum() * length, y: y + (other.y - y).signum() * length)
  }
}

// MARK: Boxes

extension DiagramDrawing {
  private func draw(_ box: DiagramBox, _ place: LayoutGeometry.Rectangle) -> [String] {
    let (left, top) = (place.left, place.top)
    let middle = left + place.width / 2
    func text(_ content: String, x: Int, y: Int, _ style: String = "") -> String {
      "<text x=\"\(x)\" y=\"\(y)\"\(style)>\(content.escapedForXML)</text>"
    }
    func rectangle(_ name: String, height: Int) -> String {
      "<rect class=\"\(name)\" x=\"\(left)\" y=\"\(top)\" width=\"\(place.width)\" height=\"\(height)\" rx=\"3\"/>"
    }
    let title = text(box.title, x: middle, y: top + 19, " class=\"title\" text-anchor=\"middle\"")
    guard !box.isMissing else { return [rectangle("missing", height: place.height), title] }
    var lines = [
      rectangle("box", height: place.height), rectangle("head", height: DiagramBox.titleHeight),
      title,
    ]
    for (index, row) in box.rows.enumerated() {
      let y = top + box.port(index) + 4
      if !row.key.isEmpty { lines.append(text(row.key, x: left + 8, y: y, " class=\"key\"")) }
      lines.append(
        text(
          row.name, x: left + box.nameLeft, y: y,
          row.isPrimaryKey ? " class=\"primary\"" : ""))
      if !row.type.isEmpty {
        lines.append(
          text(
            row.type, x: left + place.width - DiagramBox.padding, y: y,
            " class=\"type\" text-anchor=\"end\""))
      }
    }
    if box.hidden > 0 {
      lines.append(
        text(
          "… \(box.hidden.grouped) more", x: left + box.nameLeft,
          y: top + box.port(box.rows.count) + 4, " class=\"more\""))
    }
    return lines
  }

}

extension String {
  /// The text escaped for XML. `printable` replaces the control characters, which XML forbids.
  var escapedForXML: String {
    var result = ""
    for scalar in printable.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

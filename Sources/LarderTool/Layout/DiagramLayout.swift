/// Places a diagram's boxes, and routes the lines between them: horizontally and vertically, through no box.
/// Connected boxes are laid out in layers (``ComponentLayout``); these groups, and then the boxes without
/// links, are placed beside one another. The layout is deterministic.
struct DiagramLayout {
  private(set) var boxes: [LayoutGeometry.Rectangle]
  /// The corners of each link's line, from the parent to the child.
  private(set) var routes: [[LayoutGeometry.Point]]
  private(set) var width = 0
  private(set) var height = 0

  private static let groupGap = 56

  init(_ graph: LayoutGraph) {
    boxes = graph.boxes.map {
      LayoutGeometry.Rectangle(left: 0, top: 0, width: $0.width, height: $0.height)
    }
    routes = Array(repeating: [], count: graph.links.count)
    let groups = Self.groups(graph)
    let placed = groups.filter { !$0.links.isEmpty }.map {
      (part: $0, layout: ComponentLayout($0.graph(graph)))
    }
    let single = groups.filter(\.links.isEmpty).flatMap(\.boxes)
    let area =
      placed.reduce(0) {
        $0 + ($1.layout.width + Self.groupGap) * ($1.layout.height + Self.groupGap)
      }
      + single.reduce(0) {
        $0 + (boxes[$1].width + LayoutGeometry.gap) * (boxes[$1].height + LayoutGeometry.gap)
      }
    let widest = (placed.map(\.layout.width) + single.map { boxes[$0].width }).max() ?? 0
    let wanted = max(widest, Int((Double(area) * 1.6).squareRoot()))
    placeGroups(placed, width: wanted)
    placeSingle(single, width: max(wanted, width))
  }

  /// A connected component: its boxes, and the links among them.
  private struct Part {
    let boxes: [Int]
    var links: [Int] = []

    /// The component as a graph of its own, with its boxes renumbered.
    func graph(_ whole: LayoutGraph) -> LayoutGraph {
      let numbers = Dictionary(uniqueKeysWithValues: zip(boxes, boxes.indices))
      return LayoutGraph(
        boxes: boxes.map { whole.boxes[$0] },
        links: links.map { number in
          let link = whole.links[number]
          return LayoutGraph.Link(
            child: numbers[link.child] ?? 0, childPort: link.childPort,
            parent: numbers[link.parent] ?? 0, parentPort: link.parentPort)
        })
    }
  }

  private static func groups(_ graph: LayoutGraph) -> [Part] {
    var parts = graph.components.map { Part(boxes: $0.sorted()) }
    var partOfBox = Array(repeating: 0, count: graph.boxes.count)
    for (number, part) in parts.enumerated() {
      for box in part.boxes { partOfBox[box] = number }
    }
    for (number, link) in graph.links.enumerated() {
      parts[partOfBox[link.child]].links.append(number)
    }
    return parts
  }

  /// Places the groups in rows, the highest first.
  private mutating func placeGroups(
    _ groups: [(part: Part, layout: ComponentLayout)], width wanted: Int
  ) {
    let order = groups.indices.sorted {
      (groups[$1].layout.height, $0) < (groups[$0].layout.height, $1)
    }
    var (left, top, rowHeight) = (0, 0, 0)
    for index in order {
      let (part, layout) = groups[index]
      if left > 0, left + layout.width > wanted {
        top += rowHeight + Self.groupGap
        (left, rowHeight) = (0, 0)
      }
      for (number, box) in zip(part.boxes, layout.boxes) {
        boxes[number].left = box.left + left
        boxes[number].top = box.top + top
      }
      for (number, route) in zip(part.links, layout.routes) {
        routes[number] = route.map { LayoutGeometry.Point(x: $0.x + left, y: $0.y + top) }
      }
      width = max(width, left + layout.width)
      height = max(height, top + layout.height)
      left += layout.width + Self.groupGap
      rowHeight = max(rowHeight, layout.height)
    }
  }

  /// Places boxes without links in columns of one width, each box in the column that is shortest so far.
  private mutating func placeSingle(_ single: [Int], width wanted: Int) {
    guard let column = single.map({ boxes[$0].width }).max() else { return }
    let count = max(
      1, min(single.count, (wanted + LayoutGeometry.gap) / (column + LayoutGeometry.gap)))
    var tops = Array(repeating: height > 0 ? height + Self.groupGap : 0, count: count)
    for box in single {
      guard let place = tops.indices.min(by: { (tops[$0], $0) < (tops[$1], $1) }) else { return }
      boxes[box].left = place * (column + LayoutGeometry.gap)
      boxes[box].top = tops[place]
      width = max(width, boxes[box].left + boxes[box].width)
      height = max(height, tops[place] + boxes[box].height)
      tops[place] += boxes[box].height + LayoutGeometry.gap
    }
  }
}

/// Where the boxes of a diagram stand, and how the lines between them run: up, down and sideways, through no box.
/// Boxes that hang together are laid out in layers (``ComponentLayout``); the groups, and then the boxes without
/// links, are put beside one another. The same graph is laid out in the same way each time.
struct DiagramLayout {
  private(set) var boxes: [LayoutGeometry.Rectangle]
  /// Of each link, the corners of its line from the parent to the child.
  private(set) var routes: [[LayoutGeometry.Point]]
  private(set) var width = 0
  private(set) var height = 0

  /// The room between groups.
  private static let groupGap = 56

  init(_ graph: LayoutGraph) {
    boxes = graph.boxes.map {
      LayoutGeometry.Rectangle(left: 0, top: 0, width: $0.width, height: $0.height)
    }
    routes = Array(repeating: [], count: graph.links.count)
    let groups = Self.groups(graph)
    var placed: [(part: Part, layout: ComponentLayout)] = []
    for group in groups where !group.links.isEmpty {
      placed.append((group, ComponentLayout(group.graph(graph))))
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

  /// Boxes that hang together, and the links among them.
  private struct Part {
    var boxes: [Int] = []
    var links: [Int] = []

    /// They alone, with numbers of their own.
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
    var leaders = Array(graph.boxes.indices)
    func leader(_ box: Int) -> Int {
      var box = box
      while leaders[box] != box {
        leaders[box] = leaders[leaders[box]]
        box = leaders[box]
      }
      return box
    }
    for link in graph.links {
      let (child, parent) = (leader(link.child), leader(link.parent))
      leaders[max(child, parent)] = min(child, parent)
    }
    var parts: [Int: Part] = [:]
    for box in graph.boxes.indices { parts[leader(box), default: Part()].boxes.append(box) }
    for (number, link) in graph.links.enumerated() {
      parts[leader(link.child), default: Part()].links.append(number)
    }
    return parts.sorted { $0.key < $1.key }.map(\.value)
  }

  /// In rows, the highest first.
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

  /// In columns of one width, each box in the one that is shortest so far.
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

/// The geometry of a diagram: points, rectangles, and the spaces between its parts, in SVG units.
enum LayoutGeometry {
  struct Point: Hashable {
    var x: Int
    var y: Int
  }

  struct Rectangle: Hashable {
    var left: Int
    var top: Int
    let width: Int
    let height: Int
  }

  /// The vertical space between two boxes.
  static let gap = 28
  /// The space between lines, and between lines and boxes.
  static let lineGap = 14
  static let trackGap = 12
  /// The space on each side of a channel for the marks at the ends of lines.
  static let markRoom = 32
  /// The horizontal extent of a box's line to itself, which has to fit into ``markRoom``.
  static let loopRoom = 30
}

/// A layout's input: boxes and the links between them. All lengths are whole numbers.
struct LayoutGraph {
  struct Box: Equatable {
    let width: Int
    let height: Int
  }

  /// A link from a child box to its parent, which may be the same box. Ports are y offsets below the boxes'
  /// tops.
  struct Link: Equatable {
    let child: Int
    let childPort: Int
    let parent: Int
    var parentPort: Int
  }

  var boxes: [Box]
  var links: [Link]

  /// The connected components by their first boxes. Each has its boxes in the order of a depth-first walk along
  /// the links, which keeps linked boxes together.
  var components: [[Int]] {
    var neighbours: [[Int]] = Array(repeating: [], count: boxes.count)
    for link in links {
      neighbours[link.parent].append(link.child)
      neighbours[link.child].append(link.parent)
    }
    var isSeen = Array(repeating: false, count: boxes.count)
    return boxes.indices.compactMap { start in
      var component: [Int] = []
      var waiting = [start]
      while let box = waiting.popLast() {
        guard !isSeen[box] else { continue }
        isSeen[box] = true
        component.append(box)
        waiting += neighbours[box].reversed()
      }
      return component.isEmpty ? nil : component
    }
  }
}

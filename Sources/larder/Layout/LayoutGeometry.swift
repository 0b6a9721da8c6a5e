/// The lengths of a diagram, in points: what its parts are made of, and the room between them.
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

  /// The room between two boxes above one another.
  static let gap = 28
  /// The room between lines, and between lines and boxes.
  static let lineGap = 14
  static let trackGap = 12
  /// The room on each side of a channel for the marks at the ends of lines.
  static let markRoom = 32
  /// How far the line of a box to itself goes out, which has to be a part of its channel's room.
  static let loopRoom = 30
}

/// Boxes and the links between them, as a layout gets them. All lengths are whole points.
struct LayoutGraph {
  struct Box: Equatable {
    let width: Int
    let height: Int
  }

  /// From a box to another, or to itself, at heights below their upper ends.
  struct Link: Equatable {
    let child: Int
    let childPort: Int
    let parent: Int
    let parentPort: Int
  }

  var boxes: [Box]
  var links: [Link]
}

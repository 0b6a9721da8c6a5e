@testable import LarderTool

/// Measures a diagram's layout: overlaps, hidden lines and crossings.
struct DiagramGeometry {
  let graph: LayoutGraph
  let layout: DiagramLayout

  init(_ graph: LayoutGraph) {
    self.graph = graph
    layout = DiagramLayout(graph)
  }

  /// A straight segment of a line.
  private struct Part {
    let from: LayoutGeometry.Point
    let to: LayoutGeometry.Point
    let link: Int
    var xs: ClosedRange<Int> { min(from.x, to.x)...max(from.x, to.x) }
    var ys: ClosedRange<Int> { min(from.y, to.y)...max(from.y, to.y) }
    var isLevel: Bool { from.y == to.y }
  }

  private var parts: [Part] {
    layout.routes.enumerated().flatMap { link, route in
      zip(route, route.dropFirst()).map { Part(from: $0, to: $1, link: link) }
    }
  }

  /// Whether two links leave the same port, so that their lines may overlap.
  private func areOfOneNet(_ first: Int, _ second: Int) -> Bool {
    let (first, second) = (graph.links[first], graph.links[second])
    return first.parent == second.parent && first.parentPort == second.parentPort
  }

  /// Descriptions of all defects: boxes that overlap, and lines that don't end at their boxes, aren't
  /// straight, or run through a box or along another line.
  var problems: [String] { overlaps + wrongEnds + hiddenLines + sharedLines }

  private var overlaps: [String] {
    let boxes = layout.boxes
    return boxes.indices.flatMap { first in
      boxes.indices.dropFirst(first + 1).compactMap { second in
        let (a, b) = (boxes[first], boxes[second])
        let isApart =
          a.left + a.width < b.left || b.left + b.width < a.left || a.top + a.height < b.top
          || b.top + b.height < a.top
        return isApart ? nil : "the boxes \(first) and \(second) overlap"
      }
    }
  }

  private var wrongEnds: [String] {
    layout.routes.enumerated().compactMap { number, route in
      let link = graph.links[number]
      guard let first = route.first, let last = route.last else {
        return "link \(number) has no line"
      }
      let (parent, child) = (layout.boxes[link.parent], layout.boxes[link.child])
      func isAtSide(_ point: LayoutGeometry.Point, of box: LayoutGeometry.Rectangle, _ port: Int)
        -> Bool
      {
        [box.left, box.left + box.width].contains(point.x) && point.y == box.top + port
      }
      guard isAtSide(first, of: parent, link.parentPort), isAtSide(last, of: child, link.childPort)
      else { return "link \(number) doesn't end at its boxes" }
      let isStraight = zip(route, route.dropFirst()).allSatisfy { $0.x == $1.x || $0.y == $1.y }
      return isStraight ? nil : "link \(number) has a slope"
    }
  }

  private var hiddenLines: [String] {
    parts.flatMap { part in
      layout.boxes.enumerated().compactMap { number, box in
        let isOutside =
          part.xs.upperBound <= box.left || part.xs.lowerBound >= box.left + box.width
          || part.ys.upperBound <= box.top || part.ys.lowerBound >= box.top + box.height
        return isOutside ? nil : "link \(part.link) runs through box \(number)"
      }
    }
  }

  private var sharedLines: [String] {
    pairs { first, second in
      guard first.isLevel == second.isLevel else { return nil }
      let (across, along) =
        first.isLevel
        ? (abs(first.from.y - second.from.y), first.xs.clamped(to: second.xs))
        : (abs(first.from.x - second.from.x), first.ys.clamped(to: second.ys))
      let isBeside = first.isLevel ? first.xs.overlaps(second.xs) : first.ys.overlaps(second.ys)
      guard across < 3, isBeside, along.count > 1 else { return nil }
      return "links \(first.link) and \(second.link) run along one another"
    }
  }

  /// The number of crossings. Two lines that cross at several places count once for each.
  var crossings: Int {
    struct Place: Hashable {
      let x: Int
      let y: Int
      let nets: Set<Int>
    }
    let nets = Dictionary(
      uniqueKeysWithValues: Set(graph.links.map { [$0.parent, $0.parentPort] }).enumerated().map {
        ($1, $0)
      })
    func net(_ link: Int) -> Int {
      nets[[graph.links[link].parent, graph.links[link].parentPort]] ?? 0
    }
    let places: [Place] = pairs { first, second in
      guard first.isLevel != second.isLevel else { return nil }
      let (level, upright) = first.isLevel ? (first, second) : (second, first)
      let (x, y) = (upright.from.x, level.from.y)
      guard level.xs.contains(x), upright.ys.contains(y) else { return nil }
      return Place(x: x, y: y, nets: [net(first.link), net(second.link)])
    }
    return Set(places).count
  }

  /// The results of `body` for all pairs of segments that belong to different nets.
  private func pairs<T>(_ body: (Part, Part) -> T?) -> [T] {
    let parts = parts
    return parts.indices.flatMap { first in
      parts.indices.dropFirst(first + 1).compactMap { second in
        areOfOneNet(parts[first].link, parts[second].link) ? nil : body(parts[first], parts[second])
      }
    }
  }
}

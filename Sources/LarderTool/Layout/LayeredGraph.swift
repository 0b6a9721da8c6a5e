/// A graph whose boxes are in layers from left to right; each link joins two layers, with the parent on the
/// left except in cycles.
///
/// A link that passes a layer has a vertex of its own there. Links to one port of one parent form a net, and
/// share these vertices. See [layered graph drawing](https://en.wikipedia.org/wiki/Layered_graph_drawing).
struct LayeredGraph {
  struct Vertex {
    /// The box; nil for a vertex through which a net passes the layer.
    let box: Int?
    let height: Int
  }

  /// The links at one port of a parent that leave it on the same side.
  struct Net: Hashable {
    let parent: Int
    let port: Int
    let goesRight: Bool
  }

  /// A part of a net between a layer and the next.
  struct Segment {
    struct End {
      let vertex: Int
      /// The y offset below the vertex's top.
      let port: Int
    }

    let net: Int
    let left: End
    let right: End
  }

  private(set) var vertices: [Vertex] = []
  /// The vertices of each layer, initially in the order of a depth-first walk.
  var layers: [[Int]] = []
  private(set) var numbers: [Net: Int] = [:]
  /// The segments, by the layer on their left.
  private(set) var segments: [[Segment]] = []
  private(set) var layerOfBox: [Int]
  /// The vertices on each net's way by their layers, including the parent; by the nets' numbers.
  private(set) var ways: [[Int: Int]] = []

  /// - Parameters:
  ///   - graph: the boxes and links; links of a box to itself are ignored.
  ///   - flipped: the parents to be placed on the right of their children.
  init(_ graph: LayoutGraph, flipped: Set<Int> = [], mostHeight: Int) {
    let links = graph.links.filter { $0.child != $0.parent }
    var layering = Layering(
      count: graph.boxes.count,
      arcs: links.map {
        flipped.contains($0.parent) ? ($0.child, $0.parent) : ($0.parent, $0.child)
      })
    layering.shorten()
    layering.limit(heights: graph.boxes.map { $0.height + LayoutGeometry.gap }, to: mostHeight)
    layerOfBox = layering.normalized
    let count = (layerOfBox.max() ?? 0) + 1
    layers = Array(repeating: [], count: count)
    segments = Array(repeating: [], count: count)
    for box in graph.components.joined() { layers[layerOfBox[box]].append(box) }
    vertices = graph.boxes.indices.map { Vertex(box: $0, height: graph.boxes[$0].height) }
    let members = Dictionary(grouping: links) { net(of: $0) }
    for net in links.map({ net(of: $0) }) where numbers[net] == nil {
      let number = numbers.count
      numbers[net] = number
      connect(net, number, members[net] ?? [])
    }
  }

  func net(of link: LayoutGraph.Link) -> Net {
    Net(
      parent: link.parent, port: link.parentPort,
      goesRight: layerOfBox[link.child] > layerOfBox[link.parent])
  }

  private mutating func connect(_ net: Net, _ number: Int, _ links: [LayoutGraph.Link]) {
    let step = net.goesRight ? 1 : -1
    let start = layerOfBox[net.parent]
    let farthest = links.map { abs(layerOfBox[$0.child] - start) }.max() ?? 0
    var way = [start: net.parent]
    var end = Segment.End(vertex: net.parent, port: net.port)
    func segment(to vertex: Int, _ port: Int) -> Segment {
      let other = Segment.End(vertex: vertex, port: port)
      return net.goesRight
        ? Segment(net: number, left: end, right: other)
        : Segment(net: number, left: other, right: end)
    }
    for distance in 1...max(1, farthest) {
      let layer = start + step * distance
      let channel = min(layer, layer - step)
      for link in links where layerOfBox[link.child] == layer {
        segments[channel].append(segment(to: link.child, link.childPort))
      }
      guard distance < farthest else { break }
      let next = vertices.count
      vertices.append(Vertex(box: nil, height: 0))
      layers[layer].append(next)
      segments[channel].append(segment(to: next, 0))
      end = Segment.End(vertex: next, port: 0)
      way[layer] = next
    }
    ways.append(way)
  }
}

/// Assigns boxes to layers, so that each arc leads to a later layer.
private struct Layering {
  private(set) var layers: [Int]
  private var following: [[Int]]
  private var preceding: [[Int]]

  /// Reverses arcs that close a cycle, and puts each box one layer after the last of its predecessors.
  init(count: Int, arcs: [(Int, Int)]) {
    layers = Array(repeating: 0, count: count)
    following = Array(repeating: [], count: count)
    preceding = following
    for (from, to) in arcs { following[from].append(to) }
    breakCycles()
    for from in following.indices {
      for to in following[from] { preceding[to].append(from) }
    }
    for box in order {
      layers[box] = (preceding[box].map { layers[$0] }.max() ?? -1) + 1
    }
  }

  private mutating func breakCycles() {
    enum State { case unseen, open, done }
    var states = Array(repeating: State.unseen, count: following.count)
    let arcs = following
    var kept: [[Int]] = Array(repeating: [], count: following.count)
    for start in arcs.indices where states[start] == .unseen {
      states[start] = .open
      var path = [(box: start, next: 0)]
      while let (box, next) = path.last {
        guard next < arcs[box].count else {
          states[box] = .done
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let to = arcs[box][next]
        if states[to] == .open {
          kept[to].append(box)
        } else {
          kept[box].append(to)
        }
        if states[to] == .unseen {
          states[to] = .open
          path.append((to, 0))
        }
      }
    }
    following = kept
  }

  /// The boxes in topological order.
  private var order: [Int] {
    var missing = preceding.map(\.count)
    var order = missing.indices.filter { missing[$0] == 0 }
    var place = 0
    while place < order.count {
      for next in following[order[place]] {
        missing[next] -= 1
        if missing[next] == 0 { order.append(next) }
      }
      place += 1
    }
    return order
  }

  /// Moves boxes to layers in which their links are shorter.
  mutating func shorten() {
    let order = order
    for _ in 0..<8 {
      var isChanged = false
      for box in order.reversed() + order {
        let lowest = preceding[box].map { layers[$0] + 1 }.max()
        let highest = following[box].map { layers[$0] - 1 }.min()
        let difference = following[box].count - preceding[box].count
        let wanted = difference > 0 ? highest : difference < 0 ? lowest : nil
        if let wanted, wanted != layers[box] {
          layers[box] = wanted
          isChanged = true
        }
      }
      if !isChanged { break }
    }
  }

  /// Moves boxes without successors to later layers, if their layer is too high.
  mutating func limit(heights: [Int], to most: Int) {
    var layer = layers.min() ?? 0
    while layer <= layers.max() ?? 0 {
      let members = layers.indices.filter { layers[$0] == layer }
      var height = members.reduce(0) { $0 + heights[$1] }
      // The boxes with the fewest links move first, since those links become longer; of equals, the last box.
      let movable = members.filter { following[$0].isEmpty }
        .sorted { (preceding[$0].count, -$0) < (preceding[$1].count, -$1) }
      // One box has to stay, so that the loop ends.
      for box in movable.prefix(members.count - 1) where height > most {
        layers[box] += 1
        height -= heights[box]
      }
      layer += 1
    }
  }

  /// The layers numbered from 0, without empty ones.
  var normalized: [Int] {
    let used = Set(layers).sorted()
    return layers.map { used.firstIndex(of: $0) ?? 0 }
  }
}

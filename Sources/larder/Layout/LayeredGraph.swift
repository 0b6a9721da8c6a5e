/// A graph whose boxes stand in layers from left to right, so that each link goes from one layer to a later one:
/// parents on the left, but for cycles. Links that pass layers have vertices of their own there; those to one
/// place of one parent are a net, which shares them. See
/// [layered graph drawing](https://en.wikipedia.org/wiki/Layered_graph_drawing).
struct LayeredGraph {
  struct Vertex {
    /// Nil for a vertex of a net.
    let box: Int?
    let layer: Int
    let height: Int
  }

  /// The links to one place of a parent that leave it on one side.
  struct Net: Hashable {
    let parent: Int
    let port: Int
    let goesRight: Bool
  }

  /// A part of a net between a layer and the next.
  struct Segment {
    let net: Int
    /// The vertex and the height below its upper end.
    let left: Int
    let leftPort: Int
    let right: Int
    let rightPort: Int
  }

  private(set) var vertices: [Vertex] = []
  /// The vertices of each layer, at first in the order in which a walk comes by.
  var layers: [[Int]] = []
  private(set) var nets: [Net] = []
  /// The place of each net in these.
  private(set) var numbers: [Net: Int] = [:]
  /// By the layer on their left.
  private(set) var segments: [[Segment]] = []
  /// Of each box.
  private(set) var layerOfBox: [Int]
  /// Of each net, the vertices on its way by their layers, the parent's included.
  private(set) var ways: [[Int: Int]] = []

  /// - Parameters:
  ///   - graph: links of a box to itself are left out.
  ///   - flipped: the parents that are to stand on the right of their children.
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
    for box in Self.walk(graph) {
      layers[layerOfBox[box]].append(box)
    }
    vertices = graph.boxes.indices.map {
      Vertex(box: $0, layer: layerOfBox[$0], height: graph.boxes[$0].height)
    }
    var members: [[LayoutGraph.Link]] = []
    for link in links {
      let net = self.net(of: link)
      if let number = numbers[net] {
        members[number].append(link)
      } else {
        numbers[net] = nets.count
        nets.append(net)
        members.append([link])
      }
    }
    for net in nets.indices { connect(net, members[net]) }
  }

  /// The net that a link belongs to.
  func net(of link: LayoutGraph.Link) -> Net {
    Net(
      parent: link.parent, port: link.parentPort,
      goesRight: layerOfBox[link.child] > layerOfBox[link.parent])
  }

  /// The boxes in the order of a walk along the links, which keeps together what belongs together.
  private static func walk(_ graph: LayoutGraph) -> [Int] {
    var neighbours: [[Int]] = Array(repeating: [], count: graph.boxes.count)
    for link in graph.links {
      neighbours[link.parent].append(link.child)
      neighbours[link.child].append(link.parent)
    }
    var isSeen = Array(repeating: false, count: graph.boxes.count)
    var order: [Int] = []
    for start in graph.boxes.indices {
      var waiting = [start]
      while let box = waiting.popLast() {
        guard !isSeen[box] else { continue }
        isSeen[box] = true
        order.append(box)
        waiting += neighbours[box].reversed()
      }
    }
    return order
  }

  /// Adds the vertices and segments of a net.
  private mutating func connect(_ number: Int, _ links: [LayoutGraph.Link]) {
    let net = nets[number]
    let step = net.goesRight ? 1 : -1
    let start = layerOfBox[net.parent]
    let farthest = links.map { abs(layerOfBox[$0.child] - start) }.max() ?? 0
    var way = [start: net.parent]
    var (vertex, port) = (net.parent, net.port)
    func segment(to other: Int, _ otherPort: Int) -> Segment {
      net.goesRight
        ? Segment(net: number, left: vertex, leftPort: port, right: other, rightPort: otherPort)
        : Segment(net: number, left: other, leftPort: otherPort, right: vertex, rightPort: port)
    }
    for distance in 1...max(1, farthest) {
      let layer = start + step * distance
      let channel = min(layer, layer - step)
      for link in links where layerOfBox[link.child] == layer {
        segments[channel].append(segment(to: link.child, link.childPort))
      }
      guard distance < farthest else { break }
      let next = vertices.count
      vertices.append(Vertex(box: nil, layer: layer, height: 0))
      layers[layer].append(next)
      segments[channel].append(segment(to: next, 0))
      (vertex, port) = (next, 0)
      way[layer] = next
    }
    ways.append(way)
  }
}

/// The layers of a graph's boxes: each arc leads to a later one.
private struct Layering {
  private(set) var layers: [Int]
  private var following: [[Int]]
  private var preceding: [[Int]]

  /// Arcs that close a cycle are turned round, and each box stands one layer behind the last that precedes it.
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

  /// The boxes, each behind those that precede it.
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

  /// Moves boxes to where their links are shorter.
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

  /// Moves boxes that nothing follows to later layers, where a layer is too high.
  mutating func limit(heights: [Int], to most: Int) {
    var layer = layers.min() ?? 0
    while layer <= layers.max() ?? 0 {
      let members = layers.indices.filter { layers[$0] == layer }
      var height = members.reduce(0) { $0 + heights[$1] }
      // Those with the fewest links, whose way becomes longer; of these the last.
      let movable = members.filter { following[$0].isEmpty }
        .sorted { (preceding[$0].count, -$0) < (preceding[$1].count, -$1) }
      // One box has to stay, so that this comes to an end.
      for box in movable.prefix(members.count - 1) where height > most {
        layers[box] += 1
        height -= heights[box]
      }
      layer += 1
    }
  }

  /// From 0, without layers that nothing stands in.
  var normalized: [Int] {
    let used = Set(layers).sorted()
    let numbers = Dictionary(uniqueKeysWithValues: zip(used, used.indices))
    return layers.map { numbers[$0] ?? 0 }
  }
}

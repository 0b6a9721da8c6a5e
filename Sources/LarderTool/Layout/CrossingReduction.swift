/// Orders the vertices of layers so that few links cross (the barycentre heuristic). Sweeps over the layers
/// move vertices to the mean of their neighbours' positions; swaps of adjacent vertices follow.
struct CrossingReduction {
  private let graph: LayeredGraph
  private var layers: [[Int]]
  /// The position of each vertex in its layer.
  private var places: [Int]
  /// The segments on each side of each vertex.
  private var leftSegments: [[LayeredGraph.Segment]]
  private var rightSegments: [[LayeredGraph.Segment]]

  /// The best order that was found.
  private(set) var best: [[Int]]
  private(set) var crossings: Int

  init(_ graph: LayeredGraph) {
    self.graph = graph
    layers = graph.layers
    best = layers
    places = Array(repeating: 0, count: graph.vertices.count)
    leftSegments = Array(repeating: [], count: graph.vertices.count)
    rightSegments = leftSegments
    for segment in graph.segments.joined() {
      rightSegments[segment.left].append(segment)
      leftSegments[segment.right].append(segment)
    }
    crossings = .max
    let isLarge = graph.vertices.count > 600
    var random = Shuffler()
    for start in 0..<(isLarge ? 2 : 10) where crossings > 0 {
      layers = graph.layers
      if start == 1 { layers = layers.map { $0.reversed() } }
      if start > 1 { layers = layers.map { random.shuffled($0) } }
      for layer in layers.indices { renumber(layer) }
      improve(sweeps: isLarge ? 6 : 24)
    }
    centre()
  }

  /// Moves each vertex through which a net passes a layer to the middle of the net's ends there, unless that
  /// adds crossings: the boxes behind are then beside all these ends, and not below.
  private mutating func centre() {
    layers = best
    for layer in layers.indices { renumber(layer) }
    for (number, layer) in best.enumerated() {
      for vertex in layer where graph.vertices[vertex].box == nil {
        guard let net = (leftSegments[vertex] + rightSegments[vertex]).first?.net else { continue }
        let siblings = layers[number].filter { other in
          (leftSegments[other] + rightSegments[other]).contains { $0.net == net }
        }.map { places[$0] }
        let middle = (siblings.min() ?? 0) + siblings.count / 2
        while places[vertex] != middle {
          let (from, to) = (places[vertex], places[vertex] + (middle > places[vertex] ? 1 : -1))
          let other = layers[number][to]
          let isUpwards = to < from
          let (upper, lower) = isUpwards ? (other, vertex) : (vertex, other)
          guard crossings(of: lower, above: upper) <= crossings(of: upper, above: lower) else {
            break
          }
          layers[number].swapAt(from, to)
          (places[vertex], places[other]) = (to, from)
        }
      }
    }
    best = layers
  }

  private mutating func renumber(_ layer: Int) {
    for (place, vertex) in layers[layer].enumerated() { places[vertex] = place }
  }

  private mutating func improve(sweeps: Int) {
    note()
    var withoutGain = 0
    for sweep in 0..<sweeps where crossings > 0 && withoutGain < 6 {
      let goesRight = sweep.isMultiple(of: 2)
      let order = Array(layers.indices)
      for layer in goesRight ? order : order.reversed() {
        sort(layer, byTheLeft: goesRight)
      }
      transpose()
      withoutGain = note() ? 0 : withoutGain + 1
    }
  }

  /// Keeps the order if it is the best so far.
  @discardableResult
  private mutating func note() -> Bool {
    let count = countCrossings()
    guard count < crossings else { return false }
    (crossings, best) = (count, layers)
    return true
  }

  /// Sorts a layer's vertices by the mean position of their neighbours on one side. Vertices without any
  /// stay.
  private mutating func sort(_ layer: Int, byTheLeft: Bool) {
    func mean(_ vertex: Int) -> Double? {
      let segments = byTheLeft ? leftSegments[vertex] : rightSegments[vertex]
      guard !segments.isEmpty else { return nil }
      let sum = segments.reduce(0.0) { sum, segment in
        let (other, port) =
          byTheLeft ? (segment.left, segment.leftPort) : (segment.right, segment.rightPort)
        // The link's port in the box counts too.
        return sum + Double(places[other])
          + Double(port) / Double(max(1, graph.vertices[other].height + 1))
      }
      return sum / Double(segments.count)
    }
    let members = layers[layer]
    let means = members.map(mean)
    let moving = members.indices.filter { means[$0] != nil }
    let sorted = moving.sorted { (means[$0] ?? 0, $0) < (means[$1] ?? 0, $1) }
    for (place, index) in zip(moving, sorted) { layers[layer][place] = members[index] }
    renumber(layer)
  }

  /// Swaps adjacent vertices as long as that removes crossings.
  private mutating func transpose() {
    for _ in 0..<8 {
      var isBetter = false
      for layer in layers.indices {
        for place in layers[layer].indices.dropLast() {
          let (first, second) = (layers[layer][place], layers[layer][place + 1])
          guard crossings(of: second, above: first) < crossings(of: first, above: second) else {
            continue
          }
          layers[layer].swapAt(place, place + 1)
          (places[first], places[second]) = (place + 1, place)
          isBetter = true
        }
      }
      if !isBetter { break }
    }
  }

  /// The number of crossings between the links of two vertices of a layer, if one is above the other.
  private func crossings(of first: Int, above second: Int) -> Int {
    var count = 0
    for upper in leftSegments[first] {
      for lower in leftSegments[second] where leftEnd(upper) > leftEnd(lower) { count += 1 }
    }
    for upper in rightSegments[first] {
      for lower in rightSegments[second] where rightEnd(upper) > rightEnd(lower) { count += 1 }
    }
    return count
  }

  private func leftEnd(_ segment: LayeredGraph.Segment) -> (Int, Int) {
    (places[segment.left], segment.leftPort)
  }

  private func rightEnd(_ segment: LayeredGraph.Segment) -> (Int, Int) {
    (places[segment.right], segment.rightPort)
  }

  /// The crossings of all links: pairs whose ends have another order on the left than on the right.
  private func countCrossings() -> Int {
    graph.segments.reduce(0) { sum, segments in
      let sorted = segments.sorted {
        (leftEnd($0), rightEnd($0)) < (leftEnd($1), rightEnd($1))
      }
      let rights = sorted.map(rightEnd)
      var ranks = Array(repeating: 0, count: sorted.count)
      var rank = 0
      var last: (Int, Int)?
      for index in sorted.indices.sorted(by: { rights[$0] < rights[$1] }) {
        if let last, last < rights[index] { rank += 1 }
        last = rights[index]
        ranks[index] = rank
      }
      return sum + Self.inversions(ranks)
    }
  }

  /// The number of pairs in the wrong order, by a [Fenwick tree](https://en.wikipedia.org/wiki/Fenwick_tree).
  private static func inversions(_ ranks: [Int]) -> Int {
    var tree = Array(repeating: 0, count: ranks.count + 1)
    var count = 0
    for (seen, rank) in ranks.enumerated() {
      var notAbove = 0
      var place = rank + 1
      while place > 0 {
        notAbove += tree[place]
        place -= place & -place
      }
      count += seen - notAbove
      place = rank + 1
      while place < tree.count {
        tree[place] += 1
        place += place & -place
      }
    }
    return count
  }
}

private func < (_ left: ((Int, Int), (Int, Int)), _ right: ((Int, Int), (Int, Int))) -> Bool {
  left.0 != right.0 ? left.0 < right.0 : left.1 < right.1
}

/// A random number generator with a fixed seed, so that a diagram is the same whenever it is drawn.
private struct Shuffler: RandomNumberGenerator {
  private var state: UInt64 = 24

  mutating func next() -> UInt64 {
    // SplitMix64, by Steele, Lea and Flood.
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func shuffled(_ values: [Int]) -> [Int] { values.shuffled(using: &self) }
}

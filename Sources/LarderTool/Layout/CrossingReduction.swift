/// Orders the vertices of layers so that few links cross (the barycentre heuristic). Sweeps over the layers
/// move vertices to the mean of their neighbours' positions; swaps of adjacent vertices follow.
struct CrossingReduction {
  private let graph: LayeredGraph
  private var layers: [[Int]]
  /// The position of each vertex in its layer.
  private var places: [Int]
  /// The other ends of each vertex's segments: of those on its left, and of those on its right.
  private var neighbours: [[[LayeredGraph.Segment.End]]]
  /// The nets of each vertex's segments.
  private var nets: [Set<Int>]

  /// The best order that was found.
  private(set) var best: [[Int]]
  private(set) var crossings: Int

  init(_ graph: LayeredGraph) {
    self.graph = graph
    layers = graph.layers
    best = layers
    places = Array(repeating: 0, count: graph.vertices.count)
    nets = Array(repeating: [], count: graph.vertices.count)
    neighbours = Array(repeating: Array(repeating: [], count: graph.vertices.count), count: 2)
    for segment in graph.segments.joined() {
      neighbours[0][segment.right.vertex].append(segment.left)
      neighbours[1][segment.left.vertex].append(segment.right)
      for end in [segment.left, segment.right] { nets[end.vertex].insert(segment.net) }
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
        guard let net = nets[vertex].first else { continue }
        let siblings = layers[number].filter { nets[$0].contains(net) }.map { places[$0] }
        let middle = (siblings.min() ?? 0) + siblings.count / 2
        while places[vertex] != middle {
          let (from, to) = (places[vertex], places[vertex] + (middle > places[vertex] ? 1 : -1))
          let other = layers[number][to]
          let (upper, lower) = to < from ? (other, vertex) : (vertex, other)
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
      let side = sweep % 2
      let order = Array(layers.indices)
      for layer in side == 0 ? order : order.reversed() { sort(layer, by: neighbours[side]) }
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
  private mutating func sort(_ layer: Int, by neighbours: [[LayeredGraph.Segment.End]]) {
    func mean(_ vertex: Int) -> Double? {
      let ends = neighbours[vertex]
      guard !ends.isEmpty else { return nil }
      let sum = ends.reduce(0.0) { sum, end in
        // The link's port in the box counts too.
        sum + Double(places[end.vertex])
          + Double(end.port) / Double(graph.vertices[end.vertex].height + 1)
      }
      return sum / Double(ends.count)
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
    for neighbours in neighbours {
      for upper in neighbours[first] {
        for lower in neighbours[second] where place(upper) > place(lower) { count += 1 }
      }
    }
    return count
  }

  private func place(_ end: LayeredGraph.Segment.End) -> (Int, Int) {
    (places[end.vertex], end.port)
  }

  /// The crossings of all links: pairs whose ends have another order on the left than on the right.
  private func countCrossings() -> Int {
    var count = 0
    for segments in graph.segments {
      let sorted = segments.sorted { first, second in
        let (left, other) = (place(first.left), place(second.left))
        return left == other ? place(first.right) < place(second.right) : left < other
      }
      // The right ends of the segments before, in order.
      var passed: [(Int, Int)] = []
      for segment in sorted {
        let right = place(segment.right)
        let index = passed.partitionPoint { right < $0 }
        count += passed.count - index
        passed.insert(right, at: index)
      }
    }
    return count
  }
}

extension Array {
  /// The first position whose element has a property, which all elements after it have too.
  fileprivate func partitionPoint(_ has: (Element) -> Bool) -> Int {
    var range = 0..<count
    while !range.isEmpty {
      let middle = (range.lowerBound + range.upperBound) / 2
      range = has(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
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

/// Assigns each vertex its y position: in its layer's order, with space between vertices, and so that links
/// are straight if possible.
///
/// Each layer in turn moves to where its neighbours want it. Since the order is given, that is an isotonic
/// regression, solved by pooling adjacent violators (PAVA). The first rounds use means, which spread the
/// vertices; the last ones use medians, which make the most links straight.
struct HeightAssignment {
  /// The y position of each vertex's top.
  private(set) var tops: [Int]
  private let graph: LayeredGraph
  private let neighbours: [[Neighbour]]

  private struct Neighbour {
    let vertex: Int
    /// The distance from the neighbour's top down to this vertex's top if the link is straight.
    let offset: Int
    let weight: Int
  }

  init(_ graph: LayeredGraph) {
    self.graph = graph
    tops = Array(repeating: 0, count: graph.vertices.count)
    var neighbours: [[Neighbour]] = Array(repeating: [], count: graph.vertices.count)
    for segment in graph.segments.joined() {
      // Long links are made straight with priority.
      let (left, right) = (segment.left, segment.right)
      let passing = [left, right].filter { graph.vertices[$0.vertex].box == nil }.count
      for (end, other) in [(right, left), (left, right)] {
        neighbours[end.vertex].append(
          Neighbour(
            vertex: other.vertex, offset: other.port - end.port, weight: [1, 2, 8][passing]))
      }
    }
    self.neighbours = neighbours
    for layer in graph.layers {
      var top = 0
      for (place, vertex) in layer.enumerated() {
        if place > 0 { top += gap(layer[place - 1], vertex) }
        tops[vertex] = top
        top += graph.vertices[vertex].height
      }
    }
    for round in 0..<40 {
      for layer in graph.layers + graph.layers.reversed() {
        place(layer, usesMedian: round >= 24)
      }
    }
    let top = tops.min() ?? 0
    for vertex in tops.indices { tops[vertex] -= top }
  }

  private func gap(_ upper: Int, _ lower: Int) -> Int {
    let boxes = [upper, lower].filter { graph.vertices[$0].box != nil }.count
    return [LayoutGeometry.lineGap, LayoutGeometry.lineGap + 4, LayoutGeometry.gap][boxes]
  }

  /// Vertices that touch, and so move together.
  private struct Block {
    /// The positions at which the neighbours want the block's first vertex.
    var wishes: [(value: Int, weight: Int)]
    var members: [(vertex: Int, offset: Int)]
    var value: Int

    init(_ wishes: [(value: Int, weight: Int)], _ vertex: Int, usesMedian: Bool) {
      self.wishes = wishes
      members = [(vertex, 0)]
      value = 0
      update(usesMedian)
    }

    mutating func update(_ usesMedian: Bool) {
      let all = wishes.reduce(0) { $0 + $1.weight }
      guard all > 0 else { return }
      if usesMedian {
        wishes.sort { $0.value < $1.value }
        var passed = 0
        for wish in wishes {
          passed += wish.weight
          value = wish.value
          if passed * 2 >= all { return }
        }
      } else {
        value = wishes.reduce(0) { $0 + $1.value * $1.weight } / all
      }
    }
  }

  private mutating func place(_ layer: [Int], usesMedian: Bool) {
    var blocks: [Block] = []
    for vertex in layer {
      var wishes = neighbours[vertex].map { (tops[$0.vertex] + $0.offset, $0.weight) }
      // A vertex without neighbours stays where it is.
      if wishes.isEmpty { wishes = [(tops[vertex], 1)] }
      var block = Block(wishes, vertex, usesMedian: usesMedian)
      while let last = blocks.last {
        let end = last.members[last.members.count - 1]
        let length =
          end.offset + graph.vertices[end.vertex].height
          + gap(end.vertex, block.members[0].vertex)
        guard last.value + length > block.value else { break }
        blocks.removeLast()
        var joined = last
        joined.wishes += block.wishes.map { ($0.value - length, $0.weight) }
        joined.members += block.members.map { ($0.vertex, $0.offset + length) }
        joined.update(usesMedian)
        block = joined
      }
      blocks.append(block)
    }
    for block in blocks {
      for member in block.members { tops[member.vertex] = block.value + member.offset }
    }
  }
}

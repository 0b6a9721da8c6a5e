/// The layout of a connected component's boxes.
struct ComponentLayout {
  private(set) var boxes: [LayoutGeometry.Rectangle] = []
  /// The corners of each link's line, from the parent to the child.
  private(set) var routes: [[LayoutGeometry.Point]] = []
  private(set) var width = 0
  private(set) var height = 0
  private let graph: LayoutGraph
  private let layered: LayeredGraph
  private var tops: [Int]
  /// The left edge of each layer's boxes.
  private var lefts: [Int] = []
  private var channels: [ChannelRouting] = []
  /// The x position of each channel's first track.
  private var trackLefts: [Int] = []

  init(_ graph: LayoutGraph) {
    self.graph = graph
    layered = Self.bestLayers(graph)
    tops = HeightAssignment(layered).tops
    channels = layered.layers.indices.map { ChannelRouting(items(ofChannel: $0)) }
    separateLines()
    var left = 0
    for (layer, channel) in channels.enumerated() {
      lefts.append(left)
      let widest =
        layered.layers[layer].compactMap { layered.vertices[$0].box }
        .map { graph.boxes[$0].width }.max() ?? 0
      let hasLoop = graph.links.contains {
        $0.child == $0.parent && layered.layerOfBox[$0.child] == layer
      }
      left += widest + (hasLoop ? LayoutGeometry.lineGap : 0)
      width = left
      trackLefts.append(left + LayoutGeometry.markRoom)
      left += 2 * LayoutGeometry.markRoom + LayoutGeometry.trackGap * max(0, channel.count - 1)
    }
    boxes = graph.boxes.indices.map { box in
      LayoutGeometry.Rectangle(
        left: lefts[layered.layerOfBox[box]], top: tops[box], width: graph.boxes[box].width,
        height: graph.boxes[box].height)
    }
    routes = graph.links.map(route)
    width = max(width, routes.joined().map(\.x).max() ?? 0)
    height = max(routes.joined().map(\.y).max() ?? 0, boxes.map { $0.top + $0.height }.max() ?? 0)
  }

  /// Moves vertices down a little if their lines would overlap others on every track.
  private mutating func separateLines() {
    for _ in 0..<6 {
      var moved: Set<Int> = []
      for (layer, channel) in channels.enumerated() {
        for (net, height) in channel.collisions {
          let segment = layered.segments[layer].first {
            $0.net == net && self.height($0.right) == height
          }
          if let segment { moved.insert(segment.right.vertex) }
        }
      }
      if moved.isEmpty { return }
      for vertex in moved { tops[vertex] += 4 }
      channels = layered.layers.indices.map { ChannelRouting(items(ofChannel: $0)) }
    }
  }

  // MARK: Layers

  /// The layering with the fewest crossings. A parent of few children may be on their right if that removes
  /// some.
  private static func bestLayers(_ graph: LayoutGraph) -> LayeredGraph {
    let area = graph.boxes.reduce(0) { sum, box in
      sum + (box.width + 3 * LayoutGeometry.markRoom) * (box.height + LayoutGeometry.gap)
    }
    let most = max(900, Int(Double(area).squareRoot() * 1.1))
    var flipped: Set<Int> = []
    func ordered(_ flipped: Set<Int>) -> (graph: LayeredGraph, crossings: Int) {
      var layered = LayeredGraph(graph, flipped: flipped, mostHeight: most)
      let reduction = CrossingReduction(layered)
      layered.layers = reduction.best
      return (layered, reduction.crossings)
    }
    var best = ordered(flipped)
    var trials = graph.boxes.count > 150 ? 0 : 20
    let children = Dictionary(grouping: graph.links.filter { $0.child != $0.parent }, by: \.parent)
    let isChild = Set(graph.links.filter { $0.child != $0.parent }.map(\.child))
    // A parent of many children would be far from most of them.
    let candidates = children.keys.filter { !isChild.contains($0) && children[$0]?.count ?? 0 <= 2 }
      .sorted { (children[$0]?.count ?? 0, $0) < (children[$1]?.count ?? 0, $1) }
    for candidate in candidates where best.crossings > 0 && trials > 0 {
      trials -= 1
      let trial = ordered(flipped.union([candidate]))
      guard trial.crossings < best.crossings else { continue }
      flipped.insert(candidate)
      best = trial
    }
    return best.graph
  }

  // MARK: Lines

  private func height(_ end: LayeredGraph.Segment.End) -> Int { tops[end.vertex] + end.port }

  private func items(ofChannel channel: Int) -> [ChannelRouting.Item] {
    let nets = Dictionary(grouping: layered.segments[channel], by: \.net)
    return nets.keys.sorted().map { net in
      let segments = nets[net] ?? []
      return ChannelRouting.Item(
        net: net, lefts: Set(segments.map { height($0.left) }).sorted(),
        rights: Set(segments.map { height($0.right) }).sorted())
    }
  }

  /// The horizontal extent of a box's line to itself. Lines at lower ports extend less, so that they don't
  /// overlap.
  private func loopWidth(_ link: LayoutGraph.Link) -> Int {
    let loops = graph.links.filter { $0.child == $0.parent && $0.child == link.child }
    let ports = Set(loops.map(\.parentPort))
    let rank = ports.count { $0 < link.parentPort }
    return LayoutGeometry.loopRoom - rank * 8 / max(1, ports.count - 1)
  }

  private func route(_ link: LayoutGraph.Link) -> [LayoutGeometry.Point] {
    let (parent, child) = (boxes[link.parent], boxes[link.child])
    let (start, end) = (parent.top + link.parentPort, child.top + link.childPort)
    if link.parent == link.child {
      let right = parent.left + parent.width
      let side = right + loopWidth(link)
      return [
        .init(x: right, y: start), .init(x: side, y: start), .init(x: side, y: end),
        .init(x: right, y: end),
      ]
    }
    let net = layered.net(of: link)
    guard let number = layered.numbers[net] else { return [] }
    let (from, to) = (layered.layerOfBox[link.parent], layered.layerOfBox[link.child])
    let step = net.goesRight ? 1 : -1
    var points = [
      LayoutGeometry.Point(x: net.goesRight ? parent.left + parent.width : parent.left, y: start)
    ]
    var (layer, current) = (from, start)
    while layer != to {
      let channel = min(layer, layer + step)
      layer += step
      let next = layer == to ? end : layered.ways[number][layer].map { tops[$0] } ?? current
      if next != current {
        let x =
          trackLefts[channel] + LayoutGeometry.trackGap * (channels[channel].tracks[number] ?? 0)
        points += [.init(x: x, y: current), .init(x: x, y: next)]
      }
      current = next
    }
    points.append(.init(x: net.goesRight ? child.left : child.left + child.width, y: end))
    return points
  }
}

/// Routes the nets of a channel, which is the space between two layers. Each net gets a vertical track, in an
/// order with few crossings and no overlapping lines.
struct ChannelRouting {
  /// A net's part of a channel: the heights at which its lines enter on the left and leave on the right.
  struct Item {
    let net: Int
    let lefts: [Int]
    let rights: [Int]
    let range: ClosedRange<Int>

    init(net: Int, lefts: [Int], rights: [Int]) {
      self.net = net
      self.lefts = lefts
      self.rights = rights
      let all = lefts + rights
      range = (all.min() ?? 0)...(all.max() ?? 0)
    }

    var isStraight: Bool { range.lowerBound == range.upperBound }
  }

  /// The track of each net, from 0 on the left; a straight net has none.
  private(set) var tracks: [Int: Int] = [:]
  private(set) var count = 0
  /// The lines that still overlap another net's: the net, and the height at which the line leaves on the
  /// right.
  private(set) var collisions: [(net: Int, height: Int)] = []

  /// The number of items up to which the order is improved.
  private static let mostItems = 250

  init(_ all: [Item]) {
    let items = all.filter { !$0.isStraight }
    var order = Array(items.indices)
    order.sort { (items[$0].middle, $0) < (items[$1].middle, $1) }
    if items.count <= Self.mostItems { Self.improve(&order, items) }
    for (place, index) in order.enumerated() {
      // Items that don't meet can share a track.
      let before = order[..<place].filter { items[$0].meets(items[index]) }
      let track = (before.compactMap { tracks[items[$0].net] }.max() ?? -1) + 1
      tracks[items[index].net] = track
      count = max(count, track + 1)
      for other in before {
        collisions += items[other].heights(touching: items[index]).map { (items[other].net, $0) }
      }
    }
  }

  /// Moves each item to the position of least cost, until nothing improves.
  private static func improve(_ order: inout [Int], _ items: [Item]) {
    let costs = items.map { left in items.map { left.cost(onTheLeftOf: $0) } }
    for _ in 0..<20 {
      var isBetter = false
      for item in items.indices {
        guard let from = order.firstIndex(of: item) else { continue }
        order.remove(at: from)
        // At position 0 all others are on the item's right.
        var cost = order.reduce(0) { $0 + costs[item][$1] }
        var best = (cost: Int.max, place: 0)
        var current = 0
        for place in 0...order.count {
          if place > 0 {
            let passed = order[place - 1]
            cost += costs[passed][item] - costs[item][passed]
          }
          if place == from { current = cost }
          if cost < best.cost { best = (cost, place) }
        }
        let place = best.cost < current ? best.place : from
        order.insert(item, at: place)
        isBetter = isBetter || best.cost < current
      }
      if !isBetter { break }
    }
  }
}

extension ChannelRouting.Item {
  fileprivate var middle: Int { (range.lowerBound + range.upperBound) / 2 }

  /// Whether the items can't share a track.
  fileprivate func meets(_ other: Self) -> Bool {
    range.lowerBound - LayoutGeometry.lineGap < other.range.upperBound
      && other.range.lowerBound - LayoutGeometry.lineGap < range.upperBound
  }

  /// The number of crossings if this item's track is on the left of another's. Each overlap of lines counts
  /// as 20.
  fileprivate func cost(onTheLeftOf other: Self) -> Int {
    let mine = rights.filter { other.crosses($0) }.count
    let others = other.lefts.filter { crosses($0) }.count
    return mine + others + heights(touching: other).count * 20
  }

  /// The heights at which lines on this item's right would overlap lines on the left of an item to its right.
  fileprivate func heights(touching other: Self) -> [Int] {
    rights.filter { height in other.lefts.contains { abs($0 - height) < 4 } }
  }

  private func crosses(_ height: Int) -> Bool {
    range.lowerBound < height && height < range.upperBound
  }
}

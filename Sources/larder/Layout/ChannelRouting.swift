/// Where the nets of a channel, the room between two layers, go up and down: each on a track, in an order in which
/// few lines cross and none run into one another.
struct ChannelRouting {
  /// A net's part of the channel: the heights at which its lines come in on the left and go out on the right.
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

  /// The track of each net, from 0 on the left; a straight one has none.
  private(set) var tracks: [Int: Int] = [:]
  private(set) var count = 0
  /// Lines that lie on another net's in any order: a net, and the height at which it goes out on the right.
  private(set) var collisions: [(net: Int, height: Int)] = []

  /// Beyond as many, the order isn't improved.
  private static let mostItems = 250

  init(_ all: [Item]) {
    let items = all.filter { !$0.isStraight }
    var order = Array(items.indices)
    order.sort { (items[$0].middle, $0) < (items[$1].middle, $1) }
    if items.count <= Self.mostItems { Self.improve(&order, items) }
    for (place, index) in order.enumerated() {
      // What doesn't meet can stand above one another.
      let before = order[..<place].filter { items[$0].meets(items[index]) }
      let track = (before.compactMap { tracks[items[$0].net] }.max() ?? -1) + 1
      tracks[items[index].net] = track
      count = max(count, track + 1)
      for other in before {
        collisions += items[other].heights(touching: items[index]).map { (items[other].net, $0) }
      }
    }
  }

  /// Moves items to the places at which they cost least, until nothing gets better.
  private static func improve(_ order: inout [Int], _ items: [Item]) {
    let costs = items.map { left in items.map { left.cost(onTheLeftOf: $0) } }
    for _ in 0..<20 {
      var isBetter = false
      for item in items.indices {
        guard let from = order.firstIndex(of: item) else { continue }
        order.remove(at: from)
        // All others are on its right at place 0.
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

  /// Whether both can't be on one track.
  fileprivate func meets(_ other: Self) -> Bool {
    range.lowerBound - LayoutGeometry.lineGap < other.range.upperBound
      && other.range.lowerBound - LayoutGeometry.lineGap < range.upperBound
  }

  /// The lines that cross where this goes up and down on the left of another; many where lines would lie on one
  /// another.
  fileprivate func cost(onTheLeftOf other: Self) -> Int {
    let mine = rights.filter { other.crosses($0) }.count
    let others = other.lefts.filter { crosses($0) }.count
    return mine + others + heights(touching: other).count * 20
  }

  /// Where the lines on the right lie on lines of another, which is on the right of this, on its left.
  fileprivate func heights(touching other: Self) -> [Int] {
    rights.filter { height in other.lefts.contains { abs($0 - height) < 4 } }
  }

  private func crosses(_ height: Int) -> Bool {
    range.lowerBound < height && height < range.upperBound
  }
}

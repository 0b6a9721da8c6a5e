import Larder

/// The rows around each row that a window function counts, in SQL and in Swift.
struct WindowFrame: Sendable {
  enum Unit: CaseIterable, Sendable { case rows, groups, range }

  var unit: Unit
  /// From so many before (less than 0) to so many after the row; all of them at the ends of Int.
  var bounds: ClosedRange<Int>

  /// What a window with an order has where none is said.
  static let usual = WindowFrame(unit: .range, bounds: .min...0)
  static let all = WindowFrame(unit: .rows, bounds: .min ... .max)

  func of(_ unit: Unit) -> ClosedRange<Int>? { self.unit == unit ? bounds : nil }
}

/// A part of the rows of a window, in order.
struct WindowPart {
  let rows: [TreeRows]
  /// The number of each row's group of equals, from 0.
  private let groups: [Int]
  /// The value of each row in the order, for ranges: negative in a descending order.
  private let values: [DatabaseValue]
  /// NULLs are beyond all numbers, where they stand.
  private var nullsAreFirst: Bool { values.first?.isNull ?? false }

  /// - Parameter range: what ranges count in, and whether it goes down.
  init(
    _ rows: [TreeRows], _ order: [Ordering],
    range: (value: (TreeRows) throws -> DatabaseValue, isDescending: Bool)? = nil
  ) throws {
    let sorted = try order.sorted(rows)
    self.rows = sorted
    var groups: [Int] = []
    for (index, row) in sorted.enumerated() {
      let isEqual = try index > 0 && order.compare(sorted[index - 1], row) == 0
      groups.append((groups.last ?? 0) + (index > 0 && !isEqual ? 1 : 0))
    }
    self.groups = groups
    values = try sorted.map {
      let value = try range?.value($0) ?? .null
      return range?.isDescending == true && !value.isNull
        ? try DatabaseValue.integer(0).difference(value) : value
    }
  }

  var rank: (Int) -> Int { { groups.firstIndex(of: groups[$0]).map { $0 + 1 } ?? 0 } }
  var denseRank: (Int) -> Int { { groups[$0] + 1 } }

  /// The parts of equal size: the first ones have one more.
  func ntile(_ count: Int, _ index: Int) -> Int {
    let (size, rest) = rows.count.quotientAndRemainder(dividingBy: count)
    let longer = (size + 1) * rest
    return index < longer ? index / (size + 1) + 1 : rest + (index - longer) / max(1, size) + 1
  }

  /// The rows that count for one.
  func frame(_ frame: WindowFrame, _ index: Int) throws -> [TreeRows] {
    let (first, last) = (frame.bounds.lowerBound, frame.bounds.upperBound)
    let start = first == .min ? 0 : max(0, try self.start(frame.unit, first, index))
    let end = last == .max ? Int.max : try self.end(frame.unit, last, index)
    let limit = min(rows.count - 1, end)
    return start <= limit ? Array(rows[start...limit]) : []
  }

  private func start(_ unit: WindowFrame.Unit, _ distance: Int, _ index: Int) throws -> Int {
    switch unit {
    case .rows: return index + distance
    case .groups:
      return groups.firstIndex { $0 >= groups[index] + distance } ?? rows.count
    case .range:
      guard distance != 0, !values[index].isNull else {
        return groups.firstIndex(of: groups[index]) ?? index
      }
      let least = try values[index].sum(.from(distance))
      return try values.firstIndex {
        try $0.isNull ? !nullsAreFirst : $0.compared(to: least) >= 0
      } ?? rows.count
    }
  }

  private func end(_ unit: WindowFrame.Unit, _ distance: Int, _ index: Int) throws -> Int {
    switch unit {
    case .rows: return index + distance
    case .groups:
      return groups.lastIndex { $0 <= groups[index] + distance } ?? -1
    case .range:
      guard distance != 0, !values[index].isNull else {
        return groups.lastIndex(of: groups[index]) ?? index
      }
      let most = try values[index].sum(.from(distance))
      return try values.lastIndex {
        try $0.isNull ? nullsAreFirst : $0.compared(to: most) <= 0
      } ?? -1
    }
  }
}

extension TreeGenerator {
  func bounds(_ most: Int = 3) -> ClosedRange<Int> {
    let first = chance(4) ? Int.min : number(-most..<most)
    let last = chance(4) ? Int.max : number(max(-most, first)..<most + 1)
    return first...max(first, last)
  }
}

extension [TreeRows] {
  /// The rows in parts of equal values of a text.
  func parted(_ part: Tree<String?>?) throws -> [[TreeRows]] {
    guard let part else { return [self] }
    let keyed = try map { (RowSet.key([try part.value($0)]), $0) }
    return Dictionary(grouping: keyed) { $0.0 }.values.map { $0.map(\.1) }
  }
}

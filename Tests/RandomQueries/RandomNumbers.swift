import Foundation
import Larder

// Numbers of several types, at the ends of what these hold, and conversions between them.

extension TreeGenerator {
  /// A condition on columns of sales that places don't have.
  func saleCondition(_ leaves: TreeLeaves) -> Tree<Bool> {
    switch number(0..<8) {
    case 0, 1, 2: return decimalCondition(leaves)
    case 3: return noteCondition(leaves)
    case 4:
      let share = pick(leaves.floats)
      let value = Float(number(-8..<9)) / 8
      return chance(2)
        ? share.compares(.from(value), share.sql < value) { $0 < 0 }
        : share.equals(.from(value), share.sql != value, negated: true)
    case 5:
      let small = pick(leaves.shorts)
      let value = pick([Int16.max, .min, 0, 3, -2])
      return chance(2)
        ? small.compares(.from(value), small.sql >= value) { $0 >= 0 }
        : small.equals(.from(value), small.sql == value)
    case 6:
      let date = pick(leaves.textDates)
      let moment = Moment(number(-3..<4) * 86_400_000 + number(0..<86_400_000))
      return date.compares(moment.stored(as: .iso8601), date.sql < moment.date) { $0 < 0 }
    default:
      guard !leaves.longs.isEmpty else { return decimalCondition(leaves) }
      let count = pick(leaves.longs)
      let value = pick([Int64.max, .min, .max - 1, 0, 7])
      return chance(2)
        ? count.compares(.from(value), count.sql > value) { $0 > 0 }
        : count.equals(.from(value), count.sql == value)
    }
  }

  private func noteCondition(_ leaves: TreeLeaves) -> Tree<Bool> {
    let (note, other) = (pick(leaves.notes), pick(leaves.notes))
    let value = pick(data.sales.notes)
    switch number(0..<5) {
    case 0: return note.equals(.from(value), note.sql == value)
    case 1: return note.compares(.from(value), note.sql < value) { $0 < 0 }
    case 2: return note.compares(other, note.sql >= other.sql) { $0 >= 0 }
    case 3: return note.isIn([.from(value)], note.sql.in([value])) { try $0.compared(to: $1) }
    default:
      return note.isIn(
        data.sales.sales.map { .from($0.label) }, note.sql.in(RandomSale.all.select { $0.label })
      ) { try $0.compared(to: $1) }
    }
  }

  // MARK: Expressions

  /// A real number of numbers of any type.
  private func anyReal(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Double?> {
    let choice = number(0..<8)
    if depth == 0 || choice < 5 {
      switch choice {
      case 0: return pick(leaves.optionalReals)
      case 1:
        let small = pick(leaves.shorts)
        return small.map(small.sql.real) { .real($0.number ?? 0) }
      case 2:
        let share = pick(leaves.floats)
        return share.map(share.sql.real) { $0 }
      case 3:
        let discount = pick(leaves.optionalDecimals)
        return discount.map(discount.sql.real) { .real(Double($0.text ?? "") ?? 0) }
      default:
        let ratio = pick(leaves.optionalReals)
        return ratio.map(ratio.sql.magnitude) { .real(($0.number ?? 0).magnitude) }
      }
    }
    let (left, right) = (anyReal(leaves, depth - 1), anyReal(leaves, depth - 1))
    let count = pick(leaves.longs)
    switch choice {
    case 5:
      return left.combined(count, left.sql * count.sql.real) {
        try $0.product(.real($1.number ?? 0))
      }
    case 6: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    default: return left.combined(right, left.sql / right.sql) { try $0.divided(by: $1) }
    }
  }

  /// An integer of numbers of any type.
  private func anyInteger(_ leaves: TreeLeaves) -> Tree<Int?> {
    let small = pick(leaves.shorts)
    switch number(0..<6) {
    case 0: return small.map(small.sql.integer) { $0 }
    case 1:
      let share = pick(leaves.floats)
      return share.map(share.sql.integer) { $0.wholeNumber }
    case 2:
      let ratio = pick(leaves.optionalReals)
      return ratio.map(ratio.sql.integer) { $0.wholeNumber }
    case 3:
      let count = pick(leaves.longs)
      return small.combined(count, count.sql.integer + small.sql.integer) { try $0.sum($1) }
    case 4:
      let place = pick(leaves.optionalIntegers)
      return small.combined(place, small.sql.integer % place.sql) { try $0.rest(by: $1) }
    default:
      let place = pick(leaves.optionalIntegers)
      return place.map(-place.sql) { try DatabaseValue.integer(0).difference($0) }
    }
  }

  private func short(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int16?> {
    if depth == 0 { return pick(leaves.shorts) }
    let (left, right) = (short(leaves, depth - 1), short(leaves, depth - 1))
    switch number(0..<8) {
    case 0: return left.combined(right, left.sql + right.sql) { try $0.sum($1) }
    case 1: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    case 2: return left.combined(right, left.sql * right.sql) { try $0.product($1) }
    case 3: return left.combined(right, left.sql / right.sql) { try $0.divided(by: $1) }
    case 4: return left.combined(right, left.sql % right.sql) { try $0.rest(by: $1) }
    case 5: return left.map(-left.sql) { try DatabaseValue.integer(0).difference($0) }
    case 6: return left.map(left.sql % 3) { try $0.rest(by: .integer(3)) }
    default: return left.map(left.sql - 5) { try $0.difference(.integer(5)) }
    }
  }

  private func float(_ leaves: TreeLeaves) -> Tree<Float?> {
    let (left, right) = (pick(leaves.floats), pick(leaves.floats))
    func float(
      _ sql: SQLExpression<Float?>, _ compute: @escaping @Sendable (Float, Float) -> Float
    ) -> Tree<Float?> {
      left.combined(right, sql) {
        let result = compute(Float($0.number ?? 0), Float($1.number ?? 0))
        return result.isNaN ? .null : .real(Double(result))
      }
    }
    switch number(0..<5) {
    case 0: return float(left.sql + right.sql, +)
    case 1: return float(left.sql - right.sql, -)
    case 2: return float(left.sql * right.sql, *)
    case 3:
      return left.combined(right, left.sql / right.sql) {
        let (one, two) = (Float($0.number ?? 0), Float($1.number ?? 0))
        return two == 0 || (one / two).isNaN ? .null : .real(Double(one / two))
      }
    default: return left.map(-left.sql) { .real(-($0.number ?? 0)) }
    }
  }

  private func long(_ leaves: TreeLeaves) -> Tree<Int64> {
    let (left, right) = (pick(leaves.longs), pick(leaves.longs))
    let value = pick([Int64.max, .min, -1, 0, 1, 2, 1000])
    let known = DatabaseValue.integer(value)
    switch number(0..<9) {
    case 0: return left.map(left.sql + value) { try $0.sum(known) }
    case 1: return left.combined(right, left.sql - right.sql) { try $0.difference($1) }
    case 2: return left.map(left.sql * value) { try $0.product(known) }
    case 3: return left.map(left.sql / value) { try $0.divided(by: known) }
    case 4: return left.map(left.sql % value) { try $0.rest(by: known) }
    case 5: return left.map(-left.sql) { try DatabaseValue.integer(0).difference($0) }
    case 6: return left.map(left.sql & value) { try $0.bits(known, &) }
    case 7:
      return left.map(left.sql.magnitude) {
        if $0 == .integer(.min) { throw Refused("a magnitude of more than 64 bits") }
        return $0.number ?? 0 < 0 ? try DatabaseValue.integer(0).difference($0) : $0
      }
    default:
      return left.combined(right, left.sql.greatest(right.sql)) {
        try $0.compared(to: $1) > 0 ? $0 : $1
      }
    }
  }

  /// Expressions of several types, of a few sales.
  func numbers() -> RandomQuery {
    typealias Trees = (Tree<Double?>, Tree<Int?>, Tree<Int16?>, Tree<Float?>, Tree<Int64>)
    var trees: Trees?
    let ids = Set((0..<number(1..<5)).map { _ in number(1..<21) })
    let list = ids.sorted()
    let selection = RandomSale.filter { $0.id.in(list) }.order { $0.id }.select { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let new = (
        anyReal(leaves, 2), anyInteger(leaves), short(leaves, 2), float(leaves), long(leaves)
      )
      trees = new
      return (new.0.sql, new.1.sql, new.2.sql, new.3.sql, new.4.sql)
    }
    let rows = data.sales.sales.filter { ids.contains($0.id) }.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees] in
        guard let trees else { throw UnknownValue() }
        return try rows.map { row in
          let last = try trees.4.value([row])
          if last.isNull { throw Refused("NULL where there can be none") }
          return [
            try trees.0.value([row]), try trees.1.value([row]).asInteger(Int.self),
            try trees.2.value([row]).asInteger(Int16.self), try trees.3.value([row]),
            try last.asInteger(Int64.self),
          ]
        }
      })
  }
}

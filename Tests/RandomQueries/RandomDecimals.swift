import Foundation
import Larder

// Decimals, which are compared and computed with exactly, or refused.

extension TreeGenerator {
  private var decimalValue: Decimal { Decimal(string: pick(RandomSales.prices)) ?? 0 }

  func decimal(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Decimal> {
    if depth == 0 || chance(4) {
      return chance(4) ? .constant(decimalValue) : pick(leaves.decimals)
    }
    let (left, right) = (decimal(leaves, depth - 1), decimal(leaves, depth - 1))
    let value = decimalValue
    let known = Tree<Decimal>.constant(value)
    let choice = number(0..<12)
    switch choice == 2 || choice == 5 ? (mayBeRefused ? choice : 0) : choice {
    case 0: return left.exactly(right, left.sql + right.sql, +)
    case 1: return left.exactly(right, left.sql - right.sql, -)
    case 2: return left.exactly(right, left.sql * right.sql, *)
    case 3: return left.exactly(known, left.sql + value, +)
    case 4: return left.exactly(known, left.sql - value, -)
    case 5: return left.exactly(known, left.sql * value, *)
    case 6: return Tree<Decimal>.constant(0).exactly(left, -left.sql, -)
    case 7:
      return left.map(left.sql.magnitude) {
        let number = try ExactDecimal($0)
        return try (number.sign < 0 ? ExactDecimal("0") - number : number).stored
      }
    case 8:
      return left.combined(right, left.sql.least(right.sql)) {
        try ExactDecimal(ExactDecimal.compare($0, $1) <= 0 ? $0 : $1).stored
      }
    case 9:
      return left.combined(known, left.sql.greatest(value)) {
        try ExactDecimal(ExactDecimal.compare($0, $1) > 0 ? $0 : $1).stored
      }
    case 10:
      let optional = optionalDecimal(leaves, depth - 1)
      return Tree(optional.sql.coalesce(left.sql)) {
        let known = try optional.value($0)
        return known.isNull ? try left.value($0) : known
      }
    default:
      let condition = condition(leaves, 0)
      return Tree(when(condition.sql, then: left.sql).otherwise(right.sql)) {
        try condition.value($0).truth == true ? try left.value($0) : try right.value($0)
      }
    }
  }

  func optionalDecimal(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Decimal?> {
    let value = decimalValue
    if depth == 0 || leaves.decimals.isEmpty || chance(4) {
      return chance(6) || leaves.optionalDecimals.isEmpty
        ? .constant(chance(2) ? nil : value) : pick(leaves.optionalDecimals)
    }
    let (left, right) = (optionalDecimal(leaves, depth - 1), optionalDecimal(leaves, depth - 1))
    let decimal = decimal(leaves, depth - 1)
    let known = Tree<Decimal>.constant(value)
    switch mayBeRefused ? number(0..<6) : 5 {
    case 0: return left.exactly(right, left.sql + right.sql, +)
    case 1: return left.exactly(decimal, left.sql - decimal.sql, -)
    case 2: return decimal.exactly(left, decimal.sql + left.sql, +)
    case 3: return left.exactly(known, left.sql * value, *)
    case 4: return Tree<Decimal>.constant(0).exactly(left, -left.sql, -)
    default:
      let condition = condition(leaves, 0)
      return Tree(when(condition.sql, then: decimal.sql).otherwiseNull) {
        try condition.value($0).truth == true ? try decimal.value($0) : .null
      }
    }
  }

  func decimalCondition(_ leaves: TreeLeaves) -> Tree<Bool> {
    let wasAllowed = mayBeRefused
    mayBeRefused = false
    defer { mayBeRefused = wasAllowed }
    if leaves.decimals.isEmpty {
      let (left, right) = (optionalDecimal(leaves, 0), optionalDecimal(leaves, 0))
      return left.isEqual(right, left.sql == right.sql)
    }
    let (left, right) = (decimal(leaves, 1), decimal(leaves, 1))
    let optional = optionalDecimal(leaves, 1)
    let value = decimalValue
    let known = Tree<Decimal>.constant(value)
    switch number(0..<16) {
    case 0: return left.isEqual(right, left.sql == right.sql)
    case 1: return left.isEqual(known, left.sql == value)
    case 2: return left.isEqual(known, left.sql != value, negated: true)
    case 3: return optional.isEqual(known, optional.sql == value)
    case 4: return optional.isEqual(left, optional.sql == left.sql)
    case 5: return left.isEqual(optional, left.sql != optional.sql, negated: true)
    case 6: return left.isOrdered(right, left.sql < right.sql) { $0 < 0 }
    case 7: return left.isOrdered(known, left.sql <= value) { $0 <= 0 }
    case 8: return left.isOrdered(known, left.sql > value) { $0 > 0 }
    case 9: return optional.isOrdered(known, optional.sql >= value) { $0 >= 0 }
    case 10: return optional.isOrdered(left, optional.sql > left.sql) { $0 > 0 }
    case 11:
      let other = decimalValue
      let (low, high) = (min(value, other), max(value, other))
      let (least, most) = (DatabaseValue.from(low), DatabaseValue.from(high))
      return left.map(left.sql.between(low...high)) {
        .truth(
          try ExactDecimal.compare($0, least) >= 0 && ExactDecimal.compare($0, most) <= 0)
      }
    case 12, 13:
      let list = (0..<number(0..<4)).map { _ in decimalValue }
      return left.isIn(list.map(DatabaseValue.from), left.sql.in(list), ExactDecimal.compare)
    case 14:
      let list = (0..<number(0..<4)).map { _ in chance(3) ? nil : decimalValue }
      return Tree(optional.sql.in(list)) { rows in
        let (value, has) = (try optional.value(rows), list.contains(nil))
        let others = list.compactMap { $0 }.map(DatabaseValue.from)
        if value.isNull { return has ? .truth(true) : others.isEmpty ? .truth(false) : .null }
        return .truth(try others.contains { try ExactDecimal.compare(value, $0) == 0 })
      }
    default:
      // NULLs among what it is compared with: nothing is known not to be there.
      let discounts = data.sales.sales.map { DatabaseValue.from($0.discount) }
      return left.isIn(
        discounts, left.sql.in(RandomSale.all.select { $0.discount }), ExactDecimal.compare)
    }
  }

  /// Decimals computed, compared, put in order and made distinct.
  func decimals() -> RandomQuery {
    var trees: (where: Tree<Bool>, one: Tree<Decimal>, two: Tree<Decimal?>)?
    var orders: [Ordering] = []
    let isDistinct = chance(3)
    var selection = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let tree = decimalCondition(leaves)
      trees = (tree, Tree(sale.price), Tree(sale.discount))
      return tree.sql
    }.order { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      if !isDistinct {
        orders = [
          ordering(pick(leaves.decimals), ExactDecimal.compare),
          ordering(pick(leaves.optionalDecimals), ExactDecimal.compare),
        ]
      }
      return orders.map(\.term) + (isDistinct ? [] : [sale.id.asc])
    }.select { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let (one, two) = (decimal(leaves, 2), optionalDecimal(leaves, 2))
      trees?.one = one
      trees?.two = two
      return (one.sql, two.sql)
    }
    if isDistinct { selection = selection.distinct() }
    let rows = data.sales.sales.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { [selection] db in
        try selection.fetchAll(db).map { [.from($0.0), .from($0.1)] }
      },
      count: { [selection] in try selection.fetchCount($0) },
      expected: { [trees, orders] in
        guard let trees else { throw UnknownValue() }
        let found = try orders.sorted(rows.filter { try trees.where.holds([$0]) })
        let values = try found.map { [try trees.one.value([$0]), try trees.two.value([$0])] }
        return isDistinct ? RowSet.distinct(values) : values
      },
      isOrdered: !isDistinct)
  }

  /// Decimals of two tables that are combined as sets.
  func decimalSets() -> RandomQuery {
    let operation = number(0..<4)
    let value = decimalValue
    let sales = RandomSale.filter { $0.price > value }.select { ($0.price, $0.small) }
    let stocks = RandomStock.all.select { ($0.price, $0.least) }
    let isDescending = chance(2)
    let both =
      switch operation {
      case 0: sales.union(stocks)
      case 1: sales.union(all: stocks)
      case 2: sales.intersect(stocks)
      default: sales.except(stocks)
      }
    let query = both.order(byColumn: 1, descending: isDescending).order(byColumn: 2)
    let (all, others) = (data.sales.sales.map(\.values), data.sales.stocks.map(\.values))
    return RandomQuery(
      sql: query.sql,
      fetch: { db in try query.fetchAll(db).map { [.from($0.0), .from($0.1)] } },
      count: { try query.fetchCount($0) },
      expected: {
        let left = try all.filter { try ExactDecimal.compare($0[4], .from(value)) > 0 }
        let rows = RowSet.combined(
          left.map { [$0[4], $0[7]] }, others.map { [$0[3], $0[2]] }, operation)
        return try rows.sorted {
          let order = try ExactDecimal.compare($0[0], $1[0])
          if order != 0 { return isDescending ? order > 0 : order < 0 }
          return try $0[1].compared(to: $1[1]) < 0
        }
      })
  }
}

extension Tree {
  /// What is computed of this and another exactly.
  fileprivate func exactly<Right, Other>(
    _ other: Tree<Right>, _ sql: SQLExpression<Other>,
    _ combine: @escaping @Sendable (ExactDecimal, ExactDecimal) -> ExactDecimal
  ) -> Tree<Other> {
    combined(other, sql) { try combine(ExactDecimal($0), ExactDecimal($1)).stored }
  }

  fileprivate func isEqual<Right>(
    _ other: Tree<Right>, _ sql: SQLExpression<Bool>, negated: Bool = false
  ) -> Tree<Bool> {
    Tree<Bool>(sql) { [value] rows in
      let (left, right) = (try value(rows), try other.value(rows))
      return .truth((try ExactDecimal.compare(left, right) == 0) != negated)
    }
  }

  fileprivate func isOrdered<Right>(
    _ other: Tree<Right>, _ sql: SQLExpression<Bool>, _ holds: @escaping @Sendable (Int) -> Bool
  ) -> Tree<Bool> {
    combined(other, sql) { .truth(holds(try ExactDecimal.compare($0, $1))) }
  }

  /// Whether it is among values of rows: with NULL among these, it isn't known not to be.
  func isIn(
    _ values: [DatabaseValue], _ sql: SQLExpression<Bool>,
    _ compare: @escaping @Sendable (DatabaseValue, DatabaseValue) throws -> Int
  ) -> Tree<Bool> {
    Tree<Bool>(sql) { [value] rows in
      if values.isEmpty { return .truth(false) }
      let known = try value(rows)
      if known.isNull { return .null }
      if try values.contains(where: { try !$0.isNull && compare(known, $0) == 0 }) {
        return .truth(true)
      }
      return values.contains(.null) ? .null : .truth(false)
    }
  }
}

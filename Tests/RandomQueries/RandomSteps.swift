import Foundation
import Larder

// Groups of several values, and what comes after a selection: order, having and filter, values of types of one's
// own. And what is among the rows of another query.

/// What a selection makes of its rows.
private struct SaleTotal: Sendable {
  var place: Int?
  var small: Int16?
  var count: Int
  var price: Decimal?
  var ratio: Double?

  var values: [DatabaseValue] {
    [.from(place), .from(small), .from(count), .from(price), .from(ratio)]
  }
}

extension TreeGenerator {
  private func saleFilter() -> (query: Query<RandomSale>, tree: Tree<Bool>) {
    var tree: Tree<Bool>?
    let query = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let condition = condition(leaves, 2)
      tree = condition
      return condition.sql
    }
    return (query, tree ?? Tree(true))
  }

  /// Groups by two columns: their place and small number, count, sum of prices, least discount, mean.
  private static func groups(_ rows: [[DatabaseValue]]) throws -> [[DatabaseValue]] {
    let groups = Dictionary(grouping: rows) { [$0[1], $0[7]] }
    return try groups.map { key, rows in
      let sum = try rows.map { try ExactDecimal($0[4]) }.reduce(ExactDecimal("0"), +).stored
      let least = try rows.map { $0[5] }.filter { !$0.isNull }
        .min { try ExactDecimal.compare($0, $1) < 0 }
      let ratios = rows.compactMap { $0[9].number }.filter { $0.magnitude < 1000 }
      return key + [
        .from(rows.count), sum, least ?? .null,
        ratios.isEmpty ? .null : .real(ratios.reduce(0, +) / Double(ratios.count)),
      ]
    }
  }

  func tuples() -> RandomQuery {
    let (query, tree) = saleFilter()
    let (least, value) = (number(0..<3), number(0..<20))
    let isHavingPrice = chance(2)
    let selection = query.group { ($0.place, $0.small) }.having { sale in
      isHavingPrice ? sale.price.sum() > Decimal(value) : count() > least
    }.select { sale in
      (
        sale.place, sale.small, count(), sale.price.sum(), sale.discount.min(),
        sale.ratio.average().filter(where: sale.ratio.magnitude < 1000)
      )
    }
    let rows = data.sales.sales.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4), .from($0.5)]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: {
        try Self.groups(rows.filter { try tree.holds([$0]) }).filter { row in
          isHavingPrice
            ? try ExactDecimal.compare(row[3], .from(value)) > 0
            : try row[2].compared(to: .from(least)) > 0
        }
      }, isOrdered: false)
  }

  func structs() -> RandomQuery {
    let (query, tree) = saleFilter()
    let limit = number(0..<12)
    let isUnion = chance(3)
    let rows = data.sales.sales.map(\.values)
    let expected = {
      try rows.filter { try tree.holds([$0]) }.map { [$0[1], $0[7], $0[0], $0[5], $0[9]] }
    }
    func fields(_ sale: RecordFields<RandomSale>) -> (
      SQLExpression<Int?>, SQLExpression<Int16?>, SQLExpression<Int>, SQLExpression<Decimal?>,
      SQLExpression<Double?>
    ) { (sale.place, sale.small, sale.id, sale.discount, sale.ratio) }
    if isUnion {
      let both = query.select(fields).union(RandomSale.limit(3).select(fields))
        .select(SaleTotal.init)
      return RandomQuery(
        sql: both.sql, fetch: { try both.fetchAll($0).map(\.values) },
        expected: {
          let first = rows.prefix(3).map { [$0[1], $0[7], $0[0], $0[5], $0[9]] }
          return RowSet.distinct(try expected() + first)
        }, isOrdered: false)
    }
    let totals = query.order { $0.id }.select(SaleTotal.init, fields).limit(limit)
    return RandomQuery(
      sql: totals.sql, fetch: { try totals.fetchAll($0).map(\.values) },
      count: { try totals.fetchCount($0) },
      expected: { try Array(expected().prefix(limit)) })
  }

  /// Groups of a selection, with conditions on what is selected, in its order.
  func steps() -> RandomQuery {
    let (query, tree) = saleFilter()
    let (least, most) = (number(0..<3), number(1..<5))
    let (limit, isDescending, isFiltered) = (number(1..<9), chance(2), chance(2))
    var selection = query.group { ($0.place, $0.small) }.select { sale in
      (sale.place, sale.small, count(), sale.price.sum(), sale.discount.min())
    }.having { _, _, count, _, _ in count > least }
      .order { _, _, count, sum, _ in isDescending ? sum.desc : sum.asc }
      .order { place, _, _, _, _ in place.asc }.order { _, small, _, _, _ in small.desc }
      .limit(limit)
    if isFiltered {
      selection = selection.filter { place, small, count, sum, discount in
        count < most && (discount == nil || discount <= 10) && place != 3
      }
    }
    let rows = data.sales.sales.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { [selection] db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { [selection] in try selection.fetchCount($0) },
      expected: {
        let groups = try Self.groups(rows.filter { try tree.holds([$0]) }).filter {
          try $0[2].compared(to: .from(least)) > 0
        }
        let sorted = try groups.sorted {
          let sums = try ExactDecimal.compare($0[3], $1[3])
          if sums != 0 { return isDescending ? sums > 0 : sums < 0 }
          let places = try $0[0].compared(to: $1[0])
          return places != 0 ? places < 0 : try $0[1].compared(to: $1[1]) > 0
        }
        return try sorted.prefix(limit).filter { row in
          guard isFiltered else { return true }
          return try row[2].compared(to: .from(most)) < 0
            && (row[4].isNull || ExactDecimal.compare(row[4], .integer(10)) <= 0)
            && row[0] != .integer(3)
        }.map { Array($0.prefix(5)) }
      })
  }

  /// The first ones of each place, by the number in a window that is selected.
  func windowSteps() -> RandomQuery {
    let (query, tree) = saleFilter()
    let (most, isDescending, hasOrder) = (number(1..<4), chance(2), chance(2))
    let selection = query.select { sale in
      (
        sale.id, sale.place,
        rowNumber().over(
          partitionBy: sale.place, orderBy: isDescending ? sale.discount.desc : sale.discount.asc,
          sale.id.asc),
        sale.price
      )
    }.filter { id, place, number, price in number <= most && price != 9 }
    let ordered = hasOrder ? selection.order { _, _, _, price in price.desc } : selection
    let final = ordered.order { id, _, _, _ in id.asc }
    let rows = data.sales.sales.map(\.values)
    return RandomQuery(
      sql: final.sql,
      fetch: { db in
        try final.fetchAll(db).map { [.from($0.0), .from($0.1), .from($0.2), .from($0.3)] }
      },
      count: { try final.fetchCount($0) },
      expected: {
        let found = try rows.filter { try tree.holds([$0]) }
        var result: [[DatabaseValue]] = []
        for part in Dictionary(grouping: found, by: { $0[1] }).values {
          let sorted = try part.sorted {
            let order = try ExactDecimal.compare($0[5], $1[5])
            if order != 0 { return isDescending ? order > 0 : order < 0 }
            return try $0[0].compared(to: $1[0]) < 0
          }
          for (index, row) in sorted.prefix(most).enumerated()
          where try ExactDecimal.compare(row[4], .integer(9)) != 0 {
            result.append([row[0], row[1], .from(index + 1), try ExactDecimal(row[4]).stored])
          }
        }
        return try result.sorted {
          let order = hasOrder ? try ExactDecimal.compare($1[3], $0[3]) : 0
          return order != 0 ? order < 0 : try $0[0].compared(to: $1[0]) < 0
        }
      })
  }

  // MARK: Subqueries

  /// What is among the rows of another query of the same table or of another, with NULLs there and here.
  func memberships() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let isNegated = chance(2)
    let choice = number(0..<4)
    let wasBegunOutside = chance(2)
    let outside = RandomSale.filter { $0.id > 0 }
    let rows = data.sales.sales.map(\.values)
    let (places, stocks) = (data.places.map(\.values), data.sales.stocks.map(\.values))
    let query = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let tree: Tree<Bool>
      switch choice {
      case 0:
        // Of the same table, which has another name there by itself.
        let all = wasBegunOutside ? outside : RandomSale.all
        let others = all.filter { $0.place == sale.place && $0.id != sale.id }
        tree = Tree(sale.small.in(others.select { $0.small })) { outer in
          let row = outer[0] ?? []
          let found = rows.filter { $0[1] == row[1] && $0[0] != row[0] }.map { $0[7] }
          return try Tree<Int>(0) { _ in row[7] }
            .isIn(found, true) { try $0.compared(to: $1) }.value([row])
        }
      case 1:
        let ranks = RandomPlace.filter { $0.id > sale.id }.select { $0.parent }
        tree = Tree(sale.place.in(ranks)) { outer in
          let row = outer[0] ?? []
          let found = try places.filter { try $0[0].compared(to: row[0]) > 0 }.map { $0[9] }
          return try Tree<Int>(0) { _ in row[1] }
            .isIn(found, true) { try $0.compared(to: $1) }.value([row])
        }
      case 2:
        let prices = RandomStock.all.select { $0.price }
        tree = Tree(sale.discount, 0, 5).isIn(
          stocks.map { $0[3] }, sale.discount.in(prices), ExactDecimal.compare)
      default:
        // The dearest of its place.
        let all = wasBegunOutside ? outside : RandomSale.all
        let others = all.filter { $0.place == sale.place }
        tree = Tree(first(of: others.select { $0.price.max() }) == sale.price) { outer in
          let row = outer[0] ?? []
          let found = rows.filter { $0[1] == row[1] }.map { $0[4] }
          let most = try found.max { try ExactDecimal.compare($0, $1) < 0 }
          return .truth(try ExactDecimal.compare(most ?? .null, row[4]) == 0)
        }
      }
      let other = condition(leaves, 1)
      trees = [isNegated ? !tree : tree, other]
      return trees[0].sql && other.sql
    }.order { $0.id }
    return RandomQuery(
      sql: query.sql, fetch: { try query.fetchAll($0).map(\.values) },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try rows.filter { row in try trees.allSatisfy { try $0.holds([row]) } }
      })
  }
}

import Larder

// What belongs to records: filtered, ordered and limited for each of them, and nested.

extension TreeGenerator {
  private typealias Part = (filter: Tree<Bool>, order: [Ordering], limit: Int, offset: Int)

  /// No limit is one that no record reaches.
  private func limits() -> (Int, Int) {
    chance(2) ? (number(0..<4), chance(2) ? number(0..<3) : 0) : (1000, 0)
  }

  private static func owned(
    _ rows: [[DatabaseValue]], _ key: DatabaseValue, _ column: Int, _ part: Part
  ) throws -> [[DatabaseValue]] {
    if key.isNull { return [] }
    let found = try rows.filter {
      try !$0[column].isNull && $0[column].compared(to: key) == 0 && part.filter.holds([$0])
    }
    return Array(try part.order.sorted(found).dropFirst(part.offset).prefix(part.limit))
  }

  /// Places of a condition, each with its sales.
  private func sales(
    _ leaves: (TreeLeaves) -> Tree<Bool>
  ) -> (HasMany<RandomPlace, RandomSale>, Part) {
    var tree: Tree<Bool>?
    var orders: [Ordering] = []
    let (limit, offset) = limits()
    var sales = RandomPlace.sales.filter { sale in
      var inner = TreeLeaves()
      inner.add(sale)
      let condition = leaves(inner)
      tree = condition
      return condition.sql
    }.order { sale in
      orders = saleOrder(sale)
      return orders.map(\.term)
    }
    if limit < 1000 { sales = sales.limit(limit, offset: offset) }
    return (sales, (tree ?? Tree(true), orders, limit, offset))
  }

  /// An order of sales by any columns, and by the key at last.
  func saleOrder(_ sale: RecordFields<RandomSale>) -> [Ordering] {
    var leaves = TreeLeaves()
    leaves.add(sale)
    var orders: [Ordering] = []
    for _ in 0..<number(0..<3) {
      switch number(0..<9) {
      case 0: orders.append(ordering(pick(leaves.decimals), ExactDecimal.compare))
      case 1: orders.append(ordering(pick(leaves.optionalDecimals), ExactDecimal.compare))
      case 2: orders.append(ordering(pick(leaves.notes)))
      case 3: orders.append(ordering(pick(leaves.shorts)))
      case 4: orders.append(ordering(pick(leaves.floats)))
      case 5: orders.append(ordering(pick(leaves.optionalReals)))
      case 6: orders.append(ordering(pick(leaves.longs)))
      case 7: orders.append(ordering(Tree(sale.begun, 0, 10)))
      default: orders.append(ordering(Tree(sale.ended, 0, 11)))
      }
    }
    return orders + [Ordering(Tree(sale.id, 0, 0), isDescending: !chance(3))]
  }

  func associations() -> RandomQuery {
    let (sales, part) = sales { condition($0, 1) }
    let isBackwards = chance(2)
    var tree: Tree<Bool>?
    let query = RandomPlace.filter { place in
      let condition = condition(TreeLeaves(place), 1)
      tree = condition
      return condition.sql
    }.order { $0.id }
    let places = data.places.map(\.values)
    let rows = data.sales.sales.map(\.values)
    if isBackwards {
      let all = RandomSale.all.order { $0.id }
      let inPlace = RandomSale.inPlace.filter { place in
        let condition = condition(TreeLeaves(place), 1)
        tree = condition
        return condition.sql
      }
      return RandomQuery(
        sql: all.sql,
        fetch: { db in
          try all.fetchAll(db, with: inPlace).map { [.from($0.0.id)] + RandomPlace.values($0.1) }
        },
        expected: { [tree] in
          guard let tree else { throw UnknownValue() }
          return try rows.map { sale in
            let place = try places.first {
              try !sale[1].isNull && $0[0].compared(to: sale[1]) == 0 && tree.holds([$0])
            }
            return [sale[0]] + (place ?? RandomPlace.values(nil))
          }
        }, isWhole: false, note: "with RandomSale.inPlace")
    }
    return RandomQuery(
      sql: query.sql,
      fetch: { db in
        try query.fetchAll(db, with: sales).map { place, sales in
          [.from(place.id)] + sales.flatMap(\.values)
        }
      },
      expected: { [tree] in
        guard let tree else { throw UnknownValue() }
        return try places.filter { try tree.holds([$0]) }.map {
          [$0[0]] + (try Self.owned(rows, $0[0], 1, part)).flatMap { $0 }
        }
      }, isWhole: false, note: "with RandomPlace.sales")
  }

  /// Places that others lead to by a table between.
  func links() -> RandomQuery {
    var tree: Tree<Bool>?
    var orders: [Ordering] = []
    let (limit, offset) = limits()
    var buyers = RandomStock.buyers.filter { place in
      let condition = condition(TreeLeaves(place), 1)
      tree = condition
      return condition.sql
    }.order { place in
      orders = terms(TreeLeaves(place)) + [ordering(Tree(place.id, 0, 0))]
      return orders.map(\.term)
    }
    if limit < 1000 { buyers = buyers.limit(limit, offset: offset) }
    let query = RandomStock.all.order { $0.code }
    let (places, sales) = (data.places.map(\.values), data.sales.sales.map(\.values))
    let stocks = data.sales.stocks.map(\.values)
    return RandomQuery(
      sql: query.sql,
      fetch: { [buyers] db in
        try query.fetchAll(db, with: buyers).map { stock, places in
          [.from(stock.code)] + places.flatMap(\.values)
        }
      },
      expected: { [tree, orders] in
        guard let tree else { throw UnknownValue() }
        return try stocks.sorted { try $0[0].compared(to: $1[0]) < 0 }.map { stock in
          // As often as a sale leads to it.
          let found = try sales.filter { try !$0[12].isNull && $0[12].compared(to: stock[0]) == 0 }
            .flatMap { sale in
              try places.filter { try $0[0].compared(to: sale[1]) == 0 && tree.holds([$0]) }
            }
          return [stock[0]]
            + (try orders.sorted(found)).dropFirst(offset).prefix(limit).flatMap { $0 }
        }
      }, isWhole: false, note: "with RandomStock.buyers")
  }

  /// Areas with their places, these with their sales, and these with their stock's place.
  func nestedAssociations() -> RandomQuery {
    let (sales, inner) = sales { condition($0, 1) }
    var tree: Tree<Bool>?
    var orders: [Ordering] = []
    let (limit, offset) = limits()
    var places = RandomArea.places.with(sales).filter { place in
      let condition = condition(TreeLeaves(place), 1)
      tree = condition
      return condition.sql
    }.order { place in
      orders = terms(TreeLeaves(place)) + [ordering(Tree(place.id, 0, 0))]
      return orders.map(\.term)
    }
    if limit < 1000 { places = places.limit(limit, offset: offset) }
    let query = RandomArea.all.order { $0.code.desc }
    let areas = data.areas.map(\.values)
    let (all, rows) = (data.places.map(\.values), data.sales.sales.map(\.values))
    return RandomQuery(
      sql: query.sql,
      fetch: { [places] db in
        try query.fetchAll(db, with: places).map { area, places in
          [.from(area.code)]
            + places.flatMap { place, sales in
              place.values + [.text("(")] + sales.map { .from($0.id) } + [.text(")")]
            }
        }
      },
      expected: { [tree, orders] in
        guard let tree else { throw UnknownValue() }
        let part: Part = (tree, orders, limit, offset)
        return try areas.sorted { try $0[0].compared(to: $1[0]) > 0 }.map { area in
          let places = try Self.owned(all, area[0], 10, part)
          return try places.reduce(into: [area[0]]) { row, place in
            let sales = try Self.owned(rows, place[0], 1, inner)
            row += place + [.text("(")] + sales.map { $0[0] } + [.text(")")]
          }
        }
      }, isWhole: false, note: "with RandomArea.places.with(RandomPlace.sales)")
  }
}

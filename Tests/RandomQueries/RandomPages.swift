import Larder

// Pages: all of them, one after the other, are the rows in order.

extension TreeGenerator {
  func pages() -> RandomQuery {
    var tree: Tree<Bool>?
    var orders: [Ordering] = []
    let size = number(1..<8)
    let query = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let condition = chance(2) ? condition(leaves, 1) : Tree<Bool>(true) { _ in .truth(true) }
      tree = condition
      return condition.sql
    }.order { sale in
      orders = saleOrder(sale)
      return orders.map(\.term)
    }
    let rows = data.sales.sales.map(\.values)
    return RandomQuery(
      sql: query.sql,
      fetch: { db in try Self.pages(of: query, size, db).map(\.values) },
      expected: { [tree, orders] in
        guard let tree else { throw UnknownValue() }
        return try orders.sorted(rows.filter { try tree.holds([$0]) })
      }, isWhole: false, note: "in pages of \(size)")
  }

  func placePages() -> RandomQuery {
    var tree: Tree<Bool>?
    var orders: [Ordering] = []
    let size = number(1..<8)
    let query = RandomPlace.filter { place in
      let condition = condition(TreeLeaves(place), 1)
      tree = condition
      return condition.sql
    }.order { place in
      orders = terms(TreeLeaves(place))
      return orders.map(\.term)
    }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql,
      fetch: { db in try Self.pages(of: query, size, db).map(\.values) },
      expected: { [tree, orders] in
        guard let tree else { throw UnknownValue() }
        return try orders.sorted(rows.filter { try tree.holds([$0]) })
      }, isWhole: false, note: "in pages of \(size)")
  }

  private static func pages<R: Record>(
    of query: Query<R>, _ size: Int, _ db: Database
  ) throws -> [R] {
    var rows: [R] = []
    var next: String?
    for _ in 0..<100 {
      let page = try query.page(db, after: next, limit: size)
      rows += page.rows
      // Each but the last is full.
      guard let after = page.next, page.rows.count == size else { break }
      next = after
    }
    return rows
  }
}

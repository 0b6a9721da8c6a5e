import Foundation
import Larder

// Right and full joins, of up to four tables and of common tables.

/// Which rows without a match a join keeps.
enum JoinKind { case inner, left, right, full }

extension [TreeRows] {
  /// These with the rows of another table for which a condition holds.
  func joined(
    _ kind: JoinKind, _ table: [[DatabaseValue]], on condition: Tree<Bool>
  ) throws -> [TreeRows] {
    var result: [TreeRows] = []
    var matched: Set<Int> = []
    for row in self {
      var isMatched = false
      for (index, other) in table.enumerated() where try condition.holds(row + [other]) {
        isMatched = true
        matched.insert(index)
        result.append(row + [other])
      }
      if !isMatched, kind == .left || kind == .full { result.append(row + [nil]) }
    }
    guard kind == .right || kind == .full else { return result }
    let none = TreeRows(repeating: nil, count: first?.count ?? 1)
    for (index, other) in table.enumerated() where !matched.contains(index) {
      result.append(none + [other])
    }
    return result
  }

  /// Those for which a condition holds, in the order of columns: by the places of their tables and their own
  /// in them.
  func filtered(_ condition: Tree<Bool>, orderedBy columns: [(Int, Int)]) throws -> [TreeRows] {
    try filter { try condition.holds($0) }.sorted { left, right in
      for (table, column) in columns {
        let order = try (left[table]?[column] ?? .null).compared(to: right[table]?[column] ?? .null)
        if order != 0 { return order < 0 }
      }
      return false
    }
  }

  /// The values of all, NULL for rows that aren't there.
  func flattened(_ widths: [Int]) -> [[DatabaseValue]] {
    map { row in
      zip(row, widths).flatMap { values, width -> [DatabaseValue] in
        values ?? [DatabaseValue](repeating: .null, count: width)
      }
    }
  }
}

extension TreeGenerator {
  /// A condition of a join: an equality, alone or with another condition.
  private func on(_ equality: Tree<Bool>, _ leaves: TreeLeaves) -> Tree<Bool> {
    chance(2) ? equality : equality && condition(leaves, 1)
  }

  private var placeRows: [[DatabaseValue]] { data.places.map(\.values) }
  private var areaRows: [[DatabaseValue]] { data.areas.map(\.values) }
  private var saleRows: [[DatabaseValue]] { data.sales.sales.map(\.values) }
  private var stockRows: [[DatabaseValue]] { data.sales.stocks.map(\.values) }

  func rightJoin() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.all.rightJoin(RandomSale.self) { place, sale in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      trees.append(
        on(Tree(place.id, 0, 0).equals(Tree(sale.place, 1, 1), place.id == sale.place), leaves))
      return trees[0].sql
    }.filter { place, sale in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      trees.append(condition(leaves, 2))
      return trees[1].sql
    }.order { place, sale in (sale.id, place.id) }
    let (places, sales) = (placeRows, saleRows)
    return RandomQuery(
      sql: query.sql,
      fetch: { try query.fetchAll($0).map { RandomPlace.values($0.0) + $0.1.values } },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try places.map { [$0] as TreeRows }.joined(.right, sales, on: trees[0])
          .filtered(trees[1], orderedBy: [(1, 0), (0, 0)]).flattened([11, 13])
      })
  }

  func fullJoin() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.all.fullJoin(RandomArea.self) { place, area in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(area)
      trees.append(
        on(Tree(place.area, 0, 10).equals(Tree(area.code, 1, 0), place.area == area.code), leaves))
      return trees[0].sql
    }.filter { place, area in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(area)
      trees.append(condition(leaves, 2))
      return trees[1].sql
    }.order { place, area in (area.code, place.id) }
    let (places, areas) = (placeRows, areaRows)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { RandomPlace.values($0.0) + RandomArea.values($0.1) }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try places.map { [$0] as TreeRows }.joined(.full, areas, on: trees[0])
          .filtered(trees[1], orderedBy: [(1, 0), (0, 0)]).flattened([11, 3])
      })
  }

  func outerJoin3() -> RandomQuery { chance(2) ? fullThenLeft() : leftThenRight() }

  private func fullThenLeft() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomSale.all.fullJoin(RandomStock.self) { sale, stock in
      var leaves = TreeLeaves()
      leaves.add(sale)
      trees.append(
        on(Tree(sale.stock, 0, 12).equals(Tree(stock.code, 1, 0), sale.stock == stock.code), leaves)
      )
      return trees[0].sql
    }.leftJoin(RandomPlace.self) { sale, _, place in
      trees.append(Tree(sale.place, 0, 1).equals(Tree(place.id, 2, 0), sale.place == place.id))
      return trees[1].sql
    }.filter { sale, stock, place in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let dear = Tree<Decimal?>(stock.price, 1, 3)
      let isDear = Tree<Bool>(dear.sql > 3) { rows in
        let price = try dear.value(rows)
        return price.isNull ? .null : .truth(try ExactDecimal.compare(price, .integer(3)) > 0)
      }
      trees.append(condition(leaves, 1) || isDear)
      return trees[2].sql
    }.order { sale, stock, place in (stock.code, sale.id, place.id) }
    let (places, sales, stocks) = (placeRows, saleRows, stockRows)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { sale, stock, place in
          RandomSale.values(sale) + RandomStock.values(stock) + RandomPlace.values(place)
        }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try sales.map { [$0] as TreeRows }.joined(.full, stocks, on: trees[0])
          .joined(.left, places, on: trees[1])
          .filtered(trees[2], orderedBy: [(1, 0), (0, 0), (2, 0)]).flattened([13, 5, 11])
      })
  }

  private func leftThenRight() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.leftJoin(RandomSale.self) { place, sale in
      trees.append(Tree(place.id, 0, 0).equals(Tree(sale.place, 1, 1), place.id == sale.place))
      return trees[0].sql
    }.rightJoin(RandomArea.self) { place, sale, area in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      trees.append(
        on(Tree(place.area, 0, 10).equals(Tree(area.code, 2, 0), place.area == area.code), leaves))
      return trees[1].sql
    }.filter { place, sale, area in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      leaves.add(area)
      trees.append(condition(leaves, 2))
      return trees[2].sql
    }.order { place, sale, area in (area.code, place.id, sale.id) }
    let (places, areas, sales) = (placeRows, areaRows, saleRows)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map {
          RandomPlace.values($0.0) + RandomSale.values($0.1) + $0.2.values
        }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try places.map { [$0] as TreeRows }.joined(.left, sales, on: trees[0])
          .joined(.right, areas, on: trees[1])
          .filtered(trees[2], orderedBy: [(2, 0), (0, 0), (1, 0)]).flattened([11, 13, 3])
      })
  }

  func outerJoin4() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomArea.all.fullJoin(RandomPlace.self) { area, place in
      trees.append(Tree(area.code, 0, 0).equals(Tree(place.area, 1, 10), area.code == place.area))
      return trees[0].sql
    }.fullJoin(RandomSale.self) { area, place, sale in
      trees.append(
        Tree(place.id, 1, 0).equals(
          Tree(sale.place, 2, 1), place.id == sale.place && sale.id != nil)
          && Tree<Bool>(true) { .truth($0[2] != nil) })
      return trees[1].sql
    }.rightJoin(RandomStock.self) { area, place, sale, stock in
      var leaves = TreeLeaves()
      leaves.add(area)
      leaves.add(place)
      trees.append(
        on(Tree(sale.stock, 2, 12).equals(Tree(stock.code, 3, 0), sale.stock == stock.code), leaves)
      )
      return trees[2].sql
    }.filter { area, place, sale, stock in
      var leaves = TreeLeaves()
      leaves.add(area)
      leaves.add(place)
      leaves.add(sale)
      trees.append(condition(leaves, 2))
      return trees[3].sql
    }.order { area, place, sale, stock in
      (stock.code, area.code, place.id, sale.id)
    }
    let (places, areas, sales, stocks) = (placeRows, areaRows, saleRows, stockRows)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { area, place, sale, stock in
          RandomArea.values(area) + RandomPlace.values(place) + RandomSale.values(sale)
            + stock.values
        }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try areas.map { [$0] as TreeRows }.joined(.full, places, on: trees[0])
          .joined(.full, sales, on: trees[1]).joined(.right, stocks, on: trees[2])
          .filtered(trees[3], orderedBy: [(3, 0), (0, 0), (1, 0), (2, 0)])
          .flattened([3, 11, 13, 5])
      })
  }

  // MARK: Common tables

  func commonJoin() -> RandomQuery {
    var seed: Tree<Bool>?
    let common = CommonTable(
      "kept",
      RandomSale.filter { sale in
        var leaves = TreeLeaves()
        leaves.add(sale)
        let tree = condition(leaves, 1)
        seed = tree
        return tree.sql
      }.select { ($0.id, $0.label, $0.place) })
    let sales = saleRows
    let rows = { [seed] in
      guard let seed else { throw UnknownValue() }
      return try sales.filter { try seed.holds([$0]) }.map { [$0[0], $0[2], $0[1]] }
    }
    return chance(2) ? commonOnTheLeft(common, rows) : commonOnTheRight(common, rows)
  }

  private func commonOnTheLeft(
    _ common: CommonTable<Int, String, Int?>, _ rows: @escaping () throws -> [[DatabaseValue]]
  ) -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = common.all.fullJoin(RandomPlace.self) { sale, place in
      var leaves = TreeLeaves()
      leaves.add(sale)
      leaves.add(place)
      trees.append(
        on(
          Tree(sale.columns.2, 0, 2).equals(Tree(place.id, 1, 0), sale.columns.2 == place.id),
          leaves))
      return trees[0].sql
    }.filter { sale, place in
      var leaves = TreeLeaves()
      leaves.add(sale)
      leaves.add(place)
      trees.append(condition(leaves, 2))
      return trees[1].sql
    }.order { sale, place in (place.id, sale.columns.0) }
    let places = placeRows
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { sale, place in
          [.from(sale.columns.0), .from(sale.columns.1), .from(sale.columns.2)]
            + RandomPlace.values(place)
        }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try rows().map { [$0] as TreeRows }.joined(.full, places, on: trees[0])
          .filtered(trees[1], orderedBy: [(1, 0), (0, 0)]).flattened([3, 11])
      })
  }

  private func commonOnTheRight(
    _ common: CommonTable<Int, String, Int?>, _ rows: @escaping () throws -> [[DatabaseValue]]
  ) -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.all.rightJoin(common: common) { place, sale in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      trees.append(
        on(
          Tree(place.id, 0, 0).equals(Tree(sale.columns.2, 1, 2), place.id == sale.columns.2),
          leaves))
      return trees[0].sql
    }.leftJoin(RandomArea.self) { place, _, area in
      trees.append(Tree(place.area, 0, 10).equals(Tree(area.code, 2, 0), place.area == area.code))
      return trees[1].sql
    }.filter { place, sale, area in
      var leaves = TreeLeaves()
      leaves.add(place)
      leaves.add(sale)
      leaves.add(area)
      trees.append(condition(leaves, 2))
      return trees[2].sql
    }.order { place, sale, area in (sale.columns.0, place.id, area.code) }
    let (places, areas) = (placeRows, areaRows)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { place, sale, area in
          RandomPlace.values(place)
            + [.from(sale.columns.0), .from(sale.columns.1), .from(sale.columns.2)]
            + RandomArea.values(area)
        }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try places.map { [$0] as TreeRows }.joined(.right, rows(), on: trees[0])
          .joined(.left, areas, on: trees[1])
          .filtered(trees[2], orderedBy: [(1, 0), (0, 0), (2, 0)]).flattened([11, 3, 3])
      })
  }
}

import Larder

// Window functions: over parts and orders, with frames of rows, groups and ranges, and filters.

extension TreeGenerator {
  /// Numbers of rows, and values of others.
  func windows() -> RandomQuery {
    var trees: (where: Tree<Bool>, part: Tree<String?>?, order: Tree<Int>)?
    var orders: [Ordering] = []
    let (parts, distance, nth) = (number(1..<6), number(0..<4), number(1..<4))
    let (hasPart, frame) = (chance(2), bounds())
    let selection = RandomPlace.filter { place in
      let tree = condition(TreeLeaves(place), 1)
      trees = (tree, nil, Tree(place.size))
      return tree.sql
    }.order { $0.id }.select { place in
      let leaves = TreeLeaves(place)
      let part = optionalText(leaves, 1)
      if hasPart { trees?.part = part }
      orders = [ordering(pick(leaves.optionalIntegers)), ordering(Tree(place.id, 0, 0))]
      let (first, last) = (orders[0].term, orders[1].term)
      func over<V>(_ function: SQLExpression<V>, _ rows: ClosedRange<Int>? = nil)
        -> SQLExpression<V>
      {
        hasPart
          ? function.over(partitionBy: part.sql, orderBy: first, last, rows: rows)
          : function.over(orderBy: first, last, rows: rows)
      }
      return (
        place.id, over(rowNumber()), rank().over(orderBy: first), denseRank().over(orderBy: first),
        over(ntile(parts)), over(place.name.lag(distance)), over(place.rank.lead(distance)),
        over(place.name.firstValue(), frame), over(place.day.lastValue(), frame),
        over(place.size.nthValue(nth), frame)
      )
    }
    let places = data.places.map { [$0.values] as TreeRows }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [
            .from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4), .from($0.5),
            .from($0.6), .from($0.7), .from($0.8), .from($0.9),
          ]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees, orders] in
        guard let trees else { throw UnknownValue() }
        let found = try places.filter { try trees.where.holds($0) }
        let whole = try WindowPart(found, [orders[0]])
        var ranks: [DatabaseValue: (Int, Int)] = [:]
        for (index, row) in whole.rows.enumerated() {
          ranks[row[0]?[0] ?? .null] = (whole.rank(index), whole.denseRank(index))
        }
        var result: [[DatabaseValue]] = []
        for rows in try found.parted(trees.part) {
          let part = try WindowPart(rows, orders)
          for (index, row) in part.rows.enumerated() {
            func value(_ place: Int, _ column: Int) -> DatabaseValue {
              part.rows.indices.contains(place) ? part.rows[place][0]?[column] ?? .null : .null
            }
            let id = row[0]?[0] ?? .null
            let frame = try part.frame(WindowFrame(unit: .rows, bounds: frame), index)
            result.append([
              id, .from(index + 1), .from(ranks[id]?.0), .from(ranks[id]?.1),
              .from(part.ntile(parts, index)), value(index - distance, 1),
              value(index + distance, 4), frame.first?[0]?[1] ?? .null,
              frame.last?[0]?[8] ?? .null,
              frame.count >= nth ? frame[nth - 1][0]?[3] ?? .null : .null,
            ])
          }
        }
        return try result.sorted { try $0[0].compared(to: $1[0]) < 0 }
      })
  }

  /// Aggregates over frames of rows, groups and ranges.
  func frames() -> RandomQuery {
    var trees: (where: Tree<Bool>, part: Tree<String?>, filter: Tree<Bool>)?
    var order: Ordering?
    var value: Tree<Int?>?
    let (hasPart, isDescending, isNullsLast) = (chance(2), chance(2), chance(2))
    let unit = pick(WindowFrame.Unit.allCases)
    let frame = chance(6) ? WindowFrame.usual : WindowFrame(unit: unit, bounds: bounds())
    let isUsual = frame.bounds == WindowFrame.usual.bounds && frame.unit == .range
    let selection = RandomPlace.filter { place in
      let tree = condition(TreeLeaves(place), 1)
      trees = (tree, tree.map(place.note) { $0 }, tree)
      return tree.sql
    }.order { $0.id }.select { place in
      let leaves = TreeLeaves(place)
      let part = optionalText(leaves, 1)
      let filter = condition(leaves, 1)
      trees?.part = part
      trees?.filter = filter
      let rank: Tree<Int?> = Tree(place.rank, 0, 4)
      let ordering = Ordering(rank, isDescending: isDescending, nulls: isNullsLast ? 1 : nil)
      (order, value) = (ordering, rank)
      let (rows, groups, range) = (frame.of(.rows), frame.of(.groups), frame.of(.range))
      func over<V>(_ function: SQLExpression<V>) -> SQLExpression<V> {
        switch (hasPart, isUsual) {
        case (true, true): function.over(partitionBy: part.sql, orderBy: ordering.term)
        case (false, true): function.over(orderBy: ordering.term)
        case (true, false):
          // Rows that are equal have no order of their own, in which frames of rows could be counted.
          frame.unit == .rows
            ? function.over(partitionBy: part.sql, orderBy: ordering.term, place.id.asc, rows: rows)
            : function.over(
              partitionBy: part.sql, orderBy: ordering.term, groups: groups, range: range)
        case (false, false):
          frame.unit == .rows
            ? function.over(orderBy: ordering.term, place.id.asc, rows: rows)
            : function.over(orderBy: ordering.term, groups: groups, range: range)
        }
      }
      return (
        place.id, over(place.id.sum()), over(count()), over(place.size.min()),
        over(place.height.max()), over(place.height.average()),
        over(place.id.sum().filter(where: filter.sql)), over(place.note.count())
      )
    }
    let places = data.places.map { [$0.values] as TreeRows }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [
            .from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4), .from($0.5),
            .from($0.6), .from($0.7),
          ]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees, order, value] in
        guard let trees, let order, let value else { throw UnknownValue() }
        let found = try places.filter { try trees.where.holds($0) }
        var result: [[DatabaseValue]] = []
        let orders =
          frame.unit == .rows && !isUsual
          ? [order, Ordering(Tree<Int>(0) { $0[0]?[0] ?? .null }, isDescending: false)] : [order]
        for rows in try found.parted(hasPart ? trees.part : nil) {
          let part = try WindowPart(rows, orders, range: (value.value, isDescending))
          for (index, row) in part.rows.enumerated() {
            let counted = try part.frame(frame, index)
            func column(_ column: Int, _ rows: [TreeRows]) -> [DatabaseValue] {
              rows.compactMap { $0[0]?[column] }.filter { !$0.isNull }
            }
            let heights = column(5, counted).compactMap(\.number)
            let filtered = try counted.filter { try trees.filter.holds($0) }
            result.append([
              row[0]?[0] ?? .null, try column(0, counted).sum, .from(counted.count),
              try column(3, counted).min { try $0.compared(to: $1) < 0 } ?? .null,
              try column(5, counted).max { try $0.compared(to: $1) < 0 } ?? .null,
              heights.isEmpty ? .null : .real(heights.reduce(0, +) / Double(heights.count)),
              try column(0, filtered).sum, .from(column(2, counted).count),
            ])
          }
        }
        return try result.sorted { try $0[0].compared(to: $1[0]) < 0 }
      })
  }

  /// Sums of Decimals over frames, which rows also leave.
  func decimalWindows() -> RandomQuery {
    var filter: Tree<Bool>?
    let (frame, isDescending) = (bounds(), chance(2))
    let selection = RandomSale.filter { sale in
      var leaves = TreeLeaves()
      leaves.add(sale)
      let tree = condition(leaves, 1)
      filter = tree
      return tree.sql
    }.order { $0.id }.select { sale in
      let order = isDescending ? sale.price.desc : sale.price.asc
      return (
        sale.id,
        sale.price.sum().over(partitionBy: sale.small, orderBy: order, sale.id.asc, rows: frame),
        sale.discount.min().over(orderBy: order), rank().over(orderBy: order),
        sale.discount.lead().over(orderBy: order, sale.id.asc)
      )
    }
    let sales = data.sales.sales.map { [$0.values] as TreeRows }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [filter] in
        guard let filter else { throw UnknownValue() }
        let found = try sales.filter { try filter.holds($0) }
        func tree(_ column: Int) -> Tree<Int> { Tree<Int>(0) { $0[0]?[column] ?? .null } }
        let byPrice = Ordering(tree(4), isDescending: isDescending, ExactDecimal.compare)
        let byID = Ordering(tree(0), isDescending: false)
        let (whole, exact) = (
          try WindowPart(found, [byPrice]), try WindowPart(found, [byPrice, byID])
        )
        var result: [DatabaseValue: [DatabaseValue]] = [:]
        for (index, row) in whole.rows.enumerated() {
          let least = try whole.frame(.usual, index).compactMap { $0[0]?[5] }
            .filter { !$0.isNull }.min { try ExactDecimal.compare($0, $1) < 0 }
          result[row[0]?[0] ?? .null] = [least ?? .null, .from(whole.rank(index))]
        }
        for (index, row) in exact.rows.enumerated() {
          let next = index + 1 < exact.rows.count ? exact.rows[index + 1][0]?[5] : nil
          result[row[0]?[0] ?? .null]?.append(next ?? .null)
        }
        for rows in Dictionary(grouping: found, by: { $0[0]?[7] ?? .null }).values {
          let part = try WindowPart(rows, [byPrice, byID])
          for (index, row) in part.rows.enumerated() {
            let prices = try part.frame(WindowFrame(unit: .rows, bounds: frame), index)
              .compactMap { $0[0]?[4] }
            let sum = try prices.map { try ExactDecimal($0) }.reduce(ExactDecimal("0"), +)
            let id = row[0]?[0] ?? .null
            result[id] = [prices.isEmpty ? .null : try sum.stored] + (result[id] ?? [])
          }
        }
        return try result.map { [$0] + $1 }.sorted { try $0[0].compared(to: $1[0]) < 0 }
      })
  }
}

extension [DatabaseValue] {
  /// The sum of integers; NULL of none.
  fileprivate var sum: DatabaseValue {
    get throws { isEmpty ? .null : try reduce(.integer(0)) { try $0.sum($1) } }
  }
}

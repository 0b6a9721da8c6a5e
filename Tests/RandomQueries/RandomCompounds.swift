import Larder

extension TreeGenerator {
  func compound() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let parts = (0..<3).map { _ in
      RandomPlace.filter { place in
        let tree = condition(TreeLeaves(place), 2)
        trees.append(tree)
        return tree.sql
      }
    }
    let operations = [number(0..<4), number(0..<4)]
    func combined(
      _ left: Compound<RandomPlace>, _ right: Compound<RandomPlace>, _ operation: Int
    ) -> Compound<RandomPlace> {
      switch operation {
      case 0: left.union(right)
      case 1: left.unionAll(right)
      case 2: left.intersect(right)
      default: left.except(right)
      }
    }
    let isRight = chance(2)
    let (a, b, c) = (parts[0].compound, parts[1].compound, parts[2].compound)
    let compound =
      isRight
      ? combined(a, combined(b, c, operations[1]), operations[0])
      : combined(combined(a, b, operations[0]), c, operations[1])
    let query = compound.order(byColumn: 1, descending: true)
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql, fetch: { try query.fetchAll($0).map(\.values) },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        let found = try trees.map { tree in
          try rows.filter { try tree.value([$0]).truth == true }
        }
        let result =
          isRight
          ? RowSet.combined(
            found[0], RowSet.combined(found[1], found[2], operations[1]), operations[0])
          : RowSet.combined(
            RowSet.combined(found[0], found[1], operations[0]), found[2], operations[1])
        return try result.sorted { try $0[0].compared(to: $1[0]) > 0 }
      })
  }

  func commonTable() -> RandomQuery {
    let table = CommonTable(
      "common \"table",
      RandomPlace.filter { condition(TreeLeaves($0), 2).sql }.select { place in
        (place.id, text(TreeLeaves(place), 2).sql, optionalInteger(TreeLeaves(place), 1).sql)
      })
    if chance(2) {
      let query = table.all.filter { common in
        var leaves = TreeLeaves()
        leaves.add(common)
        return condition(leaves, 2).sql
      }.order { $0.columns.0 }
      return RandomQuery(
        sql: query.sql,
        fetch: { try query.fetchAll($0).map { $0.values } },
        count: { try query.fetchCount($0) })
    }
    let query = RandomPlace.all.join(common: table) { place, common in
      var leaves = TreeLeaves(place)
      leaves.add(common)
      return place.parent == common.columns.0 && condition(leaves, 2).sql
    }.filter { place, common in
      var leaves = TreeLeaves(place)
      leaves.add(common)
      return condition(leaves, 1).sql
    }.order { place, common in [place.id.asc, common.columns.0.asc] }
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { $0.0.values + $0.1.values }
      },
      count: { try query.fetchCount($0) })
  }

  /// Places and the chains of their parents, which may go in circles.
  func recursion() -> RandomQuery {
    var seed: Tree<Bool>?
    let table = CommonTable(
      recursive: "chain", distinct: true,
      RandomPlace.filter { place in
        let tree = condition(TreeLeaves(place), 2)
        seed = tree
        return tree.sql
      }.select { ($0.id, $0.parent) }
    ) { chain in
      RandomPlace.all.join(common: chain) { $0.id == $1.columns.1 }.select { place, _ in
        (place.id, place.parent)
      }
    }
    let query = table.all.order { $0.columns.0 }
    let places = data.places
    return RandomQuery(
      sql: query.sql, fetch: { try query.fetchAll($0).map(\.values) },
      count: { try query.fetchCount($0) },
      expected: { [seed] in
        guard let seed else { throw UnknownValue() }
        var found: Set<Int> = []
        var next = try places.filter { try seed.value([$0.values]).truth == true }
        while let place = next.popLast() {
          guard found.insert(place.id).inserted else { continue }
          next += places.filter { $0.id == place.parent }
        }
        return places.filter { found.contains($0.id) }.map { [.from($0.id), .from($0.parent)] }
      })
  }
}

extension RowSet {
  /// UNION, UNION ALL, INTERSECT or EXCEPT.
  static func combined(
    _ left: [[DatabaseValue]], _ right: [[DatabaseValue]], _ operation: Int
  ) -> [[DatabaseValue]] {
    let keys = Set(right.map(key))
    switch operation {
    case 0: return distinct(left + right)
    case 1: return left + right
    case 2: return distinct(left.filter { keys.contains(key($0)) })
    default: return distinct(left.filter { !keys.contains(key($0)) })
    }
  }
}

extension CommonRow {
  fileprivate var values: [DatabaseValue] {
    var values: [DatabaseValue] = []
    repeat values.append(.from(each columns))
    return values
  }
}

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
      case 1: left.union(all: right)
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
          try rows.filter { try tree.holds([$0]) }
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
    typealias Inner = (where: Tree<Bool>, text: Tree<String>, optional: Tree<Int?>)
    var inner: Inner?
    let table = CommonTable(
      "common \"table",
      RandomPlace.filter { place in
        let tree = condition(TreeLeaves(place), 2)
        inner = (tree, Tree(place.name), Tree(place.rank))
        return tree.sql
      }.select { place in
        let leaves = TreeLeaves(place)
        let (text, optional) = (text(leaves, 2), optionalInteger(leaves, 1))
        inner?.text = text
        inner?.optional = optional
        return (place.id, text.sql, optional.sql)
      })
    let places = data.places.map(\.values)
    let rows = { [inner] in
      guard let inner else { throw UnknownValue() }
      return try places.filter { try inner.where.holds([$0]) }.map {
        [$0[0], try inner.text.value([$0]), try inner.optional.value([$0])]
      }
    }
    return chance(2) ? common(table, rows) : joined(table, rows)
  }

  private func common(
    _ table: CommonTable<Int, String, Int?>, _ rows: @escaping () throws -> [[DatabaseValue]]
  ) -> RandomQuery {
    var tree: Tree<Bool>?
    let query = table.all.filter { common in
      var leaves = TreeLeaves()
      leaves.add(common)
      let condition = condition(leaves, 2)
      tree = condition
      return condition.sql
    }.order { $0.columns.0 }
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { $0.values }
      },
      count: { try query.fetchCount($0) },
      expected: { [tree] in
        guard let tree else { throw UnknownValue() }
        return try rows().filter { try tree.holds([$0]) }.map {
          [$0[0], $0[1], try $0[2].asInteger(Int.self)]
        }
      })
  }

  private func joined(
    _ table: CommonTable<Int, String, Int?>, _ rows: @escaping () throws -> [[DatabaseValue]]
  ) -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.all.join(common: table) { place, common in
      var leaves = TreeLeaves(place)
      leaves.add(common)
      let equality = Tree(place.parent, 0, 9).equals(
        Tree(common.columns.0, 1, 0), place.parent == common.columns.0)
      trees.append(equality && condition(leaves, 2))
      return trees[0].sql
    }.filter { place, common in
      var leaves = TreeLeaves(place)
      leaves.add(common)
      trees.append(condition(leaves, 1))
      return trees[1].sql
    }.order { place, common in [place.id.asc, common.columns.0.asc] }
    let places = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { $0.0.values + $0.1.values }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        let found = try places.map { [$0] as TreeRows }.joined(.inner, rows(), on: trees[0])
          .filtered(trees[1], orderedBy: [(0, 0), (1, 0)]).flattened([11, 3])
        for row in found { _ = try row[13].asInteger(Int.self) }
        return found
      })
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
        var next = try places.filter { try seed.holds([$0.values]) }
        while let place = next.popLast() {
          guard found.insert(place.id).inserted else { continue }
          next += places.filter { $0.id == place.parent }
        }
        return places.filter { found.contains($0.id) }.map { [.from($0.id), .from($0.parent)] }
      })
  }

  /// Places and those above them, level by level, each as often as a way leads to it.
  func hierarchy() -> RandomQuery {
    var seed: Tree<Bool>?
    let levels = number(0..<4)
    let table = CommonTable(
      recursive: "level",
      RandomPlace.filter { place in
        let tree = condition(TreeLeaves(place), 1)
        seed = tree
        return tree.sql
      }.select { ($0.id, $0.parent, .value(0)) }
    ) { level in
      RandomPlace.all.join(common: level) { place, level in
        place.id == level.columns.1 && level.columns.2 < levels
      }.select { place, level in (place.id, place.parent, level.columns.2 + 1) }
    }
    let query = table.all.order { ($0.columns.2, $0.columns.0, $0.columns.1) }
    let places = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql, fetch: { try query.fetchAll($0).map(\.values) },
      count: { try query.fetchCount($0) },
      expected: { [seed] in
        guard let seed else { throw UnknownValue() }
        var level = try places.filter { try seed.holds([$0]) }.map { [$0[0], $0[9], .integer(0)] }
        var found = level
        for number in 0..<levels {
          level = try level.flatMap { below in
            try places.filter { try $0[0].compared(to: below[1]) == 0 }.map {
              [$0[0], $0[9], .integer(Int64(number + 1))]
            }
          }
          found += level
        }
        return try found.sorted {
          for column in [2, 0, 1] {
            let order = try $0[column].compared(to: $1[column])
            if order != 0 { return order < 0 }
          }
          return false
        }
      })
  }
}

extension RowSet {
  /// UNION, UNION ALL, INTERSECT or EXCEPT.
  static func combined(
    _ left: [[DatabaseValue]], _ right: [[DatabaseValue]], _ operation: Int
  ) -> [[DatabaseValue]] {
    let keys = Set(right.map { key($0) })
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

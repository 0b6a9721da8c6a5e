import Larder

extension RandomArea {
  static func values(_ area: RandomArea?) -> [DatabaseValue] {
    area?.values ?? Array(repeating: .null, count: 3)
  }
}

extension RandomPlace {
  static func values(_ place: RandomPlace?) -> [DatabaseValue] {
    place?.values ?? Array(repeating: .null, count: 11)
  }
}

extension TreeGenerator {
  func join() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.join(RandomArea.self) { place, area in
      let tree = Tree(place.area == area.code && place.size >= -3) {
        let isSame = try ($0[0]?[10] ?? .null).compared(to: $0[1]?[0] ?? .null) == 0
        return .truth(isSame && ($0[0]?[3].number ?? -9) >= -3)
      }
      trees.append(tree)
      return tree.sql
    }.filter { place, area in
      var leaves = TreeLeaves(place)
      leaves.add(area)
      let tree = condition(leaves, 3)
      trees.append(tree)
      return tree.sql
    }.order { place, area in [area.code.desc, place.id.asc] }
    let (places, areas) = (data.places.map(\.values), data.areas.map(\.values))
    return RandomQuery(
      sql: query.sql, fetch: { try query.fetchAll($0).map { $0.0.values + $0.1.values } },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        let sorted = try areas.sorted { try $0[0].compared(to: $1[0]) > 0 }
        return try sorted.flatMap { area in
          try places.filter { place in
            try trees.allSatisfy { try $0.value([place, area]).truth == true }
          }.map { $0 + area }
        }
      })
  }

  func leftJoin() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let query = RandomPlace.leftJoin(RandomPlace.self) { place, other in
      var leaves = TreeLeaves(place)
      leaves.add(other)
      let parent = Tree<Bool>(place.parent == other.id) {
        let (parent, id) = ($0[0]?[9] ?? .null, $0[1]?[0] ?? .null)
        return .truth(try parent.compared(to: id) == 0)
      }
      let tree = parent && condition(leaves, 1)
      trees.append(tree)
      return tree.sql
    }.filter { place, other in
      var leaves = TreeLeaves(place)
      leaves.add(other)
      let tree = condition(leaves, 3)
      trees.append(tree)
      return tree.sql
    }.order { place, other in [place.id.asc, other.id.asc] }
    let places = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql,
      fetch: { try query.fetchAll($0).map { $0.0.values + RandomPlace.values($0.1) } },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        try places.flatMap { place in
          let found = try places.filter { try trees[0].value([place, $0]).truth == true }
          let rows: [[DatabaseValue]?] = found.isEmpty ? [nil] : found
          return try rows.filter { try trees[1].value([place, $0]).truth == true }
            .map { place + ($0 ?? RandomPlace.values(nil)) }
        }
      })
  }

  func join3() -> RandomQuery {
    let query = RandomPlace.leftJoin(RandomArea.self) { $0.area == $1.code }
      .join(RandomPlace.self) { place, area, other in
        var leaves = TreeLeaves(place)
        leaves.add(area)
        leaves.add(other)
        return place.id == other.parent || condition(leaves, 2).sql
      }.filter { place, area, other in
        var leaves = TreeLeaves(place)
        leaves.add(area)
        leaves.add(other)
        return condition(leaves, 3).sql
      }.order { place, area, other in [place.id.asc, area.code.asc, other.id.asc] }
      .limit(number(0..<60), offset: number(0..<4))
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { $0.0.values + RandomArea.values($0.1) + $0.2.values }
      },
      count: { try query.fetchCount($0) })
  }

  func join4() -> RandomQuery {
    let selection = RandomPlace.join(RandomPlace.self) { $0.parent == $1.id }
      .leftJoin(RandomArea.self) { $1.area == $2.code }
      .leftJoin(RandomArea.self) { place, _, area, last in
        place.area == last.code || area.weight == last.weight
      }.filter { place, parent, area, last in
        var leaves = TreeLeaves(place)
        leaves.add(parent)
        leaves.add(area)
        leaves.add(last)
        return condition(leaves, 3).sql
      }.order { place, parent, area, last in [place.id.asc, area.code.asc, last.code.asc] }
      .select { place, parent, area, last in
        (place.name, parent.rank, area.title, last.weight, place.size + parent.size)
      }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { try selection.fetchCount($0) })
  }

  func windows() -> RandomQuery {
    let (before, after) = (number(-3..<1), number(0..<3))
    let selection = RandomPlace.filter { condition(TreeLeaves($0), 2).sql }
      .order { $0.id }.select { place in
        let leaves = TreeLeaves(place)
        let part = optionalText(leaves, 1).sql
        let order = integer(leaves, 1).sql
        return (
          rowNumber().over(partitionBy: part, orderBy: order.desc, place.id.asc),
          rank().over(orderBy: order.asc), denseRank().over(partitionBy: part, orderBy: order.asc),
          place.size.sum().over(partitionBy: part, orderBy: place.id.asc, rows: before...after),
          place.name.lag(2).over(orderBy: order.asc, place.id.desc),
          place.rank.count().filter(where: place.size > 3).over(orderBy: place.id.desc)
        )
      }
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4), .from($0.5)]
        }
      },
      count: { try selection.fetchCount($0) })
  }
}

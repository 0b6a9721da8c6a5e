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
            try trees.allSatisfy { try $0.holds([place, area]) }
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
          let found = try places.filter { try trees[0].holds([place, $0]) }
          let rows: [[DatabaseValue]?] = found.isEmpty ? [nil] : found
          return try rows.filter { try trees[1].holds([place, $0]) }
            .map { place + ($0 ?? RandomPlace.values(nil)) }
        }
      })
  }

  func join3() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let (limit, offset) = (number(0..<60), number(0..<4))
    let query = RandomPlace.leftJoin(RandomArea.self) { place, area in
      trees.append(Tree(place.area, 0, 10).equals(Tree(area.code, 1, 0), place.area == area.code))
      return place.area == area.code
    }.join(RandomPlace.self) { place, area, other in
      var leaves = TreeLeaves(place)
      leaves.add(area)
      leaves.add(other)
      let child = Tree(place.id, 0, 0).equals(Tree(other.parent, 2, 9), place.id == other.parent)
      let tree = child || condition(leaves, 2)
      trees.append(tree)
      return tree.sql
    }.filter { place, area, other in
      var leaves = TreeLeaves(place)
      leaves.add(area)
      leaves.add(other)
      let tree = condition(leaves, 3)
      trees.append(tree)
      return tree.sql
    }.order { place, area, other in [place.id.asc, area.code.asc, other.id.asc] }
      .limit(limit, offset: offset)
    let (places, areas) = (data.places.map(\.values), data.areas.map(\.values))
    return RandomQuery(
      sql: query.sql,
      fetch: {
        try query.fetchAll($0).map { $0.0.values + RandomArea.values($0.1) + $0.2.values }
      },
      count: { try query.fetchCount($0) },
      expected: { [trees] in
        var rows = places.map { [$0] as TreeRows }
        rows = try rows.joined(.left, areas, on: trees[0]).joined(.inner, places, on: trees[1])
          .filtered(trees[2], orderedBy: [(0, 0), (1, 0), (2, 0)])
        return rows.dropFirst(offset).prefix(limit).map {
          ($0[0] ?? []) + ($0[1] ?? RandomArea.values(nil)) + ($0[2] ?? [])
        }
      })
  }

  func join4() -> RandomQuery {
    var trees: [Tree<Bool>] = []
    let selection = RandomPlace.join(RandomPlace.self) { place, parent in
      trees.append(
        Tree(place.parent, 0, 9).equals(Tree(parent.id, 1, 0), place.parent == parent.id))
      return place.parent == parent.id
    }.leftJoin(RandomArea.self) { _, parent, area in
      trees.append(Tree(parent.area, 1, 10).equals(Tree(area.code, 2, 0), parent.area == area.code))
      return parent.area == area.code
    }.leftJoin(RandomArea.self) { place, _, area, last in
      let own = Tree(place.area, 0, 10).equals(Tree(last.code, 3, 0), place.area == last.code)
      let same = Tree(area.weight, 2, 2).equals(
        Tree(last.weight, 3, 2), area.weight == last.weight)
      let tree = chance(2) ? own || same : own && same
      trees.append(tree)
      return tree.sql
    }.filter { place, parent, area, last in
      var leaves = TreeLeaves(place)
      leaves.add(parent)
      leaves.add(area)
      leaves.add(last)
      let tree = condition(leaves, 3)
      trees.append(tree)
      return tree.sql
    }.order { place, parent, area, last in [place.id.asc, area.code.asc, last.code.asc] }
      .select { place, parent, area, last in
        (place.name, parent.rank, area.title, last.weight, place.size + parent.size)
      }
    let (places, areas) = (data.places.map(\.values), data.areas.map(\.values))
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees] in
        var rows = places.map { [$0] as TreeRows }
        rows = try rows.joined(.inner, places, on: trees[0])
          .joined(.left, areas, on: trees[1]).joined(.left, areas, on: trees[2])
          .filtered(trees[3], orderedBy: [(0, 0), (2, 0), (3, 0)])
        return try rows.map { row in
          func value(_ table: Int, _ column: Int) -> DatabaseValue { row[table]?[column] ?? .null }
          return [
            value(0, 1), value(1, 4), value(2, 1), value(3, 2),
            try value(0, 3).sum(value(1, 3)).asInteger(Int.self),
          ]
        }
      })
  }
}

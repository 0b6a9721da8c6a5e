import Larder

// Queries of one table.

extension TreeGenerator {
  func terms(_ leaves: TreeLeaves) -> [Ordering] {
    (0..<number(0..<3)).map { _ in
      switch number(0..<4) {
      // An integer alone would be the number of a column in the shell's text, and no value.
      case 0: ordering(column(integer(leaves, 1), leaves.integers))
      case 1: ordering(column(optionalInteger(leaves, 1), leaves.optionalIntegers))
      case 2: ordering(optionalText(leaves, 0))
      default: ordering(condition(leaves, 1))
      }
    }
  }

  /// The expression if it mentions a column, or else a column.
  private func column<V>(_ tree: Tree<V>, _ columns: [Tree<V>]) -> Tree<V> {
    tree.sql.sql.text.contains("\"") ? tree : pick(columns)
  }

  func places() -> RandomQuery {
    var conditions: [Tree<Bool>] = []
    var terms: [Ordering] = []
    var query = RandomPlace.all
    for _ in 0..<number(0..<3) {
      query = query.filter { place in
        let tree = condition(TreeLeaves(place), number(0..<4))
        conditions.append(tree)
        return tree.sql
      }
    }
    query = query.order { place in
      terms = self.terms(TreeLeaves(place))
      return terms.map(\.term) + [place.id.asc]
    }
    let (offset, limit) = chance(2) ? (0, 100) : (number(0..<4), number(0..<20))
    if limit < 100 { query = query.limit(limit, offset: offset) }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql, fetch: { [query] in try query.fetchAll($0).map(\.values) },
      count: { [query] in try query.fetchCount($0) },
      expected: { [conditions, terms] in
        let found = try rows.filter { row in
          try conditions.allSatisfy { try $0.holds([row]) }
        }
        let sorted = try terms.sorted(found)
        return Array(sorted.dropFirst(offset).prefix(limit))
      })
  }

  func selection() -> RandomQuery {
    var trees: (Tree<Int>, Tree<Bool>, Tree<String>, Tree<Double>)?
    let selection = RandomPlace.order { $0.id }.select { place in
      let leaves = TreeLeaves(place)
      let (integer, condition) = (integer(leaves, 2), condition(leaves, 3))
      let (text, real) = (text(leaves, 2), real(leaves, 2))
      trees = (integer, condition, text, real)
      let truth = when(condition.sql, then: 1).when(!condition.sql, then: 0).otherwiseNull
      return (
        integer.sql.cast(to: DatabaseValue.self), truth,
        text.sql.cast(to: DatabaseValue.self), real.sql.cast(to: DatabaseValue.self)
      )
    }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map { [$0.0, .from($0.1), $0.2, $0.3] }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees] in
        guard let trees else { throw UnknownValue() }
        return try rows.map { row in
          [
            try trees.0.value([row]), try trees.1.value([row]), try trees.2.value([row]),
            try trees.3.value([row]),
          ]
        }
      })
  }

  func distinct() -> RandomQuery {
    var trees: (Tree<Bool>, Tree<Int?>, Tree<String?>)?
    let selection = RandomPlace.filter { place in
      let tree = condition(TreeLeaves(place), 2)
      trees = (tree, Tree(place.rank), Tree(place.note))
      return tree.sql
    }.select { place in
      let leaves = TreeLeaves(place)
      let (rank, note) = (optionalInteger(leaves, 1), optionalText(leaves, 1))
      trees?.1 = rank
      trees?.2 = note
      return (rank.sql, note.sql)
    }.distinct()
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in try selection.fetchAll(db).map { [.from($0.0), .from($0.1)] } },
      count: { try selection.fetchCount($0) },
      expected: { [trees] in
        guard let trees else { throw UnknownValue() }
        let found = try rows.filter { try trees.0.holds([$0]) }
        return RowSet.distinct(
          try found.map {
            [try trees.1.value([$0]).asInteger(Int.self), try trees.2.value([$0])]
          })
      },
      isOrdered: false)
  }

  func groups() -> RandomQuery {
    var trees: (Tree<Bool>, Tree<String?>)?
    let least = number(0..<3)
    let selection = RandomPlace.filter { place in
      let tree = condition(TreeLeaves(place), 2)
      trees = (tree, Tree(place.note))
      return tree.sql
    }.group { place in
      let tree = optionalText(TreeLeaves(place), 1)
      trees?.1 = tree
      return tree.sql
    }.having { _ in count() > least }.select { place in
      (
        trees?.1.sql ?? place.note, count(), place.rank.count(distinct: true),
        place.size.sum().filter(where: place.size > 5), place.height.max(), place.depth.average()
      )
    }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [
            .from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4), .from($0.5),
          ]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: { [trees] in
        guard let trees else { throw UnknownValue() }
        let found = try rows.filter { try trees.0.holds([$0]) }
        let keyed = try found.map { (RowSet.key([try trees.1.value([$0])]), $0) }
        return try Dictionary(grouping: keyed) { $0.0 }.values.compactMap { group in
          let rows = group.map(\.1)
          let sizes = try rows.map { $0[3] }.filter { try $0.compared(to: .integer(5)) > 0 }
          if group.count <= least {
            // SQLite adds up before it looks whether the group counts.
            let sum = try sizes.reduce(DatabaseValue.integer(0)) { try $0.sum($1) }
            if case .real = sum { throw Undecided() }
            return nil
          }
          let depths = rows.compactMap { $0[6].number }
          let sum = try sizes.reduce(DatabaseValue.integer(0)) { try $0.sum($1) }.asInteger(
            Int.self)
          return [
            try trees.1.value([rows[0]]), .from(rows.count),
            .from(Set(rows.map { $0[4] }.filter { !$0.isNull }).count),
            sizes.isEmpty ? .null : sum,
            .from(rows.compactMap { $0[5].number }.max()),
            depths.isEmpty ? .null : .real(depths.reduce(0, +) / Double(depths.count)),
          ]
        }
      },
      isOrdered: false)
  }
}

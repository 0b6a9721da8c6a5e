import Larder

/// A random query, its rows, and what they shall be.
package struct RandomQuery {
  /// The statement.
  package let sql: SQL
  /// Its rows, as Larder reads them.
  package let fetch: (Database) throws -> [[DatabaseValue]]
  /// The number of rows, asked for on its own.
  package var count: ((Database) throws -> Int)?
  /// The rows as Swift computes them; throws ``UnknownValue`` where it can't.
  var expected: () throws -> [[DatabaseValue]] = { throw UnknownValue() }
  /// Whether the rows have an order that decides where each stands.
  var isOrdered = true
}

extension TreeGenerator {
  /// A query of any kind.
  package func query() -> RandomQuery {
    switch number(0..<14) {
    case 0, 1, 2: places()
    case 3: selection()
    case 4: distinct()
    case 5: groups()
    case 6: join()
    case 7: leftJoin()
    case 8: join3()
    case 9: join4()
    case 10: compound()
    case 11: commonTable()
    case 12: recursion()
    default: windows()
    }
  }

  // MARK: One table

  private typealias Term = (order: OrderingTerm, value: Tree<Int?>, sign: Int, nulls: Int?)

  private func term<V>(_ tree: Tree<V>) -> Term {
    let value = Tree<Int?>(SQLExpression<Int?>(sql: "0"), tree.value)
    let (order, sign) = chance(2) ? (tree.sql.asc, 1) : (tree.sql.desc, -1)
    switch number(0..<3) {
    case 0: return (order.nullsFirst, value, sign, -1)
    case 1: return (order.nullsLast, value, sign, 1)
    default: return (order, value, sign, nil)
    }
  }

  private func terms(_ leaves: TreeLeaves) -> [Term] {
    (0..<number(0..<3)).map { _ in
      switch number(0..<4) {
      // An integer alone would be the number of a column in the shell's text, and no value.
      case 0: term(column(integer(leaves, 1), leaves.integers))
      case 1: term(column(optionalInteger(leaves, 1), leaves.optionalIntegers))
      case 2: term(optionalText(leaves, 0))
      default: term(condition(leaves, 1))
      }
    }
  }

  /// The expression if it mentions a column, or else a column.
  private func column<V>(_ tree: Tree<V>, _ columns: [Tree<V>]) -> Tree<V> {
    tree.sql.sql.text.contains("\"") ? tree : pick(columns)
  }

  private static func precedes(
    _ left: [DatabaseValue], _ right: [DatabaseValue], _ terms: [Term]
  ) throws -> Bool {
    for term in terms {
      let (one, two) = (try term.value.value([left]), try term.value.value([right]))
      if one.isNull != two.isNull, let nulls = term.nulls { return one.isNull == (nulls < 0) }
      let order = try one.compared(to: two) * term.sign
      if order != 0 { return order < 0 }
    }
    return try left[0].compared(to: right[0]) < 0
  }

  private func places() -> RandomQuery {
    var conditions: [Tree<Bool>] = []
    var terms: [Term] = []
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
      return terms.map(\.order) + [place.id.asc]
    }
    let (offset, limit) = chance(2) ? (0, 100) : (number(0..<4), number(0..<20))
    if limit < 100 { query = query.limit(limit, offset: offset) }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: query.sql, fetch: { [query] in try query.fetchAll($0).map(\.values) },
      count: { [query] in try query.fetchCount($0) },
      expected: { [conditions, terms] in
        let found = try rows.filter { row in
          try conditions.allSatisfy { try $0.value([row]).truth == true }
        }
        let sorted = try found.sorted { try Self.precedes($0, $1, terms) }
        return Array(sorted.dropFirst(offset).prefix(limit))
      })
  }

  private func selection() -> RandomQuery {
    var trees: (Tree<Int>, Tree<Bool>, Tree<String>, Tree<Double>)?
    let selection = RandomPlace.order { $0.id }.select { place in
      let leaves = TreeLeaves(place)
      let (integer, condition) = (integer(leaves, 2), condition(leaves, 3))
      let (text, real) = (text(leaves, 2), real(leaves, 2))
      trees = (integer, condition, text, real)
      let truth = when(condition.sql, then: 1).when(!condition.sql, then: 0).otherwiseNull
      return (
        SQLExpression<DatabaseValue>(sql: integer.sql.sql), truth,
        SQLExpression<String?>(sql: text.sql.sql), SQLExpression<Double?>(sql: real.sql.sql)
      )
    }
    let rows = data.places.map(\.values)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map { [$0.0, .from($0.1), .from($0.2), .from($0.3)] }
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

  private func distinct() -> RandomQuery {
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
        let found = try rows.filter { try trees.0.value([$0]).truth == true }
        return RowSet.distinct(
          try found.map { [try trees.1.value([$0]), try trees.2.value([$0])] })
      },
      isOrdered: false)
  }

  private func groups() -> RandomQuery {
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
        let found = try rows.filter { try trees.0.value([$0]).truth == true }
        let keyed = try found.map { (RowSet.key([try trees.1.value([$0])]), $0) }
        return try Dictionary(grouping: keyed) { $0.0 }.values.filter { $0.count > least }
          .map { group in
            let rows = group.map(\.1)
            let sizes = rows.compactMap { $0[3].number }.filter { $0 > 5 }
            let depths = rows.compactMap { $0[6].number }
            let sum = sizes.reduce(0, +)
            return [
              try trees.1.value([rows[0]]), .from(rows.count),
              .from(Set(rows.map { $0[4] }.filter { !$0.isNull }).count),
              sizes.isEmpty ? .null : .integer(Int64(sum)),
              .from(rows.compactMap { $0[5].number }.max()),
              depths.isEmpty ? .null : .real(depths.reduce(0, +) / Double(depths.count)),
            ]
          }
      },
      isOrdered: false)
  }
}

extension DatabaseValue {
  /// A value as it is stored; NULL for what can't be.
  static func from(_ value: (any DatabaseValueConvertible)?) -> DatabaseValue {
    (try? value?.databaseValue) ?? .null
  }
}

/// Rows that are compared byte by byte.
enum RowSet {
  /// A text that two rows have only if they are the same. Sums that were added in another order may
  /// differ in their last digits.
  static func key(_ row: [DatabaseValue]) -> String {
    row.map { value in
      switch value {
      case .null: "null"
      case .integer(let number): "i\(number)"
      case .real(let number):
        number.isFinite && number.magnitude < 1e15
          ? "r\((number * 1e9).rounded() / 1e9 + 0)" : "r\(number)"
      case .text(let text): "t" + text.utf8.map { String($0, radix: 16) }.joined(separator: ".")
      case .blob(let bytes): "b\(bytes)"
      }
    }.joined(separator: " ")
  }

  static func distinct(_ rows: [[DatabaseValue]]) -> [[DatabaseValue]] {
    var seen: Set<String> = []
    return rows.filter { seen.insert(key($0)).inserted }
  }
}

import Foundation
import Larder

extension TreeGenerator {
  func condition(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    if depth > 0, chance(2) {
      let left = condition(leaves, depth - 1)
      switch number(0..<8) {
      case 0, 1, 2: return left && condition(leaves, depth - 1)
      case 3, 4: return left || condition(leaves, depth - 1)
      case 5: return !left
      case 6:
        let right = condition(leaves, depth - 1)
        return chance(2)
          ? left.equals(right, left.sql == right.sql)
          : left.equals(right, left.sql != right.sql, negated: true)
      default:
        let value = chance(2)
        return left.equals(Tree<Bool>.constant(value), left.sql == value)
      }
    }
    let depth = max(0, depth - 1)
    if !leaves.notes.isEmpty, chance(2) { return saleCondition(leaves) }
    switch number(0..<11) {
    case 0, 1: return comparison(integer(leaves, depth), integer(leaves, depth), number(-4..<21))
    case 2: return comparison(real(leaves, depth), real(leaves, depth), 0.75)
    case 3: return comparison(text(leaves, depth), text(leaves, depth), word)
    case 4: return optionalComparison(leaves, depth)
    case 5: return textCondition(leaves, depth)
    case 6: return list(leaves, depth)
    case 7: return nullCondition(leaves, depth)
    case 8: return otherKinds(leaves)
    case 9: return between(leaves, depth)
    default: return subqueryCondition(leaves, depth)
    }
  }

  private func comparison<Value: DatabaseValueConvertible & Comparable>(
    _ left: Tree<Value>, _ right: Tree<Value>, _ value: Value
  ) -> Tree<Bool> {
    let known = Tree<Value>.constant(value)
    switch number(0..<12) {
    case 0: return left.equals(right, left.sql == right.sql)
    case 1: return left.equals(right, left.sql != right.sql, negated: true)
    case 2: return left.compares(right, left.sql < right.sql) { $0 < 0 }
    case 3: return left.compares(right, left.sql <= right.sql) { $0 <= 0 }
    case 4: return left.compares(right, left.sql > right.sql) { $0 > 0 }
    case 5: return left.compares(right, left.sql >= right.sql) { $0 >= 0 }
    case 6: return left.equals(known, left.sql == value)
    case 7: return left.equals(known, left.sql != value, negated: true)
    case 8: return left.compares(known, left.sql < value) { $0 < 0 }
    case 9: return left.compares(known, left.sql <= value) { $0 <= 0 }
    case 10: return left.compares(known, left.sql > value) { $0 > 0 }
    default: return left.compares(known, left.sql >= value) { $0 >= 0 }
    }
  }

  private func optionalComparison(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    let (left, right) = (optionalInteger(leaves, depth), optionalInteger(leaves, depth))
    let (integer, value) = (integer(leaves, depth), number(-2..<6))
    let known = Tree<Int>.constant(value)
    switch number(0..<11) {
    case 0: return left.equals(right, left.sql == right.sql)
    case 1: return left.equals(right, left.sql != right.sql, negated: true)
    case 2: return left.equals(integer, left.sql == integer.sql)
    case 3: return integer.equals(left, integer.sql == left.sql)
    case 4: return left.equals(known, left.sql == value)
    case 5: return left.equals(known, left.sql != value, negated: true)
    case 6: return left.compares(known, left.sql < value) { $0 < 0 }
    case 7: return left.compares(known, left.sql >= value) { $0 >= 0 }
    case 8: return left.compares(right, left.sql > right.sql) { $0 > 0 }
    case 9: return left.compares(right, left.sql <= right.sql) { $0 <= 0 }
    default: return left.equals(Tree<Int?>.constant(nil), left.sql == nil)
    }
  }

  private func nullCondition(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    func both<Value>(_ tree: Tree<Value>) -> Tree<Bool> {
      chance(2)
        ? Tree(tree.sql.isNull) { .truth(try tree.value($0).isNull) }
        : Tree(tree.sql.isNotNull) { .truth(!(try tree.value($0).isNull)) }
    }
    switch number(0..<4) {
    case 0: return both(optionalInteger(leaves, depth))
    case 1: return both(optionalText(leaves, depth))
    case 2: return both(integer(leaves, depth))
    default: return both(condition(leaves, depth))
    }
  }

  private func otherKinds(_ leaves: TreeLeaves) -> Tree<Bool> {
    guard let blob = leaves.blobs.last, let date = leaves.dates.last, chance(2) else {
      let real = optionalReal(leaves, 0)
      return real.compares(Tree<Double>.constant(0.25), real.sql >= 0.25) { $0 >= 0 }
    }
    let day = Date(timeIntervalSince1970: Double(number(0..<9)) * 86_400.5)
    let known = Tree<Double>.constant(day.timeIntervalSince1970)
    switch number(0..<4) {
    case 0: return date.equals(known, date.sql == day)
    case 1: return date.compares(known, date.sql < day) { $0 < 0 }
    case 2:
      let bytes: [UInt8] = [0, 1, 255]
      return blob.equals(Tree<[UInt8]>.constant(bytes), blob.sql == bytes)
    default:
      return inList(date, [day, nil], date.sql.in([day, nil])) { $0?.timeIntervalSince1970 }
    }
  }

  private func between(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    let low = number(-4..<6)
    let high = number(low..<22)
    let integer = integer(leaves, depth)
    return integer.map(integer.sql.between(low...high)) {
      let isAbove = try $0.compared(to: .integer(Int64(low))) >= 0
      let isBelow = try $0.compared(to: .integer(Int64(high))) <= 0
      return .truth(isAbove && isBelow)
    }
  }

  // MARK: Lists

  private func list(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    let count = pick([0, 1, 2, 3, 5, 40])
    switch number(0..<4) {
    case 0:
      let (tree, list) = (integer(leaves, depth), (0..<count).map { _ in number(-4..<21) })
      return inList(tree, list, tree.sql.in(list)) { $0 }
    case 1:
      let tree = optionalInteger(leaves, depth)
      let list = (0..<count).map { _ in chance(4) ? nil : number(-2..<6) }
      return inList(tree, list, tree.sql.in(list)) { $0 }
    case 2:
      let (tree, list) = (text(leaves, depth), (0..<count).map { _ in word })
      return inList(tree, list, tree.sql.in(list)) { $0 }
    default:
      let tree = optionalReal(leaves, depth)
      let list = (0..<count).map { _ in chance(4) ? nil : Double(number(-8..<8)) / 8 }
      return inList(tree, list, tree.sql.in(list)) { $0 }
    }
  }

  /// Nothing is in an empty list; NULL is in one with nil, and else it isn't known.
  private func inList<Value, Stored: DatabaseValueConvertible>(
    _ tree: Tree<Value>, _ list: [Value], _ sql: SQLExpression<Bool>,
    _ stored: @escaping @Sendable (Value) -> Stored
  ) -> Tree<Bool> {
    let stored = list.compactMap { try? stored($0).databaseValue }
    return Tree(sql) { rows in
      let value = try tree.value(rows)
      let isFound = try stored.contains { try value.compared(to: $0) == 0 }
      if value.isNull, !isFound, !stored.isEmpty { return .null }
      return .truth(isFound)
    }
  }

  // MARK: Subqueries

  private typealias Inner = (
    query: Query<RandomPlace>, leaves: TreeLeaves, condition: Tree<Bool>
  )

  /// A query of places for which a condition holds that may mention the rows around it.
  private func inner(_ leaves: TreeLeaves, _ depth: Int) -> Inner {
    var inner = leaves
    var condition: Tree<Bool>?
    // One that is begun here has a name of its own, also beside its own table around it.
    let places = chance(2) ? RandomPlace.all : RandomPlace.aliased("inner \"\(leaves.count)")
    let query = places.filter { place in
      inner.add(place)
      let tree = self.condition(inner, max(0, depth - 1))
      condition = tree
      return tree.sql
    }
    return (query, inner, condition ?? Tree(SQLExpression<Bool>(sql: "1")))
  }

  private func subqueryCondition(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Bool> {
    let (query, _, condition) = inner(leaves, depth)
    let places = data.places.map(\.values)
    // A join has more tables than the leaves where some of them aren't asked.
    let count = leaves.count
    if chance(2) {
      return Tree(query.exists) { rows in
        .truth(try places.contains { try condition.value(rows.prefix(count) + [$0]).truth == true })
      }
    }
    let outer = optionalInteger(leaves, 0)
    let selection = query.select { $0.rank }
    let found =
      chance(2) ? outer.sql.in(selection) : outer.sql.in(selection.union(selection.limit(9)))
    return Tree(found) { rows in
      let ranks = try places.filter { try condition.value(rows.prefix(count) + [$0]).truth == true }
        .map { $0[4] }
      let value = try outer.value(rows)
      if ranks.isEmpty { return .truth(false) }
      if value.isNull { return .null }
      if try ranks.contains(where: { try value.compared(to: $0) == 0 }) { return .truth(true) }
      return ranks.contains(.null) ? .null : .truth(false)
    }
  }

  func firstOfSubquery(_ leaves: TreeLeaves, _ depth: Int) -> Tree<Int?> {
    let (query, _, condition) = inner(leaves, depth)
    let places = data.places.map(\.values)
    // A join has more tables than the leaves where some of them aren't asked.
    let count = leaves.count
    if chance(2) {
      return Tree(first(of: query.order { $0.id.desc }.select { $0.rank })) { rows in
        try places.last { try condition.value(rows.prefix(count) + [$0]).truth == true }?[4]
          ?? .null
      }
    }
    return Tree(first(of: query.select { $0.size.max() })) { rows in
      try places.filter { try condition.value(rows.prefix(count) + [$0]).truth == true }
        .map { $0[3] }.max { try $0.compared(to: $1) < 0 } ?? .null
    }
  }
}

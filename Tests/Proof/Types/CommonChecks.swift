import Foundation
import Larder

extension TypeCheck {
  /// What every type has.
  mutating func checkAll() throws {
    checkEquality()
    checkOrder()
    try checkSorting()
    try checkSets()
    checkChoices()
    checkAssignments()
    try S.checkMore(&self)
  }

  private mutating func checkEquality() {
    let (v, w) = (pivots[0], pivots[1])
    filter("== value", { $0.a == v }, { S.same($0.a, v) })
    filter("!= value", { $0.a != v }, { !S.same($0.a, v) })
    filter("== column", { $0.a == $0.b }, { S.same($0.a, $0.b) })
    filter("!= column", { $0.a != $0.b }, { !S.same($0.a, $0.b) })
    filter("Optional == value", { $0.maybe == v }, { $0.maybe.map { S.same($0, v) } ?? false })
    filter("Optional != value", { $0.maybe != v }, { $0.maybe.map { !S.same($0, v) } ?? true })
    filter("== nil", { $0.maybe == nil }, { $0.maybe == nil })
    filter("!= nil", { $0.maybe != nil }, { $0.maybe != nil })
    filter(
      "Optional == column", { $0.maybe == $0.a },
      { row in row.maybe.map { S.same($0, row.a) } ?? false })
    filter(
      "column != Optional", { $0.a != $0.maybe },
      { row in row.maybe.map { !S.same($0, row.a) } ?? true })
    filter("in list", { $0.a.in([v, w]) }, { S.same($0.a, v) || S.same($0.a, w) })
    filter("not in list", { !$0.a.in([v, w]) }, { !S.same($0.a, v) && !S.same($0.a, w) })
    filter("in no list", { $0.a.in([]) }, { _ in false })
    filter(
      "Optional in list with nil", { $0.maybe.in([v, nil]) },
      { $0.maybe.map { S.same($0, v) } ?? true })
    let all = rows
    filter(
      "in selection", { $0.a.in(Row.all.select { $0.maybe }) },
      { row in all.contains { $0.maybe.map { S.same($0, row.a) } ?? false } })
  }

  private mutating func checkOrder() {
    let v = pivots[0]
    filter("< value", { $0.a < v }, { S.precedes($0.a, v) })
    filter("<= value", { $0.a <= v }, { !S.precedes(v, $0.a) })
    filter("> value", { $0.a > v }, { S.precedes(v, $0.a) })
    filter(">= value", { $0.a >= v }, { !S.precedes($0.a, v) })
    filter("< column", { $0.a < $0.b }, { S.precedes($0.a, $0.b) })
    filter(">= column", { $0.a >= $0.b }, { !S.precedes($0.a, $0.b) })
    filter("Optional < value", { $0.maybe < v }, { $0.maybe.map { S.precedes($0, v) } ?? false })
    filter(
      "Optional >= value", { $0.maybe >= v }, { $0.maybe.map { !S.precedes($0, v) } ?? false })
    filter(
      "Optional > column", { $0.maybe > $0.a },
      { row in row.maybe.map { S.precedes(row.a, $0) } ?? false })
    filter(
      "column <= Optional", { $0.a <= $0.maybe },
      { row in row.maybe.map { !S.precedes($0, row.a) } ?? false })
    filter("least of value", { $0.a.least(v) == v }, { !S.precedes($0.a, v) })
    filter("greatest of column", { $0.a.greatest($0.b) == $0.a }, { !S.precedes($0.a, $0.b) })
  }

  private func sorted(
    _ value: (Row) -> S.Value?, descending: Bool = false, nullsFirst: Bool
  ) -> [Int] {
    rows.sorted { left, right in
      switch (value(left), value(right)) {
      case (nil, nil): return left.id < right.id
      case (nil, _): return nullsFirst
      case (_, nil): return !nullsFirst
      case (let one?, let other?):
        if S.same(one, other) { return left.id < right.id }
        return descending ? S.precedes(other, one) : S.precedes(one, other)
      }
    }.map(\.id)
  }

  private mutating func sort(_ what: String, _ query: Query<Row>, _ expected: [Int]) throws {
    guard try query.order({ $0.id }).select({ $0.id }).fetchAll(db) != expected else { return }
    fail(what, "another order of \(rows)")
  }

  private mutating func checkSorting() throws {
    try sort("order", Row.order { $0.a }, sorted({ $0.a }, nullsFirst: true))
    try sort(
      "descending", Row.order { $0.a.desc }, sorted({ $0.a }, descending: true, nullsFirst: false))
    try sort("order of Optional", Row.order { $0.maybe }, sorted({ $0.maybe }, nullsFirst: true))
    try sort(
      "nulls last", Row.order { $0.maybe.asc.nullsLast }, sorted({ $0.maybe }, nullsFirst: false))
    try sort(
      "descending, nulls first", Row.order { $0.maybe.desc.nullsFirst },
      sorted({ $0.maybe }, descending: true, nullsFirst: true))
    try sort(
      "order by name", Row.all.order(byColumnNamed: "a"), sorted({ $0.a }, nullsFirst: true))
    for (query, expected) in [
      (Row.order { $0.maybe.desc }, sorted({ $0.maybe }, descending: true, nullsFirst: false)),
      (Row.order { $0.a }, sorted({ $0.a }, nullsFirst: true)),
    ] {
      tried += 1
      var ids: [Int] = []
      var next: String?
      repeat {
        let page = try query.page(db, after: next, limit: 37)
        ids += page.rows.map(\.id)
        next = page.next
      } while next != nil && ids.count <= rows.count
      if ids != expected { fail("pages", "another order of \(rows)") }
    }
    let least = sorted({ $0.a }, nullsFirst: true).first.map { rows[$0].a }
    let greatest = sorted({ $0.maybe }, descending: true, nullsFirst: false).first
      .flatMap { rows[$0].maybe }
    tried += 2
    if let least, let found = try Row.all.select({ $0.a.min() }).fetchOne(db) {
      if found.map({ S.same($0, least) }) != true { fail("min", "\(String(describing: found))") }
    }
    let found = try Row.all.select { $0.maybe.max() }.fetchOne(db) ?? nil
    if found.map({ one in greatest.map { S.same($0, one) } ?? false }) ?? (greatest == nil) {
    } else {
      fail("max", "\(String(describing: found)), not \(String(describing: greatest))")
    }
  }

  private mutating func checkSets() throws {
    var different: [S.Value] = []
    for row in rows where !different.contains(where: { S.same($0, row.a) }) {
      different.append(row.a)
    }
    tried += 4
    let counts: [(String, Int)] = [
      ("distinct", try Row.all.select { $0.a }.distinct().fetchAll(db).count),
      ("groups", try Row.all.group { $0.a }.select { ($0.a, count()) }.fetchAll(db).count),
      (
        "count(distinct:)",
        try Row.all.select { $0.a.count(distinct: true) }.fetchOne(db) ?? 0
      ),
      ("union", try Row.all.select { $0.a }.union(Row.all.select { $0.a }).fetchAll(db).count),
    ]
    for (what, found) in counts where found != different.count {
      fail(what, "\(found) of \(rows), not \(different.count)")
    }
    let joined = try Row.aliased("other").join(Row.self) { $0.a == $1.b }.select { _, _ in count() }
      .fetchOne(db)
    let pairs = rows.reduce(0) { sum, row in sum + rows.count { S.same($0.b, row.a) } }
    tried += 1
    if joined != pairs { fail("join", "\(String(describing: joined)) pairs, not \(pairs)") }
  }

  private mutating func checkChoices() {
    let v = pivots[2]
    let middle = rows.count / 2
    filter(
      "coalesce", { $0.maybe.coalesce(v) == v }, { $0.maybe.map { S.same($0, v) } ?? true })
    filter(
      "coalesce column", { $0.maybe.coalesce($0.a) == $0.a },
      { row in row.maybe.map { S.same($0, row.a) } ?? true })
    filter(
      "case", { when($0.id < middle, then: v).otherwise($0.a) == $0.b },
      { S.same($0.id < middle ? v : $0.a, $0.b) })
    filter(
      "case in order", { when($0.id < middle, then: $0.b).otherwise(v) < $0.a },
      { S.precedes($0.id < middle ? $0.b : v, $0.a) })
    let all = rows
    filter(
      "subquery", { $0.a == first(of: Row.all.select { $0.b.max() }) },
      { row in !all.contains { S.precedes(row.a, $0.b) } && all.contains { S.same($0.b, row.a) } })
  }

  private mutating func checkAssignments() {
    let v = pivots[0]
    assign("= value", { $0.a = .value(v) }, { _ in .value(v) })
    assign("= column", { $0.a = $0.b }, { .value($0.b) })
    assign(
      "= case", { $0.a = when($0.id >= 0, then: $0.b).otherwise(v) }, { .value($0.b) })
    assign(
      "= coalesce", { $0.a = $0.maybe.coalesce($0.b) }, { .value($0.maybe ?? $0.b) })
  }
}

import LarderSQLite

/// The plan by which SQLite or another engine runs a query: one step, with the steps below it.
///
/// ```swift
/// print(try City.filter { $0.population > 1_000_000 }.explain(db))
/// // SELECT … FROM "city" WHERE "city"."population" > ?
/// //   SEARCH city USING INDEX city_population (population>?)
/// ```
///
/// The texts are meant for people and differ between versions of SQLite. Tests query the plan by
/// `usesIndex`, `scansTable` and `sorts` of the library `LarderTesting`.
/// See [EXPLAIN QUERY PLAN](https://www.sqlite.org/eqp.html); another engine's steps are the lines of its
/// EXPLAIN.
public struct QueryPlan: Hashable, Sendable {
  /// SQLite's description of the step; for the whole plan, the statement.
  public let detail: String
  /// The steps below this one, in order.
  public let steps: [QueryPlan]

  init(_ db: Database, _ sql: SQL) throws {
    var rows: [PlanRow] = []
    if db.engine == nil {
      rows = try db.planRows(of: sql)
    } else {
      var explained: SQL = "EXPLAIN (COSTS OFF) \(sql)"
      explained.isCacheable = false
      // Each line is indented further than its parent.
      var depths: [Int] = [-1]
      try db.executeQuery(explained).forEach { row in
        let line = try row.get(at: 0, as: String.self)
        let depth = line.prefix { $0 == " " }.count
        let parent = depths.lastIndex { $0 < depth } ?? 0
        rows.append((depths.count, parent, line.trimmingPrefix { " ->".contains($0) }.description))
        depths.append(depth)
      }
    }
    self.init(of: sql.text, rows)
  }

  /// The plan of a statement from the rows of EXPLAIN QUERY PLAN.
  package init(of statement: String, _ rows: [PlanRow]) {
    func steps(of parent: Int) -> [QueryPlan] {
      rows.filter { $0.parent == parent && $0.id != parent }
        .map { QueryPlan(detail: $0.detail, steps: steps(of: $0.id)) }
    }
    self.init(detail: statement, steps: steps(of: 0))
  }

  private init(detail: String, steps: [QueryPlan]) {
    self.detail = detail
    self.steps = steps
  }
}

extension QueryPlan: CustomStringConvertible {
  /// The plan as the `sqlite3` shell shows it: a line for each step, indented.
  public var description: String { lines(indent: "").joined(separator: "\n") }

  private func lines(indent: String) -> [String] {
    [indent + detail] + steps.flatMap { $0.lines(indent: indent + "  ") }
  }
}

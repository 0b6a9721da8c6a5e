import LarderSQLite

/// How SQLite runs a query: a step of its plan, with the steps that belong to it.
///
/// ```swift
/// let plan = try City.filter { $0.population > 1_000_000 }.explain(db)
/// #expect(plan.usesIndex("city_population") && !plan.sorts && !plan.scansTable("city"))
/// ```
///
/// The texts are meant for people and differ between versions of SQLite.
/// See [EXPLAIN QUERY PLAN](https://www.sqlite.org/eqp.html).
public struct QueryPlan: Hashable, Sendable {
  /// What SQLite says of the step; of the whole plan, the statement.
  public let detail: String
  /// The steps that belong to it, in order.
  public private(set) var children: [QueryPlan] = []

  /// Whether rows are found by an index: any, also that of a primary key, or one of this name.
  public func usesIndex(_ name: String? = nil) -> Bool {
    contains { detail in
      guard let using = detail.firstRange(of: " USING ") else { return false }
      var index = detail[using.upperBound...]
      if let name {
        if index.hasPrefix("COVERING ") { index = index.dropFirst("COVERING ".count) }
        return index == "INDEX \(name)" || index.hasPrefix("INDEX \(name) (")
      }
      return ["INDEX ", "COVERING INDEX ", "PRIMARY KEY", "INTEGER PRIMARY KEY"]
        .contains { index.hasPrefix($0) }
    }
  }

  /// Whether all rows of a table are read. It goes by the name that it has in the query.
  public func scansTable(_ name: String) -> Bool {
    contains { $0 == "SCAN \(name)" || $0.hasPrefix("SCAN \(name) ") }
  }

  /// Whether rows are sorted, because no index has them in the order that is asked for.
  public var sorts: Bool {
    contains { $0.hasPrefix("USE TEMP B-TREE FOR") && $0.hasSuffix("ORDER BY") }
  }

  private func contains(_ condition: (String) -> Bool) -> Bool {
    children.contains { condition($0.detail) || $0.contains(condition) }
  }

  init(_ db: Database, _ sql: SQL) throws {
    detail = sql.text
    var explained: SQL = "EXPLAIN QUERY PLAN \(sql)"
    explained.isCacheable = false
    var steps: [(id: Int, parent: Int, detail: String)] = []
    try db.executeQuery(explained).forEach {
      steps.append((try $0.get(at: 0), try $0.get(at: 1), try $0.get(at: 3)))
    }
    func children(of parent: Int) -> [QueryPlan] {
      steps.filter { $0.parent == parent && $0.id != parent }
        .map { QueryPlan(detail: $0.detail, children: children(of: $0.id)) }
    }
    self.children = children(of: 0)
  }

  private init(detail: String, children: [QueryPlan]) {
    self.detail = detail
    self.children = children
  }
}

extension QueryPlan: CustomStringConvertible {
  /// The plan as the `sqlite3` shell shows it: a line for each step, indented.
  public var description: String { lines(indent: "").joined(separator: "\n") }

  private func lines(indent: String) -> [String] {
    [indent + detail] + children.flatMap { $0.lines(indent: indent + "  ") }
  }
}

// The quality of a query plan, judged by EXPLAIN QUERY PLAN.

/// A row of EXPLAIN QUERY PLAN: a step, with the id of the step that it belongs to, or 0.
package typealias PlanRow = (id: Int, parent: Int, detail: String)

extension Database {
  /// The rows of EXPLAIN QUERY PLAN for a statement.
  package func planRows(of sql: SQL) throws -> [PlanRow] {
    var explained: SQL = "EXPLAIN QUERY PLAN \(sql)"
    explained.isCacheable = false
    return try executeQuery(explained).map {
      (id: try $0.get(at: 0), parent: try $0.get(at: 1), detail: try $0.get(at: 3))
    }
  }
}

/// A plan of [EXPLAIN QUERY PLAN](https://www.sqlite.org/eqp.html), compared by its scans, sorts and
/// conditions: SQLite doesn't tell its estimates.
struct PlanQuality: Comparable {
  /// The plan's descriptions of its steps.
  let details: [String]
  /// The number of full table scans.
  private var scans = 0
  /// The number of sorts.
  private var sorts = 0
  /// The number of conditions that find rows in an index.
  private var conditions = 0

  init(_ details: [String]) {
    self.details = details
    for detail in details {
      if detail.hasPrefix("USE TEMP B-TREE") {
        sorts += 1
      } else if detail.hasPrefix("SCAN ")
        || detail.hasPrefix("SEARCH ") && !detail.contains(" USING ")
      {
        scans += 1
      } else if detail.hasPrefix("SEARCH "), detail.hasSuffix(")"),
        let list = detail.ranges(of: " (").last
      {
        conditions += detail[list.upperBound...].split(separator: " AND ").count
      }
    }
  }

  /// Whether `left` is the worse plan.
  static func < (left: Self, right: Self) -> Bool {
    (left.scans, left.sorts, right.conditions) > (right.scans, right.sorts, left.conditions)
  }

  static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }
}

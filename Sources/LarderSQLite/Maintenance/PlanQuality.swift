// How good a plan of SQLite's is, told from what EXPLAIN QUERY PLAN says of it.

/// A row of EXPLAIN QUERY PLAN: a step, and the one that it belongs to, or 0.
package typealias PlanRow = (id: Int, parent: Int, detail: String)

extension Database {
  /// What EXPLAIN QUERY PLAN says of a statement.
  package func planRows(of sql: SQL) throws -> [PlanRow] {
    var explained: SQL = "EXPLAIN QUERY PLAN \(sql)"
    explained.isCacheable = false
    return try executeQuery(explained).map {
      (id: try $0.get(at: 0), parent: try $0.get(at: 1), detail: try $0.get(at: 3))
    }
  }
}

/// A plan of [EXPLAIN QUERY PLAN](https://www.sqlite.org/eqp.html), and what can be compared of it: SQLite doesn't tell its estimates.
struct PlanQuality: Comparable {
  /// What the plan says of its steps.
  let details: [String]
  /// How many times a table is gone through as a whole.
  private var scans = 0
  /// How many times rows are sorted.
  private var sorts = 0
  /// How many conditions find rows in an index.
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

  /// Whether it is worse.
  static func < (left: Self, right: Self) -> Bool {
    (left.scans, left.sorts, right.conditions) > (right.scans, right.sorts, left.conditions)
  }

  static func == (left: Self, right: Self) -> Bool { !(left < right) && !(right < left) }
}

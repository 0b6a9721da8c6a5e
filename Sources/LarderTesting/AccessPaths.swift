import Larder

// The access paths of a query's plan: whether it uses an index, scans a table, or sorts.
//
// They are read from SQLite's own texts, which differ between its versions: good for tests, and not for
// what a program decides.

extension QueryPlan {
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
    steps.contains { condition($0.detail) || $0.contains(condition) }
  }
}

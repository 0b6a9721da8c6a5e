import Larder

/// All that can be told of a connection's settings and of what it is connected to, by name.
struct ConnectionState: Equatable {
  private var values: [String: String] = [:]

  init(_ db: Database, pragmas: [String]) throws {
    for pragma in pragmas where !Self.unread.contains(pragma) {
      values[pragma] = try db.executeQuery(SQL(raw: "PRAGMA \(pragma)")).map { row in
        try (0..<row.columnCount).map { "\(try row[$0])" }.joined(separator: ", ")
      }.joined(separator: "; ")
    }
    // The database for temporary tables is opened when one is first spoken of, and empty.
    values["databases"] =
      try db.executeQuery("SELECT name, file FROM pragma_database_list WHERE name <> 'temp'")
      .map { "\(try $0[0]) \(try $0[1])" }.joined(separator: "; ")
    for limit in Limit.allCases { values["limit \(limit)"] = "\(db.limit(limit))" }
    values["case of LIKE"] = try db.value("SELECT 'a' LIKE 'A'", as: Int.self).map { "\($0)" }
    values["settings"] = "\(try db.effectiveSettings)"
    values["deadline"] = String(describing: db.statementDeadline)
    values["authorizer"] = String(describing: db.authorizer)
    values["schema"] = "\(try db.schema())"
    values["rows"] = "\(try db.executeQuery("SELECT id FROM town").map { try $0[0] })"
    values["changes"] = "\(db.totalChanges)"
    values["transaction"] = "\(db.isInTransaction)"
  }

  /// Those that act, or that report much and set nothing.
  private static let unread: Set<String> = [
    "collation_list", "compile_options", "database_list", "foreign_key_check", "function_list",
    "incremental_vacuum", "integrity_check", "module_list", "optimize", "pragma_list",
    "quick_check", "wal_checkpoint",
  ]

  /// What is different in another state.
  func differences(from former: ConnectionState) -> String {
    Set(values.keys).union(former.values.keys).sorted().filter { values[$0] != former.values[$0] }
      .map { "\($0) was \(former.values[$0] ?? "missing"), is \(values[$0] ?? "missing")" }
      .joined(separator: "; ")
  }
}

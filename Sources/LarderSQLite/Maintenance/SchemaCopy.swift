// An empty copy of a database's schema, on which things can be tried.

/// An empty copy in memory of all that a connection's statements can name: tables, indexes, views and
/// triggers of all its databases, stand-ins for the program's functions and collations, and the statistics of
/// ANALYZE. SQLite plans statements there as it does in the original.
struct SchemaCopy {
  let database: Database
  /// The names of the databases, attached ones included, in SQLite's order.
  private(set) var databases: [String] = []

  init(of source: Database) throws {
    _ = try source.connection.sqlite("suggestedIndexes")
    var configuration = Configuration()
    configuration.allowsDoubleQuotedStrings = source.configuration.allowsDoubleQuotedStrings
    configuration.trustsSchema = true
    configuration.statementCacheCapacity = 0
    database = try Database(configuration: configuration)
    // Automatic indexes, which SQLite makes for one execution, would hide the indexes that are missing.
    try database.executeUpdate("PRAGMA automatic_index = OFF")
    try addFunctions(of: source)
    try database.createCollation { _ in { $0 < $1 ? .orderedAscending : .orderedDescending } }
    databases = try source.executeQuery("SELECT name FROM pragma_database_list").map {
      try $0.get(at: 0)
    }
    for name in databases {
      if !["main", "temp"].contains(name) {
        try database.executeUpdate("ATTACH ':memory:' AS \(name)")
      }
      try addEntries(of: source, in: name)
    }
    for name in databases { try addStatistics(of: source, in: name) }
  }

  private func addFunctions(of source: Database) throws {
    let functions: SQL = "SELECT DISTINCT name, narg, type, flags & 0x800 FROM pragma_function_list"
    struct Function: Hashable {
      let name: String
      let argumentCount: Int?
    }
    var known: Set<Function> = []
    func forEach(
      of database: Database,
      _ body: (Function, _ isScalar: Bool, _ isDeterministic: Bool) throws -> Void
    ) throws {
      try database.executeQuery(functions).forEach { row in
        let count: Int = try row.get(at: 1)
        try body(
          Function(name: row.get(at: 0), argumentCount: count < 0 ? nil : count),
          row.get(at: 2) == "s", row.get(at: 3) != 0)
      }
    }
    try forEach(of: database) { function, _, _ in known.insert(function) }
    try forEach(of: source) { function, isScalar, isDeterministic in
      guard !known.contains(function) else { return }
      if isScalar {
        try database.createFunction(
          function.name, argumentCount: function.argumentCount, deterministic: isDeterministic,
          directOnly: false
        ) { _ in nil }
      } else {
        try database.createAggregate(
          function.name, argumentCount: function.argumentCount, directOnly: false, initial: 0,
          step: { _, _ in }, inverse: { _, _ in }, final: { _ in nil })
      }
    }
  }

  private func addEntries(of source: Database, in database: String) throws {
    var kinds: [String: String] = [:]
    try source.executeQuery("SELECT name, type FROM pragma_table_list WHERE schema = \(database)")
      .forEach { kinds[try $0.get(at: 0)] = try $0.get(at: 1) }
    let entries = try source.schema(of: database)
    // A virtual table creates its shadow tables by itself.
    let tables = entries.filter { $0.kind == .table && kinds[$0.name] != "shadow" }
    for table in tables where !table.name.lowercased().hasPrefix("sqlite_") {
      do {
        try add(table, to: database)
      } catch  where kinds[table.name] == "virtual" {
        // Its module isn't known here, so a plain table takes its place. That changes no other table's
        // indexes.
        let columns = try source.executeQuery(
          "SELECT name FROM pragma_table_xinfo(\(table.name), \(database))"
        ).map { try $0.get(at: 0, as: String.self).quotedIdentifier }
        try self.database.executeUpdate(
          SQL(
            raw: "CREATE TABLE \(database.quotedIdentifier).\(table.name.quotedIdentifier)"
              + " (\(columns.joined(separator: ", ")))"))
      }
    }
    for kind in [SchemaEntry.Kind.index, .view, .trigger] {
      // An entry that can't be created (a view of a table that is gone) isn't of use in the original either.
      for entry in entries where entry.kind == kind { try? add(entry, to: database) }
    }
  }

  private func add(_ entry: SchemaEntry, to database: String) throws {
    guard let sql = entry.sql else { return }
    // SQLite keeps the statement with the entry's name alone: the database's name is inserted before it.
    let tokens = sql.sqlTokens
    guard
      let kind = tokens.firstIndex(where: { token in
        ["table", "index", "view", "trigger"].contains { token.isWord($0) }
      }), kind + 1 < tokens.count
    else { return }
    let rest = Array(tokens[(kind + 1)...])
    try self.database.executeUpdate(
      SQL(
        raw: tokens[...kind].map(\.text).joined(separator: " ")
          + " \(database.quotedIdentifier).\(rest.text)"))
  }

  private func addStatistics(of source: Database, in database: String) throws {
    let hasStatistics =
      try source.value(
        "SELECT count(*) FROM \(identifier: database).sqlite_schema WHERE name = 'sqlite_stat1'",
        as: Int.self) ?? 0 > 0
    guard hasStatistics else { return }
    // Creates the table `sqlite_stat1` without rows.
    try self.database.executeUpdate("ANALYZE \(identifier: database)")
    try source.executeQuery("SELECT tbl, idx, stat FROM \(identifier: database).sqlite_stat1")
      .forEach { row in
        try self.database.executeUpdate(
          "INSERT INTO \(identifier: database).sqlite_stat1 VALUES (?, ?, ?)",
          row.get(at: 0, as: String?.self), row.get(at: 1, as: String?.self),
          row.get(at: 2, as: String?.self))
      }
    try self.database.executeUpdate("ANALYZE \(identifier: database).sqlite_schema")
  }
}

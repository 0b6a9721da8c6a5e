import FoundationEssentials
import Larder
import LarderTerminal

/// A rule for a server's database.
typealias ServerRule = CheckRule<CheckedServer>

extension ServerRule {
  static var all: [ServerRule] {
    serverRulesOfConstraints + serverRulesOfIndexes + serverRulesOfNumbers + serverRulesOfTypes
      + serverRulesOfQueries
  }

  /// Makes a rule whose severity and reason are those of the file's rule about the same problem.
  init(like name: String, find: @escaping @Sendable (CheckedServer) throws -> [Evidence]) {
    let rule = Rule.all.first { $0.name == name }
    self.init(name, rule?.severity ?? .warning, rule?.reason ?? "", find: find)
  }

  /// Makes a rule that queries the catalog; without a severity and a reason, it has those of the file's rule.
  ///
  /// - Parameter query: a query that can use the CTE `own`, the tables. Its result columns are the table, the
  ///   table's columns as JSON, an index or constraint, the description of the problem, and the statement
  ///   that helps.
  init(
    _ name: String, _ severity: Severity? = nil, _ reason: String = "", advice: String,
    query: StaticString
  ) {
    let find = { @Sendable (checked: CheckedServer) in
      let sql = SQL(raw: CheckedServer.ownTables + "\(query)")
      return try checked.db.executeQuery(sql).map { row in
        let columns = try row.get(at: 1, as: String?.self) ?? "[]"
        return Evidence(
          table: try row.get(at: 0),
          columns: try JSONDecoder().decode([String].self, from: Data(columns.utf8)),
          object: try row.get(at: 2), found: try row.get(at: 3), advice: advice,
          sql: try row.get(at: 4, as: String?.self).map { [$0] } ?? [])
      }
    }
    if let severity {
      self.init(name, severity, reason, find: find)
    } else {
      self.init(like: name, find: find)
    }
  }
}

/// A server's database that is checked: the tables of its current schema, by the catalog.
final class CheckedServer: CheckedSource {
  /// The statements of `--query`, with the scans in their plans.
  let plans: [(query: String, scans: [Scan])]
  var knownNumbers: [NumberedColumn]?

  /// The CTE `own`: the schema's tables, without extensions' tables and without partitions.
  static let ownTables = """
    WITH own AS (
      SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND NOT EXISTS (SELECT 1 FROM pg_depend d
          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    )

    """

  /// - Parameter time: the time limit of each statement; nil for none.
  init(_ db: Database, name: String, queries: [String], time: Duration?) throws {
    let limit = (time?.components.seconds ?? 0) * 1000
    // A read scope can't PREPARE, so this transaction is made read-only here. Generic plans hold for any
    // values, rather than for NULL.
    try db.executeQuery(
      """
      SELECT set_config('statement_timeout', \("\(limit)"), true), set_config('lock_timeout', '3s', true),
        set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('transaction_read_only', 'on', true)
      """
    ).forEach { _ in }
    plans = try queries.map { ($0, try Self.scans(of: $0, db)) }
    let tables = try db.value(SQL(raw: Self.ownTables + "SELECT count(*) FROM own"), as: Int.self)
    super.init(db, name: name, tableCount: tables ?? 0)
  }

  /// If the server reports an error, the transaction continues. An error of the connection (class 08) is thrown.
  override func attempt(_ what: String, _ body: () throws -> [Evidence]) throws -> [Evidence] {
    do {
      return try db.inSavepoint { _ in try body() }
    } catch let error as DatabaseError {
      try Interruption.check()
      guard error.sqlState.map({ !$0.hasPrefix("08") }) ?? true else { throw error }
      remark("\(what): \(error.message)")
      return []
    }
  }
}

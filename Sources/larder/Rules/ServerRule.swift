import FoundationEssentials
import Larder
import LarderTerminal

/// Something that a good database of a server doesn't have, and how to find it.
struct ServerRule: Sendable {
  /// Where a file's rule is about the same, that rule's name.
  let name: String
  let severity: Rule.Severity
  /// Why it matters, in a sentence.
  let reason: String
  let find: @Sendable (CheckedServer) throws -> [Evidence]

  init(
    _ name: String, _ severity: Rule.Severity, _ reason: String,
    find: @escaping @Sendable (CheckedServer) throws -> [Evidence]
  ) {
    self.name = name
    self.severity = severity
    self.reason = reason
    self.find = find
  }

  /// A rule of the catalog.
  ///
  /// - Parameters:
  ///   - advice: what to do.
  ///   - query: it selects of the tables `own`. Its columns are a table, its columns as JSON, an index or
  ///     constraint, what was found, and the statement that helps.
  init(
    _ name: String, _ severity: Rule.Severity, _ reason: String, advice: String,
    query: StaticString
  ) {
    self.init(name, severity, reason) { checked in
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
  }
}

/// A server's database that rules look at: the tables of the first schema of its path, by the catalog.
final class CheckedServer {
  let db: Database
  /// The statements that were given, with their plans.
  let plans: [(query: String, plan: ServerPlan)]
  let tableCount: Int
  var knownNumbers: [NumberedColumn]?
  /// What was not looked at.
  private(set) var remarks: [String] = []

  /// The tables as `own`: not those of extensions, nor the parts of others.
  static let ownTables = """
    WITH own AS (
      SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND NOT EXISTS (SELECT 1 FROM pg_depend d
          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
    )

    """

  /// - Parameter time: how long one statement may take; nil for as long as it does.
  init(_ db: Database, queries: [String], time: Duration?) throws {
    self.db = db
    let limit = (time?.components.seconds ?? 0) * 1000
    // A scope that reads prepares nothing. Plans are told for any values, rather than for NULL.
    try db.executeQuery(
      """
      SELECT set_config('statement_timeout', \("\(limit)"), true), set_config('lock_timeout', '3s', true),
        set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('transaction_read_only', 'on', true)
      """
    ).forEach { _ in }
    plans = try queries.map { ($0, try Self.plan(of: $0, db)) }
    tableCount =
      try db.value(SQL(raw: Self.ownTables + "SELECT count(*) FROM own"), as: Int.self) ?? 0
  }

  func remark(_ text: String) { if !remarks.contains(text) { remarks.append(text) } }

  /// What a closure finds, or a remark where the server fails: the transaction goes on.
  func attempt(_ what: String, _ body: () throws -> [Evidence]) throws -> [Evidence] {
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

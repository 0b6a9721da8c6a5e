import Larder
import LarderTerminal

// Rules about the server's plans of the statements of `--query`.

let serverRulesOfQueries: [ServerRule] = [
  ServerRule(like: "query-scan") { checked in
    checked.plans.flatMap { query, scans in
      scans.filter { $0.rows >= largeTable }.map { scan in
        Evidence(
          table: scan.table,
          found: "“\(query.prefix(100))”: scans “\(scan.table)”, ≈ \(scan.rows.grouped) rows",
          advice: scan.filter.map { "An index for \($0) may help." }
            ?? "Read fewer rows, or store results that are needed often.")
      }
    }
  }
]

/// The number of rows from which a scan is reported: the planner itself prefers scans of small tables.
private let largeTable = 10_000

extension CheckedServer {
  /// A sequential scan in a plan.
  typealias Scan = (table: String, rows: Int, filter: String?)

  /// The scans in the generic plan of a query, by a prepared statement that isn't run, from [EXPLAIN's
  /// JSON](https://www.postgresql.org/docs/current/sql-explain.html).
  static func scans(of query: String, _ db: Database) throws -> [Scan] {
    let json = try db.genericPlan(of: query, "--query")
    return try db.executeQuery(
      """
      SELECT node->>'Relation Name', coalesce(greatest(c.reltuples, 0), 0)::bigint, node->>'Filter'
      FROM jsonb_path_query(\(json)::text::jsonb, 'strict $.**') WITH ORDINALITY AS n (node, place)
        LEFT JOIN pg_class c ON c.oid = to_regclass(quote_ident(node->>'Relation Name'))
      WHERE node->>'Node Type' LIKE '%Seq Scan' AND node->>'Relation Name' IS NOT NULL
      ORDER BY place
      """
    ).map { (try $0.get(at: 0), try $0.get(at: 1), try $0.get(at: 2)) }
  }
}

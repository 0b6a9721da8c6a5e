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
    var text = ""
    var count = 0
    var pieces = SQL(raw: query).pieces
    while let last = pieces.last, last.isSpace || last.isSymbol(";") { pieces.removeLast() }
    guard !pieces.contains(where: { $0.isSymbol(";") }) else {
      throw Failure(.usage, "--query takes one statement")
    }
    for piece in pieces {
      if piece.kind == .placeholder {
        let number = Int(piece.text.dropFirst()) ?? count + 1
        count = max(count, number)
        text += "$\(number)"
      } else {
        text += piece.text
      }
    }
    // PREPARE is in a string literal, so that its placeholders aren't taken for this statement's.
    let block = "BEGIN EXECUTE \("PREPARE larder_check AS \(text)".quotedText); END"
    try db.executeUpdate(SQL(raw: "DO \(block.quotedText)"))
    let types = try db.value(
      "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'larder_check'",
      as: Int.self)
    let values = Array(repeating: "NULL", count: types ?? 0).joined(separator: ", ")
    defer { _ = try? db.executeUpdate("DEALLOCATE larder_check") }
    let json = try db.value(
      SQL(raw: "EXPLAIN (FORMAT JSON) EXECUTE larder_check\(values.isEmpty ? "" : "(\(values))")"),
      as: String.self)
    return try db.executeQuery(
      """
      SELECT node->>'Relation Name', coalesce(greatest(c.reltuples, 0), 0)::bigint, node->>'Filter'
      FROM jsonb_path_query(\(json ?? "[]")::text::jsonb, 'strict $.**') WITH ORDINALITY AS n (node, place)
        LEFT JOIN pg_class c ON c.oid = to_regclass(quote_ident(node->>'Relation Name'))
      WHERE node->>'Node Type' LIKE '%Seq Scan' AND node->>'Relation Name' IS NOT NULL
      ORDER BY place
      """
    ).map { (try $0.get(at: 0), try $0.get(at: 1), try $0.get(at: 2)) }
  }
}

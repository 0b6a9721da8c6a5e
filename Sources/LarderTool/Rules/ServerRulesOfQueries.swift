import FoundationEssentials
import Larder
import LarderTerminal

// Rules about the server's plans of the statements of `--query`.

let serverRulesOfQueries: [ServerRule] = [
  ServerRule(like: "query-scan") { checked in
    checked.plans.flatMap { query, plan in
      plan.scans.filter { $0.rows >= largeTable }.map { scan in
        Evidence(
          table: scan.table,
          found:
            "“\(query.prefix(100))”: scans “\(scan.table)”, ≈ \(scan.rows.grouped) rows",
          advice: scan.filter.map { "An index for \($0) may help." }
            ?? "Read fewer rows, or store results that are needed often.")
      }
    }
  }
]

/// The number of rows from which a scan is reported: the planner itself prefers scans of small tables.
private let largeTable = 10_000

/// The part of a plan that the rules use: its sequential scans.
struct ServerPlan {
  var scans: [(table: String, rows: Int, filter: String?)] = []
}

/// A node of [EXPLAIN's JSON](https://www.postgresql.org/docs/current/sql-explain.html).
private struct PlanNode: Decodable {
  let kind: String
  let table: String?
  let filter: String?
  let plans: [PlanNode]?

  enum CodingKeys: String, CodingKey {
    case kind = "Node Type"
    case table = "Relation Name"
    case filter = "Filter"
    case plans = "Plans"
  }
}

private struct ExplainedPlan: Decodable {
  let plan: PlanNode
  enum CodingKeys: String, CodingKey { case plan = "Plan" }
}

extension CheckedServer {
  /// The generic plan of a query, by a prepared statement that isn't run.
  static func plan(of query: String, _ db: Database) throws -> ServerPlan {
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
    var nodes = try JSONDecoder().decode([ExplainedPlan].self, from: Data((json ?? "[]").utf8))
      .map(\.plan)
    var plan = ServerPlan()
    while let node = nodes.popLast() {
      nodes += (node.plans ?? []).reversed()
      guard node.kind.hasSuffix("Seq Scan"), let table = node.table else { continue }
      let rows = try db.value(
        "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass(quote_ident(\(table)))",
        as: Int.self)
      plan.scans.append((table, rows ?? 0, node.filter))
    }
    return plan
  }
}

import FoundationEssentials
import Larder
import LarderTerminal

/// The result of `explain` for a statement on a server: its generic plan, as the server estimates it.
struct ServerExplanation: Encodable {
  let statement: String
  let plan: [PlannedNode]

  init(_ db: Database, _ statement: String) throws {
    struct Root: Decodable {
      let plan: ServerNode
      enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }
    // A read scope can't PREPARE, so this transaction is made read-only here.
    try db.executeQuery(
      """
      SELECT set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('transaction_read_only', 'on', true)
      """
    ).forEach { _ in }
    self.statement = statement
    let json = try db.genericPlan(of: statement, "explain")
    let roots = try JSONDecoder().decode([Root].self, from: Data(json.utf8))
    var rows: [String: Int] = [:]
    for table in Set(roots.flatMap { $0.plan.tables }) {
      rows[table] = try db.value(
        "SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = to_regclass(\(table.quotedIdentifier))",
        as: Int.self)
    }
    plan = roots.map { PlannedNode($0.plan, rows) }
  }

  var lines: [String] { ["The server's estimates, for any values:"] + PlannedNode.tree(plan) }
}

/// A node of a server's plan, with the reason why it may be slow.
struct PlannedNode: Encodable {
  enum Cost: String, Encodable {
    /// A scan of every row of a table, of which a condition keeps some.
    case fullScan
    /// A sort of rows.
    case sort
  }

  let detail: String
  let condition: String?
  /// The estimated number of rows that the node returns.
  let rows: Int
  /// The estimated cost, in the server's unit.
  let totalCost: Double
  let cost: Cost?
  /// The number of rows of a scanned table, by the server's statistics.
  let tableRows: Int?
  let steps: [PlannedNode]

  /// The number of rows from which a scan is marked: the planner itself prefers scans of small tables.
  private static let largeTable = 1_000

  fileprivate init(_ node: ServerNode, _ tables: [String: Int]) {
    var detail = node.type
    if let index = node.index { detail += " using \(index)" }
    if let table = node.table {
      detail += " on \(table)"
      if let alias = node.alias, alias != table { detail += " \(alias)" }
    }
    self.detail = detail
    let conditions = [
      node.indexCondition, node.hashCondition, node.mergeCondition, node.filter, node.joinFilter,
      node.sortKey.map { "by \($0.joined(separator: ", "))" },
    ].compactMap(\.self)
    condition = conditions.isEmpty ? nil : conditions.joined(separator: ", ")
    rows = Int(node.rows)
    totalCost = node.totalCost
    tableRows = node.table.flatMap { tables[$0] }
    if node.type.hasSuffix("Seq Scan"), node.filter != nil, tableRows ?? 0 >= Self.largeTable {
      cost = .fullScan
    } else {
      cost = node.type == "Sort" ? .sort : nil
    }
    steps = node.steps.map { PlannedNode($0, tables) }
  }

  static func tree(_ steps: [PlannedNode], indent: String = "") -> [String] {
    steps.enumerated().flatMap { index, step in
      let isLast = index == steps.count - 1
      return [indent + (isLast ? "└─ " : "├─ ") + step.line]
        + tree(step.steps, indent: indent + (isLast ? "   " : "│  "))
    }
  }

  private var line: String {
    var text = detail.printable + (condition.map { ": \($0.printable)" } ?? "")
    text += Style.faint("  (≈ \(rows.counted("row")), cost \(Int(totalCost).grouped))")
    switch cost {
    case .fullScan:
      text += Style.red("  ← full scan of ≈ \((tableRows ?? 0).counted("row"))")
    case .sort: text += Style.yellow("  ← sort")
    case nil: break
    }
    return text
  }
}

/// A node of EXPLAIN's JSON.
private struct ServerNode: Decodable {
  let type: String
  let table: String?
  let alias: String?
  let index: String?
  let filter: String?
  let joinFilter: String?
  let indexCondition: String?
  let hashCondition: String?
  let mergeCondition: String?
  let sortKey: [String]?
  let rows: Double
  let totalCost: Double
  private let plans: [ServerNode]?

  var steps: [ServerNode] { plans ?? [] }
  var tables: [String] { (table.map { [$0] } ?? []) + steps.flatMap(\.tables) }

  enum CodingKeys: String, CodingKey {
    case type = "Node Type"
    case table = "Relation Name"
    case alias = "Alias"
    case index = "Index Name"
    case filter = "Filter"
    case joinFilter = "Join Filter"
    case indexCondition = "Index Cond"
    case hashCondition = "Hash Cond"
    case mergeCondition = "Merge Cond"
    case sortKey = "Sort Key"
    case rows = "Plan Rows"
    case totalCost = "Total Cost"
    case plans = "Plans"
  }
}

import Larder
import LarderTerminal

/// The result of `explain` for a statement.
struct Explanation: Encodable {
  let statement: String
  let plan: [ExplainedStep]
  /// The CREATE INDEX statements that would make it faster.
  let suggestedIndexes: [String]
  /// The plan with the suggested indexes; empty if there are none.
  let planWithIndexes: [ExplainedStep]

  init(_ db: Database, _ text: String) throws {
    var sql = SQL(raw: text)
    // The plan of a statement that isn't run doesn't depend on its values.
    let count = try db.prepare(sql).parameterCount
    sql.values = Array(repeating: nil, count: count)
    let rows = try RowsOfTables(db, namedBy: text)
    let current = QueryPlan(of: text, try db.planRows(of: sql))
    statement = text
    plan = current.steps.map { ExplainedStep($0, rows) }
    do {
      let advice = try db.indexAdvice(for: sql)
      suggestedIndexes = advice.indexes.map(\.sql)
      planWithIndexes =
        advice.indexes.isEmpty
        ? [] : QueryPlan(of: text, advice.plan).steps.map { ExplainedStep($0, rows) }
    } catch let error as DatabaseError where error.isOfOtherProgram {
      // The schema can't be copied, so nothing can be tried.
      (suggestedIndexes, planWithIndexes) = ([], [])
    }
  }
}

/// A step of a plan, with the reason why it may be slow.
struct ExplainedStep: Encodable, Equatable {
  /// The reason why a step may be slow.
  enum Cost: String, Encodable {
    /// A scan of every row of a table.
    case fullScan
    /// A scan of every entry of a covering index, without the rows.
    case indexScan
    /// A sort of rows, or a B-tree that finds equal rows.
    case temporaryBTree
    /// An index that is built for this one execution.
    case automaticIndex
  }

  let detail: String
  let cost: Cost?
  /// The number of rows of a scanned table; nil if it isn't known.
  let rows: RowCount?
  let steps: [ExplainedStep]

  fileprivate init(_ plan: QueryPlan, _ tables: RowsOfTables) {
    detail = plan.detail
    cost = Cost(plan.detail)
    rows = cost == .fullScan || cost == .indexScan ? tables.rows(scannedBy: plan.detail) : nil
    steps = plan.steps.map { ExplainedStep($0, tables) }
  }
}

extension ExplainedStep.Cost {
  /// The cost of a line of [EXPLAIN QUERY PLAN](https://www.sqlite.org/eqp.html); nil if it isn't slow.
  init?(_ detail: String) {
    if detail.hasPrefix("USE TEMP B-TREE") {
      self = .temporaryBTree
    } else if detail.contains(" AUTOMATIC ") {
      self = .automaticIndex
    } else if detail.hasPrefix("SCAN "), !detail.hasSuffix("CONSTANT ROW"),
      !detail.hasSuffix("CONSTANT ROWS"), !detail.contains(" VIRTUAL TABLE INDEX ")
    {
      self = detail.contains(" USING COVERING INDEX ") ? .indexScan : .fullScan
    } else {
      return nil
    }
  }

  /// The cost in words.
  var text: String {
    switch self {
    case .fullScan: "full scan"
    case .indexScan: "scan of a whole index"
    case .temporaryBTree: "temporary B-tree"
    case .automaticIndex: "index made for one run"
    }
  }
}

/// The numbers of rows of the tables that a plan names.
private struct RowsOfTables {
  private var rows: [String: RowCount] = [:]
  /// The tables by their aliases in the statement.
  private var aliases: [String: String] = [:]

  init(_ db: Database, namedBy statement: String) throws {
    let counter = try RowCounter(db, time: .milliseconds(200))
    let tables: [(String, Bool)] = try db.executeQuery(
      "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    ).map { (try $0.get(at: 0), try $0.get(at: 1)) }
    for (name, isWithoutRowID) in tables.prefix(1000) {
      rows[name] = try? counter.rows(of: name, hasRowID: !isWithoutRowID)
    }
    let tokens = statement.sqlTokens
    for index in tokens.indices {
      let rest = tokens[(index + 1)...]
      guard let name = tokens[index].name?.lowercased(),
        let table = tables.first(where: { $0.0.lowercased() == name })?.0,
        let alias = (rest.first?.isWord("as") == true ? rest.dropFirst() : rest).first?.name
      else { continue }
      aliases[alias] = table
    }
  }

  func rows(scannedBy detail: String) -> RowCount? {
    let rest = detail.dropFirst("SCAN ".count)
    let name = rest.ranges(of: " USING ").first.map { rest[..<$0.lowerBound] } ?? rest
    return rows[String(name)] ?? aliases[String(name)].flatMap { rows[$0] }
  }
}

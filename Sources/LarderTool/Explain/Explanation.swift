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

  /// The times in a copy; nil if the statement couldn't be measured.
  let measurement: Measurement?

  /// - Parameter measures: whether the statement may run on a copy, to measure indexes.
  init(_ db: Database, _ text: String, measures: Bool = true) throws {
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
      let trial = measures ? try Self.measured(db, text, advice.indexes) : nil
      suggestedIndexes = trial?.indexes ?? advice.indexes.map(\.sql)
      let found = trial?.plan ?? advice.plan
      planWithIndexes =
        suggestedIndexes.isEmpty
        ? [] : QueryPlan(of: text, found).steps.map { ExplainedStep($0, rows) }
      measurement = trial.flatMap(Measurement.init)
    } catch let error as DatabaseError where error.isOfOtherProgram {
      // The schema can't be copied, so nothing can be tried.
      (suggestedIndexes, planWithIndexes, measurement) = ([], [], nil)
    }
  }

  /// The indexes that make the statement faster on a copy; nil if it can't be measured there.
  private static func measured(
    _ db: Database, _ text: String, _ advised: [IndexSchema]
  ) throws -> IndexTrial.Result? {
    do {
      return try IndexTrial(db, text, advised: advised)?.result()
    } catch let error as DatabaseError where !error.isInterrupt && error.code != .corrupt {
      // Such as a function of another program, or a constraint that a sample violates.
      return nil
    }
  }
}

/// The times of a statement in a copy, without and with the suggested indexes.
struct Measurement: Encodable {
  /// The milliseconds; nil if the statement was stopped after a time.
  let before: Double?
  let after: Double
  /// The tables of which only some rows were copied.
  let sampledTables: [String]

  fileprivate init?(_ result: IndexTrial.Result) {
    guard let after = result.after else { return nil }
    before = result.before.map { $0 * 1000 }
    self.after = after * 1000
    sampledTables = result.sampled
  }

  /// The times in words.
  var text: String {
    func shown(_ milliseconds: Double) -> String {
      milliseconds >= 10
        ? "\(Int(milliseconds)) ms" : "\((milliseconds * 1000).rounded() / 1000) ms"
    }
    let old = before.map(shown) ?? "more than a second"
    let part = sampledTables.isEmpty ? "a copy" : "a sample of the rows"
    return "Measured on \(part): \(old) before, \(shown(after)) with it."
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

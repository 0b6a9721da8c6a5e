import Larder
import LarderTerminal

// Rules about the plans of the statements of `--query`.

let rulesOfQueries: [Rule] = [
  Rule(
    "query-scan", .warning,
    "A statement that scans a large table gets slower with every row.",
    find: { checked in
      checked.plans.flatMap { plan in
        plan.steps(of: .fullScan).filter { $0.rows?.rows ?? 0 >= largeTable }.map { step in
          plan.evidence("\(step.detail), \(step.rows?.text ?? "") rows")
        }
      }
    }),
  Rule(
    "query-sort", .warning,
    "A statement that sorts its rows each time returns none before it has read all.",
    find: { checked in
      try checked.plans.filter { try checked.readsLargeTable($0) }.flatMap { plan in
        plan.steps(of: .temporaryBTree).map { plan.evidence($0.detail) }
      }
    }),
  Rule(
    "query-automatic-index", .warning,
    "An index that is built for one execution and thrown away costs more than a permanent one.",
    find: { checked in
      checked.plans.flatMap { plan in
        plan.steps(of: .automaticIndex).map { plan.evidence($0.detail) }
      }
    }),
]

/// The number of rows from which a scan is reported: smaller tables are read in no time.
private let largeTable = 1000

extension Explanation {
  fileprivate func steps(of cost: ExplainedStep.Cost) -> [ExplainedStep] {
    func steps(_ all: [ExplainedStep]) -> [ExplainedStep] {
      all.flatMap { ($0.cost == cost ? [$0] : []) + steps($0.steps) }
    }
    return steps(plan)
  }

  fileprivate func evidence(_ found: String) -> Evidence {
    Evidence(
      found: "“\(statement.cut(to: 100))”: \(found)",
      advice: suggestedIndexes.isEmpty
        ? "No index helps: read fewer rows, or store results that are needed often."
        : suggestedIndexes.count == 1 ? "This index would help." : "These indexes would help.",
      sql: suggestedIndexes)
  }
}

extension CheckedDatabase {
  /// Whether a statement names a large table.
  fileprivate func readsLargeTable(_ plan: Explanation) throws -> Bool {
    let names = Set(plan.statement.sqlTokens.compactMap { $0.name?.foldedName })
    return try schema.tables.contains { table in
      // A table that takes too long to count is large.
      try names.contains(table.name.foldedName) && rows(of: table) ?? .max >= largeTable
    }
  }
}

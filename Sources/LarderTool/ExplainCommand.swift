import Larder
import LarderTerminal

extension Command {
  static let explain = Command(
    name: "explain", arguments: "FILE SQL", argumentCount: 2...2,
    summary: "Shows how SQLite would run a statement, what is slow, and the index that would help.",
    details: """
      The statement doesn't run, and values for its parameters aren't needed. The plan with the suggested
      indexes is that of an empty copy of the schema that has them.

      Example:
        larder explain cities.db "SELECT * FROM city WHERE country = 'NO' ORDER BY population DESC"
      """
  ) { invocation in
    let sql = try sqlText(invocation.arguments[1])
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let explanation = try file.read { db in
      try NamedDatabase.file(file).reportingSQL { try Explanation(db, sql) }
    }
    try invocation.show(explanation, explanation.lines)
  }
}

extension Explanation {
  var lines: [String] {
    var lines = Self.tree(plan)
    if lines.isEmpty { lines = ["There is no plan: the statement reads no table."] }
    guard !suggestedIndexes.isEmpty else { return lines }
    lines += [
      "", suggestedIndexes.count == 1 ? "This index would help:" : "These indexes would help:",
    ]
    lines += suggestedIndexes.map { "  " + Style.green("\($0.printable);") }
    lines += ["", "The plan would then be:"]
    return lines + Self.tree(planWithIndexes)
  }

  private static func tree(_ steps: [ExplainedStep], indent: String = "") -> [String] {
    steps.enumerated().flatMap { index, step in
      let isLast = index == steps.count - 1
      return [indent + (isLast ? "└─ " : "├─ ") + step.line]
        + tree(step.steps, indent: indent + (isLast ? "   " : "│  "))
    }
  }
}

extension ExplainedStep {
  fileprivate var line: String {
    guard let cost else { return detail.printable }
    let rows = rows.map { " of \($0.text) \($0.rows == 1 ? "row" : "rows")" } ?? ""
    let mark = "← \(cost.text)\(rows)"
    return detail.printable + "  " + (cost == .fullScan ? Style.red(mark) : Style.yellow(mark))
  }
}

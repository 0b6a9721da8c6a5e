import Larder
import LarderTerminal

extension Command {
  static let explain = Command(
    name: "explain", arguments: "FILE SQL", argumentCount: 2...2,
    summary: "Shows how SQLite would run a statement, what is slow, and the index that would help.",
    details: """
      Indexes are tried on a temporary copy of the file, or of samples of large tables, on which the statement
      runs, with values from the columns for its parameters; one that doesn't make it faster isn't suggested. It never
      runs on the file itself, and on no copy either with --untrusted. FILE may be a server's address: its plan
      for any values is shown, and no index is suggested.

      Example:
        larder explain cities.db "SELECT * FROM city WHERE country = 'NO' ORDER BY population DESC"
      """,
    options: [.schema]
  ) { invocation in
    let sql = try sqlText(invocation.arguments[1])
    let database = try NamedDatabase(invocation.arguments[0], invocation)
    if case .server(let server) = database {
      let explanation = try server.connect { db in
        try db.inTransaction { db in
          db.setRollbackOnly()
          return try database.reportingSQL { try ServerExplanation(db, sql) }
        }
      }
      return try invocation.show(explanation, explanation.lines)
    }
    let file = try DatabaseFile(invocation.arguments[0], invocation)
    let explanation = try file.read { db in
      try NamedDatabase.file(file).reportingSQL {
        try Explanation(db, sql, measures: !invocation.has("untrusted"))
      }
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
    if let measurement { lines += ["", measurement.text] }
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

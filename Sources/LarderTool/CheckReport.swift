import Larder
import LarderTerminal

/// The result of `check`: findings, and remarks on its limits.
struct CheckReport: Encodable {
  let file: String
  /// The findings, the most severe first.
  let findings: [Finding]
  /// Sentences about everything that was skipped, or examined only in part.
  let remarks: [String]
  private let rules: Int
  private let tables: Int

  /// Applies the rules, with a progress bar that is weighted by each rule's work.
  init<Checked>(
    _ checked: Checked, _ rules: [CheckRule<Checked>], ignoring ignored: RuleNames, only: RuleNames
  ) throws {
    var bar = ProgressBar("check")
    defer { bar.clear() }
    let all = rules.reduce(0) { $0 + $1.work }
    var done = 0.0
    let found = try rules.flatMap { rule in
      try Interruption.check()
      bar.show(done / all)
      done += rule.work
      return try checked.attempt("the rule “\(rule.name)” couldn't be applied") {
        try rule.find(checked)
      }.map { Finding(rule, $0) }
    }
    findings = found.filter { !ignored.contains($0) && (only.isEmpty || only.contains($0)) }
      .enumerated().sorted { ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset) }
      .map(\.element)
    file = checked.name
    remarks = checked.remarks
    self.rules = rules.count
    tables = checked.tableCount
  }

  var lines: [String] {
    let lines =
      findings.flatMap { $0.lines + [""] } + remarks.map { "Not in full: \($0.printable)" }
    return lines + [Style.bold(summary)]
  }

  private var summary: String {
    let looked = "\(rules.counted("rule")), \(tables.counted("table"))"
    guard !findings.isEmpty else { return "Nothing was found (\(looked))." }
    let kinds = Severity.allCases.compactMap { severity in
      let count = findings.count { $0.severity == severity }
      return count > 0 ? count.counted(severity.rawValue) : nil
    }
    return kinds.joined(separator: ", ") + " (\(looked))."
  }
}

extension Finding {
  fileprivate var lines: [String] {
    let mark =
      switch severity {
      case .error: Style.red(severity.rawValue)
      case .warning: Style.yellow(severity.rawValue)
      case .note: Style.faint(severity.rawValue)
      }
    let place = evidence.place.isEmpty ? "" : "  \(evidence.place.printable)"
    var lines = ["\(mark)  \(Style.bold(rule))\(place)", "  \(reason)"]
    var found = evidence.found
    if !evidence.rowIDs.isEmpty {
      let ids = evidence.rowIDs.map { "\($0)" }.joined(separator: ", ")
      let more = evidence.rows ?? 0 > evidence.rowIDs.count ? ", …" : ""
      found += " (rowid \(ids)\(more))"
    }
    lines.append("  Found: \(found.printable)")
    lines.append("  To do: \(evidence.advice.printable)")
    return lines + evidence.sql.map { "    " + Style.green("\($0.printable);") }
  }
}

extension Evidence {
  /// The finding's place, such as `city.name` or `city (country, name)`, with the index or trigger.
  fileprivate var place: String {
    guard let table else { return object ?? "" }
    let columns =
      switch self.columns.count {
      case 0: ""
      case 1: ".\(self.columns[0])"
      default: " (\(self.columns.joined(separator: ", ")))"
      }
    return table + columns + (object.map { ", \($0)" } ?? "")
  }
}

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

  init(
    _ checked: CheckedDatabase, _ rules: [Rule], ignoring ignored: RuleNames, only: RuleNames
  ) throws {
    let found = try Self.apply(rules, work: \.work) { rule in
      do {
        return try rule.find(checked).map { Finding(rule, $0) }
      } catch let error as DatabaseError where !error.isInterrupt {
        checked.remark("the rule “\(rule.name)” couldn't be applied: \(error.message)")
        return []
      }
    }
    file = checked.file.path
    findings = Self.sorted(found, ignoring: ignored, only: only)
    remarks = checked.remarks
    self.rules = rules.count
    tables = checked.schema.tables.count
  }

  /// Makes the report on a server's database.
  init(
    _ checked: CheckedServer, name: String, _ rules: [ServerRule], ignoring ignored: RuleNames,
    only: RuleNames
  ) throws {
    let found = try Self.apply(rules) { rule in
      try checked.attempt("the rule “\(rule.name)” couldn't be applied") { try rule.find(checked) }
        .map { Finding(rule, $0) }
    }
    file = name
    findings = Self.sorted(found, ignoring: ignored, only: only)
    remarks = checked.remarks
    self.rules = rules.count
    tables = checked.tableCount
  }

  /// Applies each rule, with a progress bar that is weighted by each rule's work.
  private static func apply<R>(
    _ rules: [R], work: (R) -> Double = { _ in 1 }, _ find: (R) throws -> [Finding]
  ) throws -> [Finding] {
    var bar = ProgressBar("check")
    defer { bar.clear() }
    let all = rules.reduce(0) { $0 + work($1) }
    var done = 0.0
    return try rules.flatMap { rule in
      try Interruption.check()
      bar.show(done / all)
      done += work(rule)
      return try find(rule)
    }
  }

  private static func sorted(
    _ findings: [Finding], ignoring ignored: RuleNames, only: RuleNames
  ) -> [Finding] {
    findings.filter { !ignored.contains($0) && (only.isEmpty || only.contains($0)) }
      .enumerated().sorted { ($0.element.severity, $0.offset) < ($1.element.severity, $1.offset) }
      .map(\.element)
  }

  /// The report as text.
  var lines: [String] {
    let lines =
      findings.flatMap { $0.lines + [""] } + remarks.map { "Not in full: \($0.printable)" }
    return lines + [Style.bold(summary)]
  }

  private var summary: String {
    func counted(_ count: Int, _ word: String) -> String {
      "\(count.grouped) \(word)\(count == 1 ? "" : "s")"
    }
    let looked = "\(counted(rules, "rule")), \(counted(tables, "table"))"
    guard !findings.isEmpty else { return "Nothing was found (\(looked))." }
    let kinds = Rule.Severity.allCases.compactMap { severity in
      let count = findings.filter { $0.severity == severity }.count
      return count > 0 ? counted(count, severity.rawValue) : nil
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

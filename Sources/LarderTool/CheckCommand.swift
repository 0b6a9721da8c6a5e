import Larder
import LarderTerminal

extension Command {
  static let check = Command(
    name: "check", arguments: "[FILE]", argumentCount: 0...1,
    summary: "Finds what is wrong, slow or risky in a database, and says what to do about it.",
    details: """
      Each finding has the name of its rule, by which --not leaves it out: everywhere (RULE), or for one
      table or column (RULE:TABLE, RULE:TABLE.COLUMN). Only some rows of a large table are checked, which
      the report says. A PostgreSQL server (postgres://…) has its own rules, which look at the catalog;
      --rules with its address lists them.

      For CI, the status is 1 if something was found, and 0 if not. With --fail-on error, only an error
      counts: data are lost or wrong, or statements fail. With --fail-on warning, a warning counts too:
      something will become wrong or slow in time. A note says that something could be better.

      Example:
        larder check cities.db
        larder check cities.db --not mixed-case,float-money:invoice.total
        larder check cities.db --fail-on error      # in CI: warnings are shown, but don't stop it
        larder check cities.db --query "SELECT * FROM city WHERE name = ?"
        larder check postgres://app@db.example.org/app
        larder check --rules
      """,
    options: [
      Option("rules", nil, "list the rules without checking anything"),
      Option("only", "RULE,…", "apply no other rules"),
      Option("not", "RULE,…", "leave out the findings of these rules"),
      Option("ignore", "RULE,…", "the same as --not"),
      Option(
        "fail-on", "LEVEL", "the least severity for status 1: error, warning or note (note)"),
      Option("query", "SQL", "also check the plan of this statement; may be given several times"),
      Option("all", nil, "check all rows, however long it takes"),
      .schema,
    ]
  ) { invocation in
    let only = try RuleNames(invocation.texts("only"), "--only")
    var ignored = try RuleNames(invocation.texts("ignore"), "--ignore")
    ignored.add(try RuleNames(invocation.texts("not"), "--not"))
    let level = try invocation.text("fail-on").map(Severity.init(named:)) ?? .note
    func chosen<Checked>(_ rules: [CheckRule<Checked>]) -> [CheckRule<Checked>] {
      rules.filter { (only.isEmpty || only.names($0.name)) && !ignored.namesAll(of: $0.name) }
    }
    let path = invocation.arguments.first
    if invocation.has("rules") {
      let isOnServer = path.map(ServerDatabase.isAddress) ?? false
      let listed =
        isOnServer
        ? chosen(ServerRule.all).map { ListedRule($0) } : chosen(Rule.all).map { ListedRule($0) }
      return try Output.show(listed, asJSON: invocation.wantsJSON) { rules in
        var table = TextTable("RULE", "SEVERITY", "REASON")
        for rule in rules { table.add(rule.name, rule.severity.rawValue, rule.reason) }
        return table
      }
    }
    guard let path else { throw Failure(.usage, "check takes FILE; see “larder check --help”") }
    let queries = try invocation.texts("query").map(sqlText)
    let bounds = invocation.has("all") ? CheckBounds.none : CheckBounds()
    let database = try NamedDatabase(path, invocation)
    let report: CheckReport
    switch database {
    case .server(let server):
      report = try server.connect { db in
        try server.noteOtherSchemas(db)
        return try db.inTransaction { db in
          let checked = try database.reportingSQL(if: !queries.isEmpty) {
            try CheckedServer(db, name: server.name, queries: queries, time: bounds.time)
          }
          db.setRollbackOnly()
          return try CheckReport(
            checked, chosen(ServerRule.all), ignoring: ignored, only: only)
        }
      }
    case .file(let file):
      report = try file.read { db in
        try database.reportingSQL(if: !queries.isEmpty) {
          let checked = try CheckedDatabase(db, file, queries: queries, bounds: bounds)
          return try CheckReport(checked, chosen(Rule.all), ignoring: ignored, only: only)
        }
      }
    }
    try invocation.show(report, report.lines)
    if report.findings.contains(where: { $0.severity <= level }) { throw Failure("") }
  }
}

extension Severity {
  /// Parses the value of `--fail-on`. Throws ``Failure`` for another word.
  fileprivate init(named name: String) throws {
    guard let severity = Severity(rawValue: name) else {
      throw Failure(.usage, "--fail-on takes error, warning or note, not “\(name)”")
    }
    self = severity
  }
}

/// A rule as `--rules` lists it.
private struct ListedRule: Encodable {
  let name: String
  let severity: Severity
  let reason: String

  init<Checked>(_ rule: CheckRule<Checked>) {
    (name, severity, reason) = (rule.name, rule.severity, rule.reason)
  }
}

/// The rules that an option names, some of them for one table or column only.
struct RuleNames {
  private struct Entry {
    let rule: String
    /// `table` or `table.column`; nil for the whole database.
    let place: String?
  }

  private var entries: [Entry] = []
  var isEmpty: Bool { entries.isEmpty }

  /// - Parameter values: each holds one entry, or several with commas between them.
  init(_ values: [String], _ option: String) throws {
    let known = Set(Rule.all.map(\.name) + ServerRule.all.map(\.name))
    for value in values {
      var isFirst = true
      for part in value.split(separator: ",", omittingEmptySubsequences: false) {
        let pieces = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rule = String(pieces[0])
        if known.contains(rule) {
          entries.append(Entry(rule: rule, place: pieces.count > 1 ? String(pieces[1]) : nil))
        } else if !isFirst, let last = entries.last, let place = last.place {
          // A comma in the name of a table.
          entries[entries.count - 1] = Entry(rule: last.rule, place: "\(place),\(part)")
        } else {
          throw Failure(
            .usage, "\(option): there is no rule “\(rule)”; “larder check --rules” lists them")
        }
        isFirst = false
      }
    }
  }

  mutating func add(_ other: RuleNames) { entries += other.entries }

  /// Whether all findings of a rule are named, wherever they are.
  func namesAll(of rule: String) -> Bool { entries.contains { $0.rule == rule && $0.place == nil } }

  func names(_ rule: String) -> Bool { entries.contains { $0.rule == rule } }

  func contains(_ finding: Finding) -> Bool {
    let evidence = finding.evidence
    let table = evidence.table ?? ""
    let places = [table, evidence.object ?? table] + evidence.columns.map { "\(table).\($0)" }
    return entries.contains { entry in
      entry.rule == finding.rule
        && (entry.place.map { place in
          places.contains { $0.foldedName == place.foldedName }
        } ?? true)
    }
  }
}

import Larder

/// A rule of `check`: a kind of problem, and the function that finds it.
struct CheckRule<Checked: CheckedSource>: Sendable {
  /// The name for `--ignore` and `--only`, in kebab case. A server's rule is called like a file's rule about
  /// the same problem.
  let name: String
  let severity: Severity
  /// A sentence that says why the problem matters.
  let reason: String
  /// The rule's weight in the progress bar: its measured time on a large file, relative to 1 for a rule that
  /// only reads the schema.
  let work: Double
  let find: @Sendable (Checked) throws -> [Evidence]

  init(
    _ name: String, _ severity: Severity, _ reason: String, work: Double = 1,
    find: @escaping @Sendable (Checked) throws -> [Evidence]
  ) {
    self.name = name
    self.severity = severity
    self.reason = reason
    self.work = work
    self.find = find
  }
}

/// The severity of a problem.
enum Severity: String, Encodable, CaseIterable, Comparable {
  /// Data are lost or wrong, or statements fail.
  case error
  /// Something will become wrong or slow in time.
  case warning
  /// Something could be better.
  case note

  static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// A rule for files.
typealias Rule = CheckRule<CheckedDatabase>

extension Rule {
  static var all: [Rule] {
    rulesOfIntegrity + rulesOfForeignKeys + rulesOfIndexes + rulesOfKeys + rulesOfTypes
      + rulesOfDates + rulesOfTexts + rulesOfStatements + rulesOfFiles + rulesOfQueries
  }

  /// Makes a rule that finds at most one problem in a file.
  init(
    _ name: String, _ severity: Severity, _ reason: String,
    file find: @escaping @Sendable (CheckedDatabase) throws -> Evidence?
  ) {
    self.init(name, severity, reason) { try find($0).map { [$0] } ?? [] }
  }

  /// Makes a rule that is applied to each table.
  init(
    _ name: String, _ severity: Severity, _ reason: String, work: Double = 1,
    tables find: @escaping @Sendable (TableSchema, CheckedDatabase) throws -> [Evidence]
  ) {
    self.init(name, severity, reason, work: work) { checked in
      try checked.schema.tables.flatMap { try find($0, checked) }
    }
  }

  /// Makes a rule that finds at most one problem of each table.
  init(
    _ name: String, _ severity: Severity, _ reason: String,
    table find: @escaping @Sendable (TableSchema, CheckedDatabase) throws -> Evidence?
  ) {
    self.init(name, severity, reason) { table, checked in
      try find(table, checked).map { [$0] } ?? []
    }
  }

  /// Makes a rule that is applied to the values of each column.
  init(
    _ name: String, _ severity: Severity, _ reason: String, work: Double = 1,
    values find: @escaping @Sendable (CheckedColumn) throws -> Evidence?
  ) {
    self.init(name, severity, reason, work: work) { table, checked in
      guard let rows = try checked.profile(of: table) else { return [] }
      return try rows.columns.compactMap {
        try find(CheckedColumn(table: table, column: $0.column, values: $0, rows: rows))
      }
    }
  }
}

/// A problem that a rule has found: its place, and what to do about it.
struct Evidence: Encodable {
  /// The table or view; nil if the problem concerns the whole file.
  var table: String?
  var columns: [String] = []
  /// The index or trigger with the problem; nil if it concerns neither.
  var object: String?
  var found: String
  /// The number of rows with the problem, among those that were read.
  var rows: Int?
  /// The rowids of the first such rows.
  var rowIDs: [Int64] = []
  var advice: String
  /// The statements that carry out the advice, if there are any.
  var sql: [String] = []
}

/// A finding of a check: a rule, and the evidence that it was broken.
struct Finding: Encodable {
  let rule: String
  let severity: Severity
  let reason: String
  let evidence: Evidence

  init<Checked>(_ rule: CheckRule<Checked>, _ evidence: Evidence) {
    self.rule = rule.name
    severity = rule.severity
    reason = rule.reason
    self.evidence = evidence
  }
}

import Larder

/// Something that a good database doesn't have, and how to find it.
struct Rule: Sendable {
  /// How bad it is.
  enum Severity: String, Encodable, CaseIterable, Comparable {
    /// Data are lost or wrong, or statements fail.
    case error
    /// Something will be wrong or slow one day.
    case warning
    /// Something could be better.
    case note

    static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
  }

  /// In kebab case: what `--ignore` and `--only` take.
  let name: String
  let severity: Severity
  /// Why it matters, in a sentence.
  let reason: String
  /// How long it takes of a large file, as measured, with 1 for what looks at the schema: for the progress that is
  /// shown.
  let work: Double
  let find: @Sendable (CheckedDatabase) throws -> [Evidence]

  init(
    _ name: String, _ severity: Severity, _ reason: String, work: Double = 1,
    find: @escaping @Sendable (CheckedDatabase) throws -> [Evidence]
  ) {
    self.name = name
    self.severity = severity
    self.reason = reason
    self.work = work
    self.find = find
  }

  /// A rule of each table.
  init(
    _ name: String, _ severity: Severity, _ reason: String, work: Double = 1,
    tables find: @escaping @Sendable (TableSchema, CheckedDatabase) throws -> [Evidence]
  ) {
    self.init(name, severity, reason, work: work) { checked in
      try checked.schema.tables.flatMap { try find($0, checked) }
    }
  }

  /// A rule of the values that columns hold.
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

/// Where a rule has found something, and what to do about it.
struct Evidence: Encodable {
  /// The table or view; nil for what is about the whole file.
  var table: String?
  var columns: [String] = []
  /// The index or trigger.
  var object: String?
  /// What was found, for people.
  var found: String
  /// How many rows have it, among those looked at.
  var rows: Int?
  /// The first of them.
  var rowIDs: [Int64] = []
  /// What to do.
  var advice: String
  /// The statements that do it, where there are some.
  var sql: [String] = []
}

/// What a check tells: a rule, and where it was broken.
struct Finding: Encodable {
  let rule: String
  let severity: Rule.Severity
  let reason: String
  let evidence: Evidence

}

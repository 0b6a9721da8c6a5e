import Larder
import LarderTerminal

// Rules about data that are damaged, or violate the schema's constraints.

extension Rule {
  static let ofIntegrity: [Rule] = [
    Rule(
      "integrity", .error,
      "A damaged file gives wrong answers, and each write may damage it further.", work: 100,
      find: { try $0.integrityProblems().filter { !$0.isConstraint }.map(\.evidence) }),
    Rule(
      "constraint-violated", .error,
      "Rows that break a constraint were written while it wasn't checked, and can't be updated.",
      find: { checked in
        try checked.integrityProblems().filter(\.isConstraint).map(\.evidence)
          + checked.schema.tables.flatMap { try checkViolations(of: $0, checked) }
      }),
    Rule(
      "foreign-key-violated", .error,
      "A row that refers to a missing row is left out of joins, and can't be copied elsewhere.",
      work: 20,
      tables: { table, checked in
        try checked.within("the foreign keys of “\(table.name)”") {
          try foreignKeyViolations(of: table, checked)
        } ?? []
      }),
    Rule(
      "text-index-differs", .error,
      "A full-text index that differs from its content finds deleted rows, and misses existing ones.",
      work: 20,
      find: { try textIndexDifferences($0) }),
    Rule(
      "sequence-behind", .warning,
      "An AUTOINCREMENT that counts from less than the largest key reuses keys of deleted rows.",
      tables: sequenceBehind),
  ]

  /// The violations of CHECK constraints, which SQLite's integrity check omits on a read-only connection.
  private static func checkViolations(
    of table: TableSchema, _ checked: CheckedDatabase
  ) throws -> [Evidence] {
    try table.checks.compactMap { check in
      let condition = "NOT (\(check))"
      let rowID = table.rowIDNames.first ?? "NULL"
      let query = "SELECT \(rowID) FROM main.\(table.name.quotedIdentifier) WHERE \(condition)"
      var tally = Tally()
      do {
        _ = try checked.within("the constraints of “\(table.name)”") {
          try checked.db.executeQuery(SQL(raw: query)).forEach { row in
            tally.add(try row.get(at: 0, as: Int64?.self))
          }
        }
      } catch let error as DatabaseError where error.code == .error {
        // The CHECK contains a string in double quotes, or a function that only the program has.
        return nil
      }
      guard tally.count > 0 else { return nil }
      return Evidence(
        table: table.name,
        found:
          "\(tally.count.grouped) \(tally.count == 1 ? "row breaks" : "rows break") “CHECK (\(check.cut(to: 60)))”",
        rows: tally.count, rowIDs: tally.rowIDs, advice: "Correct these rows, or the constraint.",
        sql: [
          "SELECT * FROM \(table.name.quotedIdentifier) WHERE \(condition)"
        ])
    }
  }

  private static func foreignKeyViolations(
    of table: TableSchema, _ checked: CheckedDatabase
  ) throws -> [Evidence] {
    guard !table.foreignKeys.isEmpty else { return [] }
    var tallies: [Int: Tally] = [:]
    do {
      try checked.db.executeQuery(
        "SELECT rowid, fkid FROM pragma_foreign_key_check(?, 'main')", table.name
      ).forEach { row in
        try tallies[row.get(at: 1), default: Tally()].add(row.get(at: 0, as: Int64?.self))
      }
    } catch let error as DatabaseError where error.code == .error {
      // The foreign key refers to columns that aren't unique, which another rule reports.
      return []
    }
    return try tallies.sorted { $0.key < $1.key }.compactMap { id, tally in
      let columns = try checked.db.executeQuery(
        "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?, 'main') WHERE id = ? ORDER BY seq",
        table.name, id
      ).map { (try $0.get(at: 0, as: String.self), try $0.get(at: 1, as: String.self)) }
      guard let parent = columns.first?.1, checked.table(parent) != nil else { return nil }
      return Evidence(
        table: table.name, columns: columns.map(\.0),
        found: "\(tally.count.grouped) \(tally.count == 1 ? "row refers" : "rows refer") to rows of"
          + " “\(parent)” that don't exist",
        rows: tally.count, rowIDs: tally.rowIDs,
        advice: "Delete these rows, set their columns to NULL, or add the rows that are missing.",
        sql: ["PRAGMA foreign_key_check(\(table.name.quotedIdentifier))"])
    }
  }

  private static func sequenceBehind(
    _ table: TableSchema, _ checked: CheckedDatabase
  ) throws -> [Evidence] {
    guard let sequence = try checked.sequence(of: table) else { return [] }
    guard sequence.largest > sequence.last else { return [] }
    let name = table.name
    return [
      Evidence(
        table: name, columns: table.primaryKey,
        found: "sqlite_sequence says \(sequence.last), but the largest key is \(sequence.largest)",
        advice: "Set the sequence to the largest key.",
        sql: [
          "DELETE FROM sqlite_sequence WHERE name = \(name.quoted(by: UInt8(ascii: "'")))",
          "INSERT INTO sqlite_sequence SELECT \(name.quoted(by: UInt8(ascii: "'"))),"
            + " max(rowid) FROM \(name.quotedIdentifier)",
        ])
    ]
  }
}

extension CheckedDatabase {
  /// The counter of an AUTOINCREMENT table, which is the largest key ever used, and the largest key in its
  /// rows. Nil for a table without AUTOINCREMENT or without rows.
  func sequence(of table: TableSchema) throws -> (last: Int64, largest: Int64)? {
    guard table.isAutoincrement,
      let largest = try db.value(
        SQL(raw: "SELECT max(rowid) FROM main.\(table.name.quotedIdentifier)"), as: Int64?.self)
        ?? nil
    else { return nil }
    let last = try db.value(
      "SELECT CAST(seq AS INTEGER) FROM main.sqlite_sequence WHERE name = ?", table.name,
      as: Int64?.self)
    return ((last ?? 0) ?? 0, largest)
  }

  /// The problems that SQLite's integrity check reports, grouped by table.
  fileprivate func integrityProblems() throws -> [IntegrityProblem] {
    var problems: [IntegrityProblem] = []
    for line in try integrityLines()
    where line != "ok" && !line.hasPrefix("malformed inverted index") {
      let problem = IntegrityProblem(line, in: self)
      if let same = problems.firstIndex(where: { $0.isSameKind(as: problem) }) {
        problems[same].add(problem)
      } else {
        problems.append(problem)
      }
    }
    return problems
  }
}

/// The lines of an integrity check that concern one table, or the file.
private struct IntegrityProblem {
  private(set) var evidence: Evidence
  let isConstraint: Bool
  private var lines: Int

  init(_ line: String, in checked: CheckedDatabase) {
    lines = 1
    let parts = line.split(separator: " ")
    var table: String?
    var columns: [String] = []
    var violates = true
    if parts.count >= 4, parts[1] == "value", parts[2] == "in" {
      // For example `NULL value in city.name`; both names may contain points.
      let place = parts[3...].joined(separator: " ")
      let known = checked.schema.tables.first { table in
        table.columns.contains { "\(table.name).\($0.name)" == place }
      }
      table = known?.name
      columns = known?.columns.map(\.name).filter { "\(known?.name ?? "").\($0)" == place } ?? []
    } else {
      violates = false
      let index = checked.entries.first { $0.kind == .index && line.hasSuffix(" index \($0.name)") }
      table = index?.table
    }
    isConstraint = violates
    evidence = Evidence(
      table: table, columns: columns, found: line,
      advice: isConstraint
        ? "Correct these rows, or the constraint."
        : table == nil
          ? "Restore a backup, or save what can be read with the sqlite3 shell's .recover."
          : "Rebuild the indexes; if that doesn't help, restore a backup.",
      sql: table.map { violates ? [] : ["REINDEX \($0.quotedIdentifier)"] } ?? [])
  }

  func isSameKind(as other: Self) -> Bool {
    isConstraint == other.isConstraint && evidence.table == other.evidence.table
      && evidence.columns == other.evidence.columns
  }

  mutating func add(_ other: Self) {
    lines += 1
    guard lines <= 3 else { return }
    evidence.found += "; " + other.evidence.found
  }
}

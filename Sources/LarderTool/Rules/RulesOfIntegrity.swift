import Larder
import LarderTerminal

// Rules about data that are damaged, or violate the schema's constraints.

let rulesOfIntegrity: [Rule] = [
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
    table: { table, checked in
      guard let sequence = try checked.sequence(of: table), sequence.largest > sequence.last else {
        return nil
      }
      let name = table.name.quotedText
      return Evidence(
        table: table.name, columns: table.primaryKey,
        found: "sqlite_sequence says \(sequence.last), but the largest key is \(sequence.largest)",
        advice: "Set the sequence to the largest key.",
        sql: [
          "DELETE FROM sqlite_sequence WHERE name = \(name)",
          "INSERT INTO sqlite_sequence SELECT \(name),"
            + " max(rowid) FROM \(table.name.quotedIdentifier)",
        ])
    }),
]

/// The violations of CHECK constraints, which SQLite's integrity check omits on a read-only connection.
private func checkViolations(
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
      sql: ["SELECT * FROM \(table.name.quotedIdentifier) WHERE \(condition)"])
  }
}

private func foreignKeyViolations(
  of table: TableSchema, _ checked: CheckedDatabase
) throws -> [Evidence] {
  guard try table.foreignKeys.contains(where: { try !checked.holds($0, of: table) }) else {
    return []
  }
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

extension CheckedDatabase {
  /// Whether a query shows that no row violates a foreign key. It reads an index in its order, which takes a
  /// tenth of the time of SQLite's own check: that finds the keys of a large table one by one, all over the file.
  fileprivate func holds(_ key: ForeignKeySchema, of table: TableSchema) throws -> Bool {
    guard let parent = self.table(key.referencedTable), key.columns.count == 1 else { return false }
    let names = key.referencedColumns.isEmpty ? parent.primaryKey : key.referencedColumns
    // A comparison of columns that differ in type or collation isn't that of the foreign key.
    guard names.count == 1, let child = table.column(key.columns[0]),
      let other = parent.column(names[0]), parent.uniqueSets.contains([other.name.lowercased()]),
      table.affinity(of: child) == parent.affinity(of: other),
      (child.collation ?? "BINARY").uppercased() == (other.collation ?? "BINARY").uppercased()
    else { return false }
    let column: SQL = "c.\(identifier: child.name)"
    let query: SQL = """
      SELECT EXISTS (SELECT 1 FROM main.\(identifier: table.name) AS c WHERE \(column) IS NOT NULL
        AND NOT EXISTS (
          SELECT 1 FROM main.\(identifier: parent.name) AS p
          WHERE p.\(identifier: other.name) = \(column)))
      """
    do {
      return try db.value(query, as: Bool.self) == false
    } catch let error as DatabaseError where error.code == .error {
      // SQLite's own check says what is wrong.
      return false
    }
  }

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

  /// The problems that SQLite's integrity check reports: for each table, or the file, with the first three
  /// lines.
  fileprivate func integrityProblems() throws -> [IntegrityProblem] {
    var problems: [(problem: IntegrityProblem, lines: Int)] = []
    for line in try integrityLines()
    where line != "ok" && !line.hasPrefix("malformed inverted index") {
      let problem = IntegrityProblem(line, in: self)
      if let same = problems.firstIndex(where: { $0.problem.isSameKind(as: problem) }) {
        problems[same].lines += 1
        if problems[same].lines <= 3 { problems[same].problem.evidence.found += "; " + line }
      } else {
        problems.append((problem, 1))
      }
    }
    return problems.map(\.problem)
  }
}

/// The lines of an integrity check that concern one table, or the file.
private struct IntegrityProblem {
  var evidence: Evidence
  let isConstraint: Bool

  init(_ line: String, in checked: CheckedDatabase) {
    let parts = line.split(separator: " ")
    isConstraint = parts.count >= 4 && parts[1] == "value" && parts[2] == "in"
    if isConstraint {
      // For example `NULL value in city.name`; both names may contain points.
      let place = parts[3...].joined(separator: " ")
      let known = checked.schema.tables.lazy.compactMap { table in
        table.columns.first { "\(table.name).\($0.name)" == place }.map { (table.name, $0.name) }
      }.first
      evidence = Evidence(
        table: known?.0, columns: known.map { [$0.1] } ?? [], found: line,
        advice: "Correct these rows, or the constraint.")
    } else {
      let index = checked.entries.first { $0.kind == .index && line.hasSuffix(" index \($0.name)") }
      evidence = Evidence(
        table: index?.table, found: line,
        advice: index == nil
          ? "Restore a backup, or save what can be read with the sqlite3 shell's .recover."
          : "Rebuild the indexes; if that doesn't help, restore a backup.",
        sql: index.map { ["REINDEX \($0.table.quotedIdentifier)"] } ?? [])
    }
  }

  func isSameKind(as other: Self) -> Bool {
    isConstraint == other.isConstraint && evidence.table == other.evidence.table
      && evidence.columns == other.evidence.columns
  }
}

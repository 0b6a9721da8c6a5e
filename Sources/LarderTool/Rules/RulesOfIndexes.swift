import Larder
import LarderTerminal

// Rules about indexes, and about the planner's statistics.

let rulesOfIndexes: [Rule] = [
  Rule(
    "duplicate-index", .warning,
    "Of two indexes on the same columns, one takes space and time without being of use.",
    ofLarge: { table in table.createdIndexes.compactMap { duplicate($0, table) } }),
  Rule(
    "redundant-index", .warning,
    "An index isn't needed if another one begins with all of its columns: that one is as fast.",
    ofLarge: { table in table.createdIndexes.compactMap { redundant($0, table) } }),
  Rule(
    "index-on-primary-key", .warning, "A primary key is an index already.",
    ofLarge: { table in onPrimaryKey(table) }),
  Rule(
    "statistics-missing", .note,
    "Without the statistics of ANALYZE the planner guesses which of several indexes finds fewer rows.",
    table: { table, checked in
      guard !table.indexes.isEmpty, let rows = try checked.rows(of: table), rows >= 10_000,
        checked.statistics[table.name] == nil
      else { return nil }
      return Evidence(
        table: table.name, found: "there are no statistics of its \(rows.grouped) rows", rows: rows,
        advice: "Gather them, now and after large changes.",
        sql: ["ANALYZE \(table.name.quotedIdentifier)"])
    }),
  Rule(
    "statistics-outdated", .warning,
    "Outdated statistics make the planner choose plans that are no longer good.",
    table: { table, checked in
      guard let known = checked.statistics[table.name],
        let rows = try checked.rows(of: table), abs(rows - known) >= 1000,
        max(rows, known) / 10 >= min(rows, known)
      else { return nil }
      return Evidence(
        table: table.name,
        found: "the statistics say \(known.grouped) rows, but there are \(rows.grouped)",
        rows: rows, advice: "Gather them again.",
        sql: ["ANALYZE \(table.name.quotedIdentifier)"])
    }),
]

extension Rule {
  /// Makes a rule that finds superfluous indexes of tables that aren't small.
  fileprivate init(
    _ name: String, _ severity: Severity, _ reason: String,
    ofLarge find: @escaping @Sendable (TableSchema) -> [Evidence]
  ) {
    self.init(name, severity, reason) { table, checked in
      let found = find(table)
      return try found.isEmpty || checked.hasFewRows(table) ? [] : found
    }
  }
}

private func dropping(_ index: IndexSchema, _ table: TableSchema, _ found: String) -> Evidence {
  Evidence(
    table: table.name, columns: index.columns.compactMap { $0 }, object: index.name, found: found,
    advice: "Drop it.", sql: ["DROP INDEX \(index.name.quotedIdentifier)"])
}

private func duplicate(_ index: IndexSchema, _ table: TableSchema) -> Evidence? {
  let key = index.key
  // Among equal indexes a unique one stays, or else the first.
  let other =
    table.uniqueIndexes.first { $0.key == key }
    ?? table.createdIndexes.first { $0.key == key && $0.isUnique }
    ?? table.createdIndexes.first { $0.key == key }
  guard let other, other.name != index.name || other.kind != index.kind else { return nil }
  let name = other.kind == .created ? "“\(other.name)”" : "that of the UNIQUE constraint"
  return dropping(index, table, "“\(index.name)” is the same as \(name)")
}

private func redundant(_ index: IndexSchema, _ table: TableSchema) -> Evidence? {
  let key = index.key
  guard !index.isUnique else { return nil }
  if index.condition == nil, table.rowIDColumn == nil {
    let primary = table.primaryKeyTerms.map(\.normalizedSQL)
    if primary.count > key.terms.count, primary.starts(with: key.terms) {
      return dropping(index, table, "the primary key begins with the columns of “\(index.name)”")
    }
  }
  let longer = (table.uniqueIndexes + table.createdIndexes).first {
    let other = $0.key
    return other.condition == key.condition && other.terms.count > key.terms.count
      && other.terms.starts(with: key.terms)
  }
  guard let longer else { return nil }
  let name = longer.kind == .created ? "“\(longer.name)”" : "that of a UNIQUE constraint"
  return dropping(index, table, "\(name) begins with the columns of “\(index.name)”")
}

private func onPrimaryKey(_ table: TableSchema) -> [Evidence] {
  let terms = table.rowIDColumn.map { [$0.quotedIdentifier] } ?? table.primaryKeyTerms
  let primary = terms.map(\.normalizedSQL)
  guard !primary.isEmpty else { return [] }
  let same = (table.uniqueIndexes + table.createdIndexes).filter {
    $0.condition == nil && $0.key.terms == primary
  }
  return same.map { index in
    let found = "(\(table.primaryKey.joined(separator: ", "))) is the primary key"
    guard index.kind == .created else {
      return Evidence(
        table: table.name, columns: table.primaryKey, found: found + ", and also declared UNIQUE",
        advice: "Remove UNIQUE, and rebuild the table.")
    }
    return dropping(index, table, "\(found), and also the key of “\(index.name)”")
  }
}

extension TableSchema {
  /// The indexes of CREATE INDEX, sorted by name, so that each run reports the same one of two equals.
  fileprivate var createdIndexes: [IndexSchema] { indexes.sorted { $0.name < $1.name } }
}

extension IndexSchema {
  /// The terms and the condition of an index. Indexes with equal keys find the same rows.
  fileprivate struct Key: Equatable {
    let terms: [[String]]
    let condition: [String]?
  }

  fileprivate var key: Key {
    Key(terms: terms.map(\.normalizedSQL), condition: condition?.normalizedSQL)
  }
}

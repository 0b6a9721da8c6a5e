import Larder
import LarderTerminal

// Rules about indexes, and about what the planner knows of them.

extension Rule {
  static let ofIndexes: [Rule] = [
    Rule(
      "duplicate-index", .warning,
      "Of two indexes on the same columns one takes room and time, and helps nothing.",
      tables: { table, _ in table.createdIndexes.compactMap { duplicate($0, table) } }),
    Rule(
      "redundant-index", .warning,
      "Whatever an index finds is found as fast by one that begins with all of its columns.",
      tables: { table, _ in table.createdIndexes.compactMap { redundant($0, table) } }),
    Rule(
      "index-on-primary-key", .warning,
      "A primary key is an index already.",
      tables: onPrimaryKey),
    Rule(
      "statistics-missing", .note,
      "Without the statistics of ANALYZE the planner guesses which of several indexes finds fewer rows.",
      tables: { table, checked in
        guard !table.indexes.isEmpty, let rows = try checked.rows(of: table), rows >= 10_000,
          checked.statistics[table.name] == nil
        else { return [] }
        return [
          Evidence(
            table: table.name, found: "there are none, of \(rows.grouped) rows", rows: rows,
            advice: "Gather them, now and after large changes.",
            sql: ["ANALYZE \(table.name.quotedIdentifier)"])
        ]
      }),
    Rule(
      "statistics-outdated", .warning,
      "Statistics of a table as it was long ago make the planner choose what was good then.",
      tables: { table, checked in
        guard let known = checked.statistics[table.name],
          let rows = try checked.rows(of: table), abs(rows - known) >= 1000,
          max(rows, known) / 10 >= min(rows, known)
        else { return [] }
        return [
          Evidence(
            table: table.name,
            found: "they say \(known.grouped) rows, and there are \(rows.grouped)", rows: rows,
            advice: "Gather them anew.", sql: ["ANALYZE \(table.name.quotedIdentifier)"])
        ]
      }),
  ]

  private static func dropping(
    _ index: IndexSchema, _ table: TableSchema, _ found: String
  ) -> Evidence {
    Evidence(
      table: table.name, columns: index.columns.compactMap { $0 }, object: index.name, found: found,
      advice: "Drop it.", sql: ["DROP INDEX \(index.name.quotedIdentifier)"])
  }

  private static func duplicate(_ index: IndexSchema, _ table: TableSchema) -> Evidence? {
    let key = index.key
    // Of two that are alike the first stays, and so does one that is unique.
    let other =
      table.uniqueIndexes.first { $0.key == key }
      ?? table.createdIndexes.first { $0.key == key && $0.isUnique }
      ?? table.createdIndexes.first { $0.key == key }
    guard let other, other.name != index.name || other.kind != index.kind else { return nil }
    let name = other.kind == .created ? "“\(other.name)”" : "that of the UNIQUE constraint"
    return dropping(index, table, "“\(index.name)” is the same as \(name)")
  }

  private static func redundant(_ index: IndexSchema, _ table: TableSchema) -> Evidence? {
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

  private static func onPrimaryKey(
    _ table: TableSchema, _ checked: CheckedDatabase
  ) throws -> [Evidence] {
    let primary =
      (table.rowIDColumn.map { [$0.quotedIdentifier] } ?? table.primaryKeyTerms).map(
        \.normalizedSQL)
    guard !primary.isEmpty else { return [] }
    let same = (table.uniqueIndexes + table.createdIndexes).filter {
      $0.condition == nil && $0.key.terms == primary
    }
    return same.map { index in
      let found = "(\(table.primaryKey.joined(separator: ", "))) is the primary key"
      guard index.kind == .created else {
        return Evidence(
          table: table.name, columns: table.primaryKey, found: found + ", and UNIQUE besides",
          advice: "Leave UNIQUE out, and make the table anew.")
      }
      return dropping(index, table, "\(found), and what “\(index.name)” indexes")
    }
  }
}

extension TableSchema {
  /// Those of CREATE INDEX, in order of their names: which of two is told doesn't change from run to run.
  fileprivate var createdIndexes: [IndexSchema] { indexes.sorted { $0.name < $1.name } }
}

extension IndexSchema {
  /// What two indexes have in common that find the same.
  fileprivate struct Key: Equatable {
    let terms: [[String]]
    let condition: [String]?
  }

  fileprivate var key: Key {
    Key(terms: terms.map(\.normalizedSQL), condition: condition?.normalizedSQL)
  }
}

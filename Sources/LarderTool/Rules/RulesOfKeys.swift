import Larder
import LarderTerminal

// Rules about primary keys, unique columns and names.

let rulesOfKeys: [Rule] = [
  Rule(
    "no-primary-key", .warning,
    "Rows without a key can't be told apart, changed one by one, or compared between databases.",
    table: { table, _ in
      let isUnique = table.uniqueSets.contains { columns in
        columns.allSatisfy { table.column($0)?.isNotNull ?? false }
      }
      guard table.primaryKey.isEmpty, !isUnique else { return nil }
      return Evidence(
        table: table.name, found: "no primary key, and no unique columns that are NOT NULL",
        advice: "Declare a key, and rebuild the table.")
    }),
  Rule(
    "null-in-primary-key", .error,
    "A primary key that can be NULL, which SQLite allows for historical reasons, identifies nothing.",
    // The first rule on values reads them for all such rules.
    work: 50,
    values: {
      guard $0.column.primaryKeyPosition > 0 else { return nil }
      return $0.evidence(
        [.null], "have no key", advice: "Give them keys, and declare the column NOT NULL.",
        listing: "\($0.sqlName) IS NULL")
    }),
  Rule(
    "keys-running-out", .warning,
    "AUTOINCREMENT never reuses a key: once the largest one was given, no row can be inserted.",
    table: { table, checked in
      guard let sequence = try checked.sequence(of: table) else { return nil }
      let used = max(sequence.last, sequence.largest)
      let percent = Int(Double(used) / Double(Int64.max) * 100)
      guard percent >= 70 else { return nil }
      return Evidence(
        table: table.name, columns: table.primaryKey,
        found: "the last key is \(used) of \(Int64.max) (\(percent) %)",
        advice: "Give the rows with large keys smaller ones, with the rows that refer to them, and"
          + " set the sequence to the largest key that is left.",
        sql: ["SELECT seq FROM sqlite_sequence WHERE name = \(table.name.quotedText)"])
    }),
  Rule(
    "spaces-in-unique", .warning,
    "Unique texts with spaces around them aren't found without the spaces, and can be stored twice.",
    values: {
      let name = $0.column.name.lowercased()
      guard $0.table.uniqueSets.contains(where: { $0.contains(name) }) else { return nil }
      return $0.evidence(
        [.padded], "begin or end with white space",
        advice: "Trim them, also in the program that writes them.",
        listing: "\($0.sqlName) <> trim(\($0.sqlName), char(9, 10, 11, 12, 13, 32))")
    }),
  Rule(
    "case-duplicates", .warning,
    "Unique texts that differ only in case are mostly the same value, stored twice.",
    values: {
      $0.evidence(
        [.otherCase], "differ from others only in case",
        advice: "Merge them, and declare the column COLLATE NOCASE.",
        sql: [
          "SELECT \($0.sqlName), count(*) FROM \($0.sqlTable)"
            + " GROUP BY \($0.sqlName) COLLATE NOCASE HAVING count(*) > 1"
        ])
    }),
  Rule(
    "keyword-name", .note,
    "A table that is named like a keyword needs quotes in every statement.",
    table: { table, _ in
      guard reservedWords.contains(table.name.lowercased()) else { return nil }
      return Evidence(
        table: table.name, found: "\(table.name.uppercased()) is a keyword of SQL",
        advice:
          "Give it another name: ALTER TABLE … RENAME TO, which changes what refers to it too.")
    }),
]

/// The keywords that SQLite never accepts as names; see [its
/// list](https://www.sqlite.org/lang_keywords.html).
private let reservedWords = Set(
  """
  add all alter and as autoincrement between case check collate commit constraint create default
  deferrable delete distinct drop else escape except exists foreign from group having in index insert
  intersect into is isnull join limit not notnull null on or order primary references returning select
  set table then to transaction union unique update using values when where
  """.split(whereSeparator: \.isWhitespace).map(String.init))

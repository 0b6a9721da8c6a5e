import LarderSQLite

/// A column of a PRIMARY KEY or UNIQUE constraint.
struct KeyTerm: Hashable, Sendable {
  let column: String
  /// The collation in capitals, where it isn't the column's own.
  let collation: String?
  let isDescending: Bool

  /// The column as it is where nothing is said of it.
  init(_ column: String) { self.init(column: column, collation: nil, isDescending: false) }

  init(column: String, collation: String?, isDescending: Bool) {
    self.column = column
    self.collation = collation
    self.isDescending = isDescending
  }

  var sql: String {
    column.quotedIdentifier + (collation.map { " COLLATE \($0)" } ?? "")
      + (isDescending ? " DESC" : "")
  }

  /// What is the same in all spellings, as an ``IndexKey`` has it.
  var normalized: [String] {
    [String(decoding: column.foldedName, as: UTF8.self)]
      + (collation.map { ["collate", $0.lowercased()] } ?? []) + (isDescending ? ["desc"] : [])
  }
}

extension [KeyTerm] {
  var sqlList: String { map(\.sql).joined(separator: ", ") }
}

/// An [ON CONFLICT clause](https://www.sqlite.org/lang_conflict.html) of a constraint: statements
/// that don't say what they do about rows that break it leave them out, or replace others.
struct ConflictClause: Hashable, Sendable {
  /// The constraint's words and names, in the form that it has after the columns.
  let constraint: [String]
  /// What happens, in small letters.
  let resolution: String

  var sql: String {
    constraint.joined(separator: " ") + " ON CONFLICT " + resolution.uppercased()
  }

  /// Whether a NULL in a column becomes the column's default.
  func replacesNull(in column: String) -> Bool {
    resolution == "replace"
      && constraint == [String(decoding: column.foldedName, as: UTF8.self), "not", "null"]
  }
}

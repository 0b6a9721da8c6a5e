import LarderSQLite

/// Why a record could not be read or written, where SQLite itself has no objection.
public enum RecordError: Error, Sendable {
  /// There is no row with this key.
  case notFound(table: String, key: [DatabaseValue])
  /// The row was changed or deleted since the record was read: its version is another one.
  case stale(table: String, key: [DatabaseValue])
  /// A value doesn't fit its column, or a stored value the property. The key is that of the row,
  /// as far as it is known.
  case conversion(table: String, column: String, key: [DatabaseValue], error: ConversionError)
  /// Of several records, the one at this index could not be written; none of them was.
  case batch(table: String, index: Int, error: any Error)
  /// A name that was chosen by a user isn't that of a column.
  case unknownColumn(table: String, column: String)
  /// The declaration of the table doesn't hold together, and all its operations throw this; or the table that the
  /// database has would lose or mistake a value, and those operations do. An initializer that gives two properties
  /// each other's values is found once a record with two different ones is read or written.
  case declaration(table: String, problem: String)
  /// The record is one of a view, and only read: see ``TableOptions/view``.
  case view(table: String)
}

extension RecordError {
  /// The error of a batch that ended at a record: the record's, unless it is nobody's: others were in the way, or
  /// the connection was lost. That one the scope has to see, which may run again.
  static func ofBatch(_ table: String, at index: Int, _ error: any Error) -> any Error {
    if let known = error as? DatabaseError, known.isBusy || SQLState.isTransient(known) {
      return known
    }
    return RecordError.batch(table: table, index: index, error: error)
  }
}

extension RecordError: CustomStringConvertible {
  /// One line with the table, the key and what is wrong.
  public var description: String {
    switch self {
    case .notFound(let table, let key):
      "there is no row in “\(table)” with the key \(Self.text(key))"
    case .stale(let table, let key):
      "the row in “\(table)” with the key \(Self.text(key)) has changed since it was read"
    case .conversion(let table, let column, let key, let error):
      "“\(table)”.“\(column)”"
        + (key.allSatisfy { $0 == .null } ? "" : " of the row with the key \(Self.text(key))")
        + ": \(error)"
    case .batch(let table, let index, let error):
      "record \(index) of those for “\(table)” could not be written, and so none was: \(error)"
    case .unknownColumn(let table, let column):
      "“\(table)” has no column “\(column)”"
    case .declaration(let table, let problem):
      "the declaration of the table “\(table)” is wrong: \(problem)"
    case .view(let table):
      "“\(table)” is declared as a view, whose records are only read; SchemaEntry.view creates one"
    }
  }

  private static func text(_ key: [DatabaseValue]) -> String {
    key.count == 1 ? text(key[0]) : "(\(key.map(text).joined(separator: ", ")))"
  }

  private static func text(_ value: DatabaseValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): value.debugDescription
    case .blob(let value):
      "x'\(value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'"
    }
  }
}

/// What is done about a row that breaks a constraint, instead of an error.
///
/// See [ON CONFLICT](https://www.sqlite.org/lang_conflict.html).
public enum ConflictPolicy: String, Sendable, CaseIterable {
  /// The row isn't written, and nothing is said.
  case ignore = "IGNORE"
  /// Rows that are in the way are deleted.
  case replace = "REPLACE"
  /// The statement fails, and what it has written before stays.
  case fail = "FAIL"
  /// The statement fails, and the whole transaction is rolled back.
  case rollback = "ROLLBACK"
}

import LarderSQLite

/// The reason why a record could not be read or written, if it isn't an error of SQLite's.
public enum RecordError: Error, Sendable {
  /// There is no row with this key.
  case notFound(table: String, key: [DatabaseValue])
  /// The row was changed or deleted since the record was read: its version is another one.
  case stale(table: String, key: [DatabaseValue])
  /// A value doesn't fit its column, or a stored value doesn't fit its property.
  /// The key is the row's, as far as it is known.
  case conversion(table: String, column: String, key: [DatabaseValue], error: ConversionError)
  /// The record at this index of a batch could not be written, and so none of them was.
  case batch(table: String, index: Int, error: any Error)
  /// A name that was chosen by a user isn't that of a column.
  case unknownColumn(table: String, column: String)
  /// The declaration of the table is wrong, and all its operations throw this. Or the database's table would
  /// lose or change a value, and the operations that would do so throw this. An initializer that exchanges
  /// the values of two properties is found once a record with two different values is read or written.
  case declaration(table: String, problem: String)
  /// The record is a view's, and can only be read: see ``TableOptions/view``.
  case view(table: String)

  /// The error of a batch that ended at a record. A busy database or a lost connection isn't the record's
  /// fault: such an error stays as it is, since the scope, which may retry, has to see it.
  package static func ofBatch(_ table: String, at index: Int, _ error: any Error) -> any Error {
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
      "record \(index) of the batch for “\(table)” couldn't be written, so none was: \(error)"
    case .unknownColumn(let table, let column): "“\(table)” has no column “\(column)”"
    case .declaration(let table, let problem):
      "the declaration of the table “\(table)” is wrong: \(problem)"
    case .view(let table):
      "“\(table)” is declared as a view, whose records are read-only; SchemaEntry.view creates a view"
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
    case .blob(let value): "x'\(value.hexadecimal)'"
    }
  }
}

/// The way to handle a row that violates a constraint, instead of an error.
///
/// See [ON CONFLICT](https://www.sqlite.org/lang_conflict.html).
public enum ConflictPolicy: String, Sendable, CaseIterable {
  /// The row isn't written, and no error is thrown.
  case ignore = "IGNORE"
  /// Existing rows that conflict with the new one are deleted.
  case replace = "REPLACE"
  /// The statement fails, but the rows that it has written before stay.
  case fail = "FAIL"
  /// The statement fails, and the whole transaction is rolled back.
  case rollback = "ROLLBACK"
}

import LarderSQLite

/// An operand that is always an error: a statement with it throws before it runs.
struct RefusedOperand: DatabaseValueConvertible {
  private let error: any Error

  init(_ error: any Error) { self.error = error }

  var databaseValue: DatabaseValue { get throws { throw error } }

  init(databaseValue: DatabaseValue) throws {
    throw ConversionError(.malformed, RefusedOperand.self)
  }
}

extension SQLFragment {
  /// A fragment whose statement throws a misuse error when it is run: for things that a query can't express,
  /// and mistakes that the compiler can't see.
  package static func misuse(_ message: String) -> SQLFragment {
    refused(DatabaseError(.misuse, message))
  }

  /// A fragment whose statement throws an error when it is run: for features that an engine lacks.
  package static func refused(_ error: any Error) -> SQLFragment {
    SQLFragment(value: RefusedOperand(error))
  }
}

import LarderSQLite

extension SQLFragment {
  /// A fragment whose statement throws a misuse error when it is run: for what a query can't say, and what
  /// the compiler can't see.
  static func misuse(_ message: String) -> SQLFragment {
    SQLFragment(value: Misuse(message: message))
  }
}

/// A value that can't be bound.
private struct Misuse: DatabaseValueConvertible {
  let message: String

  init(message: String) { self.message = message }

  var databaseValue: DatabaseValue { get throws { throw DatabaseError(.misuse, message) } }

  init(databaseValue: DatabaseValue) throws { throw ConversionError(.malformed, Misuse.self) }
}

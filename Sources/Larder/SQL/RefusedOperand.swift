import LarderSQLite

/// An operand that can't be right: a statement with it throws before it runs.
struct RefusedOperand: DatabaseValueConvertible {
  private let problem: String

  init(_ problem: String) { self.problem = problem }

  var databaseValue: DatabaseValue { get throws { throw DatabaseError(.misuse, problem) } }

  init(databaseValue: DatabaseValue) throws {
    throw ConversionError(.malformed, RefusedOperand.self)
  }
}

extension SQLFragment {
  /// A fragment whose statement throws a misuse error when it is run: for what a query can't say, and what
  /// the compiler can't see.
  package static func misuse(_ message: String) -> SQLFragment {
    SQLFragment(value: RefusedOperand(message))
  }
}

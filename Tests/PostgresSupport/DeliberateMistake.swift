import Foundation
import Larder

/// Mistakes that a dialect could make, which the suites have to find: made where the environment's
/// `LARDER_TEST_MISTAKE` names one.
enum DeliberateMistake: String, CaseIterable, Sendable {
  case isNull = "is-null"
  case nullsOrder = "nulls-order"
  case divideByZero = "divide-by-zero"
  case likeCase = "like-case"
  case shift
  case substring
  case collation

  static let current = ProcessInfo.processInfo.environment["LARDER_TEST_MISTAKE"].flatMap {
    DeliberateMistake(rawValue: $0)
  }
}

/// A dialect that makes a mistake.
struct MistakenDialect: Dialect {
  let dialect: any Dialect
  let mistake: DeliberateMistake

  func placeholder(_ number: Int) -> String { dialect.placeholder(number) }
  func type(of value: any DatabaseValueConvertible) -> StaticString? { dialect.type(of: value) }
  func opening(of value: any DatabaseValueConvertible) -> StaticString? {
    dialect.opening(of: value)
  }
  func takesType(
    of column: SQLFragment, _ operation: SQLOperator, _ value: any DatabaseValueConvertible
  ) -> Bool { dialect.takesType(of: column, operation, value) }
  func condition(_ fragment: SQLFragment) -> SQLFragment {
    mistake == .isNull ? fragment : dialect.condition(fragment)
  }
  func typeName(of type: ColumnType) -> String { dialect.typeName(of: type) }
  func typeName(of type: ColumnType, storedAs form: StoredForm) -> String {
    dialect.typeName(of: type, storedAs: form)
  }
  func literal(of value: DatabaseValue, as type: ColumnType) throws -> String {
    try dialect.literal(of: value, as: type)
  }
  func literal(
    of value: DatabaseValue, as type: ColumnType, storedAs form: StoredForm
  ) throws -> String { try dialect.literal(of: value, as: type, storedAs: form) }
  var definitions: (any DefinitionDialect)? { dialect.definitions }
  var reusesPlaceholders: Bool { dialect.reusesPlaceholders }

  func rewrite(_ fragment: SQLFragment) -> SQLFragment? {
    mistaken(fragment) ?? dialect.rewrite(fragment)
  }

  private func mistaken(_ fragment: SQLFragment) -> SQLFragment? {
    let left = fragment.left
    let right =
      fragment.kind == .comparison ? SQLFragment(value: fragment.value) : fragment.right
    switch (mistake, fragment.operation, left, right) {
    case (.isNull, .same, let left?, let right?): return "\(left) = \(right)"
    case (.nullsOrder, .ascending, let left?, _): return "\(left)"
    case (.nullsOrder, .descending, let left?, _): return "\(left) DESC"
    case (.divideByZero, .divide, let left?, let right?): return "(\(left)) / (\(right))"
    case (.divideByZero, .remainder, let left?, let right?): return "(\(left)) % (\(right))"
    case (.likeCase, .like, let left?, let right?): return "(\(left)) LIKE \(right) ESCAPE ''"
    case (.shift, .shiftLeft, let left?, let right?):
      return "((\(left)) << CAST(\(right) AS INTEGER))"
    case (.collation, .equal, let left?, let right?) where left.operation == .collate:
      return "(\(left.left)) = \(right)"
    default: break
    }
    if mistake == .substring, case .call(let name, let arguments) = fragment.content,
      "\(name)" == "substr"
    {
      let numbers = arguments.dropFirst().map { SQLFragment("CAST(\($0) AS INTEGER)") }
      return "substr(\(.list([arguments[0]] + numbers)))"
    }
    return nil
  }
}

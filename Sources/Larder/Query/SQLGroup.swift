import LarderSQLite

/// Terms of GROUP BY: an expression, or those of a ``SQLGroup``.
@_documentation(visibility: internal)
public protocol GroupTerms {
  /// The terms, as one.
  @_documentation(visibility: internal)
  var groupTerms: GroupTerm { get }
}

/// The terms of GROUP BY.
@_documentation(visibility: internal)
public struct GroupTerm: GroupTerms, Sendable {
  let terms: [SQLFragment]

  /// These terms.
  @_documentation(visibility: internal)
  public var groupTerms: GroupTerm { self }
}

extension SQLExpression: GroupTerms {
  /// The expression as a term.
  @_documentation(visibility: internal)
  public var groupTerms: GroupTerm { GroupTerm(terms: [term]) }
}

/// A result builder of the terms of GROUP BY: an expression, or several in parentheses. See ``SQLCondition``
/// for why closures have builders.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLGroup {
  /// One term.
  @_documentation(visibility: internal)
  public static func buildExpression<Value>(_ term: SQLExpression<Value>) -> GroupTerm {
    term.groupTerms
  }

  /// Several terms.
  @_documentation(visibility: internal)
  public static func buildExpression<each Value>(
    _ terms: (repeat SQLExpression<each Value>)
  ) -> GroupTerm {
    var list: [SQLFragment] = []
    repeat list.append((each terms).term)
    return GroupTerm(terms: list)
  }

  /// Not available: rows are grouped by expressions.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: "group takes an expression, or several in parentheses: { ($0.country, $0.name) }"
  )
  public static func buildExpression<Other>(_ other: Other) -> GroupTerm { GroupTerm(terms: []) }

  // A statement without a value would fit the empty pack, and group nothing.
  /// Not available: rows are grouped by expressions.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "group takes an expression: { $0.country }")
  public static func buildBlock(_ nothing: Void) -> GroupTerm { GroupTerm(terms: []) }

  /// A statement without a value.
  @_documentation(visibility: internal)
  public static func buildExpression(_ nothing: Void) {}

  /// The terms.
  @_documentation(visibility: internal)
  public static func buildBlock(_ terms: GroupTerm) -> GroupTerm { terms }

  /// The terms of an `if` in Swift, which decides while the query is made.
  @_documentation(visibility: internal)
  public static func buildEither(first terms: GroupTerm) -> GroupTerm { terms }

  /// The terms of an `else`.
  @_documentation(visibility: internal)
  public static func buildEither(second terms: GroupTerm) -> GroupTerm { terms }
}

/// A result builder of one condition. It has the compiler type-check the closure on its own, once the types
/// around it are known. As one expression with the steps before and after it, its meaning depended on
/// theirs: an enum's case after a selection had no type, and arithmetic took seconds.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLCondition {
  /// The condition.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression(_ condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    condition
  }

  // A conformance that isn't available is no mistake to the type checker, so that it goes on with the steps
  // behind the closure as if it were right, and doesn't try all their meanings.
  /// Not available: a condition has to be true or false.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public static func buildExpression<Other: AConditionIsTrueOrFalse>(
    _ other: Other
  ) -> SQLExpression<Bool> { .wrong }

  /// The condition.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildBlock(_ condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    condition
  }

  /// The condition of an `if` in Swift, which decides while the query is made.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither(first condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    condition
  }

  /// The condition of an `else`.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither(second condition: SQLExpression<Bool>) -> SQLExpression<Bool> {
    condition
  }
}

/// A protocol that no expression conforms to. Its name appears in the compiler's message about a value that is
/// no condition.
@_documentation(visibility: internal)
public protocol AConditionIsTrueOrFalse {}

@available(
  *, unavailable,
  message: "a condition has to be true or false: compare the value, { $0.population > 5 }"
)
extension SQLExpression: AConditionIsTrueOrFalse {}

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

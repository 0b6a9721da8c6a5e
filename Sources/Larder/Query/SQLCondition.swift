/// A result builder of one condition: it has the compiler look at the closure alone, once the types around it are
/// known. In one expression with the steps before and after it, what it means depended on theirs: an enum's case
/// behind a selection had no type, and arithmetic took seconds.
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
}

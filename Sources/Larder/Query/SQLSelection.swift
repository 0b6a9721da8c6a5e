/// A result builder of the expressions that a function makes a row of. It has the compiler type-check them on their own,
/// without the types that the function takes: with them, it tried all operators before it found that one
/// expression has another type, and often gave up.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLSelection {
  /// The expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression<each Value>(
    _ expressions: (repeat SQLExpression<each Value>)
  ) -> (repeat SQLExpression<each Value>) { expressions }

  /// The expressions.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildBlock<each Value>(
    _ expressions: (repeat SQLExpression<each Value>)
  ) -> (repeat SQLExpression<each Value>) { expressions }
}

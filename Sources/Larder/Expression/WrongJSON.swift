// Overloads that the compiler finds if JSON is compared with a wrong type; see WrongExpressions.swift.

/// A protocol that no place in JSON conforms to. The compiler's message shows its name.
@_documentation(visibility: internal)
public protocol JSONWithoutAType {}

@available(
  *, unavailable,
  message: """
    JSON is compared with numbers, texts, Bools and dates; for another type, use .as(…)
    """
)
extension JSONExpression: JSONWithoutAType {}

extension JSONWithoutAType {
  /// Not available.
  @_disfavoredOverload
  public static func == <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_disfavoredOverload
  public static func != <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_disfavoredOverload
  public static func < <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_disfavoredOverload
  public static func <= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_disfavoredOverload
  public static func > <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available.
  @_disfavoredOverload
  public static func >= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
}

// What the compiler finds for places in JSON beside what they can't be compared with; see WrongExpressions.swift.

/// What no place in JSON is: its name is for the compiler's message.
@_documentation(visibility: internal)
public protocol JSONWithoutAType {}

@available(
  *, unavailable,
  message: """
    JSON is compared with numbers, texts, Bools and dates; what is compared as another type needs .as(…)
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

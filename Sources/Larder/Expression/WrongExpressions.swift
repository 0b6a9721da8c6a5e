import FoundationEssentials

// Overloads that the compiler finds for wrong expressions. If nothing fits, the compiler tries every operator
// of every type in every combination, which takes seconds in a closure with 32 conditions; then it gives up
// or points elsewhere. The overloads here fit everything that nothing else fits, and the conformance that
// they need is unavailable: that is an error in the right place, with a reason, at once.
//
// Making the operators unavailable would be shorter, but the compiler then tries all others first. And such
// an overload of `&&` makes every wrong condition take seconds.

/// A protocol that no expression conforms to. The compiler's message shows its name for operands of two
/// types, or for a result of an unexpected type.
@_documentation(visibility: internal)
public protocol OperandsOfDifferentTypes {}

@available(
  *, unavailable,
  message: "operands need the same type, or its Optional, and a condition has to be true or false"
)
extension SQLExpression: OperandsOfDifferentTypes {}

extension OperandsOfDifferentTypes {
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func == <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func != <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func < <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func <= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func > <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func >= <Other>(left: Self, right: Other) -> SQLExpression<Bool> { .wrong }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func + <Other>(left: Self, right: Other) -> SQLExpression<NoSuchValue> { .wrong }
  /// Not available: the values have to be of the expression's type.
  @_disfavoredOverload
  public func `in`<Other>(_ values: Other) -> SQLExpression<Bool> { .wrong }
}

@available(
  *, unavailable,
  message: """
    quotients, means and totals of decimal numbers aren't exact: use `real` first, or compute with the \
    fetched values
    """
)
extension Decimal: BinaryNumberValue {}

@available(*, unavailable, message: "a condition has to be true or false")
extension Bool: TextValue {}

@available(*, unavailable, message: "a condition has to be true or false")
extension Bool: NumberValue {
  /// Not available: true or false is no number.
  @_documentation(visibility: internal)
  public typealias Number = Int
}

extension SQLExpression {
  static var wrong: SQLExpression { SQLExpression(sql: "NULL") }
}

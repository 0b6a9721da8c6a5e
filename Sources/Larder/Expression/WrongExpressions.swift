import FoundationEssentials

// What the compiler finds for expressions that are wrong. Where nothing fits, it tries every operator
// of every type in every combination, which takes seconds in a closure with 32 conditions, and then
// it gives up or points elsewhere. These fit everything, if nothing else does, and the conformance
// that they need is unavailable: that is an error in the right place, with a reason, at once.
//
// Making the operators unavailable would be shorter, but the compiler then tries all others first; and
// one of these for `&&` makes every wrong condition take seconds.

/// What no expression is: its name is for the compiler's message about operands of two types, or a
/// result of a type that isn't asked for.
@_documentation(visibility: internal)
public protocol OperandsOfDifferentTypes {}

@available(
  *, unavailable,
  message: "operands have to be of one type, or one its Optional, and conditions true or false"
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
  public static func + <Other>(left: Self, right: Other) -> Self { left }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func - <Other>(left: Self, right: Other) -> Self { left }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func * <Other>(left: Self, right: Other) -> Self { left }
  /// Not available: both operands have to be of one type.
  @_disfavoredOverload
  public static func / <Other>(left: Self, right: Other) -> Self { left }
  /// Not available: the values have to be of the expression's type.
  @_disfavoredOverload
  public func `in`<Other>(_ values: Other) -> SQLExpression<Bool> { .wrong }
}

@available(
  *, unavailable,
  message: """
    quotients, means and totals of decimal numbers aren't exact: `real` first, or compute \
    with what is fetched
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

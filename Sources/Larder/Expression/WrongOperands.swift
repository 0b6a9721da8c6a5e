import LarderSQLite

// Overloads that the compiler finds for common mistakes in operands' types. They are more specific than those
// in WrongExpressions.swift, which fit everything, so that the message says what to write.

/// A number, in SQL or in Swift.
@_documentation(visibility: internal)
public protocol NumberOperand {}

extension SQLExpression: NumberOperand where Value: NumberValue {}

/// A protocol that no number conforms to. The compiler's message shows its name.
@_documentation(visibility: internal)
public protocol NumbersOfDifferentTypes {
  /// The number's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message: """
    the numbers have different types: convert both to Double or Int, an expression with .real or \
    .integer, a value with Double(…) or Int(…)
    """
)
extension SQLExpression: NumbersOfDifferentTypes {}

extension NumbersOfDifferentTypes where Value: NumberValue {
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func == <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func != <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func < <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func <= <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func > <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func >= <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Bool> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func + <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Value> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func - <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Value> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func * <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Value> {
    .wrong
  }
  /// Not available: both numbers have to be of one type.
  @_disfavoredOverload
  public static func / <Other: NumberOperand>(left: Self, right: Other) -> SQLExpression<Value> {
    .wrong
  }
}

/// A protocol that no column conforms to. The compiler's message shows its name.
@_documentation(visibility: internal)
public protocol OptionalValueBesideWhatIsNone {
  /// The column's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message:
    "the value is an Optional, but the expression that it is compared with can't be NULL: unwrap the value"
)
extension SQLExpression: OptionalValueBesideWhatIsNone {}

extension OptionalValueBesideWhatIsNone {
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func == (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func != (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func < (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func <= (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func > (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value may be nil.
  @_disfavoredOverload
  public static func >= (left: Self, right: Value?) -> SQLExpression<Bool> { .wrong }
}

/// A protocol that no column conforms to. The compiler's message shows its name for a value of a type that
/// only a column's coding, such as `.json`, stores.
@_documentation(visibility: internal)
public protocol ValueThatOnlyACodingStores {
  /// The column's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message: "only the column's coding can store values of this type: write .value(…) for the value"
)
extension SQLExpression: ValueThatOnlyACodingStores {}

extension ValueThatOnlyACodingStores {
  /// Not available: the column's coding has to store the value.
  @_disfavoredOverload
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> { .wrong }
  /// Not available: the column's coding has to store the value.
  @_disfavoredOverload
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> { .wrong }
}

/// The actor of an operator that can't be called. The compiler's message shows its name. (An unavailable
/// operator would lose against Swift's own, which compiles with a warning: an expression is never nil.)
@globalActor
@_documentation(visibility: internal)
public actor WriteCoalesceForWhatIsNULL {
  /// The only instance.
  @_documentation(visibility: internal)
  public static let shared = WriteCoalesceForWhatIsNULL()
}

extension SQLExpression {
  /// Not available: `coalesce` replaces NULL by another value.
  @_documentation(visibility: internal)
  @WriteCoalesceForWhatIsNULL
  public static func ?? <Other>(left: Self, right: Other) -> SQLExpression<Other> { .wrong }
}

import LarderSQLite

// What the compiler finds for operands whose types differ in ways that people write: more special than
// what fits everything (WrongExpressions.swift), so that the message says what to write.

/// What is a number in SQL or in Swift.
@_documentation(visibility: internal)
public protocol NumberOperand {}

extension SQLExpression: NumberOperand where Value: NumberValue {}

/// What no number is: its name is for the compiler's message.
@_documentation(visibility: internal)
public protocol NumbersOfDifferentTypes {
  /// The number's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message: """
    the numbers have different types: make both Double or Int, an expression with .real or .integer, a \
    value with Double(…) or Int(…)
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

/// What no column is: its name is for the compiler's message.
@_documentation(visibility: internal)
public protocol OptionalValueBesideWhatIsNone {
  /// The column's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message: "the value is an Optional, and what it is compared with can't be NULL: unwrap the value"
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

/// What no column is: its name is for the compiler's message about a value of a type that only a column's
/// coding, such as `.json`, stores.
@_documentation(visibility: internal)
public protocol ValueThatOnlyACodingStores {
  /// The column's type.
  associatedtype Value: Sendable
}

@available(
  *, unavailable,
  message:
    "values of this type are stored by the column's coding only: write .value(…) for the value"
)
extension SQLExpression: ValueThatOnlyACodingStores {}

extension ValueThatOnlyACodingStores {
  /// Not available: the value has to be one of the column.
  @_disfavoredOverload
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> { .wrong }
  /// Not available: the value has to be one of the column.
  @_disfavoredOverload
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> { .wrong }
}

/// The actor of what can't be called; its name is for the compiler's message. (An unavailable operator would lose
/// against Swift's own, which compiles with a warning: an expression is never nil.)
@globalActor
@_documentation(visibility: internal)
public actor WriteCoalesceForWhatIsNULL {
  /// The only one.
  @_documentation(visibility: internal)
  public static let shared = WriteCoalesceForWhatIsNULL()
}

extension SQLExpression {
  /// Not available: what stands for NULL is said by `coalesce`.
  @_documentation(visibility: internal)
  @WriteCoalesceForWhatIsNULL
  public static func ?? <Other>(left: Self, right: Other) -> SQLExpression<Other> { .wrong }
}

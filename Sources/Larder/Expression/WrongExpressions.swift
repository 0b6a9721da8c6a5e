import FoundationEssentials

// How mistakes are told. For each likely mistake there is a declaration that fits it, and that can't be used
// because it needs a conformance that is unavailable. The conformance's message is the compiler's error.
//
// A function that needs the conformance itself would do, but the type checker counts it as a fault of that
// solution and goes on to look for a better one: it then tries all meanings of all operators before it, ten
// times more for each number literal. So the function needs a conformance of another type (`Refused`), whose
// own generic parameter needs the unavailable one. The type checker doesn't look there. What checks for
// availability afterwards does.

/// A protocol that nothing conforms to. The compiler's message shows its name, and says what to write.
@_documentation(visibility: internal)
public protocol Mistake {}

/// A type with an unavailable conformance to ``Mistake``, which explains a mistake. Declarations for it need
/// `Refusal: Reason`.
@_documentation(visibility: internal)
public protocol Reason {
  /// The type whose use is the mistake.
  associatedtype Refusal
}

/// The type whose use is a mistake, for the reason of its parameter.
@_documentation(visibility: internal)
public struct Refused<Cause: Mistake>: Reason {
  /// This type.
  @_documentation(visibility: internal)
  public typealias Refusal = Self
}

// Found as the types' witness without an error: only its use is checked for availability.
extension Reason where Self: Mistake {
  /// The type whose use is the mistake.
  @_documentation(visibility: internal)
  public typealias Refusal = Refused<Self>
}

// MARK: Operands of different types

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
  message: "operands need the same type, or its Optional, and a condition has to be true or false"
)
extension SQLExpression: Mistake {}

extension SQLExpression: Reason {}

extension NumberOperand where Self: Reason, Self.Refusal: Reason {
  /// Not available: a number and a text have no sum.
  @_disfavoredOverload
  public static func + <Other: TextValue>(left: Self, right: Other) -> SQLExpression<NoSuchValue> {
    .wrong
  }
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

// MARK: Properties and functions that don't exist

/// The reason of a mistake: a property or function that expressions don't have.
@_documentation(visibility: internal)
public enum NoSuchMember: Reason {}

@available(
  *, unavailable,
  message: "expressions of this type have no such property or function"
)
extension NoSuchMember: Mistake {}

/// The expressions, whose properties and functions are known.
@_documentation(visibility: internal)
public protocol HasNoOtherMembers {
  /// The reason why there is no other one.
  associatedtype Member: Reason
}

extension SQLExpression: HasNoOtherMembers {
  /// The reason why there is no other member.
  @_documentation(visibility: internal)
  public typealias Member = NoSuchMember
}

// It is disfavored, and so is its call: some right functions are disfavored, too.
extension HasNoOtherMembers where Member.Refusal: Reason {
  /// Not available: expressions have no such property or function.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public subscript(dynamicMember name: String) -> NoSuchFunction { NoSuchFunction() }
}

// A type of its own. Expressions have dynamic members, and the compiler, which looked for the one that is called among
// those too, crashed (Swift 6.3).
/// A function that expressions don't have.
@_documentation(visibility: internal)
public struct NoSuchFunction {
  /// Not available: there is no such function.
  @_disfavoredOverload
  public func callAsFunction<each Argument>(
    _ arguments: repeat each Argument
  ) -> SQLExpression<NoSuchValue> { .wrong }

  /// Not available: there is no such property.
  @_disfavoredOverload
  public static prefix func ! (property: Self) -> SQLExpression<Bool> { .wrong }
}

/// The reason of a mistake: a mean of values that are no numbers.
@_documentation(visibility: internal)
public enum OnlyNumbersHaveAMean: Reason {}

@available(
  *, unavailable,
  message: """
    only numbers have a mean, and quotients, means and totals of decimal numbers aren't exact: use `real` first, or \
    compute with the fetched values
    """
)
extension OnlyNumbersHaveAMean: Mistake {}

extension SQLExpression {
  /// Not available: only numbers have a mean.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func average<Cause: Reason>(
    because: Cause.Type = OnlyNumbersHaveAMean.self
  ) -> SQLExpression<Double?> where Cause.Refusal: Reason { SQLExpression<Double?>(sql: "NULL") }
}

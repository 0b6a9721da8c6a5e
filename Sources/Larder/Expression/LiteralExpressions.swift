import FoundationEssentials
import LarderSQLite

// Literals as expressions, for assignments: `$0.population = 3`. Where an operator takes a value, the
// literal is one of the value's type: methods that take a value or an expression disfavour the latter.

/// Numbers and their Optionals: what a literal integer can be assigned to.
@_documentation(visibility: internal)
public protocol NumberValue: DatabaseValueConvertible, NumberOperand {
  /// The number's type, without Optional.
  associatedtype Number: DatabaseValueConvertible & ExpressibleByIntegerLiteral = Self
  /// Double, Optional if this is.
  associatedtype AsReal: DatabaseValueConvertible = Double
  /// Int, Optional if this is.
  associatedtype AsInteger: DatabaseValueConvertible = Int
}

extension NumberValue {
  /// Whether it has a fraction.
  @usableFromInline static var isReal: Bool { Number.self is any BinaryFloatingPoint.Type }
}

/// Numbers that SQLite computes with itself, and their Optionals: what it can divide.
@_documentation(visibility: internal)
public protocol BinaryNumberValue: SummableValue {}

/// What can be added up, and its Optional.
@_documentation(visibility: internal)
public protocol SummableValue: NumberValue {}

/// Floating-point numbers and their Optionals: what any literal number can be assigned to.
@_documentation(visibility: internal)
public protocol RealValue: BinaryNumberValue where Number: ExpressibleByFloatLiteral {}

extension Int: BinaryNumberValue {}
extension Int8: BinaryNumberValue {}
extension Int16: BinaryNumberValue {}
extension Int32: BinaryNumberValue {}
extension Int64: BinaryNumberValue {}
extension UInt: BinaryNumberValue {}
extension UInt8: BinaryNumberValue {}
extension UInt16: BinaryNumberValue {}
extension UInt32: BinaryNumberValue {}
extension UInt64: BinaryNumberValue {}
extension Float: RealValue {}
// Not one with a fraction: Swift makes a Double of it first.
extension Decimal: SummableValue {}
extension Double: RealValue {}
extension Optional: NumberOperand where Wrapped: NumberValue {}
extension Optional: NumberValue where Wrapped: NumberValue {
  /// The number's type.
  @_documentation(visibility: internal)
  public typealias Number = Wrapped.Number
  /// A real number or nil.
  @_documentation(visibility: internal)
  public typealias AsReal = Double?
  /// An integer or nil.
  @_documentation(visibility: internal)
  public typealias AsInteger = Int?
}

extension Optional: BinaryNumberValue where Wrapped: BinaryNumberValue {}
extension Optional: SummableValue where Wrapped: SummableValue {}
extension Optional: RealValue where Wrapped: RealValue {}

extension SQLExpression: ExpressibleByIntegerLiteral where Value: NumberValue {
  /// A number, which is bound as one of the expression's type.
  public init(integerLiteral value: Value.Number.IntegerLiteralType) {
    self.init(
      SQLFragment(
        value: Value.Number(integerLiteral: value), isNullable: false,
        coding: .own(of: Value.Number.self)))
  }
}

extension SQLExpression: ExpressibleByFloatLiteral where Value: RealValue {
  /// A number, which is bound as one of the expression's type.
  public init(floatLiteral value: Value.Number.FloatLiteralType) {
    self.init(SQLFragment(value: Value.Number(floatLiteral: value), isNullable: false))
  }
}

extension SQLExpression: ExpressibleByBooleanLiteral where Value == Bool {
  /// True or false, which is bound.
  public init(booleanLiteral value: Bool) { self = .value(value) }
}

extension SQLExpression: ExpressibleByStringLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
  ExpressibleByUnicodeScalarLiteral
where Value: TextValue {
  /// Text, which is bound.
  public init(stringLiteral value: String) {
    self.init(SQLFragment(value: value, isNullable: false))
  }
}

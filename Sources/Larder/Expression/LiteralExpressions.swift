import FoundationEssentials
import LarderSQLite

// Literals as expressions, for assignments: `$0.population = 3`. For an operator that takes a value, the
// literal has the value's type: of the methods that take a value or an expression, the latter are
// disfavoured.

/// Numbers and their Optionals: the types that an integer literal can be assigned to.
@_documentation(visibility: internal)
public protocol NumberValue: DatabaseValueConvertible, NumberOperand {
  /// The number's type, without Optional.
  associatedtype Number: DatabaseValueConvertible & ExpressibleByIntegerLiteral = Self
  /// Double; Optional if this type is.
  associatedtype AsReal: DatabaseValueConvertible = Double
  /// Int; Optional if this type is.
  associatedtype AsInteger: DatabaseValueConvertible = Int
}

extension NumberValue {
  /// Whether the type has fractions.
  @usableFromInline static var isReal: Bool { Number.self is any BinaryFloatingPoint.Type }
}

/// Numbers that SQLite computes with natively, and so can divide, and their Optionals.
@_documentation(visibility: internal)
public protocol BinaryNumberValue: SummableValue {}

/// Numbers that can be summed, and their Optionals.
@_documentation(visibility: internal)
public protocol SummableValue: NumberValue {}

/// Floating-point numbers and their Optionals: the types that any number literal can be assigned to.
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
// Decimal isn't a RealValue: Swift makes a Double of a literal with a fraction first.
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
  /// A bound number of the expression's type.
  public init(integerLiteral value: Value.Number.IntegerLiteralType) {
    self.init(
      SQLFragment(
        value: Value.Number(integerLiteral: value), isNullable: false,
        coding: .own(of: Value.Number.self)))
  }
}

extension SQLExpression: ExpressibleByFloatLiteral where Value: RealValue {
  /// A bound number of the expression's type.
  public init(floatLiteral value: Value.Number.FloatLiteralType) {
    self.init(SQLFragment(value: Value.Number(floatLiteral: value), isNullable: false))
  }
}

extension SQLExpression: ExpressibleByBooleanLiteral where Value == Bool {
  /// A bound Bool.
  public init(booleanLiteral value: Bool) { self = .value(value) }
}

extension SQLExpression: ExpressibleByStringLiteral, ExpressibleByExtendedGraphemeClusterLiteral,
  ExpressibleByUnicodeScalarLiteral
where Value: TextValue {
  /// A bound text.
  public init(stringLiteral value: String) {
    self.init(SQLFragment(value: value, isNullable: false))
  }
}

import LarderSQLite

// Literals as expressions, for assignments: `$0.population = 3`. Where an operator takes a value, the
// literal is one of the value's type: methods that take a value or an expression disfavour the latter.

/// Numbers and their Optionals: what a literal integer can be assigned to.
@_documentation(visibility: internal)
public protocol NumberValue: DatabaseValueConvertible {
  /// The number's type, without Optional.
  associatedtype Number: DatabaseValueConvertible & ExpressibleByIntegerLiteral = Self
  /// Double, Optional if this is.
  associatedtype AsReal: DatabaseValueConvertible = Double
  /// Int, Optional if this is.
  associatedtype AsInteger: DatabaseValueConvertible = Int
}

/// Floating-point numbers and their Optionals: what any literal number can be assigned to.
@_documentation(visibility: internal)
public protocol RealValue: NumberValue where Number: ExpressibleByFloatLiteral {}

extension Int: NumberValue {}
extension Int8: NumberValue {}
extension Int16: NumberValue {}
extension Int32: NumberValue {}
extension Int64: NumberValue {}
extension UInt: NumberValue {}
extension UInt8: NumberValue {}
extension UInt16: NumberValue {}
extension UInt32: NumberValue {}
extension UInt64: NumberValue {}
extension Float: RealValue {}
extension Double: RealValue {}
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

extension Optional: RealValue where Wrapped: RealValue {}

extension SQLExpression: ExpressibleByIntegerLiteral where Value: NumberValue {
  /// A number, which is bound as one of the expression's type.
  public init(integerLiteral value: Value.Number.IntegerLiteralType) {
    self.init(SQLFragment(value: Value.Number(integerLiteral: value), isNullable: false))
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

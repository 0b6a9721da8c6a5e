import LarderSQLite

// Literals as expressions, for assignments: `$0.population = 3`. Where an operator takes a value, the
// literal is one of the value's type: methods that take a value or an expression disfavour the latter.

/// Numbers and their Optionals: what a literal integer can be assigned to.
public protocol NumberValue: DatabaseValueConvertible {}

/// Floating-point numbers and their Optionals: what any literal number can be assigned to.
public protocol RealValue: NumberValue {}

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
extension Optional: NumberValue where Wrapped: NumberValue {}
extension Optional: RealValue where Wrapped: RealValue {}

extension SQLExpression: ExpressibleByIntegerLiteral where Value: NumberValue {
  /// A number, which is bound.
  public init(integerLiteral value: Int) { self.init(SQL(bound: value)) }
}

extension SQLExpression: ExpressibleByFloatLiteral where Value: RealValue {
  /// A number, which is bound.
  public init(floatLiteral value: Double) { self.init(SQL(bound: value)) }
}

extension SQLExpression: ExpressibleByBooleanLiteral where Value == Bool {
  /// True or false, which is bound.
  public init(booleanLiteral value: Bool) { self = .value(value) }
}

// Literals as JSON, for assignments: `$0.payload["state"] = "done"`.

extension JSONExpression: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// A text, which is bound.
  public init(stringLiteral value: String) { self = .value(value) }
  /// A number, which is bound.
  public init(integerLiteral value: Int) { self = .value(value) }
  /// A number, which is bound.
  public init(floatLiteral value: Double) { self = .value(value) }
  /// True or false, which is bound.
  public init(booleanLiteral value: Bool) { self = .value(value) }
  /// The null of JSON.
  public init(nilLiteral: ()) { self = .value(Bool?.none) }
}

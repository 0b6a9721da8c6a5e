// Literals as JSON, for assignments: `$0.payload["state"] = "done"`.

extension JSONExpression: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  /// A bound text.
  public init(stringLiteral value: String) { self = .value(value) }
  /// A bound number.
  public init(integerLiteral value: Int) { self = .value(value) }
  /// A bound number.
  public init(floatLiteral value: Double) { self = .value(value) }
  /// A bound Bool.
  public init(booleanLiteral value: Bool) { self = .value(value) }
  /// The JSON value null.
  public init(nilLiteral: ()) { self = .value(Bool?.none) }
}

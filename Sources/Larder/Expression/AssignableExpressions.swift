// Protocols for the compiler: the expressions that a column takes besides those of its own type. See
// Assignments.swift.

/// An expression of a type. In an assignment it becomes an expression of that type's Optional.
@_documentation(visibility: internal)
public protocol ExpressionOfTheColumnsType<Value>: Sendable {
  /// The type.
  associatedtype Value: Sendable
}

extension SQLExpression: ExpressionOfTheColumnsType {}

extension ExpressionOfTheColumnsType {
  /// The expression.
  var fragment: SQLFragment {
    (self as? SQLExpression<Value>)?.node
      ?? .misuse("only Larder's own types of expressions can be assigned")
  }
}

/// An Optional, or an expression of one. A column that can't be NULL doesn't take it.
@_documentation(visibility: internal)
public protocol ValueOrNone<Wrapped> {
  /// The type without Optional.
  associatedtype Wrapped
}

extension Optional: ValueOrNone {}
extension SQLExpression: ValueOrNone where Value: ValueOrNone {
  /// The type without Optional.
  @_documentation(visibility: internal)
  public typealias Wrapped = Value.Wrapped
}

// Protocols for the compiler: the expressions that a column doesn't take. See Assignments.swift.

/// An expression of any type. In an assignment the compiler's message shows its name.
@_documentation(visibility: internal)
public protocol ExpressionOfTheColumnsType: Sendable {}

extension SQLExpression: ExpressionOfTheColumnsType {}

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

// What can be assigned to a column besides an expression of its own type, for the compiler: see Assignments.swift.

/// An expression of a type: what becomes the Optional of that in an assignment.
@_documentation(visibility: internal)
public protocol ExpressionOfTheColumnsType<Value>: Sendable {
  /// The type.
  associatedtype Value: Sendable
}

extension SQLExpression: ExpressionOfTheColumnsType {}

extension ExpressionOfTheColumnsType {
  /// The expression.
  var fragment: SQLFragment {
    (self as? SQLExpression<Value>)?.node ?? .misuse("an expression of one's own")
  }
}

/// An Optional, or an expression of one: what a column that can't be NULL can't become.
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

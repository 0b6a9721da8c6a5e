/// A term of ORDER BY.
public struct OrderingTerm: Sendable {
  @usableFromInline let node: SQLFragment

  /// The same order with NULLs before all other values.
  public var nullsFirst: OrderingTerm {
    OrderingTerm(node: SQLFragment(.nullsFirst, node))
  }
  /// The same order with NULLs after all other values.
  public var nullsLast: OrderingTerm {
    OrderingTerm(node: SQLFragment(.nullsLast, node))
  }
}

extension SQLExpression {
  /// Ascending order; NULLs come first.
  public var asc: OrderingTerm { OrderingTerm(node: term) }
  /// Descending order; NULLs come last.
  public var desc: OrderingTerm { OrderingTerm(node: SQLFragment(.descending, term)) }
}

/// A term of an order: an ``OrderingTerm``, or an expression, which is ordered ascending.
@_documentation(visibility: internal)
public protocol OrderTerm {
  /// The term.
  @_documentation(visibility: internal)
  var orderingTerm: OrderingTerm { get }
}

extension OrderingTerm: OrderTerm {
  /// This term.
  @_documentation(visibility: internal)
  public var orderingTerm: OrderingTerm { self }
}

extension SQLExpression: OrderTerm {
  /// The expression in ascending order.
  @_documentation(visibility: internal)
  public var orderingTerm: OrderingTerm { asc }
}

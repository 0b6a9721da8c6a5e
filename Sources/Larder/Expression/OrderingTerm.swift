/// A term of ORDER BY.
public struct OrderingTerm: Sendable {
  @usableFromInline let node: SQLFragment

  /// NULLs come before all else.
  public var nullsFirst: OrderingTerm {
    OrderingTerm(node: SQLFragment(.nullsFirst, node))
  }
  /// NULLs come after all else.
  public var nullsLast: OrderingTerm {
    OrderingTerm(node: SQLFragment(.nullsLast, node))
  }
}

extension SQLExpression {
  /// From the smallest to the largest; NULLs come first.
  public var asc: OrderingTerm { OrderingTerm(node: term) }
  /// From the largest to the smallest; NULLs come last.
  public var desc: OrderingTerm { OrderingTerm(node: SQLFragment(.descending, term)) }
}

/// A term of an order: an ``OrderingTerm``, or an expression, from the smallest value to the largest.
@_documentation(visibility: internal)
public protocol OrderTerm {
  /// The term.
  @_documentation(visibility: internal)
  var orderingTerm: OrderingTerm { get }
}

extension OrderingTerm: OrderTerm {
  /// Itself.
  @_documentation(visibility: internal)
  public var orderingTerm: OrderingTerm { self }
}

extension SQLExpression: OrderTerm {
  /// From the smallest value to the largest.
  @_documentation(visibility: internal)
  public var orderingTerm: OrderingTerm { asc }
}

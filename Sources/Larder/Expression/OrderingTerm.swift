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

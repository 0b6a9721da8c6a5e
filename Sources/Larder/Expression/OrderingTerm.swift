/// A term of ORDER BY.
public struct OrderingTerm: Sendable {
  @usableFromInline let node: SQLFragment

  @inlinable
  init(node: SQLFragment) { self.node = node }

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

extension SQLExpression {
  /// Not available: the word is `asc`.
  @_documentation(visibility: internal)
  @available(*, unavailable, renamed: "asc")
  public var ascending: OrderingTerm { asc }
  /// Not available: the word is `desc`.
  @_documentation(visibility: internal)
  @available(*, unavailable, renamed: "desc")
  public var descending: OrderingTerm { desc }
}

/// Terms of an order: an ``OrderingTerm``, several in an array, or an expression, which is ordered ascending.
@_documentation(visibility: internal)
public protocol OrderTerms {
  /// The terms, as one.
  @_documentation(visibility: internal)
  var orderingTerms: OrderingTerm { get }
}

extension OrderingTerm: OrderTerms {
  /// This term.
  @_documentation(visibility: internal)
  @inlinable public var orderingTerms: OrderingTerm { self }
}

extension SQLExpression: OrderTerms {
  /// The expression in ascending order.
  @_documentation(visibility: internal)
  @inlinable public var orderingTerms: OrderingTerm { OrderingTerm(node: term) }
}

extension [OrderingTerm]: OrderTerms {
  /// The terms in turn.
  @_documentation(visibility: internal)
  public var orderingTerms: OrderingTerm { OrderingTerm(node: .list(flatMap(\.node.parts))) }
}

/// A result builder of the terms of an order: an expression, a term, or several of them in parentheses. See
/// ``SQLCondition`` for why closures have builders.
@resultBuilder
@_documentation(visibility: internal)
public enum SQLOrder {
  /// One term, an expression, or an array of terms.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildExpression<Terms: OrderTerms>(_ terms: Terms) -> OrderingTerm {
    terms.orderingTerms
  }

  /// Several terms or expressions.
  @_documentation(visibility: internal)
  public static func buildExpression<each Terms: OrderTerms>(
    _ terms: (repeat each Terms)
  ) -> OrderingTerm {
    var list: [OrderingTerm] = []
    repeat list.append((each terms).orderingTerms)
    return list.orderingTerms
  }

  /// Not available: only terms can be ordered by.
  @_documentation(visibility: internal)
  @available(
    *, unavailable,
    message: """
      order takes an expression or a term, or several in parentheses: { ($0.name, $0.age.desc) }
      """
  )
  public static func buildExpression<Other>(_ other: Other) -> OrderingTerm {
    OrderingTerm(node: .list([]))
  }

  // A statement without a value would fit the empty pack, and order nothing.
  /// Not available: only terms can be ordered by.
  @_documentation(visibility: internal)
  @available(*, unavailable, message: "order takes an expression or a term: { $0.age.desc }")
  public static func buildBlock(_ nothing: Void) -> OrderingTerm { OrderingTerm(node: .list([])) }

  /// A statement without a value.
  @_documentation(visibility: internal)
  public static func buildExpression(_ nothing: Void) {}

  /// The order.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildBlock(_ terms: OrderingTerm) -> OrderingTerm { terms }

  /// The order of an `if` in Swift, which decides while the query is made.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither(first terms: OrderingTerm) -> OrderingTerm { terms }

  /// The order of an `else`.
  @_documentation(visibility: internal)
  @inlinable
  public static func buildEither(second terms: OrderingTerm) -> OrderingTerm { terms }
}

import LarderSQLite

// Operators are members of the expressions, each for a value, an expression, and an Optional one: that
// is what type-checks in a fraction of a second with 32 conditions in one closure.

extension SQLExpression {
  /// An operator between this expression and SQL, with parentheses where they are needed.
  func infix<Result>(
    _ operation: StaticString, _ right: SQL, _ precedence: Precedence, isNullable: Bool = true
  ) -> SQLExpression<Result> {
    SQLExpression<Result>(
      node.infix(operation, operand: TextNode(right), precedence, isNullable: isNullable))
  }
}

// MARK: Comparison

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it equals a value; NULL equals nil.
  @inlinable
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right, negated: false))
  }

  /// Whether it differs from a value; NULL equals nil.
  @inlinable
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right, negated: true))
  }

  /// Whether it is less than a value.
  @inlinable
  public static func < (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" < ", right, .comparison))
  }

  /// Whether it is at most a value.
  @inlinable
  public static func <= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" <= ", right, .comparison))
  }

  /// Whether it is greater than a value.
  @inlinable
  public static func > (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" > ", right, .comparison))
  }

  /// Whether it is at least a value.
  @inlinable
  public static func >= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" >= ", right, .comparison))
  }

  /// Whether it lies in a range of values.
  public func between(_ range: ClosedRange<Value>) -> SQLExpression<Bool>
  where Value: Comparable {
    between(range.lowerBound, range.upperBound)
  }

  /// Whether it lies in a range of values; not true for NULL.
  public func between<Wrapped: Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    between(range.lowerBound, range.upperBound)
  }

  private func between(_ first: Value, _ last: Value) -> SQLExpression<Bool> {
    infix(" BETWEEN ", SQL(bound(first), " AND ", bound(last)), .equality)
  }
}

extension SQLExpression {
  /// Whether both are equal; NULL equals NULL.
  @inlinable
  public static func == (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right.node, negated: false))
  }

  /// Whether both are equal; NULL equals NULL.
  @inlinable @_disfavoredOverload
  public static func == (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right.node, orNull: true, negated: false))
  }

  /// Whether both are equal; NULL equals NULL.
  @inlinable @_disfavoredOverload
  public static func == <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.equals(right.node, orNull: true, negated: false))
  }

  /// Whether both differ; NULL equals NULL.
  @inlinable
  public static func != (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right.node, negated: true))
  }

  /// Whether it is less than the other.
  @inlinable
  public static func < (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" < ", right.node, .comparison))
  }

  /// Whether it is at most the other.
  @inlinable
  public static func <= (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" <= ", right.node, .comparison))
  }

  /// Whether it is greater than the other.
  @inlinable
  public static func > (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" > ", right.node, .comparison))
  }

  /// Whether it is at least the other.
  @inlinable
  public static func >= (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" >= ", right.node, .comparison))
  }

  /// Whether it is less than a value; not true for NULL.
  @inlinable
  public static func < <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" < ", right, .comparison))
  }

  /// Whether it is at most a value; not true for NULL.
  @inlinable
  public static func <= <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" <= ", right, .comparison))
  }

  /// Whether it is greater than a value; not true for NULL.
  @inlinable
  public static func > <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" > ", right, .comparison))
  }

  /// Whether it is at least a value; not true for NULL.
  @inlinable
  public static func >= <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" >= ", right, .comparison))
  }

  /// Whether both differ; NULL equals NULL.
  @inlinable @_disfavoredOverload
  public static func != (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right.node, orNull: true, negated: true))
  }

  /// Whether both differ; NULL equals NULL.
  @inlinable @_disfavoredOverload
  public static func != <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.equals(right.node, orNull: true, negated: true))
  }

  /// Whether it is less than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func < (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" < ", right.node, .comparison))
  }

  /// Whether it is less than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func < <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" < ", right.node, .comparison))
  }

  /// Whether it is at most the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" <= ", right.node, .comparison))
  }

  /// Whether it is at most the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" <= ", right.node, .comparison))
  }

  /// Whether it is greater than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" > ", right.node, .comparison))
  }

  /// Whether it is greater than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" > ", right.node, .comparison))
  }

  /// Whether it is at least the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(" >= ", right.node, .comparison))
  }

  /// Whether it is at least the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(" >= ", right.node, .comparison))
  }

  /// Whether it is NULL.
  public var isNull: SQLExpression<Bool> {
    SQLExpression<Bool>(
      WrappedNode("", node.inside(.equality), " IS NULL", .equality, isNullable: false))
  }

  /// Whether it isn't NULL.
  public var isNotNull: SQLExpression<Bool> {
    SQLExpression<Bool>(
      WrappedNode("", node.inside(.equality), " IS NOT NULL", .equality, isNullable: false))
  }
}

// MARK: Logic

extension SQLExpression where Value == Bool {
  /// Whether both are true.
  @inlinable
  public static func && (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" AND ", right.node, .and))
  }

  /// Whether one of them is true.
  @inlinable
  public static func || (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" OR ", right.node, .or))
  }

  /// Whether it is false.
  public static prefix func ! (operand: Self) -> Self {
    SQLExpression(
      WrappedNode("NOT ", operand.node.inside(.not), "", .not, isNullable: operand.isNullable))
  }
}

// MARK: Arithmetic

extension SQLExpression where Value: Numeric & DatabaseValueConvertible {
  /// The sum.
  @inlinable
  public static func + (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(" + ", right, .sum))
  }

  /// The sum.
  @inlinable
  public static func + (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" + ", right.node, .sum))
  }

  /// The difference.
  @inlinable
  public static func - (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(" - ", right, .sum))
  }

  /// The difference.
  @inlinable
  public static func - (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" - ", right.node, .sum))
  }

  /// The product.
  @inlinable
  public static func * (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(" * ", right, .product))
  }

  /// The product.
  @inlinable
  public static func * (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" * ", right.node, .product))
  }

  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(" / ", right, .product))
  }

  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(" / ", right.node, .product))
  }

  /// Adds to an assignment's value.
  public static func += (left: inout Self, right: Value) { left = left + right }

  /// Adds to an assignment's value.
  @_disfavoredOverload
  public static func += (left: inout Self, right: Self) { left = left + right }

  /// Subtracts from an assignment's value.
  public static func -= (left: inout Self, right: Value) { left = left - right }

  /// Subtracts from an assignment's value.
  @_disfavoredOverload
  public static func -= (left: inout Self, right: Self) { left = left - right }

  /// Multiplies an assignment's value.
  public static func *= (left: inout Self, right: Value) { left = left * right }

  /// Multiplies an assignment's value.
  @_disfavoredOverload
  public static func *= (left: inout Self, right: Self) { left = left * right }
}

// MARK: Order

/// A term of ORDER BY. Its node has the precedence of its expression, which pages compare by.
public struct OrderingTerm: Sendable {
  @usableFromInline let node: SQLNode
  var sql: SQL { node.sql }

  /// NULLs come before all else.
  public var nullsFirst: OrderingTerm {
    OrderingTerm(node: WrappedNode("", node, " NULLS FIRST", node.precedence))
  }
  /// NULLs come after all else.
  public var nullsLast: OrderingTerm {
    OrderingTerm(node: WrappedNode("", node, " NULLS LAST", node.precedence))
  }
}

extension SQLExpression {
  /// From the smallest to the largest; NULLs come first.
  public var asc: OrderingTerm { OrderingTerm(node: term) }
  /// From the largest to the smallest; NULLs come last.
  public var desc: OrderingTerm {
    OrderingTerm(node: WrappedNode("", term, " DESC", term.precedence))
  }
}

import LarderSQLite

// Operators are members of the expressions, each for a value, an expression, and an Optional one: that
// is what type-checks in a fraction of a second with 32 conditions in one closure. Equality is null-safe:
// `IS` where a side can be NULL.

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
    SQLExpression<Bool>(left.node.infix(.less, right))
  }

  /// Whether it is at most a value.
  @inlinable
  public static func <= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right))
  }

  /// Whether it is greater than a value.
  @inlinable
  public static func > (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greater, right))
  }

  /// Whether it is at least a value.
  @inlinable
  public static func >= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right))
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
    let range = SQLFragment.list(
      [node.boundInOrder(first), node.boundInOrder(last)], separator: " AND ")
    return SQLExpression<Bool>(node.ordered.infix(.between, operand: range))
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
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether it is at most the other.
  @inlinable
  public static func <= (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether it is greater than the other.
  @inlinable
  public static func > (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether it is at least the other.
  @inlinable
  public static func >= (left: Self, right: Self) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }

  /// Whether it is less than a value; not true for NULL.
  @inlinable
  public static func < <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.less, right))
  }

  /// Whether it is at most a value; not true for NULL.
  @inlinable
  public static func <= <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right))
  }

  /// Whether it is greater than a value; not true for NULL.
  @inlinable
  public static func > <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greater, right))
  }

  /// Whether it is at least a value; not true for NULL.
  @inlinable
  public static func >= <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right))
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
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether it is less than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func < <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether it is at most the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether it is at most the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether it is greater than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether it is greater than the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether it is at least the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }

  /// Whether it is at least the other; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }

  /// Whether it is NULL.
  public var isNull: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment(.isNull, node.inside(.equality), isNullable: false))
  }

  /// Whether it isn't NULL.
  public var isNotNull: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment(.isNotNull, node.inside(.equality), isNullable: false))
  }
}

// MARK: Logic

extension SQLExpression where Value == Bool {
  /// Whether both are true.
  @inlinable
  public static func && (left: Self, right: Self) -> Self {
    SQLExpression(left.node.logical(.and, right.node))
  }

  /// Whether one of them is true.
  @inlinable
  public static func || (left: Self, right: Self) -> Self {
    SQLExpression(left.node.logical(.or, right.node))
  }

  /// Whether it is false.
  public static prefix func ! (operand: Self) -> Self {
    let condition = operand.node.asCondition()
    return SQLExpression(
      SQLFragment(.not, condition.inside(.not), isNullable: condition.isNullable))
  }
}

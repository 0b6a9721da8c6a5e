import LarderSQLite

// Operators are members of the expressions, with one overload each for a value, an expression and an Optional
// expression: so 32 conditions in one closure type-check in a fraction of a second. Equality is null-safe:
// `IS` if a side can be NULL.

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether the expression equals a value; NULL equals nil.
  @inlinable
  public static func == (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right, negated: false))
  }

  /// Whether the expression differs from a value; NULL equals nil.
  @inlinable
  public static func != (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.equals(right, negated: true))
  }

  /// Whether the left side is less than a value.
  @inlinable
  public static func < (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.less, right))
  }

  /// Whether the left side is at most a value.
  @inlinable
  public static func <= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right))
  }

  /// Whether the left side is greater than a value.
  @inlinable
  public static func > (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greater, right))
  }

  /// Whether the left side is at least a value.
  @inlinable
  public static func >= (left: Self, right: Value) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right))
  }

  /// Whether the value lies in a range.
  public func between(_ range: ClosedRange<Value>) -> SQLExpression<Bool>
  where Value: Comparable {
    SQLExpression<Bool>(node.between(range.lowerBound, range.upperBound))
  }

  /// Whether the value lies in a range; not true for NULL.
  public func between<Wrapped: Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(node.between(range.lowerBound, range.upperBound))
  }
}

extension SQLExpression {
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

  /// Whether the left side is less than a value; not true for NULL.
  @inlinable
  public static func < <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.less, right))
  }

  /// Whether the left side is at most a value; not true for NULL.
  @inlinable
  public static func <= <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right))
  }

  /// Whether the left side is greater than a value; not true for NULL.
  @inlinable
  public static func > <Wrapped: DatabaseValueConvertible>(
    left: SQLExpression<Wrapped?>, right: Wrapped
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greater, right))
  }

  /// Whether the left side is at least a value; not true for NULL.
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

  /// Whether the left side is less than the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func < (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether the left side is less than the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func < <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether the left side is at most the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether the left side is at most the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func <= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether the left side is greater than the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether the left side is greater than the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func > <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether the left side is at least the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= (left: Self, right: SQLExpression<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }

  /// Whether the left side is at least the right; not true for NULL.
  @inlinable @_disfavoredOverload
  public static func >= <Wrapped>(
    left: SQLExpression<Wrapped?>, right: SQLExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }

  /// Whether the value is NULL.
  public var isNull: SQLExpression<Bool> {
    SQLExpression<Bool>(SQLFragment(.isNull, node.parenthesized(in: .equality), isNullable: false))
  }

  /// Whether the value isn't NULL.
  public var isNotNull: SQLExpression<Bool> {
    SQLExpression<Bool>(
      SQLFragment(.isNotNull, node.parenthesized(in: .equality), isNullable: false))
  }
}

// MARK: Two expressions

// In a protocol's extension, where the compiler looks last: a literal can be an expression too, and beside a
// column of a common table both overloads would fit equally.
extension ArithmeticOperand {
  /// Whether both are equal; NULL equals NULL.
  @inlinable
  public static func == <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.equals(right.node, negated: false))
  }

  /// Whether both differ; NULL equals NULL.
  @inlinable
  public static func != <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.equals(right.node, negated: true))
  }

  /// Whether the left side is less than the right.
  @inlinable
  public static func < <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.infix(.less, right.node))
  }

  /// Whether the left side is at most the right.
  @inlinable
  public static func <= <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.infix(.lessOrEqual, right.node))
  }

  /// Whether the left side is greater than the right.
  @inlinable
  public static func > <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.infix(.greater, right.node))
  }

  /// Whether the left side is at least the right.
  @inlinable
  public static func >= <Value>(
    left: Self, right: Self
  ) -> SQLExpression<Bool> where Self == SQLExpression<Value> {
    SQLExpression<Bool>(left.node.infix(.greaterOrEqual, right.node))
  }
}

// MARK: Logic

extension SQLExpression where Value == Bool {
  /// Whether both are true.
  @inlinable
  public static func && (left: Self, right: Self) -> Self {
    SQLExpression(left.node.logical(.and, right.node))
  }

  /// Whether at least one of them is true.
  @inlinable
  public static func || (left: Self, right: Self) -> Self {
    SQLExpression(left.node.logical(.or, right.node))
  }

  /// Whether the condition is false.
  public static prefix func ! (operand: Self) -> Self {
    let condition = operand.node.asCondition()
    return SQLExpression(
      SQLFragment(.not, condition.parenthesized(in: .not), isNullable: condition.isNullable))
  }
}

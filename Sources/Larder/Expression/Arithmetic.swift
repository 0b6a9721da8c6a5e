import LarderSQLite

extension SQLExpression where Value: Numeric & DatabaseValueConvertible {
  /// The sum.
  @inlinable
  public static func + (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.add, right))
  }

  /// The sum.
  @inlinable
  public static func + (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference.
  @inlinable
  public static func - (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.subtract, right))
  }

  /// The difference.
  @inlinable
  public static func - (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product.
  @inlinable
  public static func * (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.multiply, right))
  }

  /// The product.
  @inlinable
  public static func * (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.divide, right))
  }

  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Self) -> Self {
    SQLExpression(left.node.infix(.divide, right.node))
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

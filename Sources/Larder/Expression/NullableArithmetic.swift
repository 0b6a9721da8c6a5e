import LarderSQLite

// Arithmetic with numbers that may be NULL: the result is NULL where one of them is. Operators for two
// types are disfavoured, since a literal can be of either.

extension SQLExpression {
  /// The sum; NULL where there is no value.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right))
  }

  /// The sum; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The sum; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference; NULL where there is no value.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right))
  }

  /// The difference; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The difference; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product; NULL where there is no value.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right))
  }

  /// The product; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The product; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The quotient; NULL where there is no value. NULL for a division by zero too.
  @inlinable
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.divide, right))
  }

  /// The quotient; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }

  /// The quotient; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }

  /// The rest of a division; NULL where there is no value, and for a division by zero.
  @inlinable
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right))
  }

  /// The rest of a division; NULL where one of them is.
  @inlinable
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The rest of a division; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The rest of a division; NULL where one of them is.
  @inlinable @_disfavoredOverload
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The number with the other sign; NULL where there is no value.
  public static prefix func - <Wrapped: SignedNumeric & DatabaseValueConvertible>(
    operand: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(operand.node.negated)
  }

  /// Adds to an assignment's value; NULL stays NULL.
  public static func += <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Wrapped
  ) where Value == Wrapped? { left = left + right }

  /// Subtracts from an assignment's value; NULL stays NULL.
  public static func -= <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Wrapped
  ) where Value == Wrapped? { left = left - right }

  /// Multiplies an assignment's value; NULL stays NULL.
  public static func *= <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Wrapped
  ) where Value == Wrapped? { left = left * right }

  /// Adds to an assignment's value; NULL where one of them is.
  @_disfavoredOverload
  public static func += <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Self
  ) where Value == Wrapped? { left = left + right }

  /// Adds to an assignment's value; NULL stays NULL.
  @_disfavoredOverload
  public static func += <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: SQLExpression<Wrapped>
  ) where Value == Wrapped? { left = left + right }

  /// Subtracts from an assignment's value; NULL where one of them is.
  @_disfavoredOverload
  public static func -= <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Self
  ) where Value == Wrapped? { left = left - right }

  /// Subtracts from an assignment's value; NULL stays NULL.
  @_disfavoredOverload
  public static func -= <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: SQLExpression<Wrapped>
  ) where Value == Wrapped? { left = left - right }
}

// See `ArithmeticOperand`.
extension ArithmeticOperand {
  /// The sum; NULL where one of them is.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference; NULL where one of them is.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product; NULL where one of them is.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The quotient; NULL where one of them is.
  @inlinable
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }
}

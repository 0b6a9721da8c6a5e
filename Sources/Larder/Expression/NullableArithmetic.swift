import LarderSQLite

// Arithmetic with numbers that may be NULL: the result is NULL if an operand is. Operators for two types are
// disfavoured, since a literal can be of either.

extension SQLExpression {
  /// The sum; NULL if the value is NULL.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right))
  }

  /// The sum; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The sum; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference; NULL if the value is NULL.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right))
  }

  /// The difference; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The difference; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product; NULL if the value is NULL.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right))
  }

  /// The product; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The product; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The quotient; NULL if the value is NULL, and for a division by zero.
  @inlinable
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.divide, right))
  }

  /// The quotient; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }

  /// The quotient; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }

  /// The remainder of a division; NULL if the value is NULL, and for a division by zero.
  @inlinable
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right))
  }

  /// The remainder of a division; NULL if either operand is.
  @inlinable
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The remainder of a division; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The remainder of a division; NULL if either operand is.
  @inlinable @_disfavoredOverload
  public static func % <Wrapped: FixedWidthInteger & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(left.node.infix(.remainder, right.node))
  }

  /// The negated number; NULL if the value is NULL.
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

  /// Adds to an assignment's value; NULL if either operand is.
  @_disfavoredOverload
  public static func += <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: Self
  ) where Value == Wrapped? { left = left + right }

  /// Adds to an assignment's value; NULL stays NULL.
  @_disfavoredOverload
  public static func += <Wrapped: Numeric & DatabaseValueConvertible>(
    left: inout Self, right: SQLExpression<Wrapped>
  ) where Value == Wrapped? { left = left + right }

  /// Subtracts from an assignment's value; NULL if either operand is.
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

// The extension is on `ArithmeticOperand` for the reason given there.
extension ArithmeticOperand {
  /// The sum; NULL if either operand is.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference; NULL if either operand is.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product; NULL if either operand is.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.infix(.multiply, right.node))
  }

  /// The quotient; NULL if either operand is.
  @inlinable
  public static func / <Wrapped: Numeric & BinaryNumberValue>(
    left: Self, right: Self
  ) -> Self where Self == SQLExpression<Wrapped?> {
    SQLExpression(left.node.divided(by: right.node, isReal: Wrapped.isReal))
  }
}

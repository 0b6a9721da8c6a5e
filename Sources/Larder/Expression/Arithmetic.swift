import LarderSQLite

// Arithmetic and bits: operators of numbers. For those that may be NULL see NullableArithmetic.swift.

extension SQLExpression where Value: Numeric & DatabaseValueConvertible {
  /// The sum.
  @inlinable
  public static func + (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.add, right))
  }

  /// The difference.
  @inlinable
  public static func - (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.subtract, right))
  }

  /// The product.
  @inlinable
  public static func * (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.multiply, right))
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

extension SQLExpression where Value: BinaryNumberValue & Numeric {
  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.divide, right))
  }

  /// The quotient; of integers, without the rest. NULL for a division by zero.
  @inlinable @_disfavoredOverload
  public static func / (left: Self, right: Self) -> Self {
    SQLExpression(left.node.divided(by: right.node, isReal: Value.isReal))
  }
}

extension SQLExpression where Value: SignedNumeric & DatabaseValueConvertible {
  /// The number with the other sign.
  public static prefix func - (operand: Self) -> Self {
    Self(operand.node.negated)
  }
}

extension SQLExpression where Value: FixedWidthInteger & DatabaseValueConvertible {
  /// The remainder of a division; NULL for a division by zero.
  public static func % (left: Self, right: Value) -> Self {
    Self(left.node.infix(.remainder, right))
  }

  /// The remainder of a division; NULL for a division by zero.
  public static func % (left: Self, right: Self) -> Self {
    Self(left.node.infix(.remainder, right.node))
  }

  /// Bitwise AND: the bits that are set in both.
  public static func & (left: Self, right: Value) -> Self {
    Self(left.node.infix(.bitwiseAnd, right))
  }

  /// Bitwise AND: the bits that are set in both.
  public static func & (left: Self, right: Self) -> Self {
    Self(left.node.infix(.bitwiseAnd, right.node))
  }

  /// Bitwise OR: the bits that are set in one of them.
  public static func | (left: Self, right: Value) -> Self {
    Self(left.node.infix(.bitwiseOr, right))
  }

  /// Bitwise OR: the bits that are set in one of them.
  public static func | (left: Self, right: Self) -> Self {
    Self(left.node.infix(.bitwiseOr, right.node))
  }

  /// The bits of SQLite's 64, moved to the left; by a negative number, to the right.
  public static func << (left: Self, right: Int) -> Self {
    Self(left.node.computed.infix(.shiftLeft, operand: SQLFragment(value: right)))
  }

  /// The bits of SQLite's 64, moved to the right, the sign being kept.
  public static func >> (left: Self, right: Int) -> Self {
    Self(left.node.computed.infix(.shiftRight, operand: SQLFragment(value: right)))
  }

  /// Bitwise NOT of SQLite's 64 bits.
  public static prefix func ~ (operand: Self) -> Self {
    Self(
      SQLFragment(
        .bitwiseNot, operand.node.computed.inside(.sign), isNullable: operand.node.isNullable))
  }
}

// MARK: Two expressions

/// What is computed with: only for its extension, in which the compiler looks last. A literal can be an
/// expression too, and behind a function, as in `$0.count.coalesce(0) + 1`, both would fit equally.
@_documentation(visibility: internal)
public protocol ArithmeticOperand {}

extension SQLExpression: ArithmeticOperand {}

extension ArithmeticOperand {
  /// The sum.
  @inlinable
  public static func + <Value: Numeric & DatabaseValueConvertible>(left: Self, right: Self) -> Self
  where Self == SQLExpression<Value> {
    SQLExpression(left.node.infix(.add, right.node))
  }

  /// The difference.
  @inlinable
  public static func - <Value: Numeric & DatabaseValueConvertible>(left: Self, right: Self) -> Self
  where Self == SQLExpression<Value> {
    SQLExpression(left.node.infix(.subtract, right.node))
  }

  /// The product.
  @inlinable
  public static func * <Value: Numeric & DatabaseValueConvertible>(left: Self, right: Self) -> Self
  where Self == SQLExpression<Value> {
    SQLExpression(left.node.infix(.multiply, right.node))
  }
}

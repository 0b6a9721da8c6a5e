import LarderSQLite

// Arithmetic and bit operators of numbers. Operators of numbers that may be NULL are in
// NullableArithmetic.swift.

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
  /// The quotient; that of integers is truncated. NULL for a division by zero.
  @inlinable
  public static func / (left: Self, right: Value) -> Self {
    SQLExpression(left.node.infix(.divide, right))
  }
}

extension SQLExpression where Value: SignedNumeric & DatabaseValueConvertible {
  /// The negated number.
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

  /// Bitwise OR: the bits that are set in at least one of them.
  public static func | (left: Self, right: Value) -> Self {
    Self(left.node.infix(.bitwiseOr, right))
  }

  /// Bitwise OR: the bits that are set in at least one of them.
  public static func | (left: Self, right: Self) -> Self {
    Self(left.node.infix(.bitwiseOr, right.node))
  }

  /// The 64 bits of SQLite's integer, shifted left; a negative number shifts right.
  public static func << (left: Self, right: Int) -> Self {
    Self(left.node.computed.infix(.shiftLeft, operand: SQLFragment(value: right)))
  }

  /// The 64 bits of SQLite's integer, shifted right; the sign is kept.
  public static func >> (left: Self, right: Int) -> Self {
    Self(left.node.computed.infix(.shiftRight, operand: SQLFragment(value: right)))
  }

  /// Bitwise NOT of SQLite's 64 bits.
  public static prefix func ~ (operand: Self) -> Self {
    Self(
      SQLFragment(
        .bitwiseNot, operand.node.computed.parenthesized(in: .sign),
        isNullable: operand.node.isNullable))
  }
}

// MARK: Two expressions

/// An operand of arithmetic. The protocol exists only for its extension, where the compiler looks last: a
/// literal can be an expression too, and after a function, as in `$0.count.coalesce(0) + 1`, both overloads
/// would fit equally.
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

  /// The quotient; that of integers is truncated. NULL for a division by zero.
  @inlinable
  public static func / <Value: BinaryNumberValue & Numeric>(left: Self, right: Self) -> Self
  where Self == SQLExpression<Value> {
    SQLExpression(left.node.divided(by: right.node, isReal: Value.isReal))
  }
}

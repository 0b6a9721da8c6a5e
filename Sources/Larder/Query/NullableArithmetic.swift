import LarderSQLite

// Arithmetic with numbers that may be NULL: the result is NULL where one of them is.

extension SQLExpression {
  /// The sum; NULL where there is no value.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" + ", right, .sum))
  }

  /// The sum; NULL where one of them is.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" + ", right.core, .sum))
  }

  /// The sum; NULL where one of them is.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" + ", right.core, .sum))
  }

  /// The sum; NULL where one of them is.
  @inlinable
  public static func + <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" + ", right.core, .sum))
  }

  /// The difference; NULL where there is no value.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" - ", right, .sum))
  }

  /// The difference; NULL where one of them is.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" - ", right.core, .sum))
  }

  /// The difference; NULL where one of them is.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" - ", right.core, .sum))
  }

  /// The difference; NULL where one of them is.
  @inlinable
  public static func - <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" - ", right.core, .sum))
  }

  /// The product; NULL where there is no value.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" * ", right, .product))
  }

  /// The product; NULL where one of them is.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" * ", right.core, .product))
  }

  /// The product; NULL where one of them is.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" * ", right.core, .product))
  }

  /// The product; NULL where one of them is.
  @inlinable
  public static func * <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" * ", right.core, .product))
  }

  /// The quotient; NULL where there is no value. NULL for a division by zero too.
  @inlinable
  public static func / <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Wrapped
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" / ", right, .product))
  }

  /// The quotient; NULL where one of them is.
  @inlinable
  public static func / <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" / ", right.core, .product))
  }

  /// The quotient; NULL where one of them is.
  @inlinable
  public static func / <Wrapped: Numeric & DatabaseValueConvertible>(
    left: Self, right: SQLExpression<Wrapped>
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" / ", right.core, .product))
  }

  /// The quotient; NULL where one of them is.
  @inlinable
  public static func / <Wrapped: Numeric & DatabaseValueConvertible>(
    left: SQLExpression<Wrapped>, right: Self
  ) -> Self where Value == Wrapped? {
    SQLExpression(core: left.core.infix(" / ", right.core, .product))
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
}

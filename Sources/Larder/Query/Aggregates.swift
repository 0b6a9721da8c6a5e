import LarderSQLite

/// The number of rows: `count(*)`.
public func count() -> SQLExpression<Int> {
  SQLExpression(SQL(raw: "count(*)"), isNullable: false)
}

extension SQLExpression {
  /// A call of a function.
  func call<Result>(
    _ name: String, isNullable: Bool = true, coding: ExpressionCoding? = nil
  ) -> SQLExpression<Result> {
    SQLExpression<Result>(SQL("\(name)(", sql, ")"), isNullable: isNullable, coding: coding)
  }

  /// The number of values that aren't NULL.
  public func count(distinct: Bool = false) -> SQLExpression<Int> {
    SQLExpression<Int>(
      SQL(distinct ? "count(DISTINCT " : "count(", sql, ")"), isNullable: false)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The smallest value; NULL where there is none.
  public func min() -> SQLExpression<Value?> { call("min", coding: coding) }
  /// The largest value; NULL where there is none.
  public func max() -> SQLExpression<Value?> { call("max", coding: coding) }
  /// The mean of the values; NULL where there is none.
  public func average() -> SQLExpression<Double?> { call("avg") }
}

extension SQLExpression where Value: Numeric & DatabaseValueConvertible {
  /// The sum of the values; NULL where there is none, an error where integers overflow.
  public func sum() -> SQLExpression<Value?> { call("sum") }
  /// The sum of the values as a real number; 0 where there is none.
  public func total() -> SQLExpression<Double> { call("total", isNullable: false) }
}

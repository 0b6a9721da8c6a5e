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

  /// A call of an aggregate function, of all values or of each value once.
  private func aggregate<Result>(
    _ name: String, _ distinct: Bool, isNullable: Bool = true
  ) -> SQLExpression<Result> {
    SQLExpression<Result>(
      SQL(distinct ? "\(name)(DISTINCT " : "\(name)(", sql, ")"), isNullable: isNullable)
  }

  /// The number of values that aren't NULL.
  public func count(distinct: Bool = false) -> SQLExpression<Int> {
    aggregate("count", distinct, isNullable: false)
  }

  /// The aggregate of only those rows for which a condition holds.
  ///
  /// ```swift
  /// City.all.select { _ in count().filter(where: $0.population > 1_000_000) }
  /// // SELECT count(*) FILTER (WHERE "city"."population" > ?) FROM "city"
  /// ```
  public func filter(where condition: SQLExpression<Bool>) -> Self {
    Self(
      SQL(function, " FILTER (WHERE ", SQL("", condition.inside(.lowest), ")")),
      isNullable: isNullable, coding: coding)
  }

  /// The call of a function alone: with an operator around it, SQLite shall refuse what can only
  /// follow a call, and not apply it to the last operand.
  var function: SQL { precedence == .atom ? sql : SQL("(", sql, ")") }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The smallest value; NULL where there is none.
  @_disfavoredOverload
  public func min() -> SQLExpression<Value?> { call("min", coding: coding) }
  /// The smallest value; NULL where there is none.
  public func min<Wrapped>() -> Self where Value == Wrapped? { call("min", coding: coding) }
  /// The largest value; NULL where there is none.
  @_disfavoredOverload
  public func max() -> SQLExpression<Value?> { call("max", coding: coding) }
  /// The largest value; NULL where there is none.
  public func max<Wrapped>() -> Self where Value == Wrapped? { call("max", coding: coding) }

  /// The mean of the values; NULL where there is none.
  public func average(distinct: Bool = false) -> SQLExpression<Double?> {
    aggregate("avg", distinct)
  }

  /// The values as one text, in no order that could be relied on; NULL where there is none.
  public func groupConcat(separator: String = ",") -> SQLExpression<String?> {
    SQLExpression<String?>(
      SQL("group_concat(", SQL(sql, ", ", SQL(bound: separator)), ")"))
  }
}

extension SQLExpression {
  /// The sum of the values; NULL where there is none, an error where integers overflow.
  public func sum(distinct: Bool = false) -> SQLExpression<Value?>
  where Value: Numeric & DatabaseValueConvertible {
    aggregate("sum", distinct)
  }

  /// The sum of the values that aren't NULL; NULL where there is none.
  public func sum<Wrapped: Numeric & DatabaseValueConvertible>(distinct: Bool = false) -> Self
  where Value == Wrapped? {
    aggregate("sum", distinct)
  }

  /// The sum of the values as a real number; 0 where there is none.
  public func total(distinct: Bool = false) -> SQLExpression<Double>
  where Value: Numeric & DatabaseValueConvertible {
    aggregate("total", distinct, isNullable: false)
  }
}

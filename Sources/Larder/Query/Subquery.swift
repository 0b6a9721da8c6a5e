import LarderSQLite

/// The first value that another query selects, as an expression; NULL if it has no rows.
///
/// ```swift
/// Country.all.select { country in
///   let cities = City.filter { $0.country == country.code }
///   return (country.name, first(of: cities.select { $0.population.max() }))
/// }
/// // SELECT "country"."name", (SELECT max("city"."population") FROM "city"
/// // WHERE "city"."country" = "country"."code" LIMIT ?) FROM "country"
/// ```
public func first<Value: DatabaseValueConvertible>(
  of selection: Selection<Value>
) -> SQLExpression<Value?> {
  SQLExpression<Value?>(selection.firstValue)
}

/// The first value that another query selects, or NULL, as an expression.
public func first<Value: DatabaseValueConvertible>(
  of selection: Selection<Value?>
) -> SQLExpression<Value?> {
  SQLExpression<Value?>(selection.firstValue)
}

extension Selection {
  fileprivate var firstValue: SQLFragment {
    SQLFragment(.parentheses, first.fragment, coding: columns.coding)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it is one of the values that another query selects.
  public func `in`(_ selection: Selection<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.infix(.in, operand: selection.fragment.parenthesized))
  }

  /// Whether it is one of the values that another query selects; NULLs don't count.
  public func `in`(_ selection: Selection<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.infix(.in, operand: selection.fragment.parenthesized))
  }

  /// Whether it is one of the values that another query selects; NULL isn't known to be.
  public func `in`<Wrapped>(
    _ selection: Selection<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(node.infix(.in, operand: selection.fragment.parenthesized))
  }

  /// Whether it is one of the values of a compound query; NULL isn't known to be.
  public func `in`(_ compound: Compound<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.infix(.in, operand: compound.fragment.parenthesized))
  }

  /// Whether it is one of the values of a compound query; NULLs don't count.
  public func `in`(_ compound: Compound<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.infix(.in, operand: compound.fragment.parenthesized))
  }
}

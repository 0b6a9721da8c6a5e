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
  SQLExpression<Value?>(selection.firstValue, coding: selection.columns.coding)
}

/// The first value that another query selects, or NULL, as an expression.
public func first<Value: DatabaseValueConvertible>(
  of selection: Selection<Value?>
) -> SQLExpression<Value?> {
  SQLExpression<Value?>(selection.firstValue, coding: selection.columns.coding)
}

extension Selection {
  fileprivate var firstValue: SQL {
    var first = self
    first.select.limit = min(1, select.limit ?? 1)
    return SQL("(", first.sql, ")")
  }
}

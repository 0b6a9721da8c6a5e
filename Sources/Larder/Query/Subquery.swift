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
) -> SQLExpression<Value.AsOptional> {
  SQLExpression<Value.AsOptional>(selection.firstValue)
}

extension Selection {
  fileprivate var firstValue: SQLFragment {
    SQLFragment(.parentheses, first.fragment, coding: columns.coding)
  }
}

extension Query {
  /// The number of rows, as an expression in a closure of another query.
  ///
  /// ```swift
  /// Country.select { country in (country.name, City.filter { $0.country == country.code }.count) }
  /// // SELECT "country"."name", (SELECT count(*) FROM "city" WHERE "city"."country" = "country"."code")
  /// // FROM "country"
  /// ```
  public var count: SQLExpression<Int> {
    SQLExpression<Int>(
      SQLFragment(.parentheses, select.rowCount(reader.columns), isNullable: false))
  }
}

extension SQLFragment {
  /// - Parameter column: the query's selected column, which has to be stored in the same form as this one.
  fileprivate func isMember(of column: SQLFragment?, _ query: SQLFragment) -> SQLFragment {
    (column.map { stored(as: $0) } ?? self).infix(.in, operand: query.parenthesized)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether the value is one of those that another query selects.
  public func `in`(_ selection: Selection<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether the value is one of those that another query selects.
  ///
  /// If NULL is among those, the result for any other value is NULL rather than false: the opposite,
  /// `!$0.id.in(…)`, holds for no row. Filter NULLs out of the query.
  public func `in`(_ selection: Selection<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether the value is one of those that another query selects. NULL never is.
  public func `in`<Wrapped>(
    _ selection: Selection<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether the value is one of those of a compound query. NULL never is.
  public func `in`(_ compound: Compound<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: compound.columns.first, compound.fragment))
  }

  /// Whether the value is one of those of a compound query. Filter NULLs out of it, as out of a selection.
  public func `in`(_ compound: Compound<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: compound.columns.first, compound.fragment))
  }
}

extension Select {
  /// Renames the query's table if a surrounding query has one of the same name, as for a query that was
  /// begun outside the closure: a condition may compare the rows of both.
  @usableFromInline
  mutating func moveIntoScope() { if QueryScope.isInside { rename() } }

  private mutating func rename() {
    let taken = Set(QueryScope.names.map(\.foldedName))
    guard tables.aliases.contains(where: { taken.contains($0.name.foldedName) }) else { return }
    guard isPlain, order == nil, tables.aliases.count == 1, let alias = tables.aliases.first else {
      return add(
        condition: .misuse(
          """
          an ordered, limited or joined query from outside of a closure can't be filtered in the closure if \
          both use the same table: begin it inside, or use aliased(_:)
          """))
    }
    let other = tables.newAlias(for: alias.name, alias.codings)
    let rows: SQLFragment = "(\(fragment("*"))) AS \(name: other.name)"
    self = Select(QueryTables(rows, [other], isDerived: true))
  }
}

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

extension SQLFragment {
  /// - Parameter column: what the query selects, which has to be stored as this is.
  fileprivate func isMember(of column: SQLFragment?, _ query: SQLFragment) -> SQLFragment {
    (column.map { matching($0) } ?? self).infix(.in, operand: query.parenthesized)
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether it is one of the values that another query selects.
  public func `in`(_ selection: Selection<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether it is one of the values that another query selects.
  ///
  /// Where NULL is among those, it isn't known of any other value that it is none of them: the opposite,
  /// `!$0.id.in(…)`, is true of no row. Filter NULLs out of the query.
  public func `in`(_ selection: Selection<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether it is one of the values that another query selects; NULL isn't known to be.
  public func `in`<Wrapped>(
    _ selection: Selection<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(node.isMember(of: selection.columns, selection.fragment))
  }

  /// Whether it is one of the values of a compound query; NULL isn't known to be.
  public func `in`(_ compound: Compound<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: compound.columns.first, compound.fragment))
  }

  /// Whether it is one of the values of a compound query; NULL among those as in the other form.
  public func `in`(_ compound: Compound<Value?>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.isMember(of: compound.columns.first, compound.fragment))
  }
}

extension Select {
  /// Gives the query a name that no query around has, in a closure of which it was not begun: a condition
  /// could be meant to compare its rows with theirs.
  @usableFromInline
  mutating func moveIntoScope() { if QueryScope.isInside { rename() } }

  private mutating func rename() {
    let taken = Set(QueryScope.names.map(\.foldedName))
    guard tables.aliases.contains(where: { taken.contains($0.name.foldedName) }) else { return }
    guard isPlain, order == nil, tables.aliases.count == 1, let alias = tables.aliases.first else {
      return add(
        condition: .misuse(
          """
          a query that was begun outside of a closure can't be filtered in it, if it has a table of the \
          same name, and is ordered, limited or joined: begin it inside, or use aliased(_:)
          """))
    }
    let other = tables.newAlias(for: alias.name, alias.codings)
    let rows: SQLFragment = "(\(fragment("*"))) AS \(name: other.name)"
    self = Select(QueryTables(rows, [other], isDerived: true))
  }
}

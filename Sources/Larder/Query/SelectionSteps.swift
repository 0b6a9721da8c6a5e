import LarderSQLite

// Steps of a query after its selection. Their closures get the selected expressions, in order.

extension Selection {
  /// Orders rows by an expression, a term, or several of them in parentheses. Earlier terms take precedence.
  ///
  /// ```swift
  /// City.all.group { $0.country }.select { ($0.country, count()) }.order { $1.desc }
  /// ```
  public func order<A, B, each Value, Terms: OrderTerms>(
    @SQLOrder _ terms: (SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>) ->
      Terms
  ) -> Self where Row == (A, B, repeat each Value) {
    changed {
      $0.add(
        order: terms($1.next(), $1.next(), repeat $1.next((each Value).self)).orderingTerms.node)
    }
  }

  /// Groups rows by an expression over the selected ones, or several in parentheses, in addition to any
  /// earlier ones.
  public func group<A, B, each Value, Terms: GroupTerms>(
    @SQLGroup _ terms: (SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>) ->
      Terms
  ) -> Self where Row == (A, B, repeat each Value) {
    changed {
      for term in terms($1.next(), $1.next(), repeat $1.next((each Value).self)).groupTerms.terms {
        $0.add(group: term)
      }
    }
  }

  /// Keeps only groups that satisfy the condition, in addition to any earlier ones (HAVING).
  public func having<A, B, each Value>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>
    ) ->
      SQLExpression<Bool>
  ) -> Self where Row == (A, B, repeat each Value) {
    changed {
      $0.add(
        groupCondition: condition($1.next(), $1.next(), repeat $1.next((each Value).self)).node)
    }
  }

  /// Keeps only selected rows that satisfy the condition, whatever the rows are: groups, results of window
  /// functions, or the first rows of a limited query.
  ///
  /// ```swift
  /// City.all.select { ($0.name, rowNumber().over(partitionBy: $0.country, orderBy: $0.population.desc)) }
  ///   .filter { $1 <= 3 }
  /// // SELECT … FROM (SELECT "city"."name" AS "c1", row_number() OVER (…) AS "c2" FROM "city")
  /// // AS "selection" WHERE "selection"."c2" <= ?
  /// ```
  public func filter<A, B, each Value>(
    @SQLCondition _ condition: (
      SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>
    ) ->
      SQLExpression<Bool>
  ) -> Self where Row == (A, B, repeat each Value) {
    asTable.changed {
      $0.add(condition: condition($1.next(), $1.next(), repeat $1.next((each Value).self)).node)
    }
  }
}

extension Selection where Row: DatabaseValueConvertible {
  /// Orders rows by an expression, a term, or several of them in parentheses. Earlier terms take precedence.
  public func order<Terms: OrderTerms>(@SQLOrder _ terms: (SQLExpression<Row>) -> Terms) -> Self {
    changed { $0.add(order: terms($1.next()).orderingTerms.node) }
  }

  /// Groups rows by an expression over the selected one, in addition to any earlier ones.
  public func group<Terms: GroupTerms>(@SQLGroup _ terms: (SQLExpression<Row>) -> Terms) -> Self {
    changed {
      for term in terms($1.next()).groupTerms.terms { $0.add(group: term) }
    }
  }

  /// Keeps only groups that satisfy the condition, in addition to any earlier ones (HAVING).
  public func having(@SQLCondition _ condition: (SQLExpression<Row>) -> SQLExpression<Bool>)
    -> Self
  {
    changed { $0.add(groupCondition: condition($1.next()).node) }
  }

  /// Keeps only selected rows that satisfy the condition, whatever the rows are: groups, results of window
  /// functions, or the first rows of a limited query.
  /// See `Selection.filter`.
  public func filter(@SQLCondition _ condition: (SQLExpression<Row>) -> SQLExpression<Bool>)
    -> Self
  {
    asTable.changed { $0.add(condition: condition($1.next()).node) }
  }
}

extension Selection {
  /// Keeps only groups that satisfy a condition without columns: `having { count() > 1 }`.
  public func having(@SQLCondition _ condition: () -> SQLExpression<Bool>) -> Self {
    changed { select, _ in select.add(groupCondition: condition().node) }
  }

  /// The selection with its query changed by a closure over the selected expressions.
  private func changed(_ change: (inout Select, SelectedColumns) -> Void) -> Self {
    var selection = self
    let columns = SelectedColumns(self.columns.parts)
    QueryScope.run(select.tables) { change(&selection.select, columns) }
    return selection
  }

  private static func refusePages(_ select: Select) throws -> PagedSelect {
    throw DatabaseError(
      .misuse,
      "a selection that is filtered can't be read in pages: filter the query before it is selected from"
    )
  }

  /// A selection of everything from this one as a subquery, in the same order.
  private var asTable: Self {
    var inner = select
    let alias = select.tables.newAlias(for: "selection")
    var parts: [SQLFragment] = []
    func column(_ part: SQLFragment) -> SQLFragment {
      let name = "c\(parts.count + 1)"
      parts.append("\(part.parenthesized(in: .lowest)) AS \(name: name)")
      return alias.column(name, isNullable: part.isNullable, coding: part.coding)
    }
    let columns = self.columns.parts.map(column)
    let order = select.order?.parts.map { $0.mappingTerm(column) }
    if order != nil, select.isDistinct {
      inner.add(
        condition: .misuse(
          "a distinct selection can't be filtered after it is ordered: filter it first"))
    }
    if select.limit == nil, select.offset == 0 { inner.order = nil }
    let rows = inner.fragment(.list(parts))
    var outer = Select(QueryTables("(\(rows)) AS \(name: alias.name)", [alias]))
    for term in order ?? [] { outer.add(order: term) }
    return Selection(outer, .list(columns), accesses, paged: Self.refusePages, read: read)
  }
}

extension SQLFragment {
  /// The ordering term with its expression replaced.
  fileprivate func mappingTerm(_ change: (SQLFragment) -> SQLFragment) -> SQLFragment {
    switch operation {
    case .descending, .nullsFirst, .nullsLast:
      if kind == .unary, let left { return SQLFragment(operation, left.mappingTerm(change)) }
    default: break
    }
    return change(self)
  }
}

/// The expressions of a selection in turn, for a closure's parameters.
private final class SelectedColumns {
  private var rest: ArraySlice<SQLFragment>

  init(_ columns: [SQLFragment]) { rest = columns[...] }

  /// The next expression. There are as many as a row has values.
  func next<Value>(_ type: Value.Type = Value.self) -> SQLExpression<Value> {
    SQLExpression(rest.popFirst() ?? .misuse("the selection has no such expression"))
  }
}

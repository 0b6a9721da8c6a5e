import LarderSQLite

// The steps of a query that come after its selection, whose closures get the selected expressions, in order.

extension Selection {
  /// In the order of a term, where those that were named before are equal.
  ///
  /// ```swift
  /// City.all.group { $0.country }.select { ($0.country, count()) }.order { $1.desc }
  /// ```
  public func order<A, B, each Value>(
    _ term: (SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>) -> OrderingTerm
  ) -> Self where Row == (A, B, repeat each Value) {
    changed { $0.add(order: term($1.next(), $1.next(), repeat $1.next((each Value).self)).node) }
  }

  /// In the order of an expression, where the terms that were named before are equal.
  public func order<A, B, each Value, Term>(
    _ term: (SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>) -> SQLExpression<
      Term
    >
  ) -> Self where Row == (A, B, repeat each Value) {
    changed { $0.add(order: term($1.next(), $1.next(), repeat $1.next((each Value).self)).term) }
  }

  /// One row for all that have the same value of a selected expression, besides those named before.
  public func group<A, B, each Value, Term>(
    _ term: (SQLExpression<A>, SQLExpression<B>, repeat SQLExpression<each Value>) -> SQLExpression<
      Term
    >
  ) -> Self where Row == (A, B, repeat each Value) {
    changed { $0.add(group: term($1.next(), $1.next(), repeat $1.next((each Value).self)).term) }
  }

  /// Only groups for which a condition holds, besides those that were named before.
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

  /// Only those of the selection's rows for which a condition holds, whatever they are: groups, numbers
  /// of windows, or the first ones of a limited query.
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
  /// In the order of a term, where those that were named before are equal.
  public func order(_ term: (SQLExpression<Row>) -> OrderingTerm) -> Self {
    changed { $0.add(order: term($1.next()).node) }
  }

  /// In the order of an expression, where the terms that were named before are equal.
  public func order<Term>(_ term: (SQLExpression<Row>) -> SQLExpression<Term>) -> Self {
    changed { $0.add(order: term($1.next()).term) }
  }

  /// One row for all that have the same value of a selected expression, besides those named before.
  public func group<Term>(_ term: (SQLExpression<Row>) -> SQLExpression<Term>) -> Self {
    changed { $0.add(group: term($1.next()).term) }
  }

  /// Only groups for which a condition holds, besides those that were named before.
  public func having(@SQLCondition _ condition: (SQLExpression<Row>) -> SQLExpression<Bool>)
    -> Self
  {
    changed { $0.add(groupCondition: condition($1.next()).node) }
  }

  /// Only those of the selection's rows for which a condition holds, whatever they are: groups, numbers
  /// of windows, or the first ones of a limited query.
  /// See `Selection.filter`.
  public func filter(@SQLCondition _ condition: (SQLExpression<Row>) -> SQLExpression<Bool>)
    -> Self
  {
    asTable.changed { $0.add(condition: condition($1.next()).node) }
  }
}

extension Selection {
  /// The selection with another query, which a closure changes by the selected expressions.
  private func changed(_ change: (inout Select, SelectedColumns) -> Void) -> Self {
    var selection = self
    let columns = SelectedColumns(self.columns.parts)
    QueryScope.run(select.tables) { change(&selection.select, columns) }
    return selection
  }

  /// The selection as a table, from which all is selected in the same order.
  private var asTable: Self {
    var inner = select
    let alias = select.tables.newAlias(for: "selection")
    var parts: [SQLFragment] = []
    func column(_ part: SQLFragment) -> SQLFragment {
      let name = "c\(parts.count + 1)"
      parts.append("\(part.inside(.lowest)) AS \(name: name)")
      return alias.column(name, isNullable: part.isNullable, coding: part.coding)
    }
    let columns = self.columns.parts.map(column)
    let order = select.order?.parts.map { $0.mappingTerm(column) }
    if order != nil, select.isDistinct {
      inner.add(condition: .misuse("a distinct selection has to be filtered before it is ordered"))
    }
    if select.limit == nil, select.offset == 0 { inner.order = nil }
    let rows = inner.fragment(.list(parts))
    var outer = Select(QueryTables("(\(rows)) AS \(name: alias.name)", [alias]))
    for term in order ?? [] { outer.add(order: term) }
    return Selection(outer, .list(columns), accesses, read: read)
  }
}

extension SQLFragment {
  /// The term of an order with another expression in the place of its own.
  fileprivate func mappingTerm(_ change: (SQLFragment) -> SQLFragment) -> SQLFragment {
    switch operation {
    case .descending, .nullsFirst, .nullsLast:
      if kind == .unary, let left { return SQLFragment(operation, left.mappingTerm(change)) }
    default: break
    }
    return change(self)
  }
}

/// The expressions of a selection, one after the other, for a closure's parameters.
private final class SelectedColumns {
  private var rest: ArraySlice<SQLFragment>

  init(_ columns: [SQLFragment]) { rest = columns[...] }

  /// The next one: there are as many as the rows have values.
  func next<Value>(_ type: Value.Type = Value.self) -> SQLExpression<Value> {
    SQLExpression(rest.popFirst() ?? .misuse("a selection without this expression"))
  }
}

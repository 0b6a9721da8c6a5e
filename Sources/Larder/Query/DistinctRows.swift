import LarderSQLite

// The first row of each group: DISTINCT ON, by a window function, so that engines agree on the row.

extension Query where From: Record {
  /// Keeps the first row of each group in the query's order: of the rows for which an expression, or several
  /// in parentheses, have the same value.
  ///
  /// ```swift
  /// City.order { $0.population.desc }.distinct { $0.country }   // each country's largest city
  /// // SELECT … FROM (SELECT …, row_number() OVER (PARTITION BY "city"."country"
  /// //   ORDER BY "city"."population" DESC, "city"."id") AS larder_place FROM "city") AS "city"
  /// // WHERE "city".larder_place = 1 ORDER BY "city"."population" DESC
  /// ```
  ///
  /// The key decides between rows that are equal in that order. Conditions and orders that come before this
  /// step choose the row; those after it filter and order the chosen rows. A grouped, distinct or limited query
  /// can't be reduced so: it throws ``LarderSQLite/DatabaseError`` when it runs.
  ///
  /// - Parameter terms: the expressions of the group.
  public consuming func distinct<Terms: GroupTerms>(
    @SQLGroup on terms: (From.QueryFields) -> Terms
  ) -> Self {
    let group = scoped { terms($0).groupTerms.terms }
    return Query(select.keepingFirst(of: group, From.table.core))
  }
}

extension Select {
  /// The query of the first rows of groups of one table's rows.
  fileprivate consuming func keepingFirst(of group: [SQLFragment], _ core: TableCore) -> Select {
    guard isPlain else {
      add(
        condition: .misuse(
          "the first rows of groups can't be taken of a grouped, distinct or limited query"))
      return self
    }
    let alias = tables.alias(at: 0)
    func column(_ index: Int) -> SQLFragment {
      SQLFragment(text: alias.prefix + core.columns[index].name.quotedIdentifier)
    }
    let order = order.take()
    let terms = [order?.orderingTerms].compactMap { $0 } + core.sql.key.map(column)
    let ordered: SQLFragment? = terms.isEmpty ? nil : " ORDER BY \(.list(terms))"
    let window: SQLFragment = "PARTITION BY \(SQLFragment.list(group).groupingTerms)\(ordered)"
    let columns = SQLFragment.list(core.columns.indices.map(column))
    let numbered = fragment("\(columns), row_number() OVER (\(window)) AS larder_place")
    var first = Select(
      QueryTables("(\(numbered)) AS \(name: alias.name)", [alias], isDerived: true))
    first.add(condition: SQLFragment(text: alias.prefix + "larder_place = 1"))
    first.order = order
    return first
  }
}

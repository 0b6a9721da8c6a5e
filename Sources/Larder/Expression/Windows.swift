import LarderSQLite

// See [window functions](https://www.sqlite.org/windowfunctions.html).

/// The number of the row in its window, from 1. It needs
/// ``SQLExpression/over(partitionBy:orderBy:rows:groups:range:)``.
public func rowNumber() -> SQLExpression<Int> {
  SQLExpression(.call("row_number", isNullable: false))
}

/// The number of the first of the rows that are equal in their window's order, which leaves gaps.
public func rank() -> SQLExpression<Int> {
  SQLExpression(.call("rank", isNullable: false))
}

/// The number of the row's group of equals in their window's order, without gaps.
public func denseRank() -> SQLExpression<Int> {
  SQLExpression(.call("dense_rank", isNullable: false))
}

/// The number of the row's part, from 1, of so many parts of equal size in their window's order. Less than
/// one part throws ``LarderSQLite/DatabaseError`` when the query runs.
public func ntile(_ parts: Int) -> SQLExpression<Int> {
  SQLExpression(.call("ntile", SQLFragment(value: parts), isNullable: false))
}

extension SQLExpression {
  /// An aggregate or window function over rows around each row, instead of one row for all.
  ///
  /// ```swift
  /// Place.all.select {
  ///   ($0.name, rank().over(partitionBy: $0.country, orderBy: $0.population.desc))
  /// }
  /// // SELECT "place"."name",
  /// //   rank() OVER (PARTITION BY "place"."country" ORDER BY "place"."population" DESC) …
  /// ```
  ///
  /// With an order, an aggregate is that of the rows up to this one and its equals: a running sum.
  ///
  /// - `rows`: the rows that count, from those before (negative) to those after this one:
  ///   `-2...0` for the last three, `.min ... 0` for all up to this one.
  /// - `groups`: the same in groups of rows that are equal in the window's order.
  /// - `range`: the same in values of the window's order, which has one term then.
  ///
  /// No more than one of the three can be given.
  public func over<each Part: Sendable>(
    partitionBy parts: repeat SQLExpression<each Part>, orderBy order: OrderingTerm...,
    rows: ClosedRange<Int>? = nil, groups: ClosedRange<Int>? = nil,
    range: ClosedRange<Int>? = nil
  ) -> Self {
    var partition: [SQLFragment] = []
    repeat partition.append((each parts).node.inside(.lowest))
    var clauses: [SQLFragment] = []
    if !partition.isEmpty {
      clauses.append("PARTITION BY \(SQLFragment.list(partition).groupingTerms)")
    }
    if !order.isEmpty {
      clauses.append("ORDER BY \(SQLFragment.list(order.map(\.node)).orderingTerms)")
    }
    for (unit, frame) in [("ROWS", rows), ("GROUPS", groups), ("RANGE", range)] {
      guard let frame else { continue }
      let (first, last) = (Self.bound(frame.lowerBound), Self.bound(frame.upperBound))
      clauses.append("\(text: unit) BETWEEN \(text: first) AND \(text: last)")
    }
    let window: SQLFragment = .list(clauses, separator: " ")
    return Self(withClause(" OVER (\(window))"))
  }

  /// An end of a frame, by its distance from the row.
  private static func bound(_ distance: Int) -> String {
    switch distance {
    case .min: "UNBOUNDED PRECEDING"
    case .max: "UNBOUNDED FOLLOWING"
    case 0: "CURRENT ROW"
    default: "\(distance.magnitude) \(distance < 0 ? "PRECEDING" : "FOLLOWING")"
    }
  }
}

extension SQLExpression where Value: DatabaseValueConvertible {
  /// The value in an earlier row of the window; NULL where there is none.
  public func lag(_ count: Int = 1) -> SQLExpression<Value.AsOptional> {
    call("lag", SQLFragment(value: count), coding: node.coding)
  }

  /// The value in a later row of the window; NULL where there is none.
  public func lead(_ count: Int = 1) -> SQLExpression<Value.AsOptional> {
    call("lead", SQLFragment(value: count), coding: node.coding)
  }

  /// The value in the first row of the window's frame; NULL where it has none.
  public func firstValue() -> SQLExpression<Value.AsOptional> {
    call("first_value", coding: node.coding)
  }

  /// The value in the last row of the window's frame, which ends with this row and its equals where the
  /// window has an order: say `rows: .min ... .max` for the last one of all.
  public func lastValue() -> SQLExpression<Value.AsOptional> {
    call("last_value", coding: node.coding)
  }

  /// The value in the row of the window's frame with this number, from 1; NULL where there is none.
  public func nthValue(_ number: Int) -> SQLExpression<Value.AsOptional> {
    call("nth_value", SQLFragment(value: number), coding: node.coding)
  }
}

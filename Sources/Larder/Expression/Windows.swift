import LarderSQLite

// Window functions: see [window functions](https://www.sqlite.org/windowfunctions.html).

/// The number of the row in its window, from 1. It has to be followed by
/// ``SQLExpression/over(partitionBy:orderBy:rows:groups:range:)``.
public func rowNumber() -> SQLExpression<Int> {
  SQLExpression(.call("row_number", isNullable: false))
}

/// The rank of the row in its window's order. Equal rows share the number of their first row, which leaves
/// gaps.
public func rank() -> SQLExpression<Int> {
  SQLExpression(.call("rank", isNullable: false))
}

/// The rank of the row in its window's order. Equal rows share a number, without gaps.
public func denseRank() -> SQLExpression<Int> {
  SQLExpression(.call("dense_rank", isNullable: false))
}

/// The number of the row's bucket, from 1, if the window's rows are divided into this many buckets of equal
/// size. Less than one bucket throws ``LarderSQLite/DatabaseError`` when the query runs.
public func ntile(_ parts: Int) -> SQLExpression<Int> {
  SQLExpression(.call("ntile", SQLFragment(value: parts), isNullable: false))
}

extension SQLExpression {
  /// An aggregate or window function over the rows around each row, instead of one result for all rows.
  ///
  /// ```swift
  /// Place.all.select {
  ///   ($0.name, rank().over(partitionBy: $0.country, orderBy: $0.population.desc))
  /// }
  /// // SELECT "place"."name",
  /// //   rank() OVER (PARTITION BY "place"."country" ORDER BY "place"."population" DESC) …
  /// ```
  ///
  /// With an order, an aggregate covers the rows up to this one and its equals: a running sum.
  ///
  /// - `rows`: the frame, by distances from this row, negative for rows before it: `-2...0` for the last
  ///   three rows, `.min ... 0` for all rows up to this one.
  /// - `groups`: the same, in groups of rows that are equal in the window's order.
  /// - `range`: the same, in values of the window's order, which then has to have one term.
  ///
  /// At most one of the three can be given.
  public func over<each Part: Sendable, each Terms: OrderTerms>(
    partitionBy parts: repeat SQLExpression<each Part>, orderBy order: repeat each Terms,
    rows: ClosedRange<Int>? = nil, groups: ClosedRange<Int>? = nil,
    range: ClosedRange<Int>? = nil
  ) -> Self {
    var partition: [SQLFragment] = []
    repeat partition.append((each parts).node.parenthesized(in: .lowest))
    var clauses: [SQLFragment] = []
    if !partition.isEmpty {
      clauses.append("PARTITION BY \(SQLFragment.list(partition).groupingTerms)")
    }
    var terms: [OrderingTerm] = []
    repeat terms.append((each order).orderingTerms)
    let order = terms.orderingTerms.node
    if !order.isEmptyList { clauses.append("ORDER BY \(order.orderingTerms)") }
    for (unit, frame) in [("ROWS", rows), ("GROUPS", groups), ("RANGE", range)] {
      guard let frame else { continue }
      let (first, last) = (Self.bound(frame.lowerBound), Self.bound(frame.upperBound))
      clauses.append("\(text: unit) BETWEEN \(text: first) AND \(text: last)")
    }
    let window: SQLFragment = .list(clauses, separator: " ")
    return Self(withClause(" OVER (\(window))"))
  }

  /// One end of a frame as SQL, by its distance from the row.
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
  /// The value in an earlier row of the window; NULL if there is no such row.
  public func lag(_ count: Int = 1) -> SQLExpression<Value.AsOptional> {
    call("lag", SQLFragment(value: count), coding: node.coding)
  }

  /// The value in a later row of the window; NULL if there is no such row.
  public func lead(_ count: Int = 1) -> SQLExpression<Value.AsOptional> {
    call("lead", SQLFragment(value: count), coding: node.coding)
  }

  /// The value in the first row of the window's frame; NULL if the frame is empty.
  public func firstValue() -> SQLExpression<Value.AsOptional> {
    call("first_value", coding: node.coding)
  }

  /// The value in the last row of the window's frame. With an order, the frame ends at this row and its
  /// equals; `rows: .min ... .max` makes it end at the last row of all.
  public func lastValue() -> SQLExpression<Value.AsOptional> {
    call("last_value", coding: node.coding)
  }

  /// The value in the frame's row with this number, from 1; NULL if there is no such row.
  public func nthValue(_ number: Int) -> SQLExpression<Value.AsOptional> {
    call("nth_value", SQLFragment(value: number), coding: node.coding)
  }
}

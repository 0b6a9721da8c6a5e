import LarderSQLite

/// Tests of columns with ``ColumnCoding/range()``, which an index of a server serves: GiST.
///
/// ```swift
/// try Booking.filter { $0.days.overlaps(arrival..<departure) }.fetchAll(db)
/// // SQLite compares the bounds in the column's JSON; PostgreSQL: "days" && $1
/// ```
extension SQLExpression {
  /// Whether the range contains a value; false for NULL.
  public func contains<Bound: DatabaseValueConvertible & Codable & Comparable>(
    _ value: Bound
  ) -> SQLExpression<Bool> where Value == Range<Bound> {
    SQLExpression<Bool>(node.containing(value))
  }

  /// Whether the range contains a value; false for NULL.
  public func contains<Bound: DatabaseValueConvertible & Codable & Comparable>(
    _ value: Bound
  ) -> SQLExpression<Bool> where Value == Range<Bound>? {
    SQLExpression<Bool>(node.containing(value))
  }

  /// Whether the ranges have a value in common; false for NULL.
  public func overlaps<Bound: DatabaseValueConvertible & Codable & Comparable>(
    _ range: Range<Bound>
  ) -> SQLExpression<Bool> where Value == Range<Bound> {
    SQLExpression<Bool>(node.overlapping(range))
  }

  /// Whether the ranges have a value in common; false for NULL.
  public func overlaps<Bound: DatabaseValueConvertible & Codable & Comparable>(
    _ range: Range<Bound>
  ) -> SQLExpression<Bool> where Value == Range<Bound>? {
    SQLExpression<Bool>(node.overlapping(range))
  }
}

extension SQLFragment {
  private var bounds: (lower: JSONExpression, upper: JSONExpression) {
    (JSONExpression(self)["lower"], JSONExpression(self)["upper"])
  }

  fileprivate func containing<Bound: DatabaseValueConvertible & Codable>(
    _ value: Bound
  ) -> SQLFragment {
    let (lower, upper) = bounds
    return rangeTest((lower <= value && upper > value).node, value, value, end: "]") {
      .arrayContains($0)
    }
  }

  fileprivate func overlapping<Bound: DatabaseValueConvertible & Codable>(
    _ range: Range<Bound>
  ) -> SQLFragment {
    guard !range.isEmpty else { return SQLFragment(text: "(1 = 0)") }
    let (lower, upper) = bounds
    // An empty range overlaps none.
    let isNotEmpty = SQLExpression<Bool>(
      lower.as(Bound.self).node.infix(.less, upper.as(Bound.self).node))
    let test = lower < range.upperBound && upper > range.lowerBound && isNotEmpty
    return rangeTest(test.node, range.lowerBound, range.upperBound, end: ")") {
      .arrayOverlaps($0)
    }
  }

  /// The test for engines that have ranges, and the one of the bounds in JSON for all others.
  private func rangeTest<Bound: Codable>(
    _ json: SQLFragment, _ lower: Bound, _ upper: Bound, end: String, _ form: (String) -> SQLForm
  ) -> SQLFragment {
    let bounds = [lower, upper].compactMap { try? JSONText.text(of: $0) }
    guard bounds.count == 2 else { return json }
    let isNever = SQLFragment.call("coalesce", json, "0", isNullable: false)
    return SQLFragment(
      .form(form("[\(bounds[0]),\(bounds[1])\(end)"), [self], isNever), isNullable: false)
  }
}

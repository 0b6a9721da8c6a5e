import LarderSQLite

/// A half-open range, or an Optional of one.
@_documentation(visibility: internal)
public protocol RangeValue {
  associatedtype RangeBound: Comparable
}

extension Range: RangeValue {
  /// The type of the bounds.
  @_documentation(visibility: internal)
  public typealias RangeBound = Bound
}

extension Optional: RangeValue where Wrapped: RangeValue {
  /// The type of the bounds.
  @_documentation(visibility: internal)
  public typealias RangeBound = Wrapped.RangeBound
}

/// Tests of ranges: of columns with ``ColumnCoding/range()``, which a server has types for, and of those that
/// are stored as JSON.
///
/// ```swift
/// try Booking.filter { $0.days.overlaps(arrival..<departure) }.fetchAll(db)
/// // SQLite compares the bounds in the column's JSON; PostgreSQL: "days" && $1
/// ```
///
/// On PostgreSQL a [GiST](https://www.postgresql.org/docs/current/rangetypes.html#RANGETYPES-INDEXING) index on
/// the column serves the tests.
extension SQLExpression
where Value: RangeValue, Value.RangeBound: DatabaseValueConvertible & Codable {
  /// Whether the range contains a value; false for NULL.
  public func contains(_ value: Value.RangeBound) -> SQLExpression<Bool> {
    let (lower, upper) = node.bounds
    return rangeTest(lower <= value && upper > value, value, value, end: "]") {
      .arrayContains($0)
    }
  }

  /// Whether the ranges have a value in common; false for NULL.
  public func overlaps(_ range: Range<Value.RangeBound>) -> SQLExpression<Bool> {
    guard !range.isEmpty else { return SQLExpression<Bool>(SQLFragment(text: "(1 = 0)")) }
    let (lower, upper) = node.bounds
    return rangeTest(
      lower < range.upperBound && upper > range.lowerBound, range.lowerBound, range.upperBound,
      end: ")"
    ) { .arrayOverlaps($0) }
  }

  /// The test for engines that have ranges, and the one of the bounds in JSON for all others.
  private func rangeTest(
    _ json: SQLExpression<Bool>, _ lower: Value.RangeBound, _ upper: Value.RangeBound, end: String,
    _ form: (String) -> SQLForm
  ) -> SQLExpression<Bool> {
    // A condition on each engine: what has no bounds fulfils no test.
    let test = SQLFragment(
      .sequence([.part("((\(json.node)) IS TRUE)")]), isNullable: false)
    guard node.storesRange, let lower = try? JSONText.text(of: lower),
      let upper = try? JSONText.text(of: upper)
    else { return SQLExpression<Bool>(test) }
    return SQLExpression<Bool>(
      SQLFragment(.form(form("[\(lower),\(upper)\(end)"), [node], test), isNullable: false))
  }
}

extension SQLFragment {
  /// Whether it is a column that holds a range, for which some engines have types.
  package final var storesRange: Bool { if case .range? = storedForm { true } else { false } }

  /// The bounds in the column's JSON, which are named, or the two elements that `Range` itself encodes.
  fileprivate var bounds: (lower: JSONExpression, upper: JSONExpression) {
    let json = JSONExpression(self)
    return storesRange ? (json["lower"], json["upper"]) : (json[0], json[1])
  }
}

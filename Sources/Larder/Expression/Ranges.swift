import LarderSQLite

// Membership in ranges. The bounds are compared: a list of all values might not fit in memory.

extension SQLExpression where Value: DatabaseValueConvertible {
  /// Whether the value lies in a range; for a half-open range without values it doesn't.
  ///
  /// `18...65` becomes `BETWEEN`, and `18..<65` two comparisons. Reading throws for a type of range other than
  /// those of Swift's operators.
  @_disfavoredOverload
  public func `in`(_ range: some RangeExpression<Value>) -> SQLExpression<Bool> {
    SQLExpression<Bool>(node.within(range))
  }

  /// Whether the value lies in a range. It is unknown whether NULL does: the condition and its opposite both
  /// leave out such rows. Reading throws for a type of range other than those of Swift's operators.
  @_disfavoredOverload
  public func `in`<Wrapped: DatabaseValueConvertible>(
    _ range: some RangeExpression<Wrapped>
  ) -> SQLExpression<Bool> where Value == Wrapped? {
    SQLExpression<Bool>(node.within(range))
  }
}

extension RangeExpression where Bound: DatabaseValueConvertible {
  /// Whether the range contains an expression's value: `(18...65).contains($0.age)`. Reading throws for a type
  /// of range other than those of Swift's operators.
  public func contains(_ expression: SQLExpression<Bound>) -> SQLExpression<Bool> {
    expression.in(self)
  }

  /// Whether the range contains an expression's value; unknown for NULL. Reading throws for a type of range
  /// other than those of Swift's operators.
  @_disfavoredOverload
  public func contains(_ expression: SQLExpression<Bound?>) -> SQLExpression<Bool> {
    expression.in(self)
  }
}

/// A range with bounds that can be bound as values.
protocol BoundedRange {
  /// The first value, and the last value or the one after it; nil without such a bound.
  var bounds: RangeBounds { get }
}

struct RangeBounds {
  var lower: (any DatabaseValueConvertible)?
  var upper: (any DatabaseValueConvertible)?
  var isClosed = true
}

extension ClosedRange: BoundedRange where Bound: DatabaseValueConvertible {
  var bounds: RangeBounds { RangeBounds(lower: lowerBound, upper: upperBound) }
}

extension Range: BoundedRange where Bound: DatabaseValueConvertible {
  var bounds: RangeBounds { RangeBounds(lower: lowerBound, upper: upperBound, isClosed: false) }
}

extension PartialRangeFrom: BoundedRange where Bound: DatabaseValueConvertible {
  var bounds: RangeBounds { RangeBounds(lower: lowerBound) }
}

extension PartialRangeThrough: BoundedRange where Bound: DatabaseValueConvertible {
  var bounds: RangeBounds { RangeBounds(upper: upperBound) }
}

extension PartialRangeUpTo: BoundedRange where Bound: DatabaseValueConvertible {
  var bounds: RangeBounds { RangeBounds(upper: upperBound, isClosed: false) }
}

extension SQLFragment {
  /// Whether the value lies in a range of Swift's.
  fileprivate final func within(_ range: some RangeExpression) -> SQLFragment {
    (range as? any BoundedRange).map(within)
      ?? .misuse("a value can't be compared with the bounds of a \(type(of: range))")
  }

  /// Whether the value lies between the bounds.
  final func within(_ range: any BoundedRange) -> SQLFragment {
    let bounds = range.bounds
    let least = bounds.lower.map { infix(.greaterOrEqual, $0) }
    guard let upper = bounds.upper else { return least ?? .misuse("a range needs a bound") }
    guard let lower = bounds.lower, let least else {
      return infix(bounds.isClosed ? .lessOrEqual : .less, upper)
    }
    return bounds.isClosed ? between(lower, upper) : least.logical(.and, infix(.less, upper))
  }

  /// BETWEEN two values, which both belong to the range.
  final func between(
    _ first: any DatabaseValueConvertible, _ last: any DatabaseValueConvertible
  ) -> SQLFragment {
    let range = SQLFragment.list([boundInOrder(first), boundInOrder(last)], separator: " AND ")
    return ordered.infix(.between, operand: range)
  }
}

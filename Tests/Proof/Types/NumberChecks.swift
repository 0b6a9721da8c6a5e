import Foundation
import Larder

// What numbers have besides.

extension TypeCheck where S.Value: Comparable {
  mutating func checkRanges() {
    let range = Swift.min(pivots[0], pivots[1])...Swift.max(pivots[0], pivots[1])
    filter("between", { $0.a.between(range) }, { range.contains($0.a) })
    filter(
      "Optional between", { $0.maybe.between(range) }, { $0.maybe.map(range.contains) ?? false })
    let halfOpen = range.lowerBound..<range.upperBound
    filter("in range", { $0.a.in(halfOpen) }, { halfOpen.contains($0.a) })
    filter("not in range", { !$0.a.in(halfOpen) }, { !halfOpen.contains($0.a) })
    filter(
      "Optional in range", { $0.maybe.in(halfOpen) },
      { $0.maybe.map(halfOpen.contains) ?? false })
  }
}

extension TypeCheck {
  /// Whether a result is that of Swift: nil where Swift would trap, and SQLite's 64 bits aren't exceeded or
  /// there is no such number.
  static func exact<V: FixedWidthInteger & DatabaseValueConvertible>(
    _ result: (partialValue: V, overflow: Bool)
  ) -> SwiftResult<V> {
    if result.overflow { return .error }
    return Int64(exactly: result.partialValue) == nil
      ? .valueOrError(result.partialValue) : .value(result.partialValue)
  }
}

extension TypeCheck
where S.Value: FixedWidthInteger & BinaryNumberValue, S.Value.Number == S.Value {
  /// Integers of all widths.
  mutating func checkIntegers() {
    let v = pivots[0]
    checkRanges()
    select("+ column", { $0.a + $0.b }, { Self.exact($0.a.addingReportingOverflow($0.b)) })
    select("- column", { $0.a - $0.b }, { Self.exact($0.a.subtractingReportingOverflow($0.b)) })
    select("* column", { $0.a * $0.b }, { Self.exact($0.a.multipliedReportingOverflow(by: $0.b)) })
    select("+ value", { $0.a + v }, { Self.exact($0.a.addingReportingOverflow(v)) })
    select("* value", { $0.a * v }, { Self.exact($0.a.multipliedReportingOverflow(by: v)) })
    select(
      "/ column", { $0.a / $0.b },
      { $0.b == 0 ? .error : Self.exact($0.a.dividedReportingOverflow(by: $0.b)) })
    // SQLite knows that the rest of a division by -1 is 0, also of the smallest number.
    select(
      "% column", { $0.a % $0.b },
      { $0.b == 0 ? .error : .value($0.b.magnitude == 1 ? 0 : $0.a % $0.b) })
    select("&", { $0.a & $0.b }, { .value($0.a & $0.b) })
    select("|", { $0.a | v }, { .value($0.a | v) })
    select(
      "Optional +", { $0.maybe + $0.a },
      { row -> SwiftResult<S.Value?> in
        guard let maybe = row.maybe else { return .value(nil) }
        let sum = maybe.addingReportingOverflow(row.a)
        if sum.overflow { return .error }
        return Int64(exactly: sum.partialValue) == nil
          ? .valueOrError(sum.partialValue) : .value(sum.partialValue)
      })
    select("cast", { $0.a.cast(to: Double.self) }, { .value(Double($0.a)) })
    select("cast to text", { $0.a.cast(to: String.self) }, { .value("\($0.a)") })
    filter(
      "+ in a comparison", { $0.a + $0.b > v },
      { Int128($0.a) + Int128($0.b) > Int128(v) }, unless: { !Self.isStored($0, +) })
    filter(
      "* in a comparison", { $0.a * $0.b <= v },
      { Int128($0.a) * Int128($0.b) <= Int128(v) }, unless: { !Self.isStored($0, *) })
    let sum = rows.reduce(0 as Int128) { $0 + Int128($1.a) }
    let size = rows.reduce(0.0) { $0 + Double($1.a).magnitude }
    // On the way there SQLite's 64 bits may not be enough.
    aggregate(
      "sum", { $0.a.sum() }, S.Value(exactly: sum).map { .valueOrError($0) } ?? .error)
    aggregate(
      "average", { $0.a.average() },
      .about(Double(sum) / Double(rows.count), error: size / Double(rows.count) * 1e-12))
    aggregate("total", { $0.a.total() }, .about(Double(sum), error: size * 1e-12))
    assign("+=", { $0.a += v }, { Self.exact($0.a.addingReportingOverflow(v)) })
    assign("-=", { $0.a -= v }, { Self.exact($0.a.subtractingReportingOverflow(v)) })
    assign("*=", { $0.a *= v }, { Self.exact($0.a.multipliedReportingOverflow(by: v)) })
    assign("+= column", { $0.a += $0.b }, { Self.exact($0.a.addingReportingOverflow($0.b)) })
    assign(
      "= / of *", { $0.a = $0.a * $0.b / v },
      { row in
        let product = row.a.multipliedReportingOverflow(by: row.b)
        let whole = Int128(row.a) * Int128(row.b)
        guard v != 0 else { return .error }
        guard !product.overflow || Int64(exactly: whole) != nil else { return .error }
        let quotient = whole / Int128(v)
        return S.Value(exactly: quotient).flatMap {
          Int64(exactly: $0) == nil ? nil : .valueOrError($0)
        }
          ?? .error
      })
  }

  private static func isStored(_ row: Row, _ operation: (Int128, Int128) -> Int128) -> Bool {
    Int64(exactly: operation(Int128(row.a), Int128(row.b))) != nil
  }
}

extension TypeCheck
where S.Value: SignedInteger & FixedWidthInteger & BinaryNumberValue, S.Value.Number == S.Value {
  mutating func checkSignedIntegers() {
    checkIntegers()
    select("-", { -$0.a }, { Self.exact((0 as S.Value).subtractingReportingOverflow($0.a)) })
    select(
      "magnitude", { $0.a.magnitude },
      { $0.a == .min ? .error : .value($0.a < 0 ? -$0.a : $0.a) })
    assign(
      "= -", { $0.a = -$0.a }, { Self.exact((0 as S.Value).subtractingReportingOverflow($0.a)) })
  }
}

extension TypeCheck where S.Value: BinaryFloatingPoint & BinaryNumberValue {
  /// NaN isn't stored, and NULL is no number.
  private static func number(_ value: S.Value) -> SwiftResult<S.Value> {
    value.isNaN ? .error : .value(value)
  }

  mutating func checkReals() {
    let v = pivots[0]
    checkRanges()
    select("+ column", { $0.a + $0.b }, { Self.number($0.a + $0.b) })
    select("- column", { $0.a - $0.b }, { Self.number($0.a - $0.b) })
    select("* column", { $0.a * $0.b }, { Self.number($0.a * $0.b) })
    select("+ value", { $0.a + v }, { Self.number($0.a + v) })
    select("* value", { $0.a * v }, { Self.number($0.a * v) })
    select("/ column", { $0.a / $0.b }, { $0.b == 0 ? .error : Self.number($0.a / $0.b) })
    select("-", { -$0.a }, { .value(-$0.a) })
    select("magnitude", { $0.a.magnitude }, { .value($0.a < 0 ? -$0.a : $0.a) })
    filter(
      "+ in a comparison", { $0.a + $0.b > v }, { $0.a + $0.b > v },
      unless: { ($0.a + $0.b).isNaN })
    filter(
      "* in a comparison", { $0.a * $0.b == $0.a }, { $0.a * $0.b == $0.a },
      unless: { ($0.a * $0.b).isNaN })
    filter(
      "/ in a comparison", { $0.a / v < $0.b }, { $0.a / v < $0.b },
      unless: { v == 0 || ($0.a / v).isNaN })
    assign("+=", { $0.a += v }, { Self.number($0.a + v) })
    assign("-=", { $0.a -= v }, { Self.number($0.a - v) })
    assign("*=", { $0.a *= v }, { Self.number($0.a * v) })
    assign("= /", { $0.a = $0.a / $0.b }, { $0.b == 0 ? .error : Self.number($0.a / $0.b) })
    let size = rows.reduce(0.0) { $0 + Double($1.a).magnitude }
    guard size < 1e300 else { return }
    let sum = rows.reduce(0.0) { $0 + Double($1.a) }
    aggregate("total", { $0.a.total() }, .about(sum, error: size * 1e-12))
    aggregate(
      "average", { $0.a.average() },
      .about(sum / Double(rows.count), error: size / Double(rows.count) * 1e-12))
  }
}

extension TypeCheck where S.Value == Decimal {
  /// Of as few digits that Foundation, which rounds, is exact too.
  mutating func checkDecimals() {
    let v = pivots[0]
    select("+ column", { $0.a + $0.b }, { .value($0.a + $0.b) })
    select("- column", { $0.a - $0.b }, { .value($0.a - $0.b) })
    select("* column", { $0.a * $0.b }, { .value($0.a * $0.b) })
    select("+ value", { $0.a + v }, { .value($0.a + v) })
    select("-", { -$0.a }, { .value(-$0.a) })
    select("magnitude", { $0.a.magnitude }, { .value($0.a.magnitude) })
    select(
      "Optional -", { $0.maybe - $0.a }, { row in .value(row.maybe.map { $0 - row.a }) })
    filter("+ in a comparison", { $0.a + $0.b > v }, { $0.a + $0.b > v })
    filter("* in a comparison", { $0.a * $0.b == $0.b * $0.a }, { _ in true })
    checkRanges()
    aggregate("sum", { $0.a.sum() }, .value(rows.reduce(0) { $0 + $1.a }))
    assign("+=", { $0.a += v }, { .value($0.a + v) })
    assign("-=", { $0.a -= v }, { .value($0.a - v) })
    assign("*=", { $0.a *= $0.b }, { .value($0.a * $0.b) })
  }
}

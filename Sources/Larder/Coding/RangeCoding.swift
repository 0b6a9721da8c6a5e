import FoundationEssentials
import LarderSQLite

extension ColumnCoding {
  /// A range: in SQLite JSON with its bounds, `{"lower":1,"upper":5}`, and on PostgreSQL a
  /// [range](https://www.postgresql.org/docs/current/rangetypes.html): `INT8RANGE` of integers, `TSTZRANGE` of
  /// dates, and `NUMRANGE` of other numbers.
  ///
  /// The column of a server may also be a range of another type whose bounds the numbers or dates can be.
  /// Reading throws ``LarderSQLite/ConversionError`` for a range without a bound, or with its upper one, which
  /// Swift's can't express. So do reading and writing for an empty one, whose bounds a server forgets.
  public static func range<Bound: DatabaseValueConvertible & Codable & Comparable>() -> ColumnCoding
  where Value == Range<Bound> {
    let text = ColumnCoding(
      encode: { range in
        guard !range.isEmpty else { throw ConversionError(.notExact, Value.self) }
        return try JSONText.text(of: StoredRange(lower: range.lowerBound, upper: range.upperBound))
      },
      decode: { (text: String) in
        let json = RangeText.json(of: text, areDates: Bound.self == Date.self) ?? text
        if json == text, ["[", "("].contains(text.prefix(1)) || text == "empty" {
          throw ConversionError(
            .malformed, Value.self, part: "the range is empty, lacks a bound, or has its upper one")
        }
        let bounds = try JSONText.value(StoredRange<Bound>.self, of: json)
        guard bounds.lower < bounds.upper else { throw ConversionError(.malformed, Value.self) }
        return bounds.lower..<bounds.upper
      })
    return text.stored(as: .range(Bound.columnType.kind))
  }
}

/// A range's bounds, as JSON has them.
private struct StoredRange<Bound: Codable>: Codable {
  let lower, upper: Bound
}

/// Ranges in a server's text: `[1,5)`, `["2026-01-01 00:00:00+00","2026-02-01 00:00:00+00")`.
private enum RangeText {
  /// The bounds as JSON; nil for a text of another form.
  static func json(of text: String, areDates: Bool) -> String? {
    guard text.first == "[", text.last == ")" else { return nil }
    let bounds = text.dropFirst().dropLast().split(
      separator: ",", omittingEmptySubsequences: false)
    guard bounds.count == 2, !bounds.contains("") else { return nil }
    let written = bounds.map { bound -> String in
      var bound = bound.drop { $0 == "\"" }
      while bound.last == "\"" { bound.removeLast() }
      guard areDates else { return String(bound) }
      return String(bound.hasSuffix("+00") ? bound.dropLast(3) + "Z" : bound).quotedJSON
    }
    return "{\"lower\":\(written[0]),\"upper\":\(written[1])}"
  }
}

import Larder
import LarderSQLite

/// Date functions for each form in which dates are stored: their parts by `to_char`, and spans of time by
/// intervals.
///
/// See [Data Type Formatting](https://www.postgresql.org/docs/15/functions-formatting.html).
enum DateFormatting {
  /// The text that `strftime` makes of a date, in UTC.
  static func text(_ format: SQLFragment, _ date: SQLFragment) -> SQLFragment {
    guard case .text(let text)? = format.boundValue else {
      return .unsupported("a date format that isn't a constant")
    }
    switch text {
    // `%w` counts Sunday as 0, as only `extract(dow …)` does.
    case "%w": return "CAST(extract(dow FROM \(time(date))) AS TEXT)"
    case "%s": return "CAST(floor(extract(epoch FROM \(moment(date)))) AS TEXT)"
    default:
      return pattern(of: text).map { self.text(time(date), $0) }
        ?? .unsupported("the date format \(text)")
    }
  }

  /// A time as text, by a pattern of `to_char`. Milliseconds are rounded, which `to_char` doesn't do by
  /// itself.
  private static func text(_ time: SQLFragment, _ pattern: Pattern) -> SQLFragment {
    let rounded: SQLFragment =
      pattern.hasMilliseconds ? "\(time) + INTERVAL '0.0005 seconds'" : time
    func text(year: String) -> SQLFragment {
      let pattern = pattern.aroundYears.joined(separator: year).quotedText
      return "to_char(\(rounded), \(SQLFragment(text: pattern)))"
    }
    guard pattern.aroundYears.count > 1 else { return text(year: "") }
    // `to_char` writes the year before 1 as 1, meaning 1 BC.
    return """
      CASE WHEN \(time) < '0001-01-01 BC' OR \(time) >= '10000-01-01' THEN NULL \
      WHEN \(time) < '0001-01-01' THEN \(text(year: "\"0000\"")) ELSE \(text(year: "YYYY")) END
      """
  }

  /// A date as the server's own type for one, `timestamptz`.
  static func moment(_ date: SQLFragment) -> SQLFragment {
    switch date.dateFormat {
    case nil: date.grouped
    case .secondsSince1970: "to_timestamp(\(date))"
    case .unixMilliseconds: "to_timestamp(\(date.grouped) / 1000.0)"
    case .julianDay:
      """
      to_timestamp(round(CAST((\(date.grouped) - 2440587.5) * 86400000 AS NUMERIC)) / 1000)
      """
    // Text is in UTC, whether it says so or not.
    default: "(CAST(\(date) AS TIMESTAMP) AT TIME ZONE 'UTC')"
    }
  }

  /// A date as a `timestamp` in UTC.
  private static func time(_ date: SQLFragment) -> SQLFragment {
    "(\(moment(date)) AT TIME ZONE 'UTC')"
  }

  /// A pattern of `to_char`, split at its years.
  private typealias Pattern = (aroundYears: [String], hasMilliseconds: Bool)

  private static func pattern(of format: String) -> Pattern? {
    var pattern: Pattern = ([""], false)
    var rest = Substring(format)
    while let character = rest.popFirst() {
      var text = character.isLetter ? "\"\(character)\"" : "\(character)"
      // Quotes and backslashes are escaped: a backslash escapes a quote outside of quotes, and any character
      // inside.
      if character == "\"" { text = "\\\"" }
      if character == "\\" { text = "\"\\\\\"" }
      if character == "%" {
        guard let letter = rest.popFirst(), let part = parts[letter] else { return nil }
        if letter == "Y" || letter == "F" { pattern.aroundYears.append("") }
        if letter == "f" { pattern.hasMilliseconds = true }
        text = part
      }
      pattern.aroundYears[pattern.aroundYears.count - 1] += text
    }
    return pattern
  }

  /// The pattern of `to_char` for each letter of `strftime`; for those with a year, the part after it.
  private static let parts: [Character: String] = [
    "Y": "", "m": "MM", "d": "DD", "H": "HH24", "M": "MI", "S": "SS", "f": "SS.MS", "j": "DDD",
    "F": "-MM-DD", "T": "HH24:MI:SS", "R": "HH24:MI", "%": "%",
  ]

  /// A date plus spans of time, such as `3 days`, in the date's own form. Years and months come first. A day
  /// that the resulting month doesn't have overflows into the next month, as in SQLite.
  static func adding(
    _ date: SQLFragment, _ spans: ArraySlice<SQLFragment>, months: Int
  ) -> SQLFragment {
    var sum = time(date)
    // The result is NULL if a step of months, or the sum, leaves the years 1 to 9999: the server's calendar
    // has no year 0, and years of five digits aren't written. As in SQLite, hours may leave them if minutes
    // come back.
    var tests: [SQLFragment] = []
    for (number, span) in spans.enumerated() {
      guard case .text(let text)? = span.boundValue else {
        return .unsupported("a span of time that isn't a constant")
      }
      let interval: SQLFragment = "CAST(\(SQLFragment(text: text.quotedText)) AS INTERVAL)"
      let month: SQLFragment = "date_trunc('month', \(sum))"
      let usesDay: SQLFragment = "(\(month) + \(interval) + (\(sum) - \(month)))"
      sum = number < months ? usesDay : "(\(sum) + \(interval))"
      if number < months || number == spans.count - 1 {
        tests.append("\(sum) >= '0001-01-01' AND \(sum) < '10000-01-01'")
      }
    }
    let seconds: SQLFragment = "extract(epoch FROM \(sum) - \(time(date)))"
    let moved: SQLFragment =
      switch date.dateFormat {
      case nil: "\(sum) AT TIME ZONE 'UTC'"
      case .secondsSince1970: "\(date.grouped) + CAST(\(seconds) AS DOUBLE PRECISION)"
      case .unixMilliseconds: "\(date.grouped) + CAST(\(seconds) * 1000 AS BIGINT)"
      case .julianDay: "\(date.grouped) + CAST(\(seconds) / 86400 AS DOUBLE PRECISION)"
      case let format?:
        pattern(of: format.strftime ?? "").map {
          "(\(text(sum, $0)) COLLATE \"C\")"
        } ?? sum
      }
    return "CASE WHEN \(.list(tests, separator: " AND ")) THEN \(moved) END"
  }
}

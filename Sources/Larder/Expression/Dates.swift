import FoundationEssentials
import LarderSQLite

// Dates as text: `strftime`, for each format in which dates are stored.

extension SQLExpression where Value == Date {
  /// The date as text in a format of SQLite's `strftime`, such as `%Y-%m`, in UTC.
  ///
  /// ```swift
  /// City.all.group { $0.founded.strftime("%Y") }.select { ($0.founded.strftime("%Y"), count()) }
  /// ```
  ///
  /// Dates are read in any ``LarderSQLite/DateFormat``, the connection's or the column's own. A date that
  /// SQLite can't express, such as one after the year 9999, is NULL, and reading it throws. Seconds are
  /// rounded down. In three cases the whole time is rounded to milliseconds first: a format with a fraction
  /// (`%f`, `%J`), Julian days, and text with more digits than any format reads. See
  /// [strftime](https://www.sqlite.org/lang_datefunc.html).
  public func strftime(_ format: String) -> SQLExpression<String> {
    SQLExpression<String>(formatted(format))
  }
}

extension SQLExpression where Value == Date? {
  /// The date as text in a format of SQLite's `strftime`; NULL if there is no date. See
  /// `SQLExpression.strftime`.
  public func strftime(_ format: String) -> SQLExpression<String?> {
    SQLExpression<String?>(formatted(format))
  }
}

extension SQLExpression {
  func formatted(_ format: String) -> SQLFragment {
    let hasFraction = format.contains("%f") || format.contains("%J")
    let format = SQLFragment(value: format)
    let seconds = hasFraction ? node : node.wholeSeconds
    let milliseconds: SQLFragment = "\(node.parenthesized(in: .product)) / 1000.0"
    let call: SQLFragment =
      switch node.coding.map({ $0.dateFormat ?? .iso8601 }) {
      case .secondsSince1970: .call("strftime", format, seconds, "'unixepoch'")
      case .unixMilliseconds: .call("strftime", format, milliseconds, "'unixepoch'")
      case .julianDay, .iso8601, .iso8601Seconds, .sqlDateTime, .sqlDateTimeMilliseconds, .sqlDate:
        .call("strftime", format, node)
      // The connection that binds the statement's values tells the format.
      case nil:
        .call(
          "strftime", format,
          """
          CASE \(SQLFragment(value: DateQuestion.format)) \
          WHEN \(text: "\(DateFormat.secondsSince1970.rawValue)") THEN \(seconds) \
          WHEN \(text: "\(DateFormat.unixMilliseconds.rawValue)") THEN \(milliseconds) ELSE \(node) END
          """,
          SQLFragment(value: DateQuestion.modifier))
      }
    return SQLFragment(.form(.strftime, [format, node], call))
  }
}

extension SQLFragment {
  /// A number of seconds since 1970, rounded down to a whole second. SQLite rounds to the nearest millisecond
  /// first, which may be in the next second, or year. (It is written without a function of Larder's own, so
  /// that views can use it.)
  final var wholeSeconds: SQLFragment {
    let whole = SQLFragment(.cast(self, .integer))
    return """
      CASE typeof(\(self)) WHEN 'real' THEN \(whole) - (\(parenthesized(in: .comparison)) < \(whole)) ELSE \(self) END
      """
  }
}

/// An argument whose value depends on the date format of the connection that binds it.
enum DateQuestion: DateFormatted {
  case modifier
  /// The number of the connection's format: its raw value.
  case format
  /// The connection's date format as a format of `strftime`; empty if dates are stored as numbers.
  case text

  func databaseValue(in format: DateFormat) -> DatabaseValue {
    switch self {
    case .format: .integer(Int64(format.rawValue))
    case .text: .text(format.strftime ?? "")
    case .modifier:
      switch format {
      case .secondsSince1970, .unixMilliseconds: .text("unixepoch")
      // This modifier changes nothing: SQLite reads text and Julian days as they are.
      case .julianDay, .iso8601, .iso8601Seconds, .sqlDateTime, .sqlDateTimeMilliseconds, .sqlDate:
        .text("+0 days")
      }
    }
  }

  var databaseValue: DatabaseValue { databaseValue(in: .secondsSince1970) }

  init(databaseValue: DatabaseValue) throws {
    throw ConversionError(.malformed, DateQuestion.self)
  }

  func bind(to parameter: ParameterBinder) throws {
    try databaseValue(in: parameter.dateFormat).bind(to: parameter)
  }
}

extension DateFormat {
  /// The format of `strftime` that writes the same text; nil for numbers.
  package var strftime: String? {
    switch self {
    case .secondsSince1970, .unixMilliseconds, .julianDay: nil
    case .iso8601: "%Y-%m-%dT%H:%M:%fZ"
    case .iso8601Seconds: "%Y-%m-%dT%H:%M:%SZ"
    case .sqlDateTime: "%Y-%m-%d %H:%M:%S"
    case .sqlDateTimeMilliseconds: "%Y-%m-%d %H:%M:%f"
    case .sqlDate: "%Y-%m-%d"
    }
  }
}

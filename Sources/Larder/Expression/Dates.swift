import FoundationEssentials
import LarderSQLite

// Dates as text: strftime, for each format in which dates are stored.

extension SQLExpression where Value == Date {
  /// The date as text in a format of SQLite's, such as `%Y-%m`, in UTC.
  ///
  /// ```swift
  /// City.all.group { $0.founded.strftime("%Y") }.select { ($0.founded.strftime("%Y"), count()) }
  /// ```
  ///
  /// It knows each ``LarderSQLite/DateFormat``, that of the connection as well as a column's own.
  /// What SQLite can't express, such as dates after the year 9999, is NULL and throws where it is
  /// read. The second is the one that has begun. Where the format asks for a fraction (`%f`, `%J`), of Julian days,
  /// and of text with more digits than any format reads, the whole time is rounded to milliseconds first.
  /// See [strftime](https://www.sqlite.org/lang_datefunc.html).
  public func strftime(_ format: String) -> SQLExpression<String> {
    SQLExpression<String>(formatted(format))
  }
}

extension SQLExpression where Value == Date? {
  /// The date as text in a format of SQLite's; NULL where there is none. See
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
    let milliseconds: SQLFragment = "\(node.inside(.product)) / 1000.0"
    let call: SQLFragment =
      switch node.coding.map({ $0.dateFormat ?? .iso8601 }) {
      case .secondsSince1970: .call("strftime", format, seconds, "'unixepoch'")
      case .unixMilliseconds: .call("strftime", format, milliseconds, "'unixepoch'")
      case .julianDay, .iso8601, .iso8601Seconds, .sqlDateTime, .sqlDateTimeMilliseconds, .sqlDate:
        .call("strftime", format, node)
      // In the format of the connection that binds the statement's values.
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
  /// The second that has begun, of a number of seconds since 1970: SQLite rounds to the nearest millisecond first,
  /// which may be one of the next second, or year. (Without a function of our own, since views can be made of it.)
  final var wholeSeconds: SQLFragment {
    let whole = SQLFragment(.cast(self, .integer))
    return """
      CASE typeof(\(self)) WHEN 'real' THEN \(whole) - (\(inside(.comparison)) < \(whole)) ELSE \(self) END
      """
  }
}

/// An argument that depends on the format of the connection that it is bound to.
enum DateQuestion: DateFormatted {
  case modifier
  /// A number that is the format's own.
  case format
  /// The format of strftime that writes its text; empty for numbers.
  case text

  func databaseValue(in format: DateFormat) -> DatabaseValue {
    switch self {
    case .format: .integer(Int64(format.rawValue))
    case .text: .text(format.strftime ?? "")
    case .modifier:
      switch format {
      case .secondsSince1970, .unixMilliseconds: .text("unixepoch")
      // Changes nothing: text and Julian days are read as they are.
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
  /// The format of strftime that writes the same text; nil for numbers.
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

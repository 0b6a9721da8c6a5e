import FoundationEssentials
import LarderSQLite

extension SQLExpression where Value == Date {
  /// The date as text in a format of SQLite's, such as `%Y-%m`, in UTC.
  ///
  /// ```swift
  /// City.all.group { $0.founded.strftime("%Y") }.select { ($0.founded.strftime("%Y"), count()) }
  /// ```
  ///
  /// It knows each ``LarderSQLite/DateFormat``, that of the connection as well as a column's own.
  /// What SQLite can't express, such as dates after the year 9999, is NULL and throws where it is
  /// read. See [strftime](https://www.sqlite.org/lang_datefunc.html).
  public func strftime(_ format: String) -> SQLExpression<String> {
    SQLExpression<String>(formatted(format, storage))
  }
}

extension SQLExpression where Value == Date? {
  /// The date as text in a format of SQLite's; NULL where there is none. See
  /// `SQLExpression.strftime`.
  public func strftime(_ format: String) -> SQLExpression<String?> {
    SQLExpression<String?>(formatted(format, storage))
  }
}

extension SQLExpression {
  /// How a column's own coding stores dates, found by storing one; nil for the connection's format.
  fileprivate var storage: DateStorage {
    guard let coding else { return .connection }
    switch try? coding.code(Date(timeIntervalSince1970: 86_400)).databaseValue {
    case .real(86_400), .integer(86_400): return .format(.secondsSince1970)
    case .integer(86_400_000), .real(86_400_000): return .format(.unixMilliseconds)
    case .real(2_440_588.5): return .format(.julianDay)
    default: return .format(.iso8601)
    }
  }

  fileprivate func formatted(_ format: String, _ storage: DateStorage) -> SQL {
    let format = SQL(bound: format)
    let pieces: [SQL]
    switch storage {
    case .format(.secondsSince1970): pieces = [format, sql, SQL(raw: "'unixepoch'")]
    case .format(.unixMilliseconds):
      pieces = [format, SQL("", inside(.product), " / 1000.0"), SQL(raw: "'unixepoch'")]
    case .format: pieces = [format, sql]
    case .connection:
      let value = SQL("iif(", SQL(bound: DateQuestion.isMilliseconds), ", ")
      pieces = [
        format,
        SQL(SQL(value, "", SQL("", inside(.product), " / 1000.0, ")), "", SQL("", sql, ")")),
        SQL(bound: DateQuestion.modifier),
      ]
    }
    return SQL("strftime(", SQL(pieces, separator: ", "), ")")
  }
}

/// How dates are stored that a function shall read.
private enum DateStorage {
  case format(DateFormat)
  /// In the format of the connection that binds the statement's values.
  case connection
}

/// An argument that depends on the format of the connection that it is bound to.
private enum DateQuestion: DateFormatted {
  case isMilliseconds, modifier

  func databaseValue(in format: DateFormat) -> DatabaseValue {
    switch self {
    case .isMilliseconds: .integer(format == .unixMilliseconds ? 1 : 0)
    case .modifier:
      switch format {
      case .secondsSince1970, .unixMilliseconds: .text("unixepoch")
      // Changes nothing: text and Julian days are read as they are.
      case .julianDay, .iso8601, .sqlDateTime: .text("+0 days")
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

import FoundationEssentials

/// How dates are stored: for a whole connection in ``Configuration/dateFormat``, or for one column
/// by calling the format's own two methods.
///
/// ```swift
/// let founded = try DateFormat.iso8601.date(from: rows["founded"])
/// ```
///
/// Every format is in UTC and independent of the time zone and locale of the process. They are
/// the forms that SQLite's own [date functions](https://www.sqlite.org/lang_datefunc.html)
/// understand (with `'unixepoch'` for the two that count from 1970).
public enum DateFormat: UInt8, Hashable, Sendable {
  /// A real number of seconds since 1970: the default. Exact to a quarter of a microsecond.
  case secondsSince1970
  /// An integer number of milliseconds since 1970, up to 278,000 years from then; rounds to the
  /// nearest.
  case unixMilliseconds
  /// A real number of days since noon in Greenwich on November 24, 4714 B.C.; exact to about
  /// 40 microseconds.
  case julianDay
  /// Text such as `2026-11-21T08:33:26.123Z`; rounds to the nearest millisecond.
  case iso8601
  /// Text such as `2026-11-21 08:33:26`; rounds to the nearest second.
  case sqlDateTime

  /// The date in this format. Throws ``ConversionError`` for a date that the format can't
  /// express: one that is not finite, or for text outside of the years 0 to 9999.
  public func databaseValue(of date: Date) throws -> DatabaseValue {
    let seconds = date.timeIntervalSince1970
    guard seconds.isFinite else { throw ConversionError(.notExact, Date.self) }
    switch self {
    case .secondsSince1970:
      return .real(seconds)
    case .unixMilliseconds:
      return .integer(try Self.milliseconds(in: seconds))
    case .julianDay:
      return .real(seconds / 86_400 + Self.julianDayOf1970)
    case .iso8601:
      return .text(try CivilTime(seconds: seconds, unitsPerSecond: 1000).text(separator: "T") + "Z")
    case .sqlDateTime:
      return .text(try CivilTime(seconds: seconds, unitsPerSecond: 1).text(separator: " "))
    }
  }

  /// The date from a value in this format.
  ///
  /// The two text formats read each other's form, with or without a fraction of a second and an
  /// offset such as `+08:00`; a date alone is its midnight. Throws ``ConversionError`` for a
  /// value of another form, for February 30 or 25 o'clock.
  public func date(from value: DatabaseValue) throws -> Date {
    switch (self, value) {
    case (.secondsSince1970, .real(let seconds)):
      return try Self.date(seconds)
    case (.secondsSince1970, .integer(let seconds)):
      return try Self.date(Self.exactly(seconds))
    case (.unixMilliseconds, .integer(let milliseconds)):
      guard milliseconds.magnitude <= UInt64(Self.farthest) * 1000 else {
        throw ConversionError(.notExact, Date.self)
      }
      return try Self.date(Double(milliseconds) / 1000)
    case (.julianDay, .real(let days)):
      return try Self.date((days - Self.julianDayOf1970) * 86_400)
    case (.julianDay, .integer(let days)):
      return try Self.date((Self.exactly(days) - Self.julianDayOf1970) * 86_400)
    case (.iso8601, .text(let text)), (.sqlDateTime, .text(let text)):
      return try Self.date(CivilTime.secondsSince1970(text))
    default:
      throw value.unexpected(for: Date.self)
    }
  }

  private static let julianDayOf1970 = 2_440_587.5

  /// Rounded once: whole seconds and the fraction apart, since far from 1970 their product would
  /// itself be rounded, and a number of milliseconds that was read written as the next one.
  private static func milliseconds(in seconds: Double) throws -> Int64 {
    guard seconds.magnitude <= farthest else { throw ConversionError(.notExact, Date.self) }
    let whole = seconds.rounded(.towardZero)
    return Int64(whole) * 1000 + Int64(((seconds - whole) * 1000).rounded())
  }

  /// A number of seconds up to which a Date, which counts from 2001 by a Double, tells milliseconds apart:
  /// up to 2⁴³ of its own.
  private static let farthest = 8_790_000_000_000.0

  private static func exactly(_ number: Int64) throws -> Double {
    guard let exact = Double(exactly: number) else { throw ConversionError(.notExact, Date.self) }
    return exact
  }

  private static func date(_ seconds: Double) throws -> Date {
    guard seconds.isFinite else { throw ConversionError(.notExact, Date.self) }
    return Date(timeIntervalSince1970: seconds)
  }

  /// What a column of dates in this format is declared as.
  package var columnType: ColumnType {
    switch self {
    case .secondsSince1970, .julianDay: .real
    case .unixMilliseconds: .integer
    case .iso8601, .sqlDateTime: .text
    }
  }
}

extension StorageFormat {
  init(dateFormat: DateFormat, isUTF16: Bool) {
    self.init(bits: dateFormat.rawValue << 1 | (isUTF16 ? 1 : 0))
  }

  @inlinable
  var dateFormat: DateFormat { DateFormat(rawValue: bits >> 1) ?? .secondsSince1970 }
}

extension ColumnReader {
  /// How the connection stores dates.
  @inlinable
  public var dateFormat: DateFormat { format.dateFormat }
}

extension ParameterBinder {
  /// How the connection stores dates.
  @inlinable
  public var dateFormat: DateFormat { arena.format.dateFormat }
}

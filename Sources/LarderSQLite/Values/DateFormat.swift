import FoundationEssentials

/// The form in which dates are stored: for a whole connection in ``Configuration/dateFormat``, or for one
/// column by calling the format's own two methods.
///
/// ```swift
/// let founded = try DateFormat.iso8601.date(from: rows["founded"])
/// ```
///
/// Every format is in UTC and independent of the time zone and locale of the process. They are
/// the forms that SQLite's own [date functions](https://www.sqlite.org/lang_datefunc.html)
/// understand (with `'unixepoch'` for the two that count from 1970).
///
/// A format reads only what it writes, since SQLite compares these texts as text: among `2026-11-21 00:00:00`
/// a `2026-11-21` would neither equal that day nor sort at its place. All texts of a format have the same
/// length, and sort as the dates do. A date that has to be rounded is rounded wherever it is stored or
/// compared with stored dates.
public enum DateFormat: UInt8, Hashable, Sendable {
  /// A real number of seconds since 1970: the default. Exact to a quarter of a microsecond.
  case secondsSince1970
  /// An integer number of milliseconds since 1970, up to 278,000 years from then; rounds to the nearest.
  case unixMilliseconds
  /// The Julian day as a real number: days since noon in Greenwich on November 24, 4714 B.C. Exact to about
  /// 40 microseconds.
  case julianDay
  /// Text such as `2026-11-21T08:33:26.123Z`; rounds to the nearest millisecond.
  case iso8601
  /// Text such as `2026-11-21 08:33:26`; rounds to the nearest second.
  case sqlDateTime
  /// Text such as `2026-11-21 08:33:26.123`; rounds to the nearest millisecond.
  case sqlDateTimeMilliseconds
  /// Text such as `2026-11-21`: the day in UTC, which is read as its midnight.
  case sqlDate
  /// Text such as `2026-11-21T08:33:26Z`; rounds to the nearest second.
  case iso8601Seconds

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
    case .sqlDateTimeMilliseconds:
      return .text(try CivilTime(seconds: seconds, unitsPerSecond: 1000).text(separator: " "))
    case .sqlDate:
      return .text(try CivilTime(seconds: seconds.rounded(.down), unitsPerSecond: 1).dateText)
    case .iso8601Seconds:
      return .text(try CivilTime(seconds: seconds, unitsPerSecond: 1).text(separator: "T") + "Z")
    }
  }

  /// The date from a value in this format.
  ///
  /// Throws ``ConversionError`` for a value of another form, for February 30 or 25 o'clock; with
  /// ``ConversionError/Kind/otherCoding(_:)`` for text that another format would read.
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
    case (.julianDay, .real(let days)): return try Self.date((days - Self.julianDayOf1970) * 86_400)
    case (.julianDay, .integer(let days)):
      return try Self.date((Self.exactly(days) - Self.julianDayOf1970) * 86_400)
    case (_, .text(let text)) where columnType == .text:
      let seconds = try CivilTime.secondsSince1970(text)
      guard let form = Self.form(of: text) else { throw ConversionError(.malformed, Date.self) }
      guard form == self else {
        throw ConversionError(.otherCoding(".format(.\(form))"), Date.self)
      }
      return try Self.date(seconds)
    case (_, .text(let text)) where (try? CivilTime.secondsSince1970(text)) != nil:
      guard let form = Self.form(of: text) else { throw value.unexpected(for: Date.self) }
      throw ConversionError(.otherCoding(".format(.\(form))"), Date.self)
    default: throw value.unexpected(for: Date.self)
    }
  }

  /// The format whose texts have this length and punctuation; nil if none has.
  private static func form(of text: String) -> DateFormat? {
    let bytes = text.utf8
    let (hasT, hasZ) = (
      bytes.dropFirst(10).first == UInt8(ascii: "T"), bytes.last == UInt8(ascii: "Z")
    )
    return switch (bytes.count, hasT, hasZ) {
    case (10, _, _): .sqlDate
    case (19, false, false): .sqlDateTime
    case (23, false, false): .sqlDateTimeMilliseconds
    case (20, true, true): .iso8601Seconds
    case (24, true, true): .iso8601
    default: nil
    }
  }

  private static let julianDayOf1970 = 2_440_587.5

  /// The milliseconds of a number of seconds, rounded once. Whole seconds and the fraction are converted
  /// apart: far from 1970 their product would itself be rounded, and milliseconds that were read would be
  /// written back as the next ones.
  private static func milliseconds(in seconds: Double) throws -> Int64 {
    guard seconds.magnitude <= farthest else { throw ConversionError(.notExact, Date.self) }
    let whole = seconds.rounded(.towardZero)
    return Int64(whole) * 1000 + Int64(((seconds - whole) * 1000).rounded())
  }

  /// The most seconds from 1970 at which a Date still tells milliseconds apart. A Date counts from 2001 by a
  /// Double, which does so up to 2⁴³ seconds.
  private static let farthest = 8_790_000_000_000.0

  private static func exactly(_ number: Int64) throws -> Double {
    guard let exact = Double(exactly: number) else { throw ConversionError(.notExact, Date.self) }
    return exact
  }

  private static func date(_ seconds: Double) throws -> Date {
    guard seconds.isFinite else { throw ConversionError(.notExact, Date.self) }
    return Date(timeIntervalSince1970: seconds)
  }

  package var columnType: ColumnType {
    switch self {
    case .secondsSince1970, .julianDay: .real
    case .unixMilliseconds: .integer
    case .iso8601, .iso8601Seconds, .sqlDateTime, .sqlDateTimeMilliseconds, .sqlDate: .text
    }
  }
}

extension StorageFormat {
  init(dateFormat: DateFormat, isUTF16: Bool) {
    self.init(bits: dateFormat.rawValue << 1 | (isUTF16 ? 1 : 0))
  }

  @inlinable
  var dateFormat: DateFormat { DateFormat(rawValue: bits >> 1 & 0x3F) ?? .secondsSince1970 }
}

extension ColumnReader {
  /// The format in which the connection stores dates.
  @inlinable
  public var dateFormat: DateFormat { format.dateFormat }
}

extension ParameterBinder {
  /// The format in which the connection stores dates.
  @inlinable
  public var dateFormat: DateFormat { arena.format.dateFormat }
}

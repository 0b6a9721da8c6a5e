import LarderSQLite

/// Dates and times as the server sends them: microseconds, or days, since 2000.
///
/// See [Date/Time Types](https://www.postgresql.org/docs/current/datatype-datetime.html).
enum ServerTime {
  static let dayOf2000 = 10_957
  static let microsecondsPerDay: Int64 = 86_400_000_000
  static let microsecondsOf2000 = Int64(dayOf2000) * microsecondsPerDay

  /// The server's microseconds of a moment, rounded to the nearest.
  static func microseconds(secondsSince1970 seconds: Double) throws -> Int64 {
    if seconds.isInfinite { return seconds < 0 ? .min : .max }
    let whole = seconds.rounded(.down)
    let fraction = ((seconds - whole) * 1_000_000).rounded()
    guard let exact = Int64(exactly: whole), exact.magnitude < 1 << 42 else {
      throw ConversionError(.notExact, Double.self)
    }
    return exact * 1_000_000 + Int64(fraction) - microsecondsOf2000
  }

  static func microseconds(of text: UnsafeRawBufferPointer) throws -> Int64 {
    try microseconds(
      secondsSince1970: CivilTime.secondsSince1970(String(decoding: text, as: UTF8.self)))
  }

  /// The server's days of a date without a time.
  static func days(of text: UnsafeRawBufferPointer) throws -> Int32 {
    let seconds = try CivilTime.secondsSince1970(String(decoding: text, as: UTF8.self))
    guard let days = Int32(exactly: seconds / 86_400) else {
      throw ConversionError(.malformed, String.self)
    }
    return days - Int32(dayOf2000)
  }

  /// `2026-11-22 15:30:00.000000`, of the server's microseconds.
  static func text(microseconds: Int64) -> String {
    if microseconds == .max { return "infinity" }
    if microseconds == .min { return "-infinity" }
    let (days, rest) = (
      microseconds / microsecondsPerDay, microseconds % microsecondsPerDay
    )
    let day = Int(days) - (rest < 0 ? 1 : 0)
    let (date, era) = parts(day: day)
    return date + " " + time(rest < 0 ? rest + microsecondsPerDay : rest) + era
  }

  /// `2026-11-22`, of the server's days.
  static func text(days: Int32) -> String {
    if days == .max { return "infinity" }
    if days == .min { return "-infinity" }
    let (date, era) = parts(day: Int(days))
    return date + era
  }

  /// `15:30:00.000000`, of microseconds since midnight.
  static func time(_ microseconds: Int64) -> String {
    let seconds = Int(microseconds / 1_000_000)
    return padded(seconds / 3600, 2) + ":" + padded(seconds / 60 % 60, 2) + ":"
      + padded(seconds % 60, 2) + "." + padded(Int(microseconds % 1_000_000), 6)
  }

  /// The date, and what follows the time where the year is before the first.
  private static func parts(day: Int) -> (date: String, era: String) {
    let (year, month, day) = CivilTime.calendarDay(daysSince1970: day + dayOf2000)
    let date = padded(year > 0 ? year : 1 - year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2)
    return (date, year > 0 ? "" : " BC")
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

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

/// UUIDs as 16 bytes and as text.
enum UUIDFormat {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// In capital letters, as Foundation writes them. There have to be 16 bytes.
  static func text(of bytes: UnsafeRawBufferPointer) -> String {
    String(unsafeUninitializedCapacity: 36) { text in
      var count = 0
      for (index, byte) in bytes.prefix(16).enumerated() {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          text[count] = UInt8(ascii: "-")
          count += 1
        }
        text[count] = digits[Int(byte >> 4)]
        text[count + 1] = digits[Int(byte & 15)]
        count += 2
      }
      return count
    }
  }

  /// The bytes of 32 digits in groups of 8, 4, 4, 4 and 12; nil for anything else.
  static func bytes(of text: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
    guard text.count == 36 else { return nil }
    var halves: (UInt64, UInt64) = (0, 0)
    var count = 0
    for (index, byte) in text.enumerated() {
      if index == 8 || index == 13 || index == 18 || index == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: return nil
      }
      if count < 16 {
        halves.0 = halves.0 << 4 | UInt64(digit)
      } else {
        halves.1 = halves.1 << 4 | UInt64(digit)
      }
      count += 1
    }
    return halves
  }
}

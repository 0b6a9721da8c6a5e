import FoundationEssentials

/// A date and time of day in UTC, and their ISO 8601 text.
///
/// Foundation's ISO 8601 style isn't exact enough to store values with: it truncates a fraction instead of
/// rounding it, and accepts "2026-02-30", 25 o'clock and text after the end.
package struct CivilTime {
  let year: Int
  let month: Int
  let day: Int
  let secondOfDay: Int
  /// The milliseconds of the second; nil if seconds are the unit.
  let millisecond: Int?

  /// Makes a time from seconds since 1970, rounded to the nearest second or millisecond. Throws outside of
  /// the years 0 to 9999.
  package init(seconds: Double, unitsPerSecond: Int) throws {
    let units = (seconds * Double(unitsPerSecond)).rounded()
    guard let units = Int(exactly: units), units.magnitude < 1 << 50 else {
      throw ConversionError(.notExact, Date.self)
    }
    let unitsPerDay = 86_400 * unitsPerSecond
    let days = units / unitsPerDay - (units % unitsPerDay < 0 ? 1 : 0)
    let rest = units - days * unitsPerDay
    secondOfDay = rest / unitsPerSecond
    millisecond = unitsPerSecond == 1 ? nil : rest % unitsPerSecond
    (year, month, day) = Self.calendarDay(daysSince1970: days)
    guard (0...9999).contains(year) else { throw ConversionError(.notExact, Date.self) }
  }

  package func text(separator: String) -> String {
    let hour = Self.padded(secondOfDay / 3600, 2)
    let minute = Self.padded(secondOfDay / 60 % 60, 2)
    let time = "\(hour):\(minute):\(Self.padded(secondOfDay % 60, 2))"
    return dateText + separator + time + (millisecond.map { ".\(Self.padded($0, 3))" } ?? "")
  }

  /// `YYYY-MM-DD`.
  var dateText: String { "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))" }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Reads `YYYY-MM-DD`, then optionally `T` or a space and `HH:MM[:SS[.fraction]]`, then optionally
  /// `Z` or an offset. Throws for anything else.
  package static func secondsSince1970(_ text: String) throws -> Double {
    var text = text[...].utf8
    let year = try number(from: &text, digits: 4)
    try take("-", from: &text)
    let month = try number(from: &text, digits: 2)
    try take("-", from: &text)
    let day = try number(from: &text, digits: 2)
    let days = daysSince1970(year: year, month: month, day: day)
    guard (1...12).contains(month), calendarDay(daysSince1970: days) == (year, month, day) else {
      throw malformed
    }
    var seconds = Double(days * 86_400)
    if !text.isEmpty {
      if !accept("T", from: &text) { try take(" ", from: &text) }
      seconds += try secondsSinceMidnight(from: &text)
      seconds -= try offsetFromUTC(from: &text)
    }
    guard text.isEmpty else { throw malformed }
    return seconds
  }

  private static func secondsSinceMidnight(from text: inout Substring.UTF8View) throws -> Double {
    let hour = try number(from: &text, digits: 2)
    try take(":", from: &text)
    let minute = try number(from: &text, digits: 2)
    guard hour < 24, minute < 60 else { throw malformed }
    guard accept(":", from: &text) else { return Double(hour * 3600 + minute * 60) }
    let second = try number(from: &text, digits: 2)
    guard second < 60 else { throw malformed }
    return Double(hour * 3600 + minute * 60 + second) + (try fraction(from: &text))
  }

  private static func fraction(from text: inout Substring.UTF8View) throws -> Double {
    guard text.first == UInt8(ascii: ".") else { return 0 }
    let digits = text.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard !digits.isEmpty, let fraction = Double("0." + String(Substring(digits))) else {
      throw malformed
    }
    text = text[digits.endIndex...]
    return fraction
  }

  private static func offsetFromUTC(from text: inout Substring.UTF8View) throws -> Double {
    if text.isEmpty || accept("Z", from: &text) { return 0 }
    let isWest = accept("-", from: &text)
    if !isWest { try take("+", from: &text) }
    let hours = try number(from: &text, digits: 2)
    try take(":", from: &text)
    let minutes = try number(from: &text, digits: 2)
    guard hours < 24, minutes < 60 else { throw malformed }
    return Double((hours * 60 + minutes) * 60 * (isWest ? -1 : 1))
  }

  private static func number(from text: inout Substring.UTF8View, digits: Int) throws -> Int {
    var value = 0
    for _ in 0..<digits {
      guard let byte = text.popFirst(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
        throw malformed
      }
      value = value * 10 + Int(byte - UInt8(ascii: "0"))
    }
    return value
  }

  private static func accept(_ mark: Unicode.Scalar, from text: inout Substring.UTF8View) -> Bool {
    guard text.first == UInt8(ascii: mark) else { return false }
    text.removeFirst()
    return true
  }

  private static func take(_ mark: Unicode.Scalar, from text: inout Substring.UTF8View) throws {
    guard accept(mark, from: &text) else { throw malformed }
  }

  private static var malformed: ConversionError { ConversionError(.malformed, Date.self) }

  // Days and dates of the proleptic Gregorian calendar: years begin in March, so that the leap day
  // comes last, and 400 years always have 146,097 days.

  package static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  package static func calendarDay(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

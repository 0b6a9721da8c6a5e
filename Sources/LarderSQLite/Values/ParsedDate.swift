import FoundationEssentials

/// A date as text in any form of ISO 8601 or SQL, read from its bytes:
///
/// - the day: `2016-07-16`, `20160716`, `2016-07`, `2016`, `2016-W28-6`, `2016W286`, `2016-W28`, `2016-198`,
///   `2016198`, each also after a sign and with six digits for the year
/// - `T`, `t` or spaces, and the time: `14`, `14:30`, `1430`, `14:30:05`, `143005`, with a fraction of the last
///   part after a point or comma; `24:00` is the end of the day, and second 60 the next minute
/// - spaces, and the offset: `Z`, `UTC`, `GMT`, `+02`, `+0200`, `+02:00`, `+02:00:00`; UTC if there is none
package struct ParsedDate {
  /// The milliseconds since 1970, to which a longer fraction is rounded; halves are rounded up.
  package let milliseconds: Int64

  /// Nil for any other text, for February 30 and for 25 o'clock.
  package init?(_ bytes: LentBytes) {
    var scanner = Scanner(bytes)
    scanner.skipSpaces()
    guard let day = scanner.day() else { return nil }
    var (seconds, fraction) = (0, Fraction())
    if scanner.skipSeparator() {
      guard let time = scanner.time(), let offset = scanner.offset() else { return nil }
      (seconds, fraction) = (time.seconds - offset, time.fraction)
    }
    scanner.skipSpaces()
    guard scanner.isAtEnd else { return nil }
    milliseconds = (Int64(day) * 86_400 + Int64(seconds)) * 1000 + fraction.milliseconds
  }

  /// The date of a text; nil as above.
  package static func date(_ text: String) -> Date? {
    text.withBytes { ParsedDate($0)?.date }
  }

  package var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// A fraction of a second, minute or hour.
  private struct Fraction {
    /// The first digits, as many as count.
    var digits: Int64 = 0
    var scale: Int64 = 1
    var unit: Int64 = 1

    var milliseconds: Int64 { (digits * 2000 * unit + scale) / (2 * scale) }
  }

  private struct Scanner {
    private let bytes: LentBytes
    private var position = 0

    init(_ bytes: LentBytes) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func accept(_ mark: Unicode.Scalar) -> Bool {
      guard next == UInt8(ascii: mark) else { return false }
      position += 1
      return true
    }

    mutating func skipSpaces() { while accept(" ") {} }

    /// Skips what stands between day and time; false if only spaces are left, or nothing.
    mutating func skipSeparator() -> Bool {
      if accept("T") || accept("t") { return true }
      guard next == UInt8(ascii: " ") else { return false }
      skipSpaces()
      return !isAtEnd
    }

    private var isDigit: Bool {
      next.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
    }

    private var digitCount: Int {
      var end = position
      while end < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[end]) {
        end += 1
      }
      return end - position
    }

    private mutating func number(_ digits: Int) -> Int? {
      var number = 0
      for _ in 0..<digits {
        guard isDigit else { return nil }
        number = number * 10 + Int(bytes[position] - UInt8(ascii: "0"))
        position += 1
      }
      return number
    }

    // MARK: The day

    /// The days since 1970.
    mutating func day() -> Int? {
      let isNegative = next == UInt8(ascii: "-")
      let hasSign = isNegative || next == UInt8(ascii: "+")
      if hasSign { position += 1 }
      let count = digitCount
      let yearDigits = hasSign ? 6 : 4
      guard var year = number(yearDigits) else { return nil }
      if isNegative { year = -year }
      switch count - yearDigits {
      case 4:
        guard let month = number(2), let day = number(2) else { return nil }
        return days(year, month, day)
      case 3: return number(3).flatMap { days(year, $0) }
      case 0: break
      default: return nil
      }
      let hasHyphen = accept("-")
      if accept("W") || accept("w") { return week(of: year, hasHyphen) }
      guard hasHyphen else { return days(year, 1, 1) }
      switch digitCount {
      case 3: return number(3).flatMap { days(year, $0) }
      case 2:
        guard let month = number(2) else { return nil }
        guard accept("-") else { return days(year, month, 1) }
        guard digitCount == 2, let day = number(2) else { return nil }
        return days(year, month, day)
      default: return nil
      }
    }

    private func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
      guard (1...12).contains(month), (1...31).contains(day) else { return nil }
      let days = CivilTime.daysSince1970(year: year, month: month, day: day)
      return CivilTime.calendarDay(daysSince1970: days) == (year, month, day) ? days : nil
    }

    private func days(_ year: Int, _ dayOfYear: Int) -> Int? {
      let first = CivilTime.daysSince1970(year: year, month: 1, day: 1)
      let next = CivilTime.daysSince1970(year: year + 1, month: 1, day: 1)
      return (1...next - first).contains(dayOfYear) ? first + dayOfYear - 1 : nil
    }

    private mutating func week(of year: Int, _ hasHyphen: Bool) -> Int? {
      guard digitCount == (hasHyphen ? 2 : digitCount == 3 ? 3 : 2), let week = number(2) else {
        return nil
      }
      var day = 1
      if hasHyphen ? accept("-") : digitCount == 1 {
        guard digitCount == 1, let number = number(1) else { return nil }
        day = number
      }
      // The first week is the one with January 4. It begins on a Monday, and 1970 on a Thursday.
      func firstMonday(_ year: Int) -> Int {
        let fourth = CivilTime.daysSince1970(year: year, month: 1, day: 4)
        return fourth - ((fourth + 3) % 7 + 7) % 7
      }
      let monday = firstMonday(year) + (week - 1) * 7
      guard week >= 1, (1...7).contains(day), monday < firstMonday(year + 1) else { return nil }
      return monday + day - 1
    }

    // MARK: The time

    mutating func time() -> (seconds: Int, fraction: Fraction)? {
      let count = digitCount
      guard [2, 4, 6].contains(count), let hour = number(2) else { return nil }
      var (parts, unit) = ([hour, 0, 0], 3600)
      for index in 1...2 {
        let isThere = count == 2 ? accept(":") : count > index * 2
        guard isThere else { break }
        guard count > 2 || digitCount == 2, let part = number(2) else { return nil }
        (parts[index], unit) = (part, unit / 60)
      }
      guard let fraction = fraction(unit) else { return nil }
      let seconds = parts[0] * 3600 + parts[1] * 60 + parts[2]
      guard parts[0] < 24 || seconds == 86_400 && fraction.digits == 0, parts[1] < 60,
        parts[2] < 61
      else { return nil }
      return (seconds, fraction)
    }

    private mutating func fraction(_ unit: Int) -> Fraction? {
      guard accept(".") || accept(",") else { return Fraction() }
      guard isDigit else { return nil }
      var fraction = Fraction(unit: Int64(unit))
      while isDigit {
        // No more digits can change the milliseconds, except at an exact half.
        if fraction.scale < 1_000_000_000_000 / Int64(unit) {
          fraction.digits = fraction.digits * 10 + Int64(bytes[position] - UInt8(ascii: "0"))
          fraction.scale *= 10
        }
        position += 1
      }
      return fraction
    }

    /// The seconds by which the time is ahead of UTC.
    mutating func offset() -> Int? {
      let start = position
      skipSpaces()
      if isAtEnd { return 0 }
      if accept("Z") || accept("z") { return 0 }
      if accept("U") { return accept("T") && accept("C") ? 0 : nil }
      if accept("G") { return accept("M") && accept("T") ? 0 : nil }
      let isWest = accept("-")
      guard isWest || accept("+") else {
        position = start
        return 0
      }
      let count = digitCount
      guard [2, 4].contains(count), let hours = number(2) else { return nil }
      var (minutes, seconds) = (0, 0)
      if count == 4 {
        guard let number = number(2) else { return nil }
        minutes = number
      } else if accept(":") {
        guard digitCount == 2, let number = number(2) else { return nil }
        minutes = number
        if accept(":") {
          guard digitCount == 2, let number = self.number(2) else { return nil }
          seconds = number
        }
      }
      guard hours < 24, minutes < 60, seconds < 60 else { return nil }
      return (hours * 3600 + minutes * 60 + seconds) * (isWest ? -1 : 1)
    }
  }
}

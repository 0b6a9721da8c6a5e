import LarderSQLite

/// Moments as the server sends them: microseconds since 2000, in UTC. The largest and the least mean
/// infinity.
///
/// See [Date/Time Types](https://www.postgresql.org/docs/current/datatype-datetime.html).
enum ServerTime {
  static let dayOf2000: Int64 = 10_957
  static let microsecondsPerDay: Int64 = 86_400_000_000

  /// The server's microseconds of a moment, rounded to the nearest.
  static func microseconds(secondsSince1970 seconds: Double) throws -> Int64 {
    if seconds.isInfinite { return seconds < 0 ? .min : .max }
    let whole = seconds.rounded(.down)
    let fraction = ((seconds - whole) * 1_000_000).rounded()
    guard let exact = Int64(exactly: whole), exact.magnitude < 1 << 42 else {
      throw ConversionError(.notExact, Double.self)
    }
    return exact * 1_000_000 + Int64(fraction) - dayOf2000 * microsecondsPerDay
  }

  /// The server's number of a day, by the day's first moment in UTC. Throws for other moments, whose time
  /// would be lost.
  static func day(secondsSince1970 seconds: Double) throws -> Int32 {
    if seconds.isInfinite { return seconds < 0 ? .min : .max }
    guard seconds.truncatingRemainder(dividingBy: 86_400) == 0,
      let day = Int32(exactly: seconds / 86_400 - Double(dayOf2000)), day != .min, day != .max
    else { throw ConversionError(.notExact, Double.self) }
    return day
  }

  /// The seconds of the server's microseconds. They are converted in two parts, since the whole number has
  /// more digits than a Double.
  static func secondsSince1970(microseconds: Int64) -> Double {
    if microseconds == .min || microseconds == .max {
      return microseconds < 0 ? -.infinity : .infinity
    }
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return Double(seconds + dayOf2000 * 86_400) + Double(rest) / 1_000_000
  }
}

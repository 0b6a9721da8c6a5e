/// An interval's text, as the server writes it with `intervalstyle = postgres`: `1 year 2 mons -3 days
/// +04:05:06.789`. A part behind a negative one has its sign.
///
/// See [Interval Output](https://www.postgresql.org/docs/current/datatype-datetime.html#DATATYPE-INTERVAL-OUTPUT).
enum IntervalText {
  static func text(microseconds: Int64, days: Int32, months: Int32) -> String {
    if microseconds == .max, days == .max, months == .max { return "infinity" }
    if microseconds == .min, days == .min, months == .min { return "-infinity" }
    var parts: [String] = []
    var isAfterNegative = false
    for (count, name) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")]
    where count != 0 {
      let sign = isAfterNegative && count > 0 ? "+" : ""
      parts.append("\(sign)\(count) \(name)\(count == 1 ? "" : "s")")
      isAfterNegative = count < 0
    }
    if microseconds != 0 || parts.isEmpty {
      let sign = microseconds < 0 ? "-" : isAfterNegative ? "+" : ""
      let (seconds, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
      let time = [seconds / 3600, seconds / 60 % 60, seconds % 60]
        .map { ServerValueText.padded(Int($0), 2) }
      parts.append(
        sign + time.joined(separator: ":") + ServerValueText.fraction(Int(rest)))
    }
    return parts.joined(separator: " ")
  }
}

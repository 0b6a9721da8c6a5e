import LarderTerminal

/// A text that is a date, with or without a time of day, and its format.
struct DateText {
  /// The format, such as `YYYY-MM-DD HH:MM:SS`.
  private(set) var form = ""
  /// Which of day and month comes first, in a date that begins with either; nil for other dates.
  private(set) var order: ValueForm?
  /// Whether the day and the time exist.
  private(set) var isPossible = true
  private var rest: ArraySlice<UInt8>

  /// Parses a text; nil if it isn't a date.
  init?(_ bytes: [UInt8]) {
    rest = bytes[...]
    guard readDay(), readTime() else { return nil }
  }

  /// Whether SQLite's [date functions](https://www.sqlite.org/lang_datefunc.html) read a format.
  static func isKnown(_ form: String) -> Bool { form.hasPrefix("YYYY-MM-DD") }

  private mutating func readDay() -> Bool {
    guard let first = number(), let separator = next(among: "-/."), let second = number(),
      second.digits <= 2, next(among: separator) != nil, let third = number()
    else { return false }
    if first.digits == 4, second.digits == 2, third.digits == 2 {
      form = "YYYY\(separator)MM\(separator)DD"
      isPossible = Self.hasDay(first.value, second.value, third.value)
      return true
    }
    // The order of day and month is ambiguous.
    guard first.digits <= 2, third.digits == 4 else { return false }
    form = "D\(separator)M\(separator)YYYY"
    // Days of countries that write points come first.
    order =
      separator == "." || first.value > 12
      ? .dayFirst : second.value > 12 ? .monthFirst : .eitherOrder
    isPossible =
      Self.hasDay(third.value, second.value, first.value)
      || Self.hasDay(third.value, first.value, second.value)
    return true
  }

  private mutating func readTime() -> Bool {
    if rest.isEmpty { return true }
    guard let separator = next(among: " T") else { return false }
    form += separator
    guard let hour = number(), hour.digits <= 2, next(among: ":") != nil, let minute = number(),
      minute.digits == 2
    else { return false }
    form += hour.digits == 2 ? "HH:MM" : "H:MM"
    isPossible = isPossible && hour.value < 24 && minute.value < 60
    if next(among: ":") != nil {
      guard let second = number(), second.digits == 2 else { return false }
      form += ":SS"
      isPossible = isPossible && second.value < 60
      if next(among: ".") != nil {
        guard let fraction = number() else { return false }
        form += "." + String(repeating: "S", count: fraction.digits)
      }
    }
    return readZone()
  }

  private mutating func readZone() -> Bool {
    if rest.isEmpty { return true }
    if next(among: "Z") != nil {
      form += "Z"
      return rest.isEmpty
    }
    guard next(among: "+-") != nil, number()?.digits == 2, next(among: ":") != nil,
      number()?.digits == 2
    else { return false }
    form += "+HH:MM"
    return rest.isEmpty
  }

  private mutating func number() -> (value: Int, digits: Int)? {
    let digits = rest.prefix(9).prefix { $0.decimalDigit != nil }
    rest = rest.dropFirst(digits.count)
    return Int(decimal: digits).map { ($0, digits.count) }
  }

  private mutating func next(among characters: String) -> String? {
    guard let byte = rest.first, characters.utf8.contains(byte) else { return nil }
    rest = rest.dropFirst()
    return String(UnicodeScalar(byte))
  }

  private static func hasDay(_ year: Int, _ month: Int, _ day: Int) -> Bool {
    guard (1...12).contains(month) else { return false }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...days[month - 1]).contains(day)
  }
}

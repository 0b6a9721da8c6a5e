import Larder
import LarderSQLite
import LarderTerminal

/// Dates that a file stores as numbers, for a server's column of dates or timestamps.
struct DateNumbers: Equatable {
  /// The column's form on the server.
  let form: ServerForm
  /// The meaning of the numbers in the file.
  let format: DateFormat

  /// The text that the server writes for the date of an integer. Throws ``CopyProblem`` if its type has no
  /// such date.
  func text(of number: Int64) throws -> [UInt8] {
    switch format {
    case .julianDay: return try text(of: Double(number))
    case .unixMilliseconds: return try text(number, unitsPerSecond: 1000, "\(number)")
    default: return try text(number, unitsPerSecond: 1, "\(number)")
    }
  }

  /// The text that the server writes for the date of a real number, to the microsecond. Julian days are
  /// rounded to milliseconds, since they are exact to 40 microseconds only.
  func text(of number: Double) throws -> [UInt8] {
    let shown = "\(number)"
    switch format {
    case .julianDay:
      return try text(
        ((number - Self.julianDayOf1970) * 86_400_000).rounded(), unitsPerSecond: 1000, shown)
    case .unixMilliseconds: return try text(number.rounded(), unitsPerSecond: 1000, shown)
    default:
      // The fraction is rounded by itself: far from 1970 the product wouldn't have all digits.
      let whole = number.rounded(.down)
      let fraction = Int64(exactly: ((number - whole) * 1_000_000).rounded()) ?? 0
      return try text(whole, unitsPerSecond: 1, plus: fraction, shown)
    }
  }

  private func text(
    _ number: Double, unitsPerSecond: Int64, plus fraction: Int64 = 0, _ shown: String
  ) throws -> [UInt8] {
    guard let exact = Int64(exactly: number) else {
      throw CopyProblem(problem: "\(shown) isn't a date that the server can store")
    }
    return try text(exact, unitsPerSecond: unitsPerSecond, plus: fraction, shown)
  }

  private func text(
    _ units: Int64, unitsPerSecond: Int64, plus fraction: Int64 = 0, _ shown: String
  ) throws -> [UInt8] {
    let (seconds, rest) = units.quotientAndRemainder(dividingBy: unitsPerSecond)
    // A server's years are those from 4713 BC to 294276.
    guard seconds.magnitude < 1 << 43 else {
      throw CopyProblem(problem: "\(shown) isn't a date that the server can store")
    }
    let micros = seconds * 1_000_000 + rest * (1_000_000 / unitsPerSecond) + fraction
    let time = micros % Self.perDay + (micros % Self.perDay < 0 ? Self.perDay : 0)
    let days = Int((micros - time) / Self.perDay)
    guard form != .day || time == 0 else {
      throw CopyProblem(
        problem: "\(shown) isn't the beginning of a day in UTC, and a column of days has no times")
    }
    return text(days: days, time: Int(time))
  }

  private func text(days: Int, time: Int) -> [UInt8] {
    let (year, month, day) = CivilTime.calendarDay(daysSince1970: days)
    var text: [UInt8] = []
    text.append(number: year > 0 ? year : 1 - year, digits: 4)
    text.append(number: month, digits: 2, after: "-")
    text.append(number: day, digits: 2, after: "-")
    if form != .day {
      let seconds = time / 1_000_000
      text.append(number: seconds / 3600, digits: 2, after: " ")
      text.append(number: seconds / 60 % 60, digits: 2, after: ":")
      text.append(number: seconds % 60, digits: 2, after: ":")
      if time % 1_000_000 > 0 {
        text.append(number: time % 1_000_000, digits: 6, after: ".")
        while text.last == UInt8(ascii: "0") { text.removeLast() }
      }
      if form == .instant { text += "+00".utf8 }
    }
    if year <= 0 { text += " BC".utf8 }
    return text
  }

  private static let julianDayOf1970 = 2_440_587.5
  private static let perDay: Int64 = 86_400_000_000
}

extension [UInt8] {
  fileprivate mutating func append(number: Int, digits: Int, after mark: String = "") {
    self += mark.utf8
    var limit = 10
    for _ in 1..<digits {
      if number < limit { append(UInt8(ascii: "0")) }
      limit *= 10
    }
    append(integer: Int64(number))
  }
}

/// The numbers of a column that holds dates, by which their format is recognized.
struct DateNumberRange {
  let isReal: Bool
  let least: Double
  let greatest: Double

  /// The Julian days of the years 1900 to 2100. As seconds since 1970 they are 20 hours of one day in January
  /// 1970.
  private static let julianDays = 2_415_020.5...2_488_069.5
  /// The least number of milliseconds since 1970 that isn't taken for seconds: those in March 1973, or in the
  /// year 5138.
  private static let leastMilliseconds = 1e11
  private static let year10000 = 253_402_300_800.0

  /// The formats that the numbers may have, the only one or the most likely first.
  ///
  /// - Parameter form: the declaration's form. Where it is NUMERIC, real numbers without a fraction are stored
  ///   as integers.
  func formats(declared form: ColumnForm) -> [DateFormat] {
    let size = max(least.magnitude, greatest.magnitude)
    if Self.julianDays.contains(least), Self.julianDays.contains(greatest) {
      // Dates of several days are hardly all of the same day in 1970.
      let isCertain = greatest.rounded(.down) > least.rounded(.down)
      return isCertain ? [.julianDay] : [.secondsSince1970, .julianDay]
    }
    if isReal || form == .numeric {
      return size < (isReal ? Self.year10000 : Self.leastMilliseconds)
        ? [.secondsSince1970] : [.unixMilliseconds, .secondsSince1970]
    }
    if size == 0 { return [.secondsSince1970] }
    return (Self.leastMilliseconds..<Self.year10000 * 1000).contains(size)
      ? [.unixMilliseconds] : [.secondsSince1970, .unixMilliseconds]
  }
}

extension CopiedTable {
  /// Finds the format of dates that the file stores as numbers, for the columns that are dates on the server.
  /// Returns the formats that were guessed, as phrases for the report. Throws ``Failure`` if a column's numbers
  /// may have several formats.
  ///
  /// - Parameter told: the format of numbers that may have several.
  mutating func findDateNumbers(in db: Database, told: DateFormat?) throws -> [String] {
    var guesses: [String] = []
    for index in columns.indices {
      guard case .other(let form) = columns[index].kind, form.isOfDates else { continue }
      // Without numbers, any format will do: there are only texts.
      guard let numbers = try numbers(of: columns[index].name, db) else {
        columns[index].kind = .dates(DateNumbers(form: form, format: .secondsSince1970))
        continue
      }
      let column = schema.column(columns[index].name)
      let declared = ColumnForm(type: column?.type ?? "", isStrict: schema.isStrict)
      let formats = numbers.formats(declared: declared)
      let place = "“\(name)”.“\(columns[index].name)”"
      guard let format = formats.count == 1 ? formats.first : told else {
        let number =
          numbers.isReal ? "\(numbers.least)" : "\(Int64(exactly: numbers.least) ?? 0)"
        let choices = formats.map { "\($0.phrase) (--dates \($0.optionValue))" }
        throw Failure(
          "\(place): numbers such as \(number) may be \(choices.joined(separator: " or "))")
      }
      if format == .julianDay { guesses.append("\(place): its numbers are taken for Julian days") }
      columns[index].kind = .dates(DateNumbers(form: form, format: format))
    }
    return guesses
  }

  /// The range of a column's numbers; nil if it has none.
  private func numbers(of column: String, _ db: Database) throws -> DateNumberRange? {
    try Interruption.check()
    let name = column.quotedIdentifier
    let found = try db.executeQuery(
      SQL(
        raw: """
          SELECT CAST(min(\(name)) AS REAL), CAST(max(\(name)) AS REAL), max(typeof(\(name)) = 'real')
          FROM \(sourcePlace) WHERE typeof(\(name)) IN ('real', 'integer') AND abs(\(name)) < 9e999
          """)
    ).map { row in
      try (
        row.get(at: 0, as: Double?.self), row.get(at: 1, as: Double?.self),
        row.get(at: 2, as: Bool?.self)
      )
    }
    guard case (let least?, let greatest?, let isReal?)? = found.first else { return nil }
    return DateNumberRange(isReal: isReal, least: least, greatest: greatest)
  }
}

extension DateFormat {
  /// The format that a value of the option `--dates` names.
  init(optionValue: String) throws {
    let formats: [DateFormat] = [.secondsSince1970, .unixMilliseconds, .julianDay]
    guard let format = formats.first(where: { $0.optionValue == optionValue }) else {
      throw Failure(
        .usage,
        "--dates takes \(formats.map(\.optionValue).joined(separator: ", ")), not “\(optionValue)”")
    }
    self = format
  }

  fileprivate var optionValue: String {
    switch self {
    case .unixMilliseconds: "milliseconds"
    case .julianDay: "julian-days"
    default: "seconds"
    }
  }

  fileprivate var phrase: String {
    switch self {
    case .unixMilliseconds: "milliseconds since 1970"
    case .julianDay: "Julian days"
    default: "seconds since 1970"
    }
  }
}

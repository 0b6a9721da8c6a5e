import Foundation
import Larder

/// A moment in milliseconds since 1970, and what the calendar makes of it: computed here by counting days, without
/// anything of what Larder or SQLite has for it.
struct Moment: Hashable {
  let milliseconds: Int

  init(_ milliseconds: Int) { self.milliseconds = milliseconds }

  init(_ date: Date) {
    milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
  }

  var date: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  /// The same in a format, which may have only whole seconds or days.
  func rounded(to format: DateFormat) -> Moment {
    switch format {
    case .sqlDateTime, .iso8601Seconds:
      Moment(Int((Double(milliseconds) / 1000).rounded()) * 1000)
    // The day that it is in.
    case .sqlDate: Moment(days * 86_400_000)
    default: self
    }
  }

  /// The same without what a format has no place for: what is computed isn't rounded.
  func cut(to format: DateFormat) -> Moment {
    switch format {
    case .sqlDateTime, .iso8601Seconds:
      Moment(Int((Double(milliseconds) / 1000).rounded(.down)) * 1000)
    case .sqlDate: Moment(days * 86_400_000)
    default: self
    }
  }

  // MARK: The calendar

  /// Whole days since 1970, and milliseconds of the day.
  private var days: Int { Int((Double(milliseconds) / 86_400_000).rounded(.down)) }
  private var time: Int { milliseconds - days * 86_400_000 }

  private static func isLeap(_ year: Int) -> Bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  }

  private static func length(ofMonth month: Int, _ year: Int) -> Int {
    [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// The days from 1970 to the first of a month.
  private static func days(to year: Int, _ month: Int) -> Int {
    var days = 0
    // 400 years are 146,097 days.
    let cycles = Int((Double(year - 1970) / 400).rounded(.down))
    days += cycles * 146_097
    var current = 1970 + cycles * 400
    while current < year {
      days += isLeap(current) ? 366 : 365
      current += 1
    }
    for before in 1..<max(1, month) { days += length(ofMonth: before, year) }
    return days
  }

  var civil: (year: Int, month: Int, day: Int) {
    var year = 1970 + Int((Double(days) / 365.2425).rounded(.down))
    while Self.days(to: year, 1) > days { year -= 1 }
    while Self.days(to: year + 1, 1) <= days { year += 1 }
    var (month, rest) = (1, days - Self.days(to: year, 1))
    while rest >= Self.length(ofMonth: month, year) {
      rest -= Self.length(ofMonth: month, year)
      month += 1
    }
    return (year, month, rest + 1)
  }

  enum Part: CaseIterable { case year, month, day, weekday, hour, minute, second }

  func part(_ part: Part) -> Int {
    switch part {
    case .year: civil.year
    case .month: civil.month
    case .day: civil.day
    // The first of January 1970 was a Thursday.
    case .weekday: ((days + 4) % 7 + 7) % 7 + 1
    case .hour: time / 3_600_000
    case .minute: time / 60_000 % 60
    case .second: time / 1000 % 60
    }
  }

  /// Later by years, then by months: where the month is shorter, the days go on into the next one. Then by
  /// milliseconds. Nil beyond the years 0 to 9999.
  func adding(years: Int, months: Int, milliseconds: Int) -> Moment? {
    var moment = self
    for count in [years * 12, months] where count != 0 {
      let (year, month, day) = moment.civil
      let total = year * 12 + month - 1 + count
      let newYear = Int((Double(total) / 12).rounded(.down))
      guard abs(newYear) < 20_000 else { return nil }
      let days = Self.days(to: newYear, total - newYear * 12 + 1) + day - 1
      moment = Moment(days * 86_400_000 + moment.time)
      // Before the year 0 SQLite's calendar goes on, from which what follows may come back.
      guard moment.milliseconds < Self.end, newYear > -4713 else { return nil }
    }
    moment = Moment(moment.milliseconds + milliseconds)
    return moment.isInRange ? moment : nil
  }

  var isInRange: Bool {
    milliseconds >= Self.days(to: 0, 1) * 86_400_000
      && milliseconds < Self.end
  }

  private static let end = days(to: 10_000, 1) * 86_400_000

  // MARK: Stored

  func stored(as format: DateFormat) -> DatabaseValue {
    let moment = rounded(to: format)
    let (year, month, day) = moment.civil
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    func long(_ number: Int, _ width: Int) -> String {
      String(repeating: "0", count: max(0, width - "\(number)".count)) + "\(number)"
    }
    let time = moment.time
    let date = "\(long(year, 4))-\(two(month))-\(two(day))"
    let clock = "\(two(time / 3_600_000)):\(two(time / 60_000 % 60)):\(two(time / 1000 % 60))"
    let fraction = ".\(long(time % 1000, 3))"
    switch format {
    case .secondsSince1970: return .real(Double(milliseconds) / 1000)
    case .unixMilliseconds: return .integer(Int64(milliseconds))
    case .julianDay: return .real(Double(milliseconds) / 86_400_000 + 2_440_587.5)
    case .iso8601: return .text("\(date)T\(clock)\(fraction)Z")
    case .iso8601Seconds: return .text("\(date)T\(clock)Z")
    case .sqlDateTime: return .text("\(date) \(clock)")
    case .sqlDateTimeMilliseconds: return .text("\(date) \(clock)\(fraction)")
    case .sqlDate: return .text(date)
    }
  }
}

import FoundationEssentials

/// The times of a `cron` expression.
package struct CronTimes: Sendable {
  private let minutes: Set<Int>
  private let hours: Set<Int>
  private let days: Set<Int>
  private let months: Set<Int>
  private let weekdays: Set<Int>
  /// Whether one of the two kinds of days is enough: if both are restricted.
  private let isEither: Bool
  private let calendar: Calendar

  package init(_ expression: String, _ timeZone: TimeZone) throws {
    let fields = expression.split(separator: " ")
    let ranges = [0...59, 0...23, 1...31, 1...12, 0...7]
    guard fields.count == 5 else { throw JobError.schedule(expression) }
    let values = try zip(fields, ranges).map { field, range in
      guard let values = Self.values(field, range) else { throw JobError.schedule(expression) }
      return values
    }
    minutes = values[0]
    hours = values[1]
    days = values[2]
    months = values[3]
    weekdays = Set(values[4].map { $0 % 7 })
    isEither = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    self.calendar = calendar
    // February 30 never comes. Eight years without a leap day are possible.
    guard next(after: Date(timeIntervalSince1970: 0), days: 9 * 366) != nil else {
      throw JobError.schedule(expression)
    }
  }

  /// The numbers of a field such as `1-5,30` or `*/15`; nil if it has none.
  private static func values(_ field: Substring, _ range: ClosedRange<Int>) -> Set<Int>? {
    var values: Set<Int> = []
    for part in field.split(separator: ",", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = pieces.first, let step = pieces.count == 2 ? Int(pieces[1]) : 1, step > 0
      else { return nil }
      var bounds = range
      if first != "*" {
        let ends = first.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
          .map { Int($0) }
        guard let low = ends.first ?? nil, range.contains(low) else { return nil }
        // `5/15` is from 5 on.
        guard let high = ends.count == 2 ? ends[1] : pieces.count == 2 ? range.upperBound : low,
          range.contains(high), low <= high
        else { return nil }
        bounds = low...high
      }
      values.formUnion(stride(from: bounds.lowerBound, through: bounds.upperBound, by: step))
    }
    return values.isEmpty ? nil : values
  }

  /// The first time after a moment.
  package func next(after date: Date) -> Date { next(after: date, days: 9 * 366) ?? .distantFuture }

  private func next(after date: Date, days count: Int) -> Date? {
    let today = calendar.startOfDay(for: date)
    for offset in 0...count {
      // At noon, which each day has once, also where clocks are changed.
      guard
        let noon = calendar.date(byAdding: .day, value: offset, to: today)?
          .addingTimeInterval(43_200)
      else { return nil }
      let day = calendar.dateComponents([.year, .month, .day, .weekday], from: noon)
      guard matches(day) else { continue }
      for hour in hours.sorted() {
        for minute in minutes.sorted() {
          var time = DateComponents()
          (time.year, time.month, time.day) = (day.year, day.month, day.day)
          (time.hour, time.minute) = (hour, minute)
          if let next = calendar.date(from: time), next > date { return next }
        }
      }
    }
    return nil
  }

  private func matches(_ day: DateComponents) -> Bool {
    guard let month = day.month, let number = day.day, let weekday = day.weekday else {
      return false
    }
    guard months.contains(month) else { return false }
    let (isDay, isWeekday) = (days.contains(number), weekdays.contains(weekday - 1))
    return isEither ? isDay || isWeekday : isDay && isWeekday
  }
}

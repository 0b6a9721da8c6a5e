import Foundation
import Larder

// Parts of dates and arithmetic with them, in every format, that of the connection among them.

extension TreeGenerator {
  /// A column of moments, its format, and its place.
  private struct DateColumn: Sendable {
    let column: Column<RandomMoment, Date?>
    let format: DateFormat
    let index: Int
  }

  private func column(_ connection: DateFormat) -> DateColumn {
    let columns = RandomMoment.columns
    let all = [
      columns.plain, columns.milliseconds, columns.julian, columns.iso, columns.isoSeconds,
      columns.sql, columns.sqlMilliseconds, columns.day,
    ]
    // That of the connection's own format as often as all others.
    let index = chance(2) ? 0 : number(0..<all.count)
    let format = index == 0 ? connection : RandomMoments.formats[index - 1]
    return DateColumn(column: all[index], format: format, index: index + 1)
  }

  private func expression(
    _ column: DateColumn, _ fields: RecordFields<RandomMoment>
  ) -> SQLExpression<Date?> {
    switch column.index {
    case 1: fields.plain
    case 2: fields.milliseconds
    case 3: fields.julian
    case 4: fields.iso
    case 5: fields.isoSeconds
    case 6: fields.sql
    case 7: fields.sqlMilliseconds
    default: fields.day
    }
  }

  private var connectionFormat: DateFormat {
    dateFormat ?? (chance(2) ? .secondsSince1970 : pick(RandomMoments.formats))
  }

  private func partSQL(_ part: Moment.Part, _ date: SQLExpression<Date?>) -> SQLExpression<Int?> {
    switch part {
    case .year: date.year
    case .month: date.month
    case .day: date.day
    case .weekday: date.weekday
    case .hour: date.hour
    case .minute: date.minute
    case .second: date.second
    }
  }

  /// What is added to a date.
  private struct Span: Sendable {
    var years = 0
    var months = 0
    var days = 0
    var hours = 0
    var minutes = 0
    var seconds = 0.0

    var milliseconds: Int {
      ((days * 24 + hours) * 60 + minutes) * 60_000 + Int((seconds * 1000).rounded())
    }

    func added(to date: SQLExpression<Date?>) -> SQLExpression<Date?> {
      date.adding(
        years: years, months: months, days: days, hours: hours, minutes: minutes, seconds: seconds)
    }
  }

  private var span: Span {
    var span = Span()
    func number(_ most: Int) -> Int { chance(2) ? 0 : self.number(-most..<most + 1) }
    if chance(2) {
      (span.years, span.months) = (number(30), number(40))
    }
    (span.days, span.hours, span.minutes) = (number(400), number(60), number(200))
    if chance(3) { span.seconds = Double(self.number(-8000..<8001)) / 8 }
    if chance(12) { span.years = pick([9000, -9000, 20_000]) }
    return span
  }

  // MARK: Queries

  func dateParts() -> RandomQuery {
    let connection = connectionFormat
    let (one, two) = (column(connection), column(connection))
    let parts = (0..<4).map { _ in pick(Moment.Part.allCases) }
    let value = number(0..<40)
    let (year, format) = (
      number(1600..<2400), pick(["%Y-%m", "%d.%m.%Y", "%H:%M:%S", "%j", "%Y-%m-%d %H:%M:%S"])
    )
    let selection = RandomMoment.filter { moment in
      let date = expression(one, moment)
      return partSQL(parts[0], date) > value || date.year < year || date == nil
    }.order { $0.id }.select { moment in
      (
        moment.id, partSQL(parts[1], expression(one, moment)),
        partSQL(parts[2], expression(two, moment)), partSQL(parts[3], expression(two, moment)),
        expression(one, moment).strftime(format)
      )
    }
    let rows = data.moments.rows(connection)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [.from($0.0), .from($0.1), .from($0.2), .from($0.3), .from($0.4)]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: {
        func part(_ part: Moment.Part, _ value: DatabaseValue) -> DatabaseValue {
          guard case .integer(let number) = value else { return .null }
          return .from(Moment(Int(number)).part(part))
        }
        return try rows.filter { row in
          let date = row[one.index]
          if date.isNull { return true }
          return try part(parts[0], date).compared(to: .from(value)) > 0
            || part(.year, date).compared(to: .from(year)) < 0
        }.map { row in
          [
            row[0], part(parts[1], row[one.index]), part(parts[2], row[two.index]),
            part(parts[3], row[two.index]), Self.text(format, row[one.index]),
          ]
        }
      }, dateFormat: connection)
  }

  private static func text(_ format: String, _ value: DatabaseValue) -> DatabaseValue {
    guard case .integer(let number) = value else { return .null }
    let moment = Moment(Int(number))
    guard case .text(let iso) = moment.stored(as: .iso8601) else { return .null }
    let (date, time) = (iso.prefix(10), iso.dropFirst(11).prefix(8))
    let parts = date.split(separator: "-")
    switch format {
    case "%Y-%m": return .text("\(parts[0])-\(parts[1])")
    case "%d.%m.%Y": return .text("\(parts[2]).\(parts[1]).\(parts[0])")
    case "%H:%M:%S": return .text("\(time)")
    case "%j":
      let text = "\(dayOfYear(moment))"
      return .text(String(repeating: "0", count: 3 - text.count) + text)
    default: return .text("\(date) \(time)")
    }
  }

  private static func dayOfYear(_ moment: Moment) -> Int {
    let year = moment.civil.year
    var day = 1
    while Moment(moment.milliseconds - day * 86_400_000).civil.year == year { day += 1 }
    return day
  }

  /// Dates that are added to, compared and subtracted.
  func dateSums() -> RandomQuery {
    let connection = connectionFormat
    let (one, two) = (column(connection), column(connection))
    let (span, other) = (span, span)
    let moment = Moment(number(-40_000..<40_000) * 86_400_000 + number(0..<86_400_000))
    let isAddedFirst = chance(2)
    let selection = RandomMoment.filter { row in
      let date = expression(one, row)
      return (isAddedFirst ? span.added(to: date) : date) > moment.date || row.id < 12
    }.order { $0.id }.select { row in
      (
        row.id, span.added(to: expression(one, row)), other.added(to: expression(two, row)),
        expression(one, row).timeIntervalSince(expression(two, row)),
        expression(two, row).timeIntervalSince(moment.date)
      )
    }
    let rows = data.moments.rows(connection)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [
            .from($0.0), .milliseconds($0.1), .milliseconds($0.2), .from($0.3), .from($0.4),
          ]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: {
        func added(_ value: DatabaseValue, _ span: Span, _ format: DateFormat) -> DatabaseValue {
          guard case .integer(let number) = value else { return .null }
          let date = Moment(Int(number))
          guard span.years != 0 || span.months != 0 || span.milliseconds != 0 else { return value }
          let sum = date.adding(
            years: span.years, months: span.months, milliseconds: span.milliseconds)
          return sum.map { .from($0.cut(to: format).milliseconds) } ?? .null
        }
        func seconds(_ one: DatabaseValue, _ two: DatabaseValue) -> DatabaseValue {
          guard case .integer(let one) = one, case .integer(let two) = two else { return .null }
          return .real(Double(one - two) / 1000)
        }
        // Stored as the column is.
        let stored = moment.rounded(to: one.format)
        return try rows.filter { row in
          let date = row[one.index]
          let sum = isAddedFirst ? added(date, span, one.format) : date
          if case .integer(let id) = row[0], id < 12 { return true }
          // Real numbers of days and seconds may differ in their last digits.
          if sum == .from(stored.milliseconds) { throw UnknownValue() }
          return try !sum.isNull && sum.compared(to: .from(stored.milliseconds)) > 0
        }.map { row in
          [
            row[0], added(row[one.index], span, one.format),
            added(row[two.index], other, two.format), seconds(row[one.index], row[two.index]),
            seconds(row[two.index], .from(moment.rounded(to: two.format).milliseconds)),
          ]
        }
      }, isWhole: false, dateFormat: connection)
  }

  /// Groups of years and months.
  func dateGroups() -> RandomQuery {
    let connection = connectionFormat
    let one = column(connection)
    let selection = RandomMoment.all.group { row in
      (expression(one, row).year, expression(one, row).weekday)
    }.select { row in
      (
        expression(one, row).year, expression(one, row).weekday, count(),
        expression(one, row).min(),
        expression(one, row).adding(days: 1).max()
      )
    }
    let rows = data.moments.rows(connection)
    return RandomQuery(
      sql: selection.sql,
      fetch: { db in
        try selection.fetchAll(db).map {
          [
            .from($0.0), .from($0.1), .from($0.2), .milliseconds($0.3), .milliseconds($0.4),
          ]
        }
      },
      count: { try selection.fetchCount($0) },
      expected: {
        let dates = rows.map { row -> Moment? in
          guard case .integer(let number) = row[one.index] else { return nil }
          return Moment(Int(number))
        }
        let groups = Dictionary(grouping: dates) { date in
          [date?.part(.year), date?.part(.weekday)]
        }
        return groups.map { key, dates in
          let numbers = dates.compactMap { $0?.milliseconds }
          let later = dates.compactMap {
            $0?.adding(years: 0, months: 0, milliseconds: 86_400_000)?.milliseconds
          }
          return [
            .from(key[0]), .from(key[1]), .from(dates.count), .from(numbers.min()),
            .from(later.max()),
          ]
        }
      }, isOrdered: false, isWhole: false, dateFormat: connection)
  }
}

extension DatabaseValue {
  /// A date as milliseconds since 1970.
  fileprivate static func milliseconds(_ date: Date?) -> DatabaseValue {
    .from(date.map { Moment($0).milliseconds })
  }
}

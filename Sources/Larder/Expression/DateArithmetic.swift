import FoundationEssentials
import LarderSQLite

// The parts of dates and arithmetic with dates, in UTC, for each format in which dates are stored.

/// A date or its Optional.
@_documentation(visibility: internal)
public protocol DateValue: DatabaseValueConvertible {
  /// Int; Optional if this type is.
  associatedtype DatePart: DatabaseValueConvertible = Int
  /// Double; Optional if this type is.
  associatedtype Seconds: DatabaseValueConvertible = Double
}

extension Date: DateValue {}
extension Optional: DateValue where Wrapped == Date {
  /// A part or nil.
  @_documentation(visibility: internal)
  public typealias DatePart = Int?
  /// Seconds or nil.
  @_documentation(visibility: internal)
  public typealias Seconds = Double?
}

extension SQLExpression where Value: DateValue {
  /// The year; like all parts, it is in UTC. The parts of a date outside SQLite's calendar, such as one after
  /// the year 9999, are NULL.
  ///
  /// ```swift
  /// Order.all.group { ($0.placed.year, $0.placed.month) }
  ///   .select { ($0.placed.year, $0.placed.month, count()) }
  /// ```
  public var year: SQLExpression<Value.DatePart> { part("%Y") }
  /// The month, from 1 to 12.
  public var month: SQLExpression<Value.DatePart> { part("%m") }
  /// The day of the month, from 1 to 31.
  public var day: SQLExpression<Value.DatePart> { part("%d") }
  /// The day of the week, from 1 (Sunday) to 7, as Foundation's calendars count it.
  public var weekday: SQLExpression<Value.DatePart> {
    SQLExpression<Value.DatePart>(
      SQLFragment(number("%w"), .add, "1", isNullable: node.isNullable))
  }
  /// The hour, from 0 to 23.
  public var hour: SQLExpression<Value.DatePart> { part("%H") }
  /// The minute, from 0 to 59.
  public var minute: SQLExpression<Value.DatePart> { part("%M") }
  /// The whole second, from 0 to 59.
  public var second: SQLExpression<Value.DatePart> { part("%S") }

  private func part(_ format: String) -> SQLExpression<Value.DatePart> {
    SQLExpression<Value.DatePart>(number(format))
  }

  private func number(_ format: String) -> SQLFragment {
    SQLFragment(.cast(formatted(format), .integer), isNullable: node.isNullable)
  }

  /// The seconds from `date` to this date, exact to a millisecond; negative if `date` is later.
  public func timeIntervalSince(_ date: Date) -> SQLExpression<Value.Seconds> {
    SQLExpression<Value.Seconds>(seconds(since: SQLFragment(value: date)))
  }

  /// The seconds from another date to this one; NULL if either date is NULL.
  @_disfavoredOverload
  public func timeIntervalSince<Other: DateValue>(
    _ date: SQLExpression<Other>
  ) -> SQLExpression<Double?> {
    SQLExpression<Double?>(seconds(since: date.node))
  }

  /// The seconds from another date to this one.
  public func timeIntervalSince(_ date: Self) -> SQLExpression<Value.Seconds> {
    SQLExpression<Value.Seconds>(seconds(since: date.node))
  }

  /// The seconds since another date. Each date is read in its own format; a plain value is stored like this
  /// date.
  private func seconds(since other: SQLFragment) -> SQLFragment {
    var earlier = DateArithmetic(other, other.coding)
    if other.coding == nil, let coding = node.coding, let value = other.coded(coding.code) {
      earlier = DateArithmetic(SQLFragment(value: value.value, coding: coding), coding)
    }
    let later = DateArithmetic(node, node.coding)
    return .call("round", "\(later.seconds) - \(earlier.seconds)", "3")
  }

  /// The date, moved by the given amounts in the same format; negative amounts move it to an earlier time.
  ///
  /// ```swift
  /// Loan.filter { $0.lent.adding(days: 30) < Date.now }
  /// ```
  ///
  /// Years and months that lead to a day the month doesn't have overflow into the next month, like SQLite's
  /// [modifiers](https://www.sqlite.org/lang_datefunc.html#modifiers): a month after January 31 is March 3,
  /// or March 2. A result beyond the years 0 to 9999 is NULL.
  public func adding(
    years: Int = 0, months: Int = 0, days: Int = 0, hours: Int = 0, minutes: Int = 0,
    seconds: Double = 0
  ) -> Self {
    var modifiers: [String] = []
    for (count, unit) in [
      (years, "years"), (months, "months"), (days, "days"), (hours, "hours"), (minutes, "minutes"),
    ] where count != 0 {
      modifiers.append("\(count) \(unit)")
    }
    if seconds != 0 { modifiers.append("\(seconds) seconds") }
    return modifiers.isEmpty
      ? self
      : Self(
        DateArithmetic(node, node.coding).adding(
          modifiers, months: (years != 0 ? 1 : 0) + (months != 0 ? 1 : 0)))
  }
}

/// A date in SQL, in the format that stores it.
private struct DateArithmetic {
  private let node: SQLFragment
  /// The date's format; nil for the connection's format.
  private let format: DateFormat?

  init(_ node: SQLFragment, _ coding: ExpressionCoding?) {
    self.node = node
    format = coding.map { $0.dateFormat ?? .iso8601 }
  }

  /// The seconds since 1970.
  var seconds: SQLFragment {
    let seconds = byFormat { format in
      switch format {
      case .secondsSince1970: node.parenthesized(in: .sum)
      case .unixMilliseconds: "\(node.parenthesized(in: .product)) / 1000.0"
      default: "(julianday(\(node)) - 2440587.5) * 86400.0"
      }
    }
    return SQLFragment(.form(.seconds, [node], seconds))
  }

  /// The date with SQLite's modifiers applied, in the same format.
  ///
  /// - Parameter months: how many modifiers, the first ones of the list, are years or months, whose length
  ///   depends on the date.
  func adding(_ modifiers: [String], months: Int) -> SQLFragment {
    let list = modifiers.map { SQLFragment(value: $0) }
    func difference(_ time: [SQLFragment]) -> SQLFragment {
      let (later, earlier) = (
        SQLFragment(.call("julianday", time + list)), SQLFragment(.call("julianday", time))
      )
      return .call("round", "(\(later) - \(earlier)) * 86400.0", "3")
    }
    let sum = byFormat { format in
      switch format {
      case .secondsSince1970:
        node.infix(
          .add, operand: difference([months > 0 ? node.wholeSeconds : node, "'unixepoch'"])
        ).orNull(upTo: "-62167219200.001")
      case .unixMilliseconds:
        node.infix(
          .add,
          operand: SQLFragment(
            .cast(
              "\(difference(["\(node.parenthesized(in: .product)) / 1000.0", "'unixepoch'"])) * 1000.0",
              .integer))
        ).orNull(upTo: "-62167219200001")
      case .julianDay:
        node.infix(.add, operand: "\(difference([node])) / 86400.0").orNull(
          upTo: "1721059.49999999")
      default:
        SQLFragment(
          .call(
            "strftime",
            [SQLFragment(value: self.format?.strftime ?? DateQuestion.text), node] + list)
        ).orNull(upTo: "'0'")
      }
    }
    return SQLFragment(
      .form(.dateAdding(months: months), [node] + list, sum), sum.precedence,
      coding: node.coding)
  }

  /// The closure's SQL for the date's format, or a CASE over all formats if the connection decides.
  private func byFormat(_ make: (DateFormat) -> SQLFragment) -> SQLFragment {
    if let format { return make(format) }
    let numbers: [DateFormat] = [.secondsSince1970, .unixMilliseconds, .julianDay]
    let choices = numbers.map { number -> SQLFragment in
      "WHEN \(text: "\(number.rawValue)") THEN \(make(number))"
    }
    let question = SQLFragment(value: DateQuestion.format)
    return """
      CASE \(question) \(.list(choices, separator: " ")) ELSE \(make(.iso8601)) END
      """
  }
}

extension SQLFragment {
  /// A date in its format, but NULL before the year 0. SQLite's calendar begins 4713 years earlier, and its
  /// text then has a minus sign that no format reads.
  fileprivate func orNull(upTo last: SQLFragment) -> SQLFragment {
    .call("nullif", .call("max", self, last), last)
  }
}

import FoundationEssentials
import LarderSQLite

// The parts of dates, and arithmetic with them, in UTC, whatever their format is.

/// A date or its Optional.
@_documentation(visibility: internal)
public protocol DateValue: DatabaseValueConvertible {
  /// Int, Optional if this is.
  associatedtype DatePart: DatabaseValueConvertible = Int
  /// Double, Optional if this is.
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
  /// The year, in UTC as all parts are. Dates that SQLite's calendar doesn't have, such as those after the year
  /// 9999, have none: NULL.
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
  /// The day of the week from 1, which is Sunday, to 7, as Foundation's calendars count it.
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

  /// The seconds from a date to this one, exact to a millisecond; less than 0 where that is later.
  public func timeIntervalSince(_ date: Date) -> SQLExpression<Value.Seconds> {
    SQLExpression<Value.Seconds>(seconds(since: SQLFragment(value: date)))
  }

  /// The seconds from another date to this one; NULL where one of them is.
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

  /// Each date is read in its own format; a value alone is stored as this one is.
  private func seconds(since other: SQLFragment) -> SQLFragment {
    var earlier = DateArithmetic(other, other.coding)
    if other.coding == nil, let coding = node.coding, let value = other.coded(coding.code) {
      earlier = DateArithmetic(SQLFragment(value: value.value, coding: coding), coding)
    }
    let later = DateArithmetic(node, node.coding)
    return .call("round", "\(later.seconds) - \(earlier.seconds)", "3")
  }

  /// The date so much later, or earlier for numbers less than 0, in the same format.
  ///
  /// ```swift
  /// Loan.filter { $0.lent.adding(days: 30) < Date.now }
  /// ```
  ///
  /// Years and months that end on a day which the month doesn't have go on into the next one, as
  /// SQLite's [modifiers](https://www.sqlite.org/lang_datefunc.html#modifiers) do: a month after January 31
  /// is March 3, or 2. What is beyond the years 0 to 9999 is NULL.
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

/// A date in SQL, as its format stores it.
private struct DateArithmetic {
  private let node: SQLFragment
  /// Nil for that of the connection.
  private let format: DateFormat?

  init(_ node: SQLFragment, _ coding: ExpressionCoding?) {
    self.node = node
    format = coding.map { $0.dateFormat ?? .iso8601 }
  }

  /// The seconds since 1970.
  var seconds: SQLFragment {
    let seconds = byFormat { format in
      switch format {
      case .secondsSince1970: node.inside(.sum)
      case .unixMilliseconds: "\(node.inside(.product)) / 1000.0"
      default: "(julianday(\(node)) - 2440587.5) * 86400.0"
      }
    }
    return SQLFragment(.form(.seconds, [node], seconds))
  }

  /// The date after modifiers, in the same format.
  ///
  /// - Parameter months: how many of the modifiers, the first ones, are as long as the day has it.
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
              "\(difference(["\(node.inside(.product)) / 1000.0", "'unixepoch'"])) * 1000.0",
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

  /// What a closure makes for the format; where the connection decides, for each.
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
  /// A date in its format, NULL up to the last moment before the year 0: SQLite's calendar begins 4713 years before,
  /// in text with a minus sign that no format reads.
  fileprivate func orNull(upTo last: SQLFragment) -> SQLFragment {
    .call("nullif", .call("max", self, last), last)
  }
}

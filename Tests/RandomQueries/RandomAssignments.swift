import Foundation
import Larder

/// Something that an update assigns, in SQL and in Swift.
struct RandomAssignment: Sendable {
  let assign: @Sendable (inout Assignments<RandomStock>) -> Void
  /// Changes the values of a row.
  let change: @Sendable (inout [DatabaseValue]) throws -> Void
}

extension TreeGenerator {
  var decimalText: String { pick(RandomSales.prices) }

  /// One to four assignments to columns of stocks, of which those to one column build on one another.
  func assignments() -> [RandomAssignment] {
    var assignments: [RandomAssignment] = []
    if chance(2) { assignments += amountAssignments() }
    if chance(2) { assignments.append(leastAssignment()) }
    if chance(2) { assignments += priceAssignments() }
    if chance(3) || assignments.isEmpty { assignments.append(seenAssignment()) }
    return assignments
  }

  private func amountAssignments() -> [RandomAssignment] {
    let value = number(-3..<12)
    let known = DatabaseValue.from(value)
    func checked(
      _ assign: @escaping @Sendable (inout Assignments<RandomStock>) -> Void,
      _ compute: @escaping @Sendable (DatabaseValue) throws -> DatabaseValue
    ) -> RandomAssignment {
      // What is assigned is checked, once all is computed.
      RandomAssignment(assign: assign) { $0[1] = try compute($0[1]) }
    }
    let first: RandomAssignment =
      switch number(0..<6) {
      case 0: checked({ $0.amount = value }) { _ in known }
      case 1: checked({ $0.amount += value }) { try $0.sum(known) }
      case 2: checked({ $0.amount -= value }) { try $0.difference(known) }
      case 3: checked({ $0.amount *= 2 }) { try $0.product(.integer(2)) }
      case 4: checked({ $0.amount = 5 - $0.amount }) { try DatabaseValue.integer(5).difference($0) }
      default:
        checked({ $0.amount = when($0.amount > value, then: $0.amount).otherwise(7) }) {
          try $0.compared(to: known) > 0 ? $0 : .integer(7)
        }
      }
    guard chance(3) else { return [first] }
    return [first, checked({ $0.amount = $0.amount - 3 }) { try $0.difference(.integer(3)) }]
  }

  private func leastAssignment() -> RandomAssignment {
    let value = chance(4) ? pick([Int16.max, .min]) : Int16(number(-3..<4))
    let known = DatabaseValue.from(value)
    switch number(0..<5) {
    case 0: return RandomAssignment(assign: { $0.least = nil }) { $0[2] = .null }
    case 1: return RandomAssignment(assign: { $0.least = value }) { $0[2] = known }
    case 2:
      return RandomAssignment(assign: { $0.least += value }) {
        if !$0[2].isNull { $0[2] = try $0[2].sum(known) }
      }
    case 3:
      return RandomAssignment(assign: { $0.least = -$0.least }) {
        if !$0[2].isNull { $0[2] = try DatabaseValue.integer(0).difference($0[2]) }
      }
    default:
      return RandomAssignment(assign: { $0.least = $0.least % 3 }) {
        if !$0[2].isNull { $0[2] = try $0[2].rest(by: .integer(3)) }
      }
    }
  }

  private func priceAssignments() -> [RandomAssignment] {
    let text = decimalText
    let value = Decimal(string: text) ?? 0
    let first: RandomAssignment =
      switch number(0..<4) {
      case 0: RandomAssignment(assign: { $0.price = value }) { $0[3] = .text(text) }
      case 1:
        RandomAssignment(assign: { $0.price += value }) {
          $0[3] = try (ExactDecimal($0[3]) + ExactDecimal(text)).stored
        }
      case 2:
        RandomAssignment(assign: { $0.price *= value }) {
          $0[3] = try (ExactDecimal($0[3]) * ExactDecimal(text)).stored
        }
      default:
        RandomAssignment(assign: { $0.price = $0.price.greatest(value) }) {
          if try ExactDecimal.compare($0[3], .text(text)) < 0 { $0[3] = .text(text) }
        }
      }
    guard chance(3) else { return [first] }
    return [
      first,
      RandomAssignment(assign: { $0.price = $0.price - 1 }) {
        $0[3] = try (ExactDecimal($0[3]) - ExactDecimal("1")).stored
      },
    ]
  }

  private func seenAssignment() -> RandomAssignment {
    let moment = Moment(number(-9000..<9000) * 86_400_000 + number(0..<86_400_000))
    let months = number(-20..<20)
    switch number(0..<3) {
    case 0: return RandomAssignment(assign: { $0.seen = nil }) { $0[4] = .null }
    case 1:
      return RandomAssignment(assign: { $0.seen = moment.date }) {
        $0[4] = moment.stored(as: .iso8601)
      }
    default:
      return RandomAssignment(assign: { $0.seen = $0.seen.adding(months: months) }) {
        guard let text = $0[4].text, months != 0 else { return }
        let date = try DateFormat.iso8601.date(from: .text(text))
        let sum = Moment(date).adding(years: 0, months: months, milliseconds: 0)
        $0[4] = sum?.stored(as: .iso8601) ?? .null
      }
    }
  }
}

extension [RandomAssignment] {
  func assign(_ row: inout Assignments<RandomStock>) { for one in self { one.assign(&row) } }

  /// The row afterwards; refused where it has numbers that its properties can't have.
  func changed(_ row: [DatabaseValue]) throws -> [DatabaseValue] {
    var row = row
    for one in self { try one.change(&row) }
    return try RandomStock.checked(row)
  }
}

extension RandomStock {
  static func checked(_ row: [DatabaseValue]) throws -> [DatabaseValue] {
    _ = try row[1].asInteger(Int.self)
    _ = try row[2].asInteger(Int16.self)
    return row.prefix(3) + [try ExactDecimal(row[3]).stored, row[4]]
  }

  /// What a change returns and leaves of the table, before it is taken back.
  static func after(
    _ db: Database, _ change: (Database) throws -> [[DatabaseValue]]
  ) throws -> [[DatabaseValue]] {
    try db.inTransaction { db in
      db.setRollbackOnly()
      let before = try rows(db)
      do {
        return try change(db) + rows(db)
      } catch {
        // Other engines have to be rolled back first.
        if db.engine == nil, (try? rows(db)) != before { throw HalfWritten(error: error) }
        throw error
      }
    }
  }

  private static func rows(_ db: Database) throws -> [[DatabaseValue]] {
    try order { $0.code }.fetchAll(db).map(\.values)
  }

  private struct HalfWritten: Error { let error: any Error }
}

extension [[DatabaseValue]] {
  /// What a change returns, in an order of its own, and leaves of stocks.
  static func changed(
    count: Int, returned: [[DatabaseValue]] = [], _ stocks: [[DatabaseValue]]
  ) throws -> [[DatabaseValue]] {
    [[.from(count)]] + returned.sorted { RowSet.key($0) < RowSet.key($1) }
      + (try stocks.sorted { try $0[0].compared(to: $1[0]) < 0 })
  }
}

import Foundation
import Larder

// Upserts, of a record or of an array: of all columns, of some, and by expressions.

/// What an upsert does to a row that is there, in SQL and in Swift.
private struct UpsertChange: Sendable {
  let assign: @Sendable (inout Assignments<RandomStock>, RecordFields<RandomStock>) -> Void
  /// Changes the row's values, by those of the new one.
  let change: @Sendable (inout [DatabaseValue], [DatabaseValue]) throws -> Void
}

extension TreeGenerator {
  private func upsertChanges() -> [UpsertChange] {
    var changes: [UpsertChange] = []
    switch number(0..<4) {
    case 0:
      changes.append(
        UpsertChange(assign: { $0.amount += $1.amount }) { $0[1] = try $0[1].sum($1[1]) })
    case 1:
      changes.append(
        UpsertChange(assign: { $0.amount = $1.amount * 2 - $0.amount }) {
          $0[1] = try $1[1].product(.integer(2)).difference($0[1])
        })
    case 2:
      changes.append(
        UpsertChange(assign: { $0.amount = $0.amount.greatest($1.amount) }) {
          if try $1[1].compared(to: $0[1]) > 0 { $0[1] = $1[1] }
        })
    default: break
    }
    switch number(0..<4) {
    case 0: changes.append(UpsertChange(assign: { $0.least = $1.least }) { $0[2] = $1[2] })
    case 1:
      changes.append(
        UpsertChange(assign: { $0.least = $0.least.coalesce($1.least) }) {
          if $0[2].isNull { $0[2] = $1[2] }
        })
    case 2:
      changes.append(
        UpsertChange(assign: { $0.least = $0.least + $1.least }) {
          $0[2] = $0[2].isNull || $1[2].isNull ? .null : try $0[2].sum($1[2])
        })
    default: break
    }
    switch number(0..<4) {
    case 0:
      changes.append(
        UpsertChange(assign: { $0.price += $1.price }) {
          $0[3] = try (ExactDecimal($0[3]) + ExactDecimal($1[3])).stored
        })
    case 1:
      changes.append(
        UpsertChange(assign: { $0.price = $1.price - $0.price }) {
          $0[3] = try (ExactDecimal($1[3]) - ExactDecimal($0[3])).stored
        })
    default: break
    }
    if chance(3) || changes.isEmpty {
      changes.append(UpsertChange(assign: { $0.seen = $1.seen }) { $0[4] = $1[4] })
    }
    return changes
  }

  private func newStock() -> RandomStock {
    RandomStock(
      code: chance(3) ? "new \(number(0..<3))" : pick(data.sales.stocks).code,
      amount: chance(8) ? .max : number(-9..<10),
      least: chance(4) ? nil : chance(4) ? .max : Int16(number(-9..<10)),
      price: Decimal(string: decimalText) ?? 0,
      seen: chance(2) ? nil : Moment(number(-900..<900) * 86_400_123).date)
  }

  func upserts() -> RandomQuery { upserts(of: 1, form: number(0..<3)) }

  func upsertArrays() -> RandomQuery { upserts(of: number(0..<7), form: 3 + number(0..<3)) }

  private func upserts(of count: Int, form: Int) -> RandomQuery {
    let changes = upsertChanges()
    let records = (0..<count).map { _ in newStock() }
    let rows = data.sales.stocks.map(\.values)
    func assign(_ row: inout Assignments<RandomStock>, _ new: RecordFields<RandomStock>) {
      for change in changes { change.assign(&row, new) }
    }
    let (code, amount, price) = (
      RandomStock.columns.code, RandomStock.columns.amount, RandomStock.columns.price
    )
    return RandomQuery(
      sql: RandomStock.all.sql,
      fetch: { db in
        try RandomStock.after(db) { db in
          switch form {
          case 0: for var record in records { try record.upsert(db) }
          case 1:
            for var record in records {
              try record.upsert(db, onConflict: code, updating: amount, price)
            }
          case 2: for var record in records { try record.upsert(db, updating: assign) }
          case 3: try RandomStock.upsert(db, contentsOf: records)
          case 4:
            try RandomStock.upsert(
              db, contentsOf: records, onConflict: code, updating: amount, price)
          default:
            try RandomStock.upsert(db, contentsOf: records, onConflict: code, updating: assign)
          }
          return [[.from(records.count)]]
        }
      },
      expected: {
        var found: [String: [DatabaseValue]] = [:]
        for row in rows { found[RowSet.key([row[0]])] = row }
        for new in records.map(\.values) {
          let key = RowSet.key([new[0]])
          guard var row = found[key] else {
            found[key] = new
            continue
          }
          switch form % 3 {
          case 0: row = new
          case 1: (row[1], row[3]) = (new[1], new[3])
          default: for change in changes { try change.change(&row, new) }
          }
          found[key] = try RandomStock.checked(row)
        }
        return try .changed(count: records.count, Array(found.values))
      }, isWhole: false, note: "upserted, form \(form): \(records)")
  }
}

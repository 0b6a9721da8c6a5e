import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Storage formats in subqueries")
struct SubqueryCodingTests {
  @Test("The first value of a subquery has its column's storage format")
  func firstValue() throws {
    let db = try Database.empty()
    try Event.table.create(db)
    let date = Date(timeIntervalSince1970: 1_795_249_993)
    try Event.insert(
      db,
      contentsOf: [
        Event(id: 1, at: date, text: date, milliseconds: date, end: nil),
        Event(id: 2, at: date, text: date + 60, milliseconds: date + 60, end: date),
      ])
    let last = Event.aliased("last")
    let dates = try Event.order { $0.id }.select { _ in
      (
        first(of: last.order { $0.id.desc }.select { $0.text }),
        first(of: last.order { $0.id.desc }.select { $0.milliseconds }),
        first(of: last.order { $0.id.desc }.select { $0.end })
      )
    }.fetchAll(db)
    #expect(dates.map(\.0) == [date + 60, date + 60])
    #expect(dates.map(\.1) == [date + 60, date + 60])
    #expect(dates.map(\.2) == [date, date])
    let found = Event.filter { _ in first(of: last.filter { $0.id == 1 }.select { $0.text }) == date
    }
    #expect(try found.fetchCount(db) == 2)
    let latest = Event.filter { $0.text == first(of: last.select { $0.text.max() }) }
    #expect(try latest.fetchAll(db).map(\.id) == [2])
  }

  @Test("A common table's columns keep the storage formats of the columns they come from")
  func commonTable() throws {
    let db = try Database.empty()
    try Event.table.create(db)
    let date = Date(timeIntervalSince1970: 1_795_249_993)
    try Event.insert(
      db,
      contentsOf: [
        Event(id: 1, at: date, text: date, milliseconds: date, end: nil),
        Event(id: 2, at: date, text: date + 60, milliseconds: date + 60, end: date),
      ])
    let times = CommonTable("times", Event.select { ($0.id, $0.text, $0.milliseconds, $0.end) })
    let late = times.all.filter { $0.columns.1 > date && $0.columns.2 == date + 60 }
    let rows = try late.fetchAll(db)
    #expect(rows.count == 1)
    #expect(rows.first?.columns.1 == date + 60)
    #expect(rows.first?.columns.2 == date + 60)
    #expect(rows.first?.columns.3 == date)
    #expect(late.snapshot.contains(#""times"."c2" > ?"#))

    let joined = Event.all.join(common: times) { $0.id == $1.columns.0 }.filter {
      $1.columns.1 == date
    }
    #expect(try joined.fetchAll(db).map(\.1.columns.1) == [date])
    let later = CommonTable(
      recursive: "later", Event.filter { $0.id == 1 }.select { ($0.id, $0.text) }
    ) { later in
      Event.all.join(common: later) { $0.text > $1.columns.1 }.select { ($0.0.id, $0.0.text) }
    }
    let all = later.all
    let pairs = try all.fetchAll(db)
    #expect(pairs.map(\.columns.1) == [date, date + 60])
  }
}

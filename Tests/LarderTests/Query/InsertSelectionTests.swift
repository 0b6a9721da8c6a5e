import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Rows that are inserted from a selection")
struct InsertSelectionTests {
  private struct Visit: Record, Equatable {
    var id: Int64?
    var day: Date
    var end: Date?
    var count: Int8
    var note: String

    struct Columns: Sendable {
      let id = Column("id", \Visit.id, .primaryKey)
      let day = Column("day", \Visit.day, as: .format(.sqlDate))
      let end = Column("end", \Visit.end, as: .iso8601)
      let count = Column("count", \Visit.count)
      let note = Column("note", \Visit.note, .default("none"))
    }
    static let columns = Columns()
    static let table = Table(
      "visit", Visit.init, columns.id, columns.day, columns.end, columns.count, columns.note)
  }

  private let db: Database
  private let day = Date(timeIntervalSince1970: 1_795_219_200)

  init() throws {
    db = try Database.empty()
    try Visit.table.create(db)
    try Visit.insert(
      db, contentsOf: [Visit(id: 1, day: day, end: day, count: 126, note: "first")])
  }

  @Test("A value in an inserted selection is stored in its column's format")
  func values() throws {
    let (columns, next) = (Visit.columns, day + 86_400)
    try Visit.insert(
      db, columns.day, columns.end, columns.count,
      from: Visit.all.select { (.value(next), .value(next), $0.count + 1) })
    try Visit.insert(
      db, columns.day, columns.end, columns.count,
      from: Visit.filter { $0.id == 1 }.select { ($0.day, $0.end, .value(Int8(3))) })
    #expect(
      try Visit.order { $0.id }.fetchAll(db) == [
        Visit(id: 1, day: day, end: day, count: 126, note: "first"),
        Visit(id: 2, day: next, end: next, count: 127, note: "none"),
        Visit(id: 3, day: day, end: day, count: 3, note: "none"),
      ])
  }

  @Test(
    "`insert(from:)` throws for another storage format or an overflow, and writes nothing"
  )
  func refused() throws {
    let columns = Visit.columns
    for selection in [
      Visit.all.select { ($0.end.coalesce(day), $0.count) },
      Visit.all.select { ($0.day, $0.count + 2) },
    ] {
      #expect(throws: DatabaseError.self) {
        try Visit.insert(db, columns.day, columns.count, from: selection)
      }
    }
    #expect(try Visit.all.fetchCount(db) == 1)
  }
}

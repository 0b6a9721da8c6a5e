import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

@Suite("Literals beside functions, for each numeric type")
struct NumberTypeTests {
  private struct Numbers: Record {
    var id: Int64?
    var a: Int8?
    var b: Int16?
    var c: Int32?
    var d: Int64?
    var e: UInt8?
    var f: Double?
    var g: Float?
    var h: Decimal?

    struct Columns: Sendable {
      let id = Column("id", \Numbers.id, .primaryKey)
      let a = Column("a", \Numbers.a)
      let b = Column("b", \Numbers.b)
      let c = Column("c", \Numbers.c)
      let d = Column("d", \Numbers.d)
      let e = Column("e", \Numbers.e)
      let f = Column("f", \Numbers.f)
      let g = Column("g", \Numbers.g)
      let h = Column("h", \Numbers.h)
    }
    static let columns = Columns()
    static let table = Table(
      "numbers", Numbers.init, columns.id, columns.a, columns.b, columns.c, columns.d, columns.e,
      columns.f, columns.g, columns.h)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Numbers.table.create(db)
    try Numbers.insert(
      db,
      contentsOf: [
        Numbers(id: 1), Numbers(id: 2, a: 3, b: 3, c: 3, d: 3, e: 3, f: 3, g: 3, h: 3),
      ])
  }

  @Test("A literal beside a function's result takes the column's numeric type")
  func literals() throws {
    let all = Numbers.order { $0.id }
    #expect(try all.select { $0.a.coalesce(0) + 1 }.fetchAll(db) == [1, 4])
    #expect(try all.select { $0.b.coalesce(0) * 2 - 1 }.fetchAll(db) == [-1, 5])
    #expect(try all.select { $0.c.coalesce(1).greatest(2) * 2 }.fetchAll(db) == [4, 6])
    #expect(try all.select { ($0.d.coalesce(0) + 1) * 2 }.fetchAll(db) == [2, 8])
    #expect(try all.select { $0.e.coalesce(1).least(2) + 1 }.fetchAll(db) == [2, 3])
    #expect(try all.select { $0.f.coalesce(0) / 2 + 1 }.fetchAll(db) == [1, 2.5])
    #expect(try all.select { $0.g.greatest(5) * 2 }.fetchAll(db) == [nil, 10])
    #expect(try all.select { $0.h.coalesce(0) + 1 }.fetchAll(db) == [1, 4])
    #expect(try all.select { 10 - $0.h.coalesce(0) }.fetchAll(db) == [10, 7])
  }

  @Test("An assignment takes arithmetic of a function's result, for each numeric type")
  func assignments() throws {
    try Numbers.all.update(db) {
      $0.a = $0.a.coalesce(0) + 1
      $0.b = $0.b.coalesce(0) * 2
      $0.c = $0.c.greatest(5) - 1
      $0.d = $0.d.least(1) * 4
      $0.e = $0.e.coalesce(7) - 1
      $0.f = $0.f.coalesce(1) / 2
      $0.g = $0.g.coalesce(1) / 2
      $0.h = $0.h.coalesce(0) * 2 + 1
    }
    let (first, last) = (try Numbers.find(db, 1), try Numbers.find(db, 2))
    #expect(first.a == 1 && first.b == 0 && first.c == nil && first.d == nil && first.e == 6)
    #expect(first.f == 0.5 && first.g == 0.5 && first.h == 1)
    #expect(last.a == 4 && last.b == 6 && last.c == 4 && last.d == 4 && last.e == 2)
    #expect(last.f == 1.5 && last.g == 1.5 && last.h == 7)
  }

  @Test("`.zero` in the filter of a selection needs no type name")
  func casesBehindSelections() throws {
    let signs = try Numbers.select { ($0.id, $0.h) }.filter { $1 > .zero }.fetchAll(db)
    #expect(signs.count == 1)
  }
}

import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Kinds of joins")
struct JoinKindTests {
  private struct Left: Record, Equatable {
    var id: Int
    var key: Int?
    struct Columns: Sendable {
      let id = Column("id", \Left.id, .primaryKey)
      let key = Column("key", \Left.key)
    }
    static let columns = Columns()
    static let table = Table("left", Left.init, columns.id, columns.key)
  }

  private struct Right: Record, Equatable {
    var id: Int
    var key: Int?
    struct Columns: Sendable {
      let id = Column("id", \Right.id, .primaryKey)
      let key = Column("key", \Right.key)
    }
    static let columns = Columns()
    static let table = Table("right", Right.init, columns.id, columns.key)
  }

  private let db: Database

  init() throws {
    db = try Database.empty()
    try Left.table.create(db)
    try Right.table.create(db)
    try Left.insert(
      db, contentsOf: [(1, 10), (2, 20), (3, nil), (4, 20)].map { Left(id: $0, key: $1) })
    try Right.insert(
      db, contentsOf: [(1, 20), (2, 30), (3, 20), (4, nil)].map { Right(id: $0, key: $1) })
  }

  private func text(_ rows: [(Left?, Right?)]) -> [String] {
    rows.map { "\($0.0.map { "\($0.id)" } ?? "-")\($0.1.map { "\($0.id)" } ?? "-")" }.sorted()
  }

  private let matched = ["21", "23", "41", "43"]

  @Test(
    "Left, right and full joins keep the unmatched rows of one side, the other, or both")
  func kinds() throws {
    let left = Left.leftJoin(Right.self) { $0.key > 0 && $0.key == $1.key }
    #expect(
      text(try left.fetchAll(db)) == ["1-", "3-"].reduce(into: matched) { $0.append($1) }.sorted())
    let right = Left.rightJoin(Right.self) { $0.key > 0 && $0.key == $1.key }
    #expect(right.snapshot.contains(#" FROM "left" RIGHT JOIN "right" ON "left"."key" > ?"#))
    #expect(text(try right.fetchAll(db)) == (matched + ["-2", "-4"]).sorted())
    let full = Left.fullJoin(Right.self) { $0.key > 0 && $0.key == $1.key }
    #expect(full.snapshot.contains(#" FULL JOIN "right" ON "#))
    #expect(text(try full.fetchAll(db)) == (matched + ["1-", "3-", "-2", "-4"]).sorted())
  }

  @Test("A right join makes all tables before it Optional, and not doubly Optional")
  func third() throws {
    let query = Left.leftJoin(Right.self) { $0.key > 0 && $0.key == $1.key }
      .rightJoin(Left.self) { _, right, other in right.id == other.id }
    let rows: [(Left?, Right?, Left)] = try query.order { $0.2.id }.order { $0.0.id }.fetchAll(db)
    #expect(
      rows.map { "\($0.0?.id ?? 0)\($0.1?.id ?? 0)\($0.2.id)" }
        == ["211", "411", "002", "233", "433", "004"])
  }

  @Test(
    "A nullable column of an outer join is Optional, and not doubly Optional"
  )
  func optionals() throws {
    let query = Left.leftJoin(Right.self) { $0.key > 0 && $0.key == $1.key }
      .order { left, _ in left.id }.order { $1.id }.select { ($1.id, $1.key) }
    let rows = try query.fetchAll(db)
    #expect(type(of: rows) == [(Int?, Int?)].self)
    #expect(rows.map { "\($0 ?? 0)\($1 ?? 0)" } == ["00", "120", "320", "00", "120", "320"])
    try Event.table.create(db)
    let day = Date(timeIntervalSince1970: 1_795_219_200)
    try Event.insert(
      db, contentsOf: [Event(id: 2, at: day, text: day, milliseconds: day, end: day)])
    let ends = Left.leftJoin(Event.self) { $0.id == $1.id.integer }.order { left, _ in left.id }
      .select { ($0.id, $1.end) }
    #expect(try ends.fetchAll(db).map(\.1) == [nil, day, nil, nil])
  }

  @Test(
    "Common tables can be left, right and full joined, with Optional columns")
  func common() throws {
    let keys = CommonTable("keys", Right.filter { $0.key != nil }.select { ($0.id, $0.key) })
    let left = Left.all.leftJoin(common: keys) { $0.key > 0 && $0.key == $1.columns.1 }
      .order { $0.0.id }.order { $0.1.columns.0 }.select { ($0.id, $1.columns.0) }
    let pairs: [(Int, Int?)] = try left.fetchAll(db)
    #expect(pairs.map { "\($0)\($1 ?? 0)" } == ["10", "21", "23", "30", "41", "43"])
    let right = Left.all.rightJoin(common: keys) { $0.key > 0 && $0.key == $1.columns.1 }
      .order { $0.1.columns.0 }.order { $0.0.id }.select { ($0.id, $1.columns.0) }
    let others: [(Int?, Int)] = try right.fetchAll(db)
    #expect(others.map { "\($0 ?? 0)\($1)" } == ["21", "41", "02", "23", "43"])
    let rows = try Left.all.fullJoin(common: keys) { $0.key > 0 && $0.key == $1.columns.1 }
      .fetchAll(db)
    #expect(rows.count == 7)
    #expect(rows.filter { $0.0 == nil }.count == 1)
    #expect(rows.filter { $0.1.columns.0 == nil }.count == 2)
  }

  @Test(
    "A common table can be the left side of right and full joins")
  func commonOnTheLeft() throws {
    let keys = CommonTable("keys", Left.filter { $0.key != nil }.select { ($0.id, $0.key) })
    let others = CommonTable("others", Right.filter { $0.key != nil }.select { ($0.id, $0.key) })
    let right = keys.all.rightJoin(Right.self) { $0.columns.1 > 0 && $0.columns.1 == $1.key }
      .order { $1.id }.order { $0.0.columns.0 }.select { ($0.columns.0, $1.id) }
    let pairs: [(Int?, Int)] = try right.fetchAll(db)
    #expect(pairs.map { "\($0 ?? 0)\($1)" } == ["21", "41", "02", "23", "43", "04"])
    let full = try keys.all.fullJoin(Right.self) { $0.columns.1 == $1.key }.fetchAll(db)
    #expect(full.filter { $0.0.columns.0 == nil }.map { $0.1?.id } == [2, 4])
    #expect(full.filter { $0.1 == nil }.map(\.0.columns.0) == [1])
    let common = try keys.all.rightJoin(common: others) { $0.columns.1 == $1.columns.1 }
      .filter { $0.0.columns.0 == nil }.fetchAll(db)
    #expect(common.map { "\($0.0.columns.1 ?? 0) \($0.1.columns.0)" } == ["0 2"])
    let both = keys.all.fullJoin(common: others) { $0.columns.1 == $1.columns.1 }
    #expect(both.snapshot.contains(#" FULL JOIN (WITH "others"("c1", "c2") AS"#))
    #expect(try both.fetchAll(db).count == 6)
    let third = both.rightJoin(common: keys) { $0.columns.0 == $2.columns.0 }
      .order { $0.2.columns.0 }.select { ($1.columns.0, $2.columns.0) }
    #expect(
      try third.fetchAll(db).map { "\($0 ?? 0)\($1)" }.sorted() == ["01", "12", "14", "32", "34"])
  }

  @Test("Eight tables can be joined, the last by a left join")
  func eight() throws {
    let query = Left.join(Left.self) { $1.id == $0.id }
      .join(Left.self) { $2.id == $1.id }
      .join(Left.self) { $3.id == $2.id }
      .join(Left.self) { $4.id == $3.id }
      .join(Left.self) { $5.id == $4.id }
      .join(Left.self) { $6.id == $5.id }
      .leftJoin(Right.self) { _, _, _, _, _, _, last, right in right.key == last.key && last.key > 0
      }
    let rows = try query.filter { $0.6.id > 1 }.order { $0.0.id }.select { ($0.0.id, $0.7.id) }
      .fetchAll(db)
    #expect(rows.map { "\($0)\($1 ?? 0)" } == ["21", "23", "30", "41", "43"])
    #expect(try query.fetchAll(db).count == 6)
  }

  @Test("Updating or deleting through a join changes the first table's rows")
  func changes() throws {
    let query = Left.join(Right.self) { $0.key == $1.key && $0.key > 0 }.filter { $0.1.id > 1 }
    #expect(try query.update(db) { $0.key = 5 } == 2)
    #expect(try Left.order { $0.id }.fetchAll(db).map(\.key) == [10, 5, nil, 5])
    let none = Left.leftJoin(Right.self) { $0.key == $1.key }.filter { $0.1.id == nil }
    #expect(try none.delete(db) == 3)
    #expect(try Left.all.fetchAll(db).map(\.id) == [3])
  }
}

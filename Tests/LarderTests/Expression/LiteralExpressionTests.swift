import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Literals in expressions")
struct LiteralExpressionTests {
  struct Gauge: Record, Equatable {
    var id: Int
    var x: Double
    var y: Double?
    var f: Float
    var small: Int8
    var count: Int?
    var isOpen: Bool
    var nick: String?
    var iso: Date
    var plain: Date

    struct Columns: Sendable {
      let id = Column("id", \Gauge.id, .primaryKey)
      let x = Column("x", \Gauge.x)
      let y = Column("y", \Gauge.y)
      let f = Column("f", \Gauge.f)
      let small = Column("small", \Gauge.small)
      let count = Column("count", \Gauge.count)
      let isOpen = Column("isOpen", \Gauge.isOpen)
      let nick = Column("nick", \Gauge.nick)
      let iso = Column("iso", \Gauge.iso, as: .iso8601)
      let plain = Column("plain", \Gauge.plain)
    }
    static let columns = Columns()
    static let table = Table(
      "gauge", Gauge.init, columns.id, columns.x, columns.y, columns.f, columns.small,
      columns.count, columns.isOpen, columns.nick, columns.iso, columns.plain)
  }

  let db: Database
  private let date = Date(timeIntervalSince1970: 86_400)
  private let query = Gauge.filter { $0.id == 1 }

  init() throws {
    db = try Database.empty()
    try Gauge.table.create(db)
    for id in 1...2 {
      var gauge = Gauge(
        id: id, x: 1, y: 2, f: 1, small: 1, count: 5, isOpen: false, nick: nil, iso: date,
        plain: date)
      try gauge.insert(db)
    }
  }

  @Test("A literal takes the type of the column that it is assigned to")
  func types() throws {
    try query.update(db) {
      $0.x = 7
      $0.y = 2
      $0.y = $0.x / $0.y
      $0.f = 0.1
      $0.small = -3
      $0.count = 4
      $0.isOpen = true
      $0.nick = "x"
    }
    let gauge = try Gauge.find(db, 1)
    #expect(gauge.x == 7 && gauge.y == 3.5 && gauge.f == 0.1 && gauge.small == -3)
    #expect(gauge.count == 4 && gauge.isOpen && gauge.nick == "x")
    try query.update(db) {
      $0.x = -2.5
      $0.y = 1
      $0.f = 2
    }
    #expect(try Gauge.find(db, 1).f == 2)
    let text = Gauge.filter { $0.id == 1 }.select { $0.x.cast(to: String?.self) }
    if TestEngine.isPostgres {
      #expect(throws: UnsupportedByEngine.self) { try text.fetchAll(db) }
    } else {
      #expect(try text.fetchAll(db) == ["-2.5"])
    }
  }

  @Test("Compound assignments take literals and expressions, each seeing the one before")
  func compoundAssignments() throws {
    try query.update(db) {
      $0.x += $0.x
      $0.x += 1
      $0.x *= $0.x
      $0.x -= 0.5
      $0.nick = "a"
      $0.nick += "b"
      $0.count -= 1
    }
    let gauge = try Gauge.find(db, 1)
    #expect(gauge.x == 8.5 && gauge.nick == "ab" && gauge.count == 4)
  }

  @Test("A literal can be the left or the right operand of a nullable number")
  func sides() throws {
    let rows = try query.select {
      (1 + $0.count, 10 - $0.count, 2 * $0.y + 1.5, $0.count - 1, 7 % $0.count, 1 / $0.y)
    }.fetchAll(db)
    #expect(rows.count == 1)
    #expect(rows[0].0 == 6 && rows[0].1 == 5 && rows[0].2 == 5.5 && rows[0].3 == 4)
    #expect(rows[0].4 == 2 && rows[0].5 == 0.5)
    #expect(try query.filter { 5 == $0.count && 3 < $0.count && 2 >= $0.y }.exists(db))
    #expect(try query.filter { 5 != $0.count || $0.nick == "x" }.fetchCount(db) == 0)
    #expect(try query.filter { 3 > $0.x && true && !$0.isOpen }.exists(db))
  }

  @Test("A value in a CASE is stored in the format of the columns beside it")
  func cases() throws {
    let late = date + 86_400
    // ISO 8601 texts sort in the order of time.
    let between = Gauge.filter { $0.iso < when($0.id > 0, then: late).otherwise(date) }
    #expect(try between.fetchCount(db) == 2)
    let none = Gauge.filter { $0.iso > when($0.id > 0, then: date).otherwise(late) }
    #expect(try none.fetchCount(db) == 0)
    let mixed = Gauge.filter { $0.iso == when($0.id == 1, then: late).otherwise($0.iso) }
    #expect(try mixed.fetchAll(db).map(\.id) == [2])
    let dates = try Gauge.order { $0.id }
      .select { when($0.id == 1, then: late).otherwise($0.iso) }.fetchAll(db)
    #expect(dates == [late, date])
    try query.update(db) { $0.iso = when($0.id == 1, then: late).otherwise(date) }
    #expect(try Gauge.find(db, 1).iso == late)
  }

  struct Note: Record, Equatable {
    struct Tags: Codable, Equatable, Sendable { var all: [String] }
    var id: Int
    var tags: Tags
    var more: Tags?

    struct Columns: Sendable {
      let id = Column("id", \Note.id, .primaryKey)
      let tags = Column("tags", \Note.tags, as: .json)
      let more = Column("more", \Note.more, as: .json)
    }
    static let columns = Columns()
    static let table = Table("note", Note.init, columns.id, columns.tags, columns.more)
  }

  @Test("A value that only a JSON column can store can be assigned to it and compared with it")
  func codedValues() throws {
    try Note.table.create(db)
    try Note.insert(db, contentsOf: (1...2).map { Note(id: $0, tags: .init(all: []), more: nil) })
    let tags = Note.Tags(all: ["a", "b"])
    try Note.filter { $0.id == 2 }.update(db) {
      $0.tags = .value(tags)
      $0.more = .value(tags)
    }
    #expect(try Note.find(db, 2) == Note(id: 2, tags: tags, more: tags))
    #expect(try Note.filter { $0.tags == .value(tags) }.fetchAll(db).map(\.id) == [2])
    #expect(try Note.filter { $0.more != .value(tags) }.fetchAll(db).map(\.id) == [1])
    try Note.all.update(db) { $0.more = .value(nil) }
    #expect(try Note.filter { $0.more == .value(nil) }.fetchCount(db) == 2)
    #expect(throws: ConversionError.self) {
      try Note.filter { _ in SQLExpression<Note.Tags>.value(tags).isNotNull }.fetchAll(db)
    }
  }

  @Test("Queries and selections of the same rows combine by union and except")
  func parts() throws {
    let ids = Gauge.select { $0.id }
    let one = query.select { $0.id }
    #expect(try ids.union(one).except(one).fetchAll(db) == [2])
    #expect(try one.except(ids.union(one)).fetchAll(db).isEmpty)
    #expect(try Gauge.all.except(query).union(query).fetchCount(db) == 2)
  }
}

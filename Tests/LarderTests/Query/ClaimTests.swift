import Foundation
import Larder
import PostgresSupport
import TestSupport
import Testing

/// A job that waits to be done.
private struct Errand: Record, Equatable {
  var id: Int64?
  var due: Int
  var worker: String?
  var version = 0

  struct Columns: Sendable {
    let id = Column("id", \Errand.id, .primaryKey)
    let due = Column("due", \Errand.due, .indexed)
    let worker = Column("worker", \Errand.worker)
    let version = Column("version", \Errand.version, .version)
  }
  static let columns = Columns()
  static let table = Table(
    "errand", Errand.init, columns.id, columns.due, columns.worker, columns.version)
}

/// A room, with a key of a text and a number, whose first column holds real numbers.
private struct Room: Record, Equatable {
  var area: Double
  var house: String
  var number: Int
  var guest: String?

  struct Columns: Sendable {
    let area = Column("area", \Room.area)
    let house = Column("house", \Room.house, .primaryKey)
    let number = Column("number", \Room.number, .primaryKey)
    let guest = Column("guest", \Room.guest)
  }
  static let columns = Columns()
  static let table = Table(
    "room", Room.init, columns.area, columns.house, columns.number, columns.guest,
    options: .withoutRowID)
}

/// A key of another form than the database's.
private struct Ticket: Record, Equatable {
  var id: UUID
  var seat: Int
  var isSold: Bool

  struct Columns: Sendable {
    let id = Column("id", \Ticket.id, .primaryKey)
    let seat = Column("seat", \Ticket.seat)
    let isSold = Column("isSold", \Ticket.isSold)
  }
  static let columns = Columns()
  static let table = Table("ticket", Ticket.init, columns.id, columns.seat, columns.isSold)
}

@Suite("Claimed rows")
struct ClaimTests {
  @Test(
    "`claim` updates the first rows of a query, and returns them in its order and with their versions"
  )
  func order() throws {
    let db = try Database.empty()
    try Errand.table.create(db)
    try Errand.insert(
      db, contentsOf: [5, 3, 9, 1, 7].map { Errand(id: nil, due: $0, worker: nil) })
    let waiting = Errand.filter { $0.worker == nil && $0.due < 9 }.order { $0.due.desc }
    // The order is that of before the update, which reverses it.
    let claimed = try waiting.claim(db, limit: 3) {
      $0.worker = "a"
      $0.due *= -1
    }
    #expect(claimed.map(\.due) == [-7, -5, -3])
    #expect(claimed.allSatisfy { $0.worker == "a" && $0.version == 1 })
    #expect(try Errand.filter { $0.worker == "a" }.order { $0.due }.fetchAll(db) == claimed)
    #expect(try waiting.claim(db, limit: 1) { $0.worker = "b" }.map(\.due) == [1])
    #expect(try waiting.claim(db, limit: 5) { $0.worker = "c" }.isEmpty)
    #expect(try Errand.filter { $0.worker == nil }.fetchAll(db).map(\.due) == [9])
  }

  @Test(
    "`claim` respects the query's limit and offset, and takes no row of a limit of zero or less")
  func limits() throws {
    let db = try City.norway()
    let byName = City.order { $0.name }
    #expect(try byName.limit(1).claim(db, limit: 5) { $0.population = 1 }.map(\.id) == [2])
    #expect(
      try byName.limit(5, offset: 1).claim(db, limit: 5) { $0.population = 1 }.map(\.id) == [1, 3])
    #expect(try byName.claim(db, limit: 0) { $0.population = 1 }.isEmpty)
    #expect(try byName.claim(db, limit: -1) { $0.population = 1 }.isEmpty)
    #expect(try City.all.claim(db, limit: 2) { $0.population = 2 }.count == 2)
    #expect(
      try City.aliased("town").order { $0.name }.claim(db, limit: 2) { $0.population += 2 }.map(
        \.id) == [2, 1])
    #expect(throws: DatabaseError.self) { try byName.claim(db, limit: 1) { _ in } }
    #expect(throws: DatabaseError.self) {
      try byName.distinct().claim(db, limit: 1) { $0.population = 1 }
    }
    #expect(!db.hasOpenStatements)
  }

  @Test("Rows with keys of several columns, and without a row id, are claimed in the query's order")
  func compositeKeys() throws {
    let db = try Database.empty()
    try Room.table.create(db)
    let rooms = [("B", 1), ("A", 2), ("B", 2), ("A", 1)].map {
      Room(area: 20, house: $0.0, number: $0.1, guest: nil)
    }
    try Room.insert(db, contentsOf: rooms)
    let claimed = try Room.filter { $0.guest == nil }.order { ($0.number.desc, $0.house) }
      .claim(db, limit: 3) { $0.guest = "Ada" }
    #expect(claimed.map { "\($0.house)\($0.number)" } == ["A2", "B2", "A1"])
    #expect(try Room.filter { $0.guest == nil }.fetchAll(db) == [rooms[0]])
  }

  @Test("Rows whose keys are UUIDs are claimed in the query's order")
  func uuids() throws {
    let db = try Database.empty()
    try Ticket.table.create(db)
    let tickets = (0..<6).map { Ticket(id: UUID(), seat: ($0 * 5) % 6, isSold: false) }
    try Ticket.insert(db, contentsOf: tickets)
    let claimed = try Ticket.filter { !$0.isSold }.order { $0.seat }
      .claim(db, limit: 4) { $0.isSold = true }
    #expect(claimed.map(\.seat) == [0, 1, 2, 3])
  }

  @Test("Tasks with connections of their own claim each row of a file exactly once")
  func once() async throws {
    let folder = try ScratchFolder()
    let path = folder.file("errands.db")
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { db in
      try Errand.table.create(db)
      try Errand.insert(
        db, contentsOf: (0..<300).map { Errand(id: nil, due: $0 / 7, worker: nil) })
    }
    let ids = try await withThrowingTaskGroup(of: [Int64].self) { group in
      for number in 0..<4 {
        group.addTask {
          let own = try DatabasePool(path: path)
          var ids: [Int64] = []
          while true {
            let claimed = try await own.inTransaction { db in
              try Errand.filter { $0.worker == nil }.order { ($0.due, $0.id) }
                .claim(db, limit: 1 + number) { $0.worker = .value("\(number)") }
            }
            if claimed.isEmpty { break }
            ids += claimed.compactMap(\.id)
          }
          try await own.close()
          return ids
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(ids.count == 300)
    #expect(Set(ids).count == 300)
    let version = try await pool.read { try Errand.all.select { $0.version.max() }.fetchOne($0) }
    #expect(version == 1)
    try await pool.close()
  }
}

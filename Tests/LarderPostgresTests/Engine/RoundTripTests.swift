import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

private struct Reading: Record {
  var id: Int64?
  var place: String
  var value: Double

  struct Columns: Sendable {
    let id = Column("id", \Reading.id, .primaryKey)
    let place = Column("place", \Reading.place)
    let value = Column("value", \Reading.value)
  }
  static let columns = Columns()
  static let table = Table("reading", Reading.init, columns.id, columns.place, columns.value)
}

/// How often the server is waited for, counted by a proxy: what a network costs.
@Suite("Round trips", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct RoundTripTests {
  private let proxy: Proxy
  private let pool: PostgresPool

  init() throws {
    proxy = try Proxy(to: PostgresServer.shared.folder, countsRoundTrips: true)
    let address = try PostgresServer.shared.database()
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    pool = try PostgresPool(
      address.replacing(PostgresServer.shared.folder, with: proxy.folder),
      configuration: configuration)
    try pool.inTransaction { try Reading.table.create($0) }
  }

  /// How many round trips something takes.
  private func count(_ body: () throws -> Void) throws -> Int {
    let before = proxy.roundTrips
    try body()
    return proxy.roundTrips - before
  }

  private func readings(_ count: Int) -> [Reading] {
    (0..<count).map { Reading(id: nil, place: "place \($0)", value: Double($0) / 2) }
  }

  @Test("A read takes as many as it has statements, and one for its end")
  func reads() throws {
    try pool.inTransaction { try Reading.insert($0, contentsOf: readings(3)) }
    func read() throws {
      try pool.read { db in
        _ = try Reading.filter { $0.value > 0.5 }.fetchAll(db)
        _ = try Reading.all.fetchCount(db)
      }
    }
    // What has values is described first, once.
    #expect(try count(read) <= 4)
    #expect(try count(read) <= 3)
    #expect(try count { try pool.read { _ in } } == 0)
    #expect(try count { try pool.inTransaction { _ in } } == 0)
  }

  @Test("A batch of fifty rows takes three, and two once its statement is known")
  func batches() throws {
    func insert() throws {
      try pool.inTransaction { try Reading.insert($0, contentsOf: readings(50)) }
    }
    #expect(try count(insert) <= 3)
    #expect(try count(insert) <= 2)
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 100)
  }

  @Test("Saving takes a round trip for an update, and one more for a row that isn't there")
  func saves() throws {
    var reading = Reading(id: 7, place: "Oslo", value: 1.5)
    try pool.inTransaction { try reading.save($0) as Void }
    try pool.inTransaction { db in
      #expect(try count { try reading.save(db) as Void } <= 1)
      var other = Reading(id: nil, place: "Bergen", value: 2.5)
      try other.insert(db)
      other.id = nil
      #expect(try count { try other.insert(db) } <= 1)
      var third = Reading(id: 100, place: "Voss", value: 0)
      #expect(try count { try third.save(db) as Void } <= 2)
    }
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 4)
  }

  @Test("Savepoints travel with the statements in them")
  func savepoints() throws {
    func nested() throws {
      try pool.inTransaction { db in
        for number in 0..<5 {
          try db.inSavepoint { db in
            try db.inSavepoint { _ in }
            try db.executeUpdate("INSERT INTO reading (place, value) VALUES ('x', 1)")
            guard number == 3 else { return }
            db.setRollbackOnly()
          }
        }
      }
    }
    try nested()
    // Five statements, one that is undone, and the commit.
    #expect(try count(nested) <= 7)
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 8)
  }

  @Test("What failed in a savepoint is undone, and what was put off isn't lost")
  func failedSavepoints() throws {
    try pool.inTransaction { db in
      try db.inSavepoint {
        try $0.executeUpdate("INSERT INTO reading (place, value) VALUES ('a', 1)")
      }
      let error = #expect(throws: DatabaseError.self) {
        try db.inSavepoint { db in
          try db.inSavepoint {
            try $0.executeUpdate("INSERT INTO reading (place, value) VALUES ('b', 1)")
          }
          try db.inSavepoint { try $0.executeUpdate("INSERT INTO reading (id) VALUES (1)") }
        }
      }
      #expect(error?.code == .constraint)
      try db.inSavepoint { _ in }
      try db.inSavepoint {
        try $0.executeUpdate("INSERT INTO reading (place, value) VALUES ('c', 1)")
      }
    }
    let places = try pool.read { try Reading.all.order { $0.id }.select { $0.place }.fetchAll($0) }
    #expect(places == ["a", "c"])
    // Outside of a transaction the outermost is one.
    try pool.inDatabase { db in
      try db.inSavepoint { db in
        try db.inSavepoint { try $0.executeUpdate("DELETE FROM reading WHERE place = 'a'") }
        _ = try? db.inSavepoint { try $0.executeUpdate("DELETE FROM nothing") }
      }
      try db.inSavepoint { _ in }
    }
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 1)
  }

  @Test("A migration of one statement takes four, and the list a few more")
  func migrations() throws {
    let migrations = (1...10).map { number in
      Migration("create t\(number)", sql: SQL(raw: "CREATE TABLE t\(number) (a BIGINT)"))
    }
    let migrator = Migrator(migrations)
    try migrator.migrate(pool)
    // Nothing to do.
    #expect(try count { try migrator.migrate(pool) } <= 4)
    let more = (11...20).map { number in
      Migration("create t\(number)", sql: SQL(raw: "CREATE TABLE t\(number) (a BIGINT)"))
    }
    let trips = try count { try Migrator(migrations + more).migrate(pool) }
    #expect(trips <= 44, "\(trips)")
  }
}

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

/// Counts the round trips to the server with a proxy.
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

  /// The number of round trips that the closure takes.
  private func count(_ body: () throws -> Void) throws -> Int {
    let before = proxy.roundTrips
    try body()
    return proxy.roundTrips - before
  }

  private func readings(_ count: Int) -> [Reading] {
    (0..<count).map { Reading(id: nil, place: "place \($0)", value: Double($0) / 2) }
  }

  @Test("A read takes one round trip for each statement and one at its end")
  func reads() throws {
    try pool.inTransaction { try Reading.insert($0, contentsOf: readings(3)) }
    func read() throws {
      try pool.read { db in
        _ = try Reading.filter { $0.value > 0.5 }.fetchAll(db)
        _ = try Reading.all.fetchCount(db)
      }
    }
    // A statement with values takes one more, once, to be described.
    let (first, second) = try (count(read), count(read))
    #expect((2...4).contains(first), "\(first)")
    #expect((2...3).contains(second), "\(second)")
    #expect(try count { try pool.read { _ in } } == 0)
    #expect(try count { try pool.inTransaction { _ in } } == 0)
  }

  @Test("A batch of fifty rows takes three round trips, and two once it is prepared")
  func batches() throws {
    func insert() throws {
      try pool.inTransaction { try Reading.insert($0, contentsOf: readings(50)) }
    }
    let (first, second) = try (count(insert), count(insert))
    #expect((1...3).contains(first), "\(first)")
    #expect((1...2).contains(second), "\(second)")
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 100)
  }

  @Test("`save` takes one round trip for an update, and two for an insert")
  func saves() throws {
    var reading = Reading(id: 7, place: "Oslo", value: 1.5)
    try pool.inTransaction { try reading.save($0) as Void }
    try pool.inTransaction { db in
      #expect(try count { try reading.save(db) as Void } == 1)
      var other = Reading(id: nil, place: "Bergen", value: 2.5)
      try other.insert(db)
      other.id = nil
      #expect(try count { try other.insert(db) } == 1)
      var third = Reading(id: 100, place: "Voss", value: 0)
      let trips = try count { try third.save(db) as Void }
      #expect((1...2).contains(trips), "\(trips)")
    }
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 4)
  }

  @Test("A savepoint is sent with the statements in it")
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
    // Five statements, a rollback and the commit.
    let trips = try count(nested)
    #expect((5...7).contains(trips), "\(trips)")
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 8)
  }

  @Test("A failed savepoint is rolled back, and deferred SAVEPOINT statements aren't lost")
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
    // Outside of a transaction the outermost savepoint is one.
    try pool.inDatabase { db in
      try db.inSavepoint { db in
        try db.inSavepoint { try $0.executeUpdate("DELETE FROM reading WHERE place = 'a'") }
        #expect(throws: DatabaseError.self) {
          try db.inSavepoint { try $0.executeUpdate("DELETE FROM nothing") }
        }
      }
      try db.inSavepoint { _ in }
    }
    #expect(try pool.read { try Reading.all.fetchCount($0) } == 1)
  }

  @Test("A migration takes about four round trips, and an up-to-date list at most four")
  func migrations() throws {
    let migrations = (1...10).map { number in
      Migration("create t\(number)", sql: SQL(raw: "CREATE TABLE t\(number) (a BIGINT)"))
    }
    let migrator = Migrator(migrations)
    try migrator.migrate(pool)
    // All migrations are applied.
    let checks = try count { try migrator.migrate(pool) }
    #expect((1...4).contains(checks), "\(checks)")
    let more = (11...20).map { number in
      Migration("create t\(number)", sql: SQL(raw: "CREATE TABLE t\(number) (a BIGINT)"))
    }
    let trips = try count { try Migrator(migrations + more).migrate(pool) }
    // Each migration is a transaction of its own.
    #expect((10...44).contains(trips), "\(trips)")
  }
}

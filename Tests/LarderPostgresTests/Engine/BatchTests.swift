import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import Testing

/// A record that may refer to another one of its table.
private struct Station: Record, Equatable {
  var id: Int64
  var name: String
  var next: Int64?

  struct Columns: Sendable {
    let id = Column("id", \Station.id, .primaryKey)
    let name = Column("the name", \Station.name, .unique)
    let next = Column("next", \Station.next, .references(Station.self))
  }
  static let columns = Columns()
  static let table = Table("station", Station.init, columns.id, columns.name, columns.next)
}

/// A record with nothing but a key.
private struct Ticket: Record {
  var id: Int64?

  struct Columns: Sendable { let id = Column("id", \Ticket.id, .primaryKey) }
  static let columns = Columns()
  static let table = Table("ticket", Ticket.init, columns.id)
}

@Suite(
  "Batches on PostgreSQL", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct BatchTests {
  private let pool: PostgresPool

  init() throws {
    var configuration = PostgresConfiguration()
    // An old transaction of another suite blocks serializable ones for as long as it lasts.
    configuration.retryLimit = .seconds(600)
    pool = try PostgresPool(try PostgresServer.shared.database(), configuration: configuration)
    try pool.inTransaction { db in
      try Station.table.create(db)
      try Place.table.create(db)
    }
  }

  private func stations(_ numbers: some Sequence<Int>) -> [Station] {
    numbers.map { Station(id: Int64($0), name: "station \($0)", next: nil) }
  }

  private func count() throws -> Int { try pool.read { try Station.all.fetchCount($0) } }

  @Test(
    "A batch whose connection is lost runs again without blaming a record")
  func lostConnection() throws {
    let batches: [(Database, [Station]) throws -> Void] = [
      { try Station.insert($0, contentsOf: $1) },
      { try Station.insert($0, contentsOf: $1, or: .ignore) },
      { try Station.upsert($0, contentsOf: $1, onConflict: Station.columns.id) },
      { _ = try Station.inserted($0, contentsOf: $1) },
    ]
    for (number, write) in batches.enumerated() {
      var attempts = 0
      try pool.inTransaction { db in
        attempts += 1
        if attempts == 1 {
          _ = try? db.executeUpdate("SELECT pg_terminate_backend(pg_backend_pid())")
        }
        try write(db, stations(number * 10..<number * 10 + 3))
      }
      #expect(attempts == 2)
    }
    #expect(try count() == 3 * batches.count)
  }

  @Test("Many records are inserted by COPY, and a few by INSERT")
  func copied() throws {
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE statement (text TEXT);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN INSERT INTO statement VALUES (split_part(current_query(), chr(32), 1)); RETURN NULL; END';
        CREATE TRIGGER note AFTER INSERT ON place FOR EACH STATEMENT EXECUTE FUNCTION note()
        """)
    }
    func verbs() throws -> [String] {
      try pool.inTransaction { db in
        let rows = try db.executeQuery("DELETE FROM statement RETURNING text")
        return try rows.map { try $0.get(at: 0) }
      }
    }
    let few = (1...5).map { Place.some("few \($0)", $0) }
    try pool.inTransaction { try Place.insert($0, contentsOf: few) }
    #expect(Set(try verbs()) == ["INSERT"])
    let many = (1...3000).map { Place.some("many \($0)", $0, area: $0 % 3 == 0 ? nil : 0.5) }
    try pool.inTransaction { try Place.insert($0, contentsOf: many) }
    #expect(try verbs() == ["COPY"])
    try pool.inTransaction { try Place.insert($0, contentsOf: many, or: .ignore) }
    #expect(Set(try verbs()) == ["INSERT"])
    var found = try pool.read { db in try Place.order { $0.id }.fetchAll(db) }
    #expect(found.map(\.id) == (1...6005).map { $0 })
    for index in found.indices { found[index].id = nil }
    #expect(found == few + many + many)
  }

  @Test("A failing batch's error has the failing record's index, and nothing is stored")
  func failing() throws {
    var stations = stations(1...2000)
    stations[1234].name = "station 7"
    let error = #expect(throws: RecordError.self) {
      try pool.inTransaction { try Station.insert($0, contentsOf: stations) }
    }
    guard case .batch("station", 1234, let cause as DatabaseError) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(cause.constraint?.kind == .unique)
    #expect(cause.constraint?.columns == ["the name"])
    #expect(try count() == 0)
    try pool.inTransaction { db in
      stations[1234].name = "a\0b"
      let error = #expect(throws: RecordError.self) {
        try Station.insert(db, contentsOf: stations)
      }
      guard case .batch(_, 1234, RecordError.conversion(_, "the name", _, _)) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      // The transaction stays usable.
      try Station.insert(db, contentsOf: stations[..<1000])
    }
    #expect(try count() == 1000)
  }

  @Test(
    "A batch's records may refer to each other, and one that refers to nothing fails the batch",
    arguments: [40, 300])
  func references(number: Int) throws {
    var stations = stations(1...number)
    for index in 0..<number - 1 { stations[index].next = Int64(index + 2) }
    try pool.inTransaction { try Station.insert($0, contentsOf: stations) }
    #expect(try count() == number)
    try pool.inTransaction { _ = try Station.all.delete($0) }
    stations[17].next = 9999
    let error = #expect(throws: RecordError.self) {
      try pool.inTransaction { try Station.insert($0, contentsOf: stations) }
    }
    guard case .batch(_, 0, let cause as DatabaseError) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // None of the records that lead to the 18th can be stored, so the first one fails first.
    #expect(cause.constraint?.kind == .foreignKey)
    #expect(try count() == 0)
  }

  @Test("A batch into a view, which COPY can't write, uses INSERT")
  func view() throws {
    try pool.inTransaction { db in
      try db.executeStatements(
        "ALTER TABLE station RENAME TO base; CREATE VIEW station AS SELECT * FROM base")
      try Station.insert(db, contentsOf: stations(1...500))
    }
    #expect(try count() == 500)
  }

  @Test("A batch of records without any value inserts as many rows")
  func defaults() throws {
    try pool.inTransaction { db in
      try Ticket.table.create(db)
      try Ticket.insert(db, contentsOf: Array(repeating: Ticket(id: nil), count: 200))
    }
    #expect(try pool.read { try Ticket.fetchAll($0).compactMap(\.id).sorted() } == Array(1...200))
  }

  @Test("Inserting and upserting set the key, and prepare each statement once")
  func keys() throws {
    try pool.inTransaction { db in
      for number in 1...50 {
        var place = Place.some("place \(number)", number)
        try place.insert(db)
        #expect(place.id == Int64(number))
        place.population += 1
        try place.upsert(db)
        var other = Place.some("other \(number)", number)
        // Keys that the server chooses follow the greatest key, so a negative one changes nothing.
        other.id = Int64(-number)
        try other.upsert(db)
        #expect(try !other.insert(db, or: .ignore))
      }
      let statements = try db.value(
        "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'", as: Int.self)
      #expect(statements == 3)
    }
    #expect(try pool.read { try Place.all.fetchCount($0) } == 100)
  }

  private func resident() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return Int(status.split(separator: " ")[1]) ?? 0
  }

  @Test("A statement that runs repeatedly keeps only the last values in memory")
  func values() throws {
    let text = String(repeating: "x", count: 200_000)
    try pool.inDatabase { db in
      var before = 0
      for number in 0..<1000 {
        if number == 100 { before = try resident() }
        #expect(try db.value("SELECT length(?::text)", text, as: Int.self) == 200_000)
      }
      // The values are 180 MB in total.
      #expect(try resident() - before < 60_000_000 / 4096)
      let statement = try db.prepare("SELECT ?::bigint + coalesce(?::bigint, 0)")
      for (first, second, sum) in [(1, 2, 3), (4, nil, 4), (5, 6, 11)] as [(Int, Int?, Int)] {
        try statement.bind(first, second)
        for _ in 0..<2 {
          #expect(try statement.step())
          #expect(try statement.get(at: 0, as: Int.self) == sum)
          try statement.reset()
        }
      }
    }
  }

  @Test("forEach over 100,000 rows takes constant memory")
  func flatMemory() throws {
    let sql: SQL =
      "SELECT i AS id, repeat('x', 1000) AS \"the name\", NULL::bigint AS next FROM generate_series(1, 100000) i"
    var (count, before, most) = (0, 0, 0)
    try pool.read { db in
      try Station.forEach(db, sql: sql) { _ in
        count += 1
        if count == 1000 { before = try resident() }
        if count % 10_000 == 0 { most = max(most, try resident()) }
      }
    }
    #expect(count == 100_000)
    // The rows are 100 MB in total. Other tests run at the same time.
    #expect(most - before < 40_000_000 / 4096)
  }
}

import Dispatch
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Database pools", .promptly)
struct PoolTests {
  private struct Doubt: Error {}

  private let folder: ScratchFolder
  private let path: String
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    pool = try DatabasePool(path: path, configuration: .patient)
    try pool.inTransaction { try createCities(in: $0) }
  }

  @Test("A pool's scopes return their closure's value and throw its error")
  func results() throws {
    #expect(pool.path == path)
    #expect(try pool.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") } == 1)
    #expect(try pool.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id = 2") } == 1)
    #expect(try pool.inDatabase { try $0.cityCount() } == 2)
    #expect(try pool.read { try $0.cityCount() } == 2)
    #expect(throws: Doubt.self) { try pool.read { _ in throw Doubt() } }
    #expect(throws: Doubt.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    #expect(try pool.read { try $0.cityCount() } == 2)
  }

  @Test("A pool's async scopes return values and throw errors, also for 64 concurrent reads")
  func tasks() async throws {
    let pool = pool
    #expect(
      try await pool.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") } == 1)
    #expect(try await pool.read { try $0.cityCount() } == 3)
    await #expect(throws: Doubt.self) { try await pool.read { _ in throw Doubt() } }
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<64 { group.addTask { try await pool.read { try $0.cityCount() } } }
      for try await count in group { #expect(count == 3) }
    }
    #expect(pool.readerCounts.open <= 4)
    #expect(pool.readerCounts.busy == 0)
  }

  @Test("A pool's read sees every transaction that was committed before it began")
  func freshness() throws {
    for number in 1...20 {
      try pool.inTransaction { try $0.executeUpdate("UPDATE city SET population = ?", number) }
      let population = try pool.read { db in
        try db.value("SELECT max(population) FROM city", as: Int.self)
      }
      #expect(population == number)
    }
  }

  @Test(
    "A pool's read scope keeps its snapshot while another thread's transaction commits without waiting"
  )
  func snapshot() throws {
    let pool = pool
    try pool.read { db in
      #expect(try db.cityCount() == 4)
      try Caller {
        _ = try pool.inTransaction { try $0.executeUpdate("DELETE FROM city") }
      }.join()
      #expect(try db.cityCount() == 4)
      try Caller { () throws in #expect(try pool.read { try $0.cityCount() } == 0) }.join()
    }
    #expect(try pool.read { try $0.cityCount() } == 0)
  }

  @Test("A pool's read runs beside an open transaction and doesn't see its changes")
  func besideWriter() throws {
    let pool = pool
    try pool.inTransaction { (db) throws in
      try db.executeUpdate("DELETE FROM city")
      try Caller { () throws in #expect(try pool.read { try $0.cityCount() } == 4) }.join()
    }
    #expect(try pool.read { try $0.cityCount() } == 0)
  }

  @Test("A pool's read scope refuses to write or to end its transaction")
  func readRefusesWriting() throws {
    try pool.read { (db) throws in
      let statements: [SQL] = [
        "DELETE FROM city", "UPDATE city SET area = 0 RETURNING id", "CREATE TABLE river (name)",
        "PRAGMA user_version = 7",
      ]
      for sql in statements {
        let error = #expect(throws: DatabaseError.self) { try db.executeStatements(sql) }
        #expect(error?.code == .readOnly)
      }
      #expect(throws: DatabaseError.self) { try db.commit() }
      #expect(throws: DatabaseError.self) { try db.executeUpdate("COMMIT") }
      #expect(try db.cityCount() == 4)
    }
    #expect(try pool.read { try $0.cityCount() } == 4)
  }

  @Test("A pool's reader is reset after a scope that leaves a savepoint and result set open")
  func clean() throws {
    final class Leak: @unchecked Sendable {
      var db: Database?
      var rows: ResultSet?
    }
    let leak = Leak()
    for _ in 0..<3 {
      #expect(throws: Doubt.self) {
        try pool.read { db in
          #expect(!db.hasOpenStatements)
          leak.db = db
          leak.rows = try db.executeQuery("SELECT name FROM city")
          #expect(try leak.rows?.next() == true)
          try db.savepoint("harvest")
          throw Doubt()
        }
      }
      #expect(throws: DatabaseError.self) { try leak.rows?.next() }
      #expect(throws: DatabaseError.self) { try leak.db?.cityCount() }
      #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
    }
    try pool.inTransaction { try $0.executeUpdate("DELETE FROM city") }
    // No reader has kept an old snapshot.
    #expect(try pool.read { try $0.cityCount() } == 0)
    #expect(try pool.checkpoint(.truncate).logFrames == 0)
  }

  @Test(
    "A pool's scope that leaves a transaction open or closes its database throws; the pool stays usable"
  )
  func misuse() throws {
    let error = #expect(throws: DatabaseError.self) { try pool.inDatabase { try $0.begin() } }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) { try pool.read { try $0.close() } }
    #expect(throws: DatabaseError.self) { try pool.inDatabase { try $0.close() } }
    #expect(try pool.read { try $0.cityCount() } == 4)
    #expect(try pool.inTransaction { try $0.cityCount() } == 4)
  }

  @Test(
    "A pool of an in-memory or temporary database throws an error that suggests `DatabaseQueue`")
  func noFile() {
    for path in ["", ":memory:"] {
      let error = #expect(throws: DatabaseError.self) {
        try DatabasePool(path: path, configuration: .patient)
      }
      #expect(error?.code == .cannotOpen)
      #expect(error?.message.contains("DatabaseQueue") == true)
    }
    var configuration = Configuration.patient
    configuration.flags = [.create, .uri]
    let uris = ["file::memory:", "file:cities?mode=memory", "file:cities?mode=memory&cache=shared"]
    for uri in uris {
      let error = #expect(throws: DatabaseError.self) {
        try DatabasePool(path: uri, configuration: configuration)
      }
      #expect(error?.code == .cannotOpen)
    }
  }

  @Test(
    "A read-only pool of a file without a write-ahead log throws; a writable one switches it to WAL"
  )
  func noWriteAheadLog() throws {
    var configuration = Configuration.patient
    configuration.journalMode = .delete
    let path = folder.file("old.db")
    try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in
      try createCities(in: db)
    }
    configuration.readOnly = true
    let error = #expect(throws: DatabaseError.self) {
      try DatabasePool(path: path, configuration: configuration)
    }
    #expect(error?.code == .cannotOpen)
    #expect(error?.message.contains("write-ahead log") == true)
    // A pool that can write switches the file to WAL.
    let pool = try DatabasePool(path: path, configuration: .patient)
    #expect(try pool.inDatabase { try $0.value("PRAGMA journal_mode", as: String.self) } == "wal")
  }

  @Test("A read-only pool sees another pool's commits and refuses to write")
  func readOnly() throws {
    var configuration = Configuration.patient
    configuration.readOnly = true
    let reading = try DatabasePool(path: path, configuration: configuration)
    #expect(try reading.read { try $0.cityCount() } == 4)
    let error = #expect(throws: DatabaseError.self) {
      try reading.inDatabase { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(error?.code == .readOnly)
    try pool.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try reading.read { try $0.cityCount() } == 3)
  }

  @Test("Creating a pool of a file in a missing folder throws")
  func openingFails() throws {
    #expect(throws: DatabaseError.self) {
      try DatabasePool(path: folder.file("nowhere/cities.db"), configuration: .patient)
    }
  }
}

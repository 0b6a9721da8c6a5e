import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "A pool of connections to PostgreSQL",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct PoolTests {
  private let pool: PostgresPool

  init() throws {
    var configuration = PostgresConfiguration()
    // On a busy machine sixteen writers of the same row take longer than by default.
    configuration.retryLimit = .seconds(600)
    pool = try PostgresPool(try PostgresServer.shared.database(), configuration: configuration)
    try pool.inTransaction { db in
      try db.executeStatements(
        "CREATE TABLE counter (id BIGINT PRIMARY KEY, n BIGINT NOT NULL); INSERT INTO counter VALUES (1, 0)"
      )
    }
  }

  private func count() throws -> Int? {
    try pool.read { try $0.value("SELECT n FROM counter", as: Int.self) }
  }

  @Test("Concurrent read-modify-write transactions of tasks and threads lose no update")
  func increments() async throws {
    let pool = pool
    @Sendable func increment(_ db: Database) throws {
      let n = try db.value("SELECT n FROM counter WHERE id = 1", as: Int.self) ?? 0
      try db.executeUpdate("UPDATE counter SET n = ? WHERE id = ?", n + 1, 1)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<10 { try await pool.inTransaction { db in try increment(db) } }
        }
      }
      try await group.waitForAll()
    }
    let threads = (0..<8).map { _ in
      Worker {
        for _ in 0..<10 { try pool.inTransaction { db in try increment(db) } }
      }
    }
    for thread in threads { try thread.end() }
    #expect(try count() == 160)
    #expect(pool.statistics.retries > 0)
  }

  @Test("A transaction that throws, or swallows a failed statement, is rolled back")
  func undone() throws {
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("UPDATE counter SET n = 7")
        throw Stop()
      }
    }
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("UPDATE counter SET n = 8")
        _ = try? db.executeUpdate("INSERT INTO counter VALUES (1, 1)")
      }
    }
    #expect(error?.sqlState == "25P02")
    #expect(error?.code == .abort)
    #expect(try count() == 0)
  }

  @Test("An error in a savepoint leaves the outer transaction intact")
  func savepoints() throws {
    try pool.inTransaction { db in
      try db.executeUpdate("UPDATE counter SET n = 1")
      let error = #expect(throws: DatabaseError.self) {
        try db.inSavepoint { db in
          try db.executeUpdate("UPDATE counter SET n = 2")
          try db.executeUpdate("INSERT INTO counter VALUES (1, 1)")
        }
      }
      #expect(error?.constraint?.kind == .primaryKey)
      #expect(error?.constraint?.table == "counter")
      #expect(error?.constraint?.columns == ["id"])
      #expect(error?.description.hasPrefix("PostgreSQL error 23505") == true)
    }
    #expect(try count() == 1)
    try pool.inSavepoint { db in _ = try db.executeUpdate("UPDATE counter SET n = 3") }
    #expect(try count() == 3)
  }

  @Test("A read scope sees one snapshot, and can't write")
  func reads() throws {
    try pool.read { db in
      let before = try db.value("SELECT n FROM counter", as: Int.self)
      try pool.inTransaction { _ = try $0.executeUpdate("UPDATE counter SET n = 5") }
      #expect(try db.value("SELECT n FROM counter", as: Int.self) == before)
    }
    let error = #expect(throws: DatabaseError.self) {
      try pool.read { _ = try $0.executeUpdate("UPDATE counter SET n = 6") }
    }
    #expect(error?.code == .readOnly)
    #expect(try count() == 5)
  }

  @Test(
    "A nested transaction of the same pool throws, and a connection is unusable after its scope"
  )
  func misuse() throws {
    var leaked: Database?
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        leaked = db
        try pool.inTransaction { _ in }
      }
    }
    #expect(error?.code == .misuse)
    let late = #expect(throws: DatabaseError.self) { try leaked?.executeUpdate("SELECT 1") }
    #expect(late?.code == .misuse)
    let unsupported = #expect(throws: UnsupportedByEngine.self) {
      try pool.inDatabase { try $0.backup(to: "/nowhere/copy.db") }
    }
    #expect(unsupported?.engine == "PostgreSQL")
  }

  @Test(
    "Transactions have the pool's isolation, whatever an earlier scope has set",
    arguments: [PostgresConfiguration.Isolation.serializable, .repeatableRead, .readCommitted],
    [true, false])
  func isolation(_ isolation: PostgresConfiguration.Isolation, preparesStatements: Bool) throws {
    var configuration = PostgresConfiguration()
    configuration.isolation = isolation
    configuration.preparesStatements = preparesStatements
    let pool = try PostgresPool(
      try PostgresServer.shared.database(), configuration: configuration)
    func found(_ db: Database) throws -> String? {
      try db.value("SHOW transaction_isolation", as: String.self)
    }
    #expect(try pool.inTransaction(.immediate, found) == isolation.rawValue)
    #expect(try pool.inSavepoint { try found($0) } == isolation.rawValue)
    #expect(try pool.read { try found($0) } == "repeatable read")
    let other = isolation == .serializable ? "read committed" : "serializable"
    for setting in [
      "SET default_transaction_isolation = '\(other)'", "RESET ALL",
      "SELECT set_config('default_transaction_isolation', '\(other)', false)",
    ] {
      if preparesStatements {
        try pool.inDatabase { db in
          try db.executeStatements(SQL(raw: setting))
          #expect(try db.inTransaction { try found($0) } == isolation.rawValue)
          #expect(try db.inSavepoint { try found($0) } == isolation.rawValue)
        }
      } else {
        // As behind a pooler, there is no session outside of transactions.
        let error = #expect(throws: DatabaseError.self) {
          try pool.inDatabase { try $0.executeStatements(SQL(raw: setting)) }
        }
        #expect(error?.code == .misuse)
        try pool.inTransaction { try $0.executeStatements(SQL(raw: setting)) }
      }
      #expect(try pool.inTransaction(.immediate, found) == isolation.rawValue)
    }
  }

  @Test("A result set goes on while other statements run on its connection")
  func interleaved() throws {
    let numbers = try pool.inTransaction { db in
      let rows = try db.executeQuery("SELECT i FROM generate_series(1, 5000) AS i")
      var sum = 0
      while try rows.next() {
        sum += try rows.get(at: 0, as: Int.self)
        if sum % 7 == 0 { _ = try db.value("SELECT n FROM counter WHERE id = ?", 1, as: Int.self) }
      }
      return sum
    }
    #expect(numbers == 5000 * 5001 / 2)
  }

  @Test("Eight threads that migrate at once apply each migration once")
  func migrations() throws {
    let pool = pool
    let migrator = Migrator([
      Migration(
        "create log", sql: "CREATE TABLE log (id INTEGER PRIMARY KEY, text TEXT NOT NULL)",
        postgres:
          "CREATE TABLE log (id BIGINT GENERATED BY DEFAULT AS IDENTITY, text TEXT NOT NULL)"),
      Migration("first line") { db in
        try db.executeUpdate("INSERT INTO log (text) VALUES (?)", "first")
      },
    ])
    let threads = (0..<8).map { _ in Worker { try migrator.migrate(pool) } }
    for thread in threads { try thread.end() }
    #expect(try pool.read { try $0.value("SELECT count(*) FROM log", as: Int.self) } == 1)
    let applied = try pool.read { try migrator.applied($0) }
    #expect(applied.map(\.name) == ["create log", "first line"])
    #expect(applied.allSatisfy { $0.date != nil && $0.duration != nil })
  }

  @Test("The trace reports a statement only if it reaches slowStatementThreshold")
  func slowStatements() throws {
    for (threshold, isTold) in [(Duration.zero, true), (.seconds(3600), false)] {
      let traced = Lock<[String]>([])
      var configuration = PostgresConfiguration()
      configuration.slowStatementThreshold = threshold
      configuration.trace = { event in traced.withLock { $0.append(event.sql) } }
      let pool = try PostgresPool(PostgresServer.shared.address, configuration: configuration)
      try pool.inDatabase { db in
        #expect(db.engineName == "PostgreSQL")
        _ = try db.value("SELECT 1", as: Int.self)
      }
      #expect(traced.withLock { $0.contains("SELECT 1") } == isTold)
    }
  }

  @Test("A pool's statement ends at its deadline, and the pool stays usable")
  func deadline() throws {
    let error = #expect(throws: DatabaseError.self) {
      try pool.inDatabase { db in
        db.statementDeadline = .milliseconds(200)
        _ = try db.value("SELECT pg_sleep(60)::text", as: String.self)
      }
    }
    #expect(error?.code == .interrupt)
    #expect(try count() == 0)
  }

  @Test(
    "A named parameter is recognized directly after an operator",
    arguments: [
      "SELECT n FROM counter WHERE id=:id", "SELECT n FROM counter WHERE id>=:id",
      "SELECT n FROM counter WHERE id+:id=2", "SELECT n FROM counter WHERE :id::bigint=id",
      "SELECT n + (ARRAY[0, 0, 7])[1] FROM counter WHERE id=:id",
    ])
  func namedParameters(sql: String) throws {
    let n = try pool.read {
      try $0.value(SQL(raw: sql), arguments: ["id": 1], as: Int.self)
    }
    #expect(n == 0)
  }

  @Test(
    "A lock error from NOWAIT, and an error of another database, aren't retried"
  )
  func noRetry() throws {
    let holds = DispatchSemaphore(value: 0)
    let end = DispatchSemaphore(value: 0)
    let pool = pool
    let holder = Worker {
      try pool.inTransaction { db in
        try db.executeUpdate("UPDATE counter SET n = 1")
        holds.signal()
        end.wait()
      }
    }
    holds.wait()
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        attempts += 1
        _ = try db.value("SELECT n FROM counter FOR UPDATE NOWAIT", as: Int.self)
      }
    }
    end.signal()
    try holder.end()
    #expect(error?.sqlState == "55P03")
    #expect(error?.code == .busy)
    #expect(throws: DatabaseError.self) {
      try pool.inTransaction { _ in
        attempts += 1
        throw DatabaseError(.busy, "of another database")
      }
    }
    #expect(attempts == 2)
  }

  @Test("Cancelling a task ends it at the next row that it reads")
  func cancelledRows() async throws {
    let pool = pool
    let count = Lock(0)
    let task = Task {
      try await pool.read { db in
        let rows = try db.executeQuery("SELECT i FROM generate_series(1, 100000) AS i")
        while try rows.next() {
          count.withLock { $0 += 1 }
          while count.withLock({ $0 }) == 10, !Task.isCancelled {}
        }
      }
    }
    while count.withLock({ $0 }) < 10 { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(count.withLock { $0 } < 100_000)
  }

  @Test("Cancelling a task ends its running statement")
  func cancellation() async throws {
    let pool = pool
    let task = Task {
      try await pool.read { db in _ = try db.value("SELECT pg_sleep(60)::text", as: String.self) }
    }
    // Waits until the statement runs.
    while try await pool.read({ db in
      try db.value(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%' AND state = 'active' AND datname = current_database()",
        as: Int.self)
    }) == 0 { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

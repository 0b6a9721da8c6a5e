import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "A server that goes and comes back",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct LossTests {
  private let address: String

  init() throws {
    address = try PostgresServer.shared.database()
    try pool().inTransaction { try $0.executeStatements("CREATE TABLE line (number BIGINT)") }
  }

  private func pool(_ address: String? = nil) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    // On a busy machine a task may wait longer than by default for its turn.
    configuration.retryLimit = .seconds(600)
    return try PostgresPool(address ?? self.address, configuration: configuration)
  }

  private func lines() throws -> [Int] {
    try pool().read { try $0.executeQuery("SELECT number FROM line").map { try $0.get(at: 0) } }
  }

  private func process(of pool: PostgresPool) throws -> Int? {
    try pool.inDatabase { try $0.value("SELECT pg_backend_pid()", as: Int.self) }
  }

  private func terminate(_ process: Int) throws {
    let other = try pool()
    try other.inDatabase { db in
      _ = try db.value("SELECT pg_terminate_backend(?)", process, as: Bool.self)
      while try db.value(
        "SELECT count(*) FROM pg_stat_activity WHERE pid = ?", process, as: Int.self) != 0
      {}
    }
  }

  @Test("An error of a closure while connections fail doesn't end the retries of later calls")
  func ownErrorWhileFailing() async throws {
    try PostgresServer.shared.run(
      "DROP ROLE IF EXISTS larder_single; CREATE ROLE larder_single LOGIN CONNECTION LIMIT 1")
    var configuration = PostgresConfiguration()
    configuration.connections = 2
    configuration.retryLimit = .seconds(600)
    let pool = try PostgresPool(
      address.replacing("user=larder ", with: "user=larder_single "), configuration: configuration)
    @Sendable func waitForRetry() {
      let (retries, end) = (pool.statistics.retries, ContinuousClock.now + .seconds(20))
      while pool.statistics.retries == retries, ContinuousClock.now < end { usleep(1_000) }
    }
    let count: @Sendable () async throws -> Int? = {
      try await pool.inTransaction { try $0.value("SELECT 1", as: Int.self) }
    }
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await pool.inTransaction { db in
        _ = try db.value("SELECT 1", as: Int.self)
        // It can't connect, since this transaction has the only connection.
        let other = Task(operation: count)
        waitForRetry()
        other.cancel()
        throw Stop()
      }
    }
    let late = try await pool.inTransaction { db in
      _ = try db.value("SELECT 1", as: Int.self)
      let late = Task(operation: count)
      waitForRetry()
      return late
    }
    #expect(try await late.value == 1)
  }

  @Test("A connection that was closed while idle is replaced before its next use")
  func idle() async throws {
    let pool = try pool()
    for _ in 0..<3 {
      let process = try process(of: pool)
      try terminate(try #require(process))
      // inDatabase isn't a transaction, which would run again.
      let next = try await pool.inDatabase { try $0.value("SELECT pg_backend_pid()", as: Int.self) }
      #expect(next != nil && next != process)
    }
    #expect(pool.statistics.retries == 0)
  }

  @Test("A transaction whose connection is lost before its commit runs again, and commits once")
  func again() async throws {
    let pool = try pool()
    let attempts = Lock(0)
    @Sendable func write(_ db: Database) throws {
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      try db.executeUpdate("INSERT INTO line VALUES (?)", attempt)
      guard attempt % 2 == 1 else { return }
      // The closure may swallow the error. That doesn't make the transaction commit.
      _ = try? db.executeUpdate("SELECT pg_terminate_backend(pg_backend_pid())")
    }
    func writeHere() throws { try pool.inTransaction(.immediate, write) }
    try writeHere()
    try await pool.inTransaction { db in try write(db) }
    #expect(try lines().sorted() == [2, 4])
    #expect(pool.statistics.retries == 2)
    // A scope without a transaction may have done something already, and isn't run again.
    let error = await #expect(throws: DatabaseError.self) {
      try await pool.inDatabase { db in
        try write(db)
        try write(db)
      }
    }
    #expect(error?.sqlState == "57P01")
    #expect(attempts.withLock { $0 } == 6)
  }

  @Test("Without commit tokens, a commit with an unknown outcome throws and isn't run again")
  func unknown() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder))
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        attempts += 1
        try db.executeUpdate("INSERT INTO line VALUES (7)")
        proxy.cut(after: 1, once: true)
      }
    }
    #expect(error?.sqlState == "08007")
    #expect(error?.code == .ioError)
    #expect(error?.message.contains("check whether the transaction was committed") == true)
    #expect(attempts == 1)
    #expect(try pool.read { try $0.value("SELECT count(*) FROM line", as: Int.self) } == 0)
  }

  @Test("A transaction whose connection is lost before COMMIT was sent runs again")
  func lostBeforeCommit() throws {
    let pool = try pool()
    var attempts = 0
    try pool.inTransaction { db in
      attempts += 1
      try db.executeUpdate("INSERT INTO line VALUES (?)", attempts)
      guard attempts == 1 else { return }
      try terminate(try #require(try db.value("SELECT pg_backend_pid()", as: Int.self)))
    }
    #expect(attempts == 2)
    #expect(try lines() == [2])
  }

  @Test("A rollback-only transaction is undone even if its connection is lost")
  func lostBeforeRollback() throws {
    let pool = try pool()
    var attempts = 0
    let result = try pool.inTransaction { db in
      attempts += 1
      try db.executeUpdate("INSERT INTO line VALUES (?)", attempts)
      db.setRollbackOnly()
      try terminate(try #require(try db.value("SELECT pg_backend_pid()", as: Int.self)))
      return attempts
    }
    #expect(result == 1 && attempts == 1)
    #expect(try lines().isEmpty)
    // The pool goes on with another connection.
    try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (8)") }
    #expect(try lines() == [8])
  }

  @Test("A transaction that idles beyond the server's limit throws, and isn't run again")
  func idling() throws {
    let pool = try pool()
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        attempts += 1
        try db.executeUpdate("SET LOCAL idle_in_transaction_session_timeout = 50")
        let process = try db.value("SELECT pg_backend_pid()", as: Int.self)
        let other = try self.pool()
        while try other.read({ db in
          try db.value(
            "SELECT count(*) FROM pg_stat_activity WHERE pid = ?", process, as: Int.self)
        }) != 0 {}
      }
    }
    #expect(error?.sqlState == "25P03")
    #expect(attempts == 1)
  }

  @Test("A statement without a transaction whose answer is lost throws an unknown outcome")
  func unknownStatement() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder))
    let error = #expect(throws: DatabaseError.self) {
      try pool.inDatabase { db in
        db.statementDeadline = .milliseconds(100)
        proxy.freeze()
        try db.executeUpdate("INSERT INTO line VALUES (7)")
      }
    }
    #expect(error?.sqlState == "08007")
    #expect(error?.code == .ioError)
  }

  @Test("A COMMIT that isn't answered throws an unknown outcome at the deadline")
  func frozenCommit() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder))
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO line VALUES (7)")
        db.statementDeadline = .milliseconds(100)
        proxy.freeze()
      }
    }
    #expect(error?.sqlState == "08007")
  }

  private func makeCommitsSlow() throws {
    try pool().inTransaction { db in
      try db.executeStatements(
        """
        CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON line DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION wait();
        """)
    }
  }

  private func isCommitting() throws -> Bool {
    try pool().read { db in
      try db.value(
        """
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE query = 'COMMIT' AND state = 'active' AND datname = current_database())
        """, as: Bool.self) == true
    }
  }

  @Test("Cancelling a task during its COMMIT throws an unknown outcome")
  func cancelledCommit() async throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let pool = try pool(address.replacing(PostgresServer.shared.folder, with: proxy.folder))
    try makeCommitsSlow()
    let task = Task {
      try await pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (7)") }
    }
    while try !isCommitting() { await Task.yield() }
    proxy.freeze()
    task.cancel()
    let error = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(error?.sqlState == "08007")
    // The server itself isn't at fault.
    #expect(error?.code == .interrupt)
    // While the transaction commits, it blocks all other serializable ones.
    func endCommits() throws {
      try self.pool().inDatabase { db in
        _ = try db.value(
          """
          SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
          WHERE query = 'COMMIT' AND datname = current_database()
          """, as: Int.self)
      }
    }
    try endCommits()
  }

  @Test("Opening a pool of a stopped server throws at once, and an open pool's scope throws too")
  func restart() throws {
    let server = try PostgresServer()
    let pool = try pool(server.address)
    server.stop()
    let clock = ContinuousClock()
    var error: DatabaseError?
    let time = clock.measure {
      error = #expect(throws: DatabaseError.self) { _ = try self.pool(server.address) }
    }
    #expect(error?.code == .cannotOpen)
    #expect(time < .seconds(5))
    #expect(throws: DatabaseError.self) { try pool.inDatabase { _ in } }
  }

  @Test("An error in rows that are no longer read is logged")
  func lateFailure() throws {
    let logged = Lock<[DatabaseError]>([])
    var configuration = PostgresConfiguration()
    configuration.log = { error in logged.withLock { $0.append(error) } }
    let pool = try PostgresPool(address, configuration: configuration)
    try pool.inDatabase { db in
      let rows = try db.executeQuery("SELECT 10 / (3 - i) FROM generate_series(1, 5) i")
      #expect(try rows.next())
      rows.close()
      #expect(logged.withLock { $0.map(\.sqlState) } == ["22012"])
      // A statement that writes runs to its end before its first row.
      let insert = try db.prepare(
        "INSERT INTO line SELECT 10 / (3 - i) FROM generate_series(1, 5) i RETURNING number")
      try insert.bind()
      let error = #expect(throws: DatabaseError.self) { _ = try insert.step() }
      #expect(error?.sqlState == "22012")
    }
    #expect(try lines().isEmpty)
  }
}

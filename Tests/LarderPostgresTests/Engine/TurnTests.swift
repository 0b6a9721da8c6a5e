import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Conflicting transactions on a server",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct TurnTests {
  private let pool: PostgresPool
  private let address: String

  init() throws {
    var configuration = PostgresConfiguration()
    configuration.retryLimit = .seconds(600)
    address = try PostgresServer.shared.database()
    pool = try PostgresPool(address, configuration: configuration)
    try pool.inTransaction { db in
      // A sequence also counts attempts that are rolled back.
      try db.executeStatements(
        """
        CREATE SEQUENCE attempt;
        CREATE TABLE line (number BIGINT NOT NULL);
        INSERT INTO line VALUES (0);
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF nextval('attempt') % 4 <> 0 THEN
            RAISE EXCEPTION 'in the way' USING ERRCODE = 'serialization_failure';
          END IF;
          RETURN NEW;
        END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON line FOR EACH ROW EXECUTE FUNCTION refuse();
        """)
    }
  }

  private func count() throws -> Int? {
    try pool.read { try $0.value("SELECT count(*) FROM line", as: Int.self) }
  }

  private func locks(_ db: Database) throws -> Int? {
    try db.value(
      """
      SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      """, as: Int.self)
  }

  private func lockCount() throws -> Int? { try pool.read { try locks($0) } }

  @Test("A transaction that conflicts three times runs alone under a lock, which it releases")
  func turns() async throws {
    let seen = Lock<[Int?]>([])
    @Sendable func write(_ db: Database) throws {
      let locks = try locks(db)
      seen.withLock { $0.append(locks) }
      try db.executeUpdate("INSERT INTO line VALUES (1)")
    }
    func writeHere() throws { try pool.inTransaction { try write($0) } }
    try writeHere()
    #expect(seen.withLock { $0 } == [0, 0, 0, 1])
    #expect(pool.statistics.retries == 3)
    #expect(pool.statistics.mostAttempts == 4)
    #expect(try lockCount() == 0)
    try await pool.inTransaction { try write($0) }
    #expect(seen.withLock { $0.count } == 8)
    #expect(try lockCount() == 0)
    #expect(try count() == 3)
  }

  @Test("A transaction that is cancelled while it waits for its turn doesn't keep the lock")
  func cancelled() async throws {
    let other = try Database.postgres(address)
    for pause in stride(from: 0, to: 3_000, by: 25) {
      try other.executeStatements("SELECT pg_advisory_lock(hashtext('larder_turn'), 0)")
      let waiting = Task { [pool] in
        try await pool.inTransaction { try $0.executeUpdate("INSERT INTO line VALUES (1)") }
      }
      while try lockCount() != 2 { await Task.yield() }
      // At one of these times the server gives the lock at the moment at which the cancellation arrives.
      waiting.cancel()
      usleep(UInt32(pause))
      try other.executeStatements("SELECT pg_advisory_unlock_all()")
      _ = await waiting.result
      let limit = ContinuousClock.now + .seconds(30)
      while try lockCount() != 0, ContinuousClock.now < limit { await Task.yield() }
      try #require(try lockCount() == 0)
    }
  }

  @Test(
    "A single statement is retried after a conflict, and one in db.inTransaction isn't"
  )
  func single() throws {
    let changes = try pool.inDatabase { try $0.executeUpdate("INSERT INTO line VALUES (2)") }
    #expect(changes == 1)
    #expect(try count() == 2)
    #expect(pool.statistics.retries == 3)
    // Only the pool could retry a transaction.
    let error = #expect(throws: DatabaseError.self) {
      try pool.inDatabase { db in
        try db.inTransaction { db in try db.executeUpdate("INSERT INTO line VALUES (3)") }
      }
    }
    #expect(error?.sqlState == "40001")
  }

  @Test("Concurrent updates of eight threads without transactions lose none")
  func statements() throws {
    let pool = pool
    let threads = (0..<8).map { _ in
      Worker {
        for _ in 0..<10 {
          try pool.inDatabase { _ = try $0.executeUpdate("UPDATE line SET number = number + 1") }
        }
      }
    }
    for thread in threads { try thread.end() }
    #expect(try pool.read { try $0.value("SELECT number FROM line", as: Int.self) } == 80)
  }

  @Test("A transaction can have its own isolation, unless it is nested")
  func isolation() async throws {
    let other = try await pool.inTransaction(isolation: .repeatableRead) { db in
      try db.value("SHOW transaction_isolation", as: String.self)
    }
    #expect(other == "repeatable read")
    try isolationOfThreads()
  }

  private func isolationOfThreads() throws {
    func isolation(_ db: Database) throws -> String? {
      try db.value("SHOW transaction_isolation", as: String.self)
    }
    let other = try pool.inTransaction(isolation: .readCommitted) { try isolation($0) }
    #expect(other == "read committed")
    let own = try pool.inTransaction { try isolation($0) }
    #expect(own == "serializable")
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        _ = try isolation(db)
        try pool.inTransaction(isolation: .readCommitted) { _ in }
      }
    }
    #expect(error?.code == .misuse)
  }
}

import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Testing

/// Short forms of `Tests/postgres failover` and `Tests/postgres replicas`.
@Suite(
  "A primary and its standbys", .serialized,
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ClusterTests {
  private static let migrator = Migrator([
    Migration("line", sql: "CREATE TABLE line (number BIGINT NOT NULL)")
  ])

  private static func insert(_ db: Database, _ number: Int) throws {
    _ = try db.executeUpdate("INSERT INTO line VALUES (\(number))")
  }

  private static func numbers(_ db: Database) throws -> [Int] {
    try db.executeQuery("SELECT number FROM line ORDER BY number").map { try $0.get(at: 0) }
  }

  /// Makes a pool whose migration creates the table that the tests use.
  private static func migrate(
    _ cluster: PostgresCluster, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.commitTokens = true
    // On a busy machine a task may wait longer than by default for its turn.
    configuration.retryLimit = .seconds(600)
    configuration.scopeTimeout = .seconds(600)
    change(&configuration)
    let pool = try PostgresPool(cluster.address, configuration: configuration)
    try migrator.migrate(pool)
    return pool
  }

  /// Whether a condition becomes true within the limit, which is long for busy machines.
  private func becomes(
    within limit: Duration = .seconds(600), _ isSo: () throws -> Bool
  ) async throws -> Bool {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
      if try isSo() { return true }
      try await Task.sleep(for: .milliseconds(1))
    }
    return false
  }

  @Test("After the primary is killed and its standby promoted, every transaction is there once")
  func failover() async throws {
    let cluster = try PostgresCluster()
    let pool = try Self.migrate(cluster)
    try cluster.makeSynchronous(0)
    let written = Lock(0)
    let writers = (0..<4).map { writer in
      Task.detached {
        for number in 0..<100 {
          try await pool.inTransaction { try Self.insert($0, 1000 * writer + number) }
          written.withLock { $0 += 1 }
        }
      }
    }
    #expect(try await becomes { written.withLock { $0 } >= 100 })
    try cluster.kill(0)
    try cluster.promote(1)
    for writer in writers { try await writer.value }
    let expected = (0..<4).flatMap { writer in (0..<100).map { 1000 * writer + $0 } }
    #expect(try await pool.read(Self.numbers) == expected)
  }

  @Test(
    "A commit that is cancelled while waiting for a standby throws, and its token tells the outcome"
  )
  func cancelled() async throws {
    let cluster = try PostgresCluster()
    let pool = try Self.migrate(cluster)
    try cluster.makeSynchronous(0)
    // Observes the primary while commits wait.
    let watch = try PostgresPool(cluster.addresses[0])
    try await watch.read { _ in }
    try cluster.kill(1)
    let told = Lock<Result<Void, any Error>?>(nil)
    let call = Task {
      do {
        try await pool.inTransaction { try Self.insert($0, 1) }
        told.withLock { $0 = .success(()) }
      } catch {
        told.withLock { $0 = .failure(error) }
      }
    }
    func heldCount() throws -> Int? {
      try watch.read { db in
        try db.value(
          "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", as: Int.self)
      }
    }
    #expect(try await becomes { try heldCount() == 1 })
    call.cancel()
    // The commit was still waiting, since nothing brings the standby back before the call has ended.
    #expect(try await becomes { told.withLock { $0 != nil } })
    try cluster.kill(0)
    try cluster.start(1)
    try cluster.promote(1)
    let error = #expect(throws: DatabaseError.self) { try told.withLock { $0 }?.get() }
    #expect(error?.sqlState == "08007", "\(String(describing: error))")
    let token = try #require(error?.commitToken)
    #expect(try await pool.outcome(of: token) == false)
    // The standby never got it, and the call isn't run again.
    #expect(try await pool.inTransaction(.immediate, Self.numbers) == [])
  }

  @Test("Reads don't wait for a paused replica, and still see every commit")
  func pausedReplica() async throws {
    let cluster = try PostgresCluster()
    let pool = try Self.migrate(cluster) { $0.reads = .replicas(waitAtMost: .milliseconds(100)) }
    var configuration = PostgresConfiguration()
    configuration.isolation = .repeatableRead
    let replica = try Database.postgres(cluster.addresses[1], configuration: configuration)
    func isLeftOut() -> Bool { pool.replicaStatistics[1].isLeftOut }
    func numbers() throws -> [Int] { try pool.read(Self.numbers) }
    func write(_ number: Int) async throws {
      try await pool.inTransaction { try Self.insert($0, number) }
      #expect(try numbers() == Array(1...number))
      #expect(try await pool.read(Self.numbers) == Array(1...number))
    }
    try await write(1)
    // On a busy machine the replica may have been too late for the first reads, and left out for a
    // while.
    let hasRead = try await becomes(within: .seconds(60)) {
      let found = try numbers()
      #expect(found == [1])
      return pool.replicaStatistics[1].reads > 0 && !isLeftOut()
    }
    #expect(hasRead)
    _ = try replica.value("SELECT pg_wal_replay_pause()::text", as: String.self)
    let isPaused = try await becomes {
      try replica.value("SELECT pg_get_wal_replay_pause_state()", as: String.self) == "paused"
    }
    #expect(isPaused)
    try await write(2)
    #expect(isLeftOut())
    let before = pool.replicaStatistics[1].reads
    _ = try replica.value("SELECT pg_wal_replay_resume()::text", as: String.self)
    #expect(try await becomes { !isLeftOut() })
    try await write(3)
    #expect(pool.replicaStatistics[1].reads > before)
  }

  @Test("A read after a write at an unknown log position waits for the restarting primary")
  func unknownPlace() async throws {
    let cluster = try PostgresCluster()
    let pool = try Self.migrate(cluster) { $0.reads = .replicas(waitAtMost: .milliseconds(100)) }
    // Outside of a transaction the log position of a write is unknown.
    try await pool.inDatabase { try Self.insert($0, 1) }
    try cluster.kill(0)
    let numbers = Task { try await pool.read(Self.numbers) }
    try cluster.start(0)
    #expect(try await numbers.value == [1])
  }
}

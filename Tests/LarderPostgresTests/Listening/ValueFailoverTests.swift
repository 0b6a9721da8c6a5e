import Larder
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Observed values over restarts and failovers", .serialized,
  .enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(20)))
struct ValueFailoverTests {
  private typealias Source = PostgresConfiguration.CommitSource

  private static func pool(_ cluster: PostgresCluster, _ source: Source) throws -> PostgresPool {
    let pool = try ListeningServer.pool(cluster.address) {
      $0.reads = .replicas(waitAtMost: .zero)
      $0.commitSource = source
    }
    try pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE city (id BIGINT PRIMARY KEY, population BIGINT NOT NULL);
        INSERT INTO city VALUES (1, 30)
        """)
    }
    return pool
  }

  private static func insert(_ number: Int, _ pool: PostgresPool) async throws {
    try await pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO city VALUES (\(number), 1)")
    }
  }

  @Test(
    "After the server has restarted, a value has what was committed since, and follows on",
    arguments: [PostgresConfiguration.CommitSource.triggers, .log])
  func restart(_ source: PostgresConfiguration.CommitSource) async throws {
    let cluster = try PostgresCluster(standbys: 0, ["-c", "wal_level=logical"])
    let (pool, other) = (try Self.pool(cluster, source), try ListeningServer.pool(cluster.address))
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    var events = pool.notifications(on: "cities").makeAsyncIterator()
    #expect(try await totals.next() == 30)
    #expect(try await events.next() == .gap)
    for number in 2...4 {
      try cluster.shutDown(0)
      try cluster.start(0)
      try await Self.insert(number, other)
      #expect(try await totals.next() == 29 + number)
      #expect(try await events.next() == .gap)
    }
    try await Self.insert(5, other)
    #expect(try await totals.next() == 34)
    try await pool.close()
  }

  @Test(
    "After a failover, a value follows the new primary, and reads no replica that lags",
    arguments: [PostgresConfiguration.CommitSource.triggers, .log])
  func failover(_ source: PostgresConfiguration.CommitSource) async throws {
    let cluster = try PostgresCluster(standbys: 1, ["-c", "wal_level=logical"])
    let pool = try Self.pool(cluster, source)
    try cluster.makeSynchronous(0)
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    for number in 2...20 {
      try await Self.insert(number, pool)
      #expect(try await totals.next() == 29 + number)
    }
    try cluster.kill(0)
    try cluster.promote(1)
    try await Self.insert(21, pool)
    #expect(try await totals.next() == 50)
    try await Self.insert(22, pool)
    #expect(try await totals.next() == 51)
    try await pool.close()
  }
}

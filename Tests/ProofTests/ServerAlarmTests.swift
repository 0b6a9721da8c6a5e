import Foundation
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

/// Tests that an operator finds a dead server and a lagging replica within a second, in the statistics, the
/// log and the alarms.
@Suite(
  "What an operator sees of servers", .serialized,
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"),
  .enabled(if: Alarms.areThere, "no promtool"))
struct ServerAlarmTests {
  private let errors = Recorder<DatabaseError>()

  private func open(
    _ address: String, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    let errors = errors
    var configuration = PostgresConfiguration()
    configuration.log = { errors.add($0) }
    configuration.measuresCalls = true
    change(&configuration)
    let pool = try PostgresPool(address, configuration: configuration)
    try pool.inTransaction { try $0.executeStatements("CREATE TABLE city (name TEXT)") }
    return pool
  }

  private static func insert(_ pool: PostgresPool, label: StaticString = #function) throws {
    try pool.inTransaction(label: label) {
      _ = try $0.executeUpdate("INSERT INTO city VALUES ('Bergen')")
    }
  }

  /// Waits for a condition, at most for a second unless told otherwise.
  private func seen(within limit: Duration = .seconds(1), _ condition: () throws -> Bool) rethrows
    -> Bool
  {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
      guard ContinuousClock.now < deadline else { return false }
      usleep(500)
    }
    return true
  }

  @Test("While a server is well, no alarm fires, and the log gets nothing")
  func well() throws {
    let pool = try open(PostgresServer.shared.database())
    let alarms = Alarms(pool)
    for _ in 0..<20 { try Self.insert(pool) }
    #expect(try pool.read { try $0.value("SELECT count(*) FROM city", as: Int.self) } == 20)
    #expect(try alarms.firing(pool) == [])
    #expect(pool.serverStatistics.outage == nil && pool.serverStatistics.error == nil)
    #expect(errors.elements.isEmpty)
    try pool.close()
  }

  @Test("A dead server is seen at once in the statistics and the log, and by alarms")
  func deadServer() throws {
    let server = try PostgresServer()
    let pool = try open(server.address) { $0.retryLimit = .milliseconds(900) }
    let alarms = Alarms(pool)
    for _ in 0..<20 { try Self.insert(pool) }
    server.stop()
    let (ended, thrown) = (DispatchSemaphore(value: 0), Lock<DatabaseError?>(nil))
    Thread.detachNewThread {
      do { try Self.insert(pool, label: "signup") } catch {
        thrown.withLock { $0 = error as? DatabaseError }
      }
      ended.signal()
    }
    // While the call is still retried:
    #expect(seen { pool.serverStatistics.outage != nil && !errors.elements.isEmpty })
    #expect(pool.serverStatistics.error?.code == .cannotOpen)
    #expect(errors.elements.first?.code == .warning)
    #expect(
      errors.elements.first?.message.hasPrefix("no connection can be opened") == true,
      "\(errors.elements)")
    #expect(errors.elements.first?.path?.contains(server.folder) == true)
    #expect(!pool.isReady(within: .milliseconds(200)))
    ended.wait()
    #expect(thrown.withLock { $0?.code } == .cannotOpen)
    #expect(pool.statistics.failures == 1 && pool.statistics.retries > 0)
    // One line for the outage, and one for the error that was thrown.
    #expect(errors.elements.count == 2, "\(errors.elements)")
    #expect(errors.elements.last?.label == "signup")
    #expect(
      try alarms.firing(pool) == ["LarderFailures", "LarderRetries", "LarderServerDown"])
    try pool.close()
  }

  @Test("A lagging replica is seen at once in the statistics and the log, and by an alarm")
  func laggingReplica() throws {
    let cluster = try PostgresCluster()
    func open() throws -> PostgresPool {
      try self.open(cluster.address) { $0.reads = .replicas(waitAtMost: .milliseconds(100)) }
    }
    var pool = try open()
    var configuration = PostgresConfiguration()
    configuration.isolation = .repeatableRead
    let replica = try Database.postgres(cluster.addresses[1], configuration: configuration)
    func count() throws -> Int? {
      try pool.read { try $0.value("SELECT count(*) FROM city", as: Int.self) }
    }
    func statistics() -> ReplicaStatistics { pool.serverStatistics.replicas[1] }
    // On a busy machine the replica may be too late for the first reads. Its pool has told so, and the same line would
    // only be counted when it lags again.
    let isRead = try seen(within: .seconds(60)) {
      let found = try count()
      #expect(found == 0)
      guard statistics().reads > 0, statistics().outage == nil else { return false }
      if errors.elements.isEmpty { return true }
      try pool.close()
      errors.removeAll()
      pool = try open()
      return false
    }
    #expect(isRead)
    let alarms = Alarms(pool)
    #expect(try alarms.firing(pool) == [])
    _ = try replica.value("SELECT pg_wal_replay_pause()::text", as: String.self)
    let isPaused = try seen(within: .seconds(60)) {
      try replica.value("SELECT pg_get_wal_replay_pause_state()", as: String.self) == "paused"
    }
    #expect(isPaused)
    try Self.insert(pool)
    #expect(try count() == 1)
    #expect(seen { statistics().outage != nil && !errors.elements.isEmpty })
    #expect(statistics().isLeftOut && statistics().pendingBytes > 0)
    #expect(statistics().error == "it lags behind the primary")
    // The primary is in the list too, and is well.
    #expect(pool.serverStatistics.replicas[0].outage == nil && pool.serverStatistics.outage == nil)
    #expect(pool.serverStatistics.address == "\(cluster.folders[0]):5432")
    let line = errors.elements.first
    #expect(errors.elements.count == 1 && line?.code == .warning, "\(errors.elements)")
    #expect(line?.path == "\(cluster.folders[1]):5432")
    #expect(line?.message.hasSuffix("it lags behind the primary") == true)
    #expect(try alarms.firing(pool) == ["LarderReplicaLags"])
    _ = try replica.value("SELECT pg_wal_replay_resume()::text", as: String.self)
    #expect(seen(within: .seconds(60)) { statistics().outage == nil })
    #expect(statistics().pendingBytes == 0 && !statistics().isLeftOut)
    try pool.close()
  }
}

import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Feeds of a server that are interrupted",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct FeedLossTests {
  private func feed(
    _ pool: PostgresPool, as name: String = "search"
  ) async throws -> ServerFeed<RowChange> {
    try await ServerFeed(pool.changes(of: ["city"]) { _ in }.lasting(as: name))
  }

  @Test("A feed that lasts and is cut off at any byte misses nothing, and tells nothing twice")
  func cutAnywhere() async throws {
    let server = try FeedServer()
    let folder = try FeedServer.shared.get().folder
    let proxy = try Proxy(to: folder)
    let pool = try FeedServer.pool(server.address.replacing(folder, with: proxy.folder))
    let feed = try await feed(pool)
    for number in 1...60 {
      proxy.cut(after: number * 23, once: true)
      try server.run("INSERT INTO city VALUES (\(number), 'x')")
      #expect(try await feed.text() == "+\(number) x")
    }
    #expect(proxy.statistics.cuts > 5)
  }

  @Test("After a failover, changes are unknown to a feed that lasts and to one that doesn't")
  func failover() async throws {
    let cluster = try PostgresCluster(standbys: 1, ["-c", "wal_level=logical"])
    let pool = try FeedServer.pool(cluster.address)
    try await pool.inDatabase { db in
      try db.executeStatements(
        "CREATE TABLE city (id BIGINT PRIMARY KEY, name TEXT); ALTER TABLE city REPLICA IDENTITY FULL"
      )
    }
    try cluster.makeSynchronous(0)
    let lasting = try await feed(pool)
    let other = try await ServerFeed(pool.changes(of: ["city"]))
    func insert(_ id: Int) async throws {
      try await pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (?, 'x')", id) }
    }
    for id in 1...3 {
      try await insert(id)
      #expect(try await lasting.text() == "+\(id) x")
      #expect(try await other.text() == "+\(id) x")
    }
    try cluster.kill(0)
    try cluster.promote(1)
    #expect(try await lasting.text() == "?")
    #expect(try await other.text() == "?")
    for id in 4...6 {
      try await insert(id)
      #expect(try await lasting.text() == "+\(id) x")
      #expect(try await other.text() == "+\(id) x")
    }
  }

  @Test("A feed that is left before a failover's unknown changes were handled begins anew")
  func leftAfterFailover() async throws {
    let cluster = try PostgresCluster(standbys: 1, ["-c", "wal_level=logical"])
    let pool = try FeedServer.pool(cluster.address)
    try await pool.inDatabase { db in
      try db.executeStatements("CREATE TABLE city (id BIGINT PRIMARY KEY, name TEXT)")
    }
    try cluster.makeSynchronous(0)
    let beginnings = Lock(0)
    func begin() async throws -> ServerFeed<RowChange> {
      try await ServerFeed(
        pool.changes(of: ["city"]) { _ in beginnings.withLock { $0 += 1 } }.lasting(as: "search"))
    }
    var feed: ServerFeed<RowChange>? = try await begin()
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (1, 'x')") }
    #expect(try await feed?.text() == "+1 x")
    try cluster.kill(0)
    try cluster.promote(1)
    // The feed has a slot on the new primary.
    var slots = 0
    while slots == 0 {
      slots =
        try await pool.read { db in
          try db.value("SELECT count(*) FROM pg_replication_slots", as: Int.self)
        } ?? 0
    }
    #expect(beginnings.withLock { $0 } == 1)
    feed = nil
    let other = try await begin()
    #expect(beginnings.withLock { $0 } == 2)
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (2, 'x')") }
    #expect(try await other.text() == "+2 x")
  }

  @Test("A second consumer of a feed that lasts waits until the first has ended")
  func takeover() async throws {
    let server = try FeedServer()
    var first: ServerFeed<RowChange>? = try await feed(server.pool)
    try server.run("INSERT INTO city VALUES (1, 'x')")
    #expect(try await first?.text() == "+1 x")
    let other = try FeedServer.pool(server.address)
    let hasBegun = Lock(false)
    let second = Task {
      let feed = try await ServerFeed(other.changes(of: ["city"]).lasting(as: "search"))
      hasBegun.withLock { $0 = true }
      return try await feed.text()
    }
    // Connections that come and go are its attempts.
    for _ in 0..<50 { try server.run("SELECT 1") }
    #expect(!hasBegun.withLock { $0 })
    withExtendedLifetime(first) {}
    first = nil
    #expect(try await second.value == "+1 x")
  }

  @Test("Cancelling the task ends the wait for transactions that keep a feed from beginning")
  func cancelledBeginning() async throws {
    let server = try FeedServer()
    let writer = try Database.postgres(server.address)
    try writer.executeStatements("BEGIN; INSERT INTO city VALUES (1, 'x')")
    let task = Task { try await ServerFeed(server.pool.changes(of: ["city"])).next() == nil }
    while try server.processes().isEmpty { await Task.yield() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    while try !server.processes().isEmpty { await Task.yield() }
  }

  @Test("Several processes' commits all arrive, each one's in its order")
  func processes() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    let programs = try #require(PostgresServer.programs)
    let folder = try FeedServer.shared.get().folder
    let name = String(server.address.split(separator: "=").last ?? "")
    let writers = try (1...3).map { writer in
      try ChildProcess(
        programs + "/psql",
        ["-h", folder, "-U", "larder", "-d", name, "-q"]
          + (1...40).flatMap { ["-c", "INSERT INTO city VALUES (\(writer * 1000 + $0), 'x')"] },
        input: .nothing)
    }
    var last = [1: 0, 2: 0, 3: 0]
    for _ in 0..<120 {
      guard case .integer(let id)? = try await feed.next()?.changes.first?.new?.first else {
        Issue.record("a change is missing")
        return
      }
      let (writer, number) = Int(id).quotientAndRemainder(dividingBy: 1000)
      #expect(last[writer] == number - 1)
      last[writer] = number
    }
    for writer in writers { #expect(writer.end() == 0) }
  }
}

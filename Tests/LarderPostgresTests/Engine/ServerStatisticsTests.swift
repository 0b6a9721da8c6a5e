import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Statistics of servers", .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ServerStatisticsTests {
  private let address: String
  private let folder: String

  init() throws {
    folder = try PostgresServer.shared.folder
    address = try PostgresServer.shared.database()
  }

  private func pool(
    through proxy: Proxy? = nil, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    change(&configuration)
    let pool = try PostgresPool(
      proxy.map { address.replacing(folder, with: $0.folder) } ?? address,
      configuration: configuration)
    try pool.inTransaction {
      try $0.executeStatements("CREATE TABLE IF NOT EXISTS line (number BIGINT PRIMARY KEY)")
    }
    return pool
  }

  private static func insert(_ db: Database, _ number: Int) throws {
    _ = try db.executeUpdate("INSERT INTO line VALUES (?)", number)
  }

  @Test(
    "The statistics have the server's address, the limit of connections and how many were opened"
  )
  func connections() throws {
    let pool = try pool { $0.connections = 3 }
    #expect(pool.serverStatistics.address == "\(folder):5432")
    #expect(pool.serverStatistics.maximumConnections == 3)
    #expect(pool.serverStatistics.connects == 1)
    pool.releaseIdleConnections()
    try pool.inTransaction { try Self.insert($0, 1) }
    #expect(pool.serverStatistics.connects == 2)
    #expect(pool.serverStatistics.outage == nil && pool.serverStatistics.error == nil)
    #expect(pool.serverStatistics.replicas.isEmpty)
  }

  @Test("Round trips are counted as a proxy counts them, and each attempt of a scope")
  func roundTrips() throws {
    let proxy = try Proxy(to: folder, countsRoundTrips: true)
    let pool = try pool(through: proxy)
    func count(_ attempts: Int, _ body: () throws -> Void) throws {
      let (before, passed) = (pool.serverStatistics, proxy.roundTrips)
      try body()
      let after = pool.serverStatistics
      #expect(after.roundTrips - before.roundTrips == proxy.roundTrips - passed)
      #expect(after.roundTrips > before.roundTrips)
      #expect(after.attempts - before.attempts == attempts)
    }
    // The first ones describe and prepare their statements.
    for number in 0..<3 {
      try count(2) {
        try pool.inTransaction { try Self.insert($0, number) }
        #expect(
          try pool.read { try $0.value("SELECT count(*) FROM line", as: Int.self) } == number + 1)
      }
    }
    try count(1) {
      #expect(throws: DatabaseError.self) { try pool.inTransaction { try Self.insert($0, 0) } }
    }
    try count(1) {
      try pool.inTransaction { db in
        _ = try? db.inSavepoint { try Self.insert($0, 0) }
        try Self.insert(db, 10)
      }
    }
    try count(1) { try pool.inDatabase { _ = try $0.executeUpdate("SET work_mem = '8MB'") } }
    // Nothing was sent: the scope is one nonetheless.
    let before = pool.serverStatistics
    try pool.inTransaction { _ in }
    #expect(pool.serverStatistics.attempts == before.attempts + 1)
    #expect(pool.serverStatistics.roundTrips == before.roundTrips)
  }

  @Test("A transaction that is retried counts each attempt")
  func attempts() throws {
    let pool = try pool()
    let before = pool.serverStatistics.attempts
    var count = 0
    try pool.inTransaction { db in
      count += 1
      guard count < 3 else { return try Self.insert(db, 1) }
      try db.executeStatements("DO $$ BEGIN RAISE EXCEPTION USING errcode = '40001'; END $$")
    }
    #expect(pool.serverStatistics.attempts - before == 3 && pool.statistics.retries == 2)
  }

  @Test(
    "While no server can be reached, the statistics show the outage, and the log has one line"
  )
  func outage() async throws {
    let errors = Recorder<DatabaseError>()
    let proxy = try Proxy(to: folder)
    let pool = try pool(through: proxy) { configuration in
      configuration.log = { errors.add($0) }
      configuration.retryLimit = .seconds(600)
    }
    proxy.cut(after: 0)
    let write = Task { try await pool.inTransaction { try Self.insert($0, 1) } }
    while pool.statistics.retries < 3 || pool.serverStatistics.outage == nil { await Task.yield() }
    #expect(pool.serverStatistics.error?.code == .cannotOpen)
    #expect(pool.serverStatistics.error?.path?.contains(proxy.folder) == true)
    let lines = errors.elements.filter { $0.code == .warning }
    #expect(lines.count == 1 && lines[0].path?.contains(proxy.folder) == true, "\(lines)")
    proxy.cut(after: .max)
    try await write.value
    #expect(pool.serverStatistics.outage == nil && pool.serverStatistics.error == nil)
    #expect(errors.elements.filter { $0.code == .warning }.count == 1)
  }

  @Test(
    "A server that doesn't answer a new connection is in an outage before the time for that is up")
  func silentServer() async throws {
    let proxy = try Proxy(to: folder)
    let pool = try pool(through: proxy) { configuration in
      configuration.retryLimit = nil
      configuration.connectTimeout = .seconds(3)
    }
    pool.releaseIdleConnections()
    proxy.freeze()
    let read = Task { try await pool.read { try $0.value("SELECT 1", as: Int.self) } }
    var seen = pool.serverStatistics
    while seen.outage == nil {
      try await Task.sleep(for: .milliseconds(1))
      seen = pool.serverStatistics
    }
    // On a busy machine this look may be after the attempt's end.
    #expect(seen.error == nil || (seen.outage ?? .zero) >= .seconds(3))
    await #expect(throws: DatabaseError.self) { try await read.value }
    #expect(pool.serverStatistics.error?.code == .cannotOpen)
    #expect(pool.serverStatistics.outage ?? .zero >= .seconds(3))
  }

  @Test(
    "A read that has to see a position has a span and a measured call, and its error is told",
    arguments: [PostgresConfiguration.Reads.primary, .replicas(waitAtMost: .milliseconds(20))])
  func readNotBefore(_ reads: PostgresConfiguration.Reads) async throws {
    let (spans, errors) = (Recorder<ScopeSpan>(), Recorder<DatabaseError>())
    let pool = try pool { configuration in
      configuration.reads = reads
      configuration.measuresCalls = true
      configuration.spans = { spans.add($0) }
      configuration.log = { errors.add($0) }
    }
    let (_, position) = try await pool.inTransactionWithPosition { try Self.insert($0, 1) }
    spans.removeAll()
    func count() throws -> Int? {
      try pool.read(notBefore: position, label: "thread") {
        try $0.value("SELECT count(*) FROM line", as: Int.self)
      }
    }
    #expect(try count() == 1)
    let found = try await pool.read(notBefore: position, label: "task") {
      try $0.value("SELECT count(*) FROM line", as: Int.self)
    }
    #expect(found == 1)
    #expect(spans.elements.map(\.label) == ["thread", "task"])
    #expect(spans.elements.allSatisfy { $0.statements.keys.contains("SELECT count(*) FROM line") })
    #expect(pool.statistics.calls["thread"]?.count == 1)
    #expect(pool.statistics.calls["task"]?.count == 1)
    func fail() throws {
      try pool.read(notBefore: position, label: "mistake") {
        _ = try $0.value("SELECT no_such_column FROM line", as: Int.self)
      }
    }
    let error = #expect(throws: DatabaseError.self) { try fail() }
    #expect(error?.label == "mistake" && error?.path != nil)
    #expect(pool.statistics.failures == 1)
    #expect(errors.elements.map(\.label) == ["mistake"])
    #expect(spans.elements.last?.error is DatabaseError)
  }

  @Test("The text for Prometheus has a line for each figure of the servers")
  func prometheus() throws {
    let pool = try pool()
    let text = pool.serverStatistics.prometheusText(labels: ["database": "cities"])
    #expect(
      text.hasPrefix(
        """
        # HELP larder_server_connected 1 for the transactions' server.
        # TYPE larder_server_connected gauge
        larder_server_connected{database="cities",server="\(folder):5432"} 1
        # HELP larder_connections_limit Most connections to a server.
        # TYPE larder_connections_limit gauge
        larder_connections_limit{database="cities"} 1

        """), "\(text)")
    #expect(text.contains("larder_server_outage_seconds{database=\"cities\"} 0.0\n"))
    // No metric is in both texts, so that they can be joined.
    func names(_ text: String) -> Set<Substring> {
      Set(
        text.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }.map {
          $0.split(separator: " ")[2]
        })
    }
    #expect(names(text).isDisjoint(with: names(pool.statistics.prometheusText())))
  }
}

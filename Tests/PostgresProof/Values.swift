import Foundation
import Larder
import LarderPostgres
import PostgresSupport

/// Observed values while writers commit, sessions are ended and the server restarts.
enum Values: Verb {
  static let help = """
    values [--writers 4] [--observers 8] [--commits 20000] [--cuts 40] [--restarts 4]
           [--failovers 0] [--source triggers] [--rounds 20] [--pace 0] [--durable] [--json]
      Writers count rows up, each in a connection of its own, while sessions are ended (those that tell of
      commits among them), the server restarts, and its synchronous standby takes the place of a killed
      primary. Each observer's values have to be monotone, and the last one the final state. Then,
      undisturbed: how long a value takes to arrive after its commit; and what an observer costs writers, in
      rounds of half a second without one, with one that triggers tell, with one that the log tells, and, on
      one server, with pg_recvlogical in its place; and the same for writers at a pace, a number of commits a
      second for each. The source is triggers or log. The server doesn't sync unless it is durable.
    """
  static let options: [String: String?] = [
    "writers": "4", "observers": "8", "commits": "20000", "cuts": "40", "restarts": "4",
    "failovers": "0", "source": "triggers", "rounds": "20", "pace": "0",
    "durable": nil, "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    let hasStandby = Int(options.text("failovers")) ?? 0 > 0
    let settings = ["wal_level=logical"] + (options.has("durable") ? ["fsync=on"] : [])
    let cluster = try PostgresCluster(
      standbys: hasStandby ? 1 : 0, settings.flatMap { ["-c", $0] })
    let (writers, observers) = (try options.number("writers"), try options.number("observers"))
    try onePool(cluster.address).inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE counter (id BIGINT PRIMARY KEY, n BIGINT NOT NULL);
        INSERT INTO counter SELECT id, 0 FROM generate_series(1, \(writers)) AS id;
        CREATE VIEW seen AS SELECT id, n FROM counter;
        CREATE FUNCTION counted() RETURNS SETOF counter STABLE LANGUAGE plpgsql AS
          $$ BEGIN RETURN QUERY SELECT * FROM counter ORDER BY id; END $$;
        """)
    }
    if hasStandby { try cluster.makeSynchronous(0) }
    var figures = Figures("values", unit: "commits", options)
    figures.number = 17
    try disturb(cluster, writers, observers, options, &figures)
    figures.details.append(try measureLatency(cluster, try source(options)))
    let rounds = try options.number("rounds")
    for pace in Set([0, Int(options.text("pace")) ?? 0]).sorted() {
      let cost = ValueCost(cluster.address, rounds: rounds, pace: pace, comparesClient: !hasStandby)
      for count in Set([1, writers]).sorted() {
        figures.details += try cost.measure(writers: count)
      }
    }
    try figures.end()
  }

  private static func source(
    _ options: Options
  ) throws -> PostgresConfiguration.CommitSource {
    switch options.text("source") {
    case "triggers": .triggers
    case "log": .log
    case let other: throw Wrong("\(other) is no source of commits")
    }
  }

  /// The ways to read the counters: by a query, through a view, and by a function.
  private static let queries: [SQL] = [
    "SELECT n FROM counter ORDER BY id", "SELECT n FROM seen ORDER BY id",
    "SELECT n FROM counted()",
  ]

  private static func counters(_ db: Database, _ query: SQL) throws -> [Int] {
    try db.executeQuery(query).map { try $0.get(at: 0) }
  }

  // MARK: Nothing is missed

  /// What one observer was told.
  private struct Told {
    var last: [Int] = []
    var count = 0
    var backward = 0
    var error: String?

    mutating func note(_ value: [Int]) {
      count += 1
      if zip(last, value).contains(where: { $0 > $1 }) || value == last { backward += 1 }
      last = value
    }
  }

  private static func disturb(
    _ cluster: PostgresCluster, _ writers: Int, _ observers: Int, _ options: Options,
    _ figures: inout Figures
  ) throws {
    let commits = try options.number("commits") / writers
    let (cuts, restarts) = (try options.number("cuts"), try options.number("restarts"))
    let failovers = Int(options.text("failovers")) ?? 0
    let disturbances =
      (Array(repeating: Disturbance.restart, count: restarts)
      + Array(repeating: .failover, count: failovers) + Array(repeating: .cut, count: cuts))
      .shuffled()
    let told = (0..<observers).map { _ in Lock(Told()) }
    var configuration = PostgresConfiguration()
    configuration.connections = 4
    configuration.retryLimit = .seconds(600)
    configuration.scopeTimeout = .seconds(600)
    configuration.commitSource = try source(options)
    let pools = try (0..<2).map { _ in
      try PostgresPool(cluster.address, configuration: configuration)
    }
    let observations = told.indices.map { index in
      let (one, query) = (told[index], queries[index % queries.count])
      return pools[index % 2].values(of: { try counters($0, query) }) { error in
        one.withLock { $0.error = "\(error)" }
      } onValue: { value in
        one.withLock { $0.note(value) }
      }
    }
    let done = Lock((commits: 0, cuts: 0))
    let start = ContinuousClock.now
    try onThreads(writers + 1) { number in
      if number == writers {
        // Spread over the commits.
        var primary = 0
        for (step, disturbance) in disturbances.enumerated() {
          let due = commits * writers * (step + 1) / (disturbances.count + 1)
          while done.withLock({ $0.commits }) < due { usleep(500) }
          switch disturbance {
          case .restart:
            try cluster.shutDown(primary)
            try cluster.start(primary)
          case .failover:
            try cluster.failOver(from: primary)
            primary = 1 - primary
          case .cut:
            let ended = try cut(cluster, telling: step % 2 == 0)
            done.withLock { $0.cuts += ended }
          }
        }
        return
      }
      let pool = try onePool(cluster.address)
      for count in 1...commits {
        // The same again changes nothing, so that an unknown outcome is settled by another attempt.
        var isDone = false
        while !isDone {
          do {
            try pool.inTransaction { db in
              try db.executeUpdate("UPDATE counter SET n = ? WHERE id = ?", count, number + 1)
            }
            isDone = true
          } catch let error as DatabaseError where error.sqlState == "08007" {}
        }
        done.withLock { $0.commits += 1 }
      }
    }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let final = try onePool(cluster.address).read { try counters($0, queries[0]) }
    let deadline = ContinuousClock.now + .seconds(60)
    while told.contains(where: { one in one.withLock { $0.last != final && $0.error == nil } }),
      ContinuousClock.now < deadline
    { usleep(1_000) }
    for observation in observations { observation.cancel() }
    for pool in pools { try pool.close() }
    let (count, ended) = done.withLock { $0 }
    let all = told.map { $0.withLock { $0 } }
    let wrong = all.count { $0.last != final }
    let backward = all.reduce(0) { $0 + $1.backward }
    for error in all.compactMap(\.error) { complain("an observer ended: \(error)") }
    figures.tried = count
    figures.failed = wrong + backward + all.count { $0.error != nil }
    figures.details += [
      "\(writers) writers for \(String(format: "%.1f", seconds)) s", "\(ended) sessions ended",
      "\(restarts) restarts", "\(failovers) failovers",
      "\(all.reduce(0) { $0 + $1.count }) values of \(observers) observers",
      "\(wrong) with another last state", "\(backward) backward or repeated",
    ]
  }

  private enum Disturbance { case cut, restart, failover }

  /// Ends sessions, and returns how many: those that tell of commits, or any three.
  private static func cut(_ cluster: PostgresCluster, telling: Bool) throws -> Int {
    let which: SQL =
      telling
      ? """
      query LIKE 'LISTEN%' OR query LIKE '%bit_xor%' OR query LIKE 'SELECT pg_catalog.pg_current_snapshot%'
        OR pid IN (SELECT active_pid FROM pg_replication_slots WHERE slot_type = 'logical')
      """ : "backend_type = 'client backend' AND random() < 0.5"
    return try onePool(cluster.address).inDatabase { db in
      try db.value(
        """
        SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
          WHERE pid <> pg_backend_pid() AND (\(which)) ORDER BY random() LIMIT 3) s
        """, as: Int.self) ?? 0
    }
  }

  // MARK: Latency

  private static func measureLatency(
    _ cluster: PostgresCluster, _ source: PostgresConfiguration.CommitSource
  ) throws -> String {
    let (pool, writer) = (
      try ValueCost.observing(cluster.address, source), try onePool(cluster.address)
    )
    let arrived = Lock<[Int: ContinuousClock.Instant]>([:])
    let observation = pool.values(of: { db in
      try db.value("SELECT n FROM counter WHERE id = 1", as: Int.self) ?? 0
    }) {
      complain("\($0)")
    } onValue: { value in
      arrived.withLock { $0[value] = .now }
    }
    var latencies: [Double] = []
    for number in 1...300 {
      let value = 1_000_000 + number
      try writer.inTransaction {
        try $0.executeUpdate("UPDATE counter SET n = ? WHERE id = 1", value)
      }
      let committed = ContinuousClock.now
      while arrived.withLock({ $0[value] }) == nil { usleep(100) }
      // The first ones install the trigger, or begin to follow the log.
      if number > 10, let time = arrived.withLock({ $0[value] }) {
        latencies.append((time - committed) / .milliseconds(1))
      }
      usleep(UInt32.random(in: 20_000...40_000))
    }
    observation.cancel()
    latencies.sort()
    let (median, most) = (latencies[latencies.count / 2], latencies[latencies.count * 99 / 100])
    if median > 20 { throw Wrong("a value takes \(median) ms in the median") }
    return "a value arrives \(String(format: "%.2f", median)) ms after its commit in the median, "
      + "\(String(format: "%.2f", most)) ms in 99 of 100 cases"
  }
}

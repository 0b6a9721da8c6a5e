import Foundation
import Larder
import LarderPostgres
import PostgresSupport

/// Observed values while writers commit, sessions are ended and the server restarts.
enum Values: Verb {
  static let help = """
    values [--writers 4] [--observers 8] [--commits 20000] [--cuts 40] [--restarts 4]
           [--rounds 20] [--json]
      Writers count rows up, each in a connection of its own, while sessions are ended (the one that listens
      among them) and the server restarts. Each observer's values have to be monotone, and the last one the
      final state. Then, undisturbed: how long a value takes to arrive after its commit; and what an
      observer costs writers, in rounds of half a second with and without one.
    """
  static let options: [String: String?] = [
    "writers": "4", "observers": "8", "commits": "20000", "cuts": "40", "restarts": "4",
    "rounds": "20", "seed": "1", "json": nil,
  ]

  static func run(_ options: Options) throws {
    let cluster = try PostgresCluster(standbys: 0)
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
    var figures = Figures("values", unit: "commits", options)
    figures.number = 17
    try disturb(cluster, writers, observers, options, &figures)
    figures.details.append(try measureLatency(cluster))
    figures.details.append(try measureCost(cluster, writers: 1, options))
    figures.details.append(try measureCost(cluster, writers: writers, options))
    try figures.end()
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
    let told = (0..<observers).map { _ in Lock(Told()) }
    var configuration = PostgresConfiguration()
    configuration.connections = 4
    configuration.retryLimit = .seconds(600)
    configuration.scopeTimeout = .seconds(600)
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
    let done = Lock((commits: 0, isOver: false, cuts: 0, restarts: 0))
    let start = ContinuousClock.now
    try onThreads(writers + 1) { number in
      if number == writers {
        defer { done.withLock { $0.isOver = true } }
        // Spread over the commits.
        let total = commits * writers
        for step in 1...(cuts + restarts) {
          while done.withLock({ $0.commits }) < total * step / (cuts + restarts + 1) { usleep(500) }
          if step % max(1, (cuts + restarts) / restarts) == 0,
            done.withLock({ $0.restarts }) < restarts
          {
            try cluster.shutDown(0)
            try cluster.start(0)
            done.withLock { $0.restarts += 1 }
          } else {
            let ended = try cut(cluster, listening: step % 2 == 0)
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
    let (count, _, ended, restarted) = done.withLock { $0 }
    let all = told.map { $0.withLock { $0 } }
    let wrong = all.count { $0.last != final }
    let backward = all.reduce(0) { $0 + $1.backward }
    for error in all.compactMap(\.error) { complain("an observer ended: \(error)") }
    figures.tried = count
    figures.failed = wrong + backward + all.count { $0.error != nil }
    figures.details += [
      "\(writers) writers for \(String(format: "%.1f", seconds)) s", "\(ended) sessions ended",
      "\(restarted) restarts",
      "\(all.reduce(0) { $0 + $1.count }) values of \(observers) observers",
      "\(wrong) with another last state", "\(backward) backward or repeated",
    ]
  }

  /// Ends sessions, and returns how many: those that listen, or any three.
  private static func cut(_ cluster: PostgresCluster, listening: Bool) throws -> Int {
    let which: SQL =
      listening
      ? "query LIKE 'LISTEN%' OR query LIKE '%bit_xor%'" : "random() < 0.5"
    return try onePool(cluster.address).inDatabase { db in
      try db.value(
        """
        SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
          WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND (\(which)) LIMIT 3) s
        """, as: Int.self) ?? 0
    }
  }

  // MARK: Latency

  private static func measureLatency(_ cluster: PostgresCluster) throws -> String {
    let (pool, writer) = (try onePool(cluster.address), try onePool(cluster.address))
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
      // The first ones install the trigger.
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

  // MARK: Cost

  private static func measureCost(
    _ cluster: PostgresCluster, writers: Int, _ options: Options
  ) throws -> String {
    let rounds = try options.number("rounds")
    let pool = try onePool(cluster.address)
    let pools = try (0..<writers).map { _ in try onePool(cluster.address) }
    func commits() throws -> Work {
      let total = Lock(Work())
      let end = ContinuousClock.now + .milliseconds(500)
      try onThreads(writers) { writer in
        let session = try pools[writer].inDatabase { db in
          try db.value("SELECT pg_backend_pid()", as: Int32.self) ?? 0
        }
        var work = Work()
        let start = processorTime(with: session)
        while ContinuousClock.now < end {
          try pools[writer].inTransaction { db in
            try db.executeUpdate("UPDATE counter SET n = n + 1 WHERE id = ?", writer + 1)
          }
          work.commits += 1
        }
        work.time = processorTime(with: session) - start
        total.withLock { $0.add(work) }
      }
      return total.withLock { $0 }
    }
    _ = try commits()
    var ratios: [Double] = []
    var (alone, observed) = (Work(), Work())
    for _ in 0..<rounds {
      try pool.inTransaction { try $0.reportChanges(of: ["counter"], false) }
      let without = try commits()
      let first = DispatchSemaphore(value: 0)
      let observation = pool.values(of: { try counters($0, queries[0]) }) {
        complain("\($0)")
      } onValue: { _ in
        first.signal()
      }
      first.wait()
      let with = try commits()
      observation.cancel()
      alone.add(without)
      observed.add(with)
      ratios.append(with.timeOfOne / without.timeOfOne)
    }
    ratios.sort()
    return "\(writers) writers: \(2 * alone.commits / rounds) commits a second alone, "
      + "\(2 * observed.commits / rounds) beside an observer; "
      + "\(String(format: "%.1f", alone.timeOfOne)) and \(String(format: "%.1f", observed.timeOfOne)) µs "
      + "of the writers' and their sessions' processors for each, "
      + "\(String(format: "%.3f", ratios[rounds / 2])) times as much in the median of \(rounds) rounds"
  }

  /// What writers have done.
  private struct Work {
    var commits = 0
    /// The processor time of the writers' threads and their sessions, in nanoseconds.
    var time = 0

    mutating func add(_ other: Work) {
      commits += other.commits
      time += other.time
    }

    /// That of one commit, in microseconds.
    var timeOfOne: Double { Double(time) / Double(max(1, commits)) / 1_000 }
  }

  /// The processor time of this thread and of a server's process, in nanoseconds.
  private static func processorTime(with session: Int32) -> Int {
    func nanoseconds(_ clock: clockid_t) -> Int {
      var time = timespec()
      clock_gettime(clock, &time)
      return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
    var clock = clockid_t()
    clock_getcpuclockid(session, &clock)
    return nanoseconds(CLOCK_THREAD_CPUTIME_ID) + nanoseconds(clock)
  }
}

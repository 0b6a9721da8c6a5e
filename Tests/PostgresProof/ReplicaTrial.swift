import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// A pool that writes, and reads on replicas what was written before.
struct ReplicaTrial {
  let count: Int
  let waitAtMost: Duration
  var figures: Figures
  let cluster: PostgresCluster
  /// The one that writes, and one that knows nothing of it.
  let (own, other): (PostgresPool, PostgresPool)
  private let next = Lock(1)
  /// What was read while replicas were gone, or had just come back.
  private var losses = Reads()

  /// What was read behind commits.
  struct Reads {
    var stale = 0
    var times: [Duration] = []
    /// How many were of replicas.
    var ofReplicas = 0

    var text: String {
      "\(stale) of \(times.count) stale, \(ofReplicas) of replicas, median \(times.median), "
        + "longest \(times.longest)"
    }
  }

  init(count: Int, waitAtMost: Duration, _ figures: Figures) throws {
    self.count = count
    self.waitAtMost = waitAtMost
    self.figures = figures
    cluster = try PostgresCluster(standbys: 2)
    var configuration = PostgresConfiguration()
    configuration.commitTokens = true
    configuration.reads = .replicas(waitAtMost: waitAtMost)
    own = try PostgresPool(cluster.address, configuration: configuration)
    other = try PostgresPool(cluster.address, configuration: configuration)
    try Migrator([
      Migration("create line", sql: "CREATE TABLE line (number BIGINT PRIMARY KEY)"),
      Migration("create load", sql: "CREATE TABLE load (number BIGINT)"),
    ]).migrate(own)
    for node in 1...2 {
      let replica = try onePool(cluster.addresses[node])
      try Self.wait(for: "the tables on node\(node)") {
        try replica.read { try $0.value("SELECT to_regclass('load')::text", as: String.self) }
          != nil
      }
    }
  }

  /// Waits until something is so, and returns how long that took.
  @discardableResult
  static func wait(
    for what: String, limit: Duration = .seconds(30), _ isSo: () throws -> Bool
  ) throws -> Duration {
    let start = ContinuousClock.now
    while try !isSo() {
      guard ContinuousClock.now - start < limit else {
        throw Wrong("\(what): not after \(limit)")
      }
      usleep(2_000)
    }
    return ContinuousClock.now - start
  }

  // MARK: Writing and reading

  /// A line's number, which no other has.
  private func take() -> Int {
    next.withLock { next in
      defer { next += 1 }
      return next
    }
  }

  private static func insert(_ db: Database, _ number: Int) throws {
    try db.executeUpdate("INSERT INTO line VALUES (\(number))")
  }

  private static func has(_ db: Database, _ number: Int) throws -> Bool {
    try db.value("SELECT true FROM line WHERE number = \(number)", as: Bool.self) ?? false
  }

  /// Writes so many times, and reads each time what was written.
  private func reads(
    _ count: Int, through pool: PostgresPool,
    _ look: (_ number: Int) throws -> (isThere: Bool, time: Duration)
  ) throws -> Reads {
    var reads = Reads()
    let before = pool.replicaStatistics.reduce(0) { $0 + $1.reads }
    for _ in 0..<count {
      let (isThere, time) = try look(take())
      reads.times.append(time)
      if !isThere { reads.stale += 1 }
    }
    reads.ofReplicas = pool.replicaStatistics.reduce(0) { $0 + $1.reads } - before
    return reads
  }

  private func timed(_ read: () throws -> Bool) rethrows -> (isThere: Bool, time: Duration) {
    let start = ContinuousClock.now
    let isThere = try read()
    return (isThere, ContinuousClock.now - start)
  }

  /// Reads by the pool that has written, from threads and tasks in turn.
  func ownReads(_ count: Int) throws -> Reads {
    let own = own
    return try reads(count, through: own) { number in
      try own.inTransaction { try Self.insert($0, number) }
      return try timed {
        switch number % 3 {
        case 0: return try own.read { try Self.has($0, number) }
        case 1:
          let result = Lock(false)
          try onThreads(1) { _ in
            let isThere = try own.read { try Self.has($0, number) }
            result.withLock { $0 = isThere }
          }
          return result.withLock { $0 }
        default:
          let result = Lock<Result<Bool, any Error>>(.success(false))
          let hasEnded = DispatchSemaphore(value: 0)
          Task {
            do {
              let isThere = try await own.read { try Self.has($0, number) }
              result.withLock { $0 = .success(isThere) }
            } catch { result.withLock { $0 = .failure(error) } }
            hasEnded.signal()
          }
          hasEnded.wait()
          return try result.withLock { try $0.get() }
        }
      }
    }
  }

  /// Reads by the pool that hasn't written, which is told the position, as text, or isn't.
  func othersReads(_ count: Int, withPosition: Bool) throws -> Reads {
    try reads(count, through: other) { number in
      let (_, position) = try own.inTransactionWithPosition { try Self.insert($0, number) }
      guard withPosition else { return try timed { try other.read { try Self.has($0, number) } } }
      guard let told = CommitPosition("\(position)") else { throw Wrong("\(position) is lost") }
      return try timed { try other.read(notBefore: told) { try Self.has($0, number) } }
    }
  }

  /// Calls a closure while another writes, so that the replicas lag a little.
  func withLoad<T>(_ body: () throws -> T) throws -> T {
    let isOver = Lock(false)
    let address = cluster.addresses[0]
    let hasEnded = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let load = try? onePool(address)
      while !isOver.withLock({ $0 }) {
        _ = try? load?.inTransaction { db in
          try db.executeUpdate("INSERT INTO load SELECT generate_series(1, 500)")
        }
        usleep(2_000)
      }
      hasEnded.signal()
    }
    defer {
      isOver.withLock { $0 = true }
      hasEnded.wait()
    }
    return try body()
  }

  /// Counts what was read, and says it; as a figure of its own, or with those of losses.
  mutating func note(
    _ what: String, _ reads: Reads, isStaleRight: Bool = false, isOfLoss: Bool = true
  ) {
    figures.tried += reads.times.count
    let isWrong = isStaleRight ? reads.stale == 0 : reads.stale > 0
    figures.failed += isWrong ? max(1, reads.stale) : 0
    let text = "\(what): \(reads.text)"
    report(text)
    if isOfLoss {
      losses.stale += reads.stale
      losses.times += reads.times
      losses.ofReplicas += reads.ofReplicas
    } else {
      figures.details.append(text)
    }
    if isWrong { complain("\(what): \(isStaleRight ? "none was stale" : "some were stale")") }
  }

  /// Writes the figures. Throws where something has failed.
  mutating func end() throws {
    figures.details.append(
      "while replicas were paused, frozen, killed, all gone, or of an older timeline: "
        + losses.text)
    try figures.end()
  }

  mutating func fail(_ what: String) {
    figures.failed += 1
    complain(what)
  }
}

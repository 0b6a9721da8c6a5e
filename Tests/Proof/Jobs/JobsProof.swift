import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import TestSupport

/// Several processes with several workers each do jobs, and are killed: each job is done at least once, none is
/// lost, none runs twice within its lease, unique ones are there once, and those that end themselves have their
/// effect exactly once. Then the rate without kills.
///
/// Behind `--` stands `file` or `server` for one of the two engines.
enum JobsProof: ProofRow {
  static let name = "jobs"
  static let number = 23
  static let unit = "jobs"

  static let lease = Duration.seconds(2)
  private static let processes = 4
  private static let uniqueCount = 500

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 3 {
      try work(options.rest[0], options.rest[1], options.rest[2])
      exit(0)
    }
    var result = ProofResult()
    if options.rest.first != "server" {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      try prove("file", scratch.path + "/jobs.db", scratch.path, options, &result)
    }
    if options.rest.first != "file" {
      guard PostgresServer.isInstalled else {
        result.skipped = PostgresServer.whySkipped
        return result
      }
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      // A server that syncs.
      let server = try PostgresServer(["--durable"])
      try prove("server", server.database(), scratch.path, options, &result)
    }
    return result
  }

  static func open(_ address: String) throws -> any DatabaseAccess {
    if PostgresPool.isAddress(address) {
      var configuration = PostgresConfiguration()
      configuration.connections = 6
      return try PostgresPool(address, configuration: configuration)
    }
    var configuration = Configuration(profile: .durable)
    configuration.busyTimeout = .seconds(60)
    configuration.scopeTimeout = .seconds(60)
    return try DatabasePool(path: address, configuration: configuration)
  }

  private static func prove(
    _ engine: String, _ address: String, _ folder: String, _ options: ProofOptions,
    _ result: inout ProofResult
  ) throws {
    let store = try open(address)
    try Migrator(JobQueue.migrations + [Migration("done") { try DoneJob.table.create($0) }])
      .migrate(store)
    let count = options.count ?? 2_000
    for start in stride(from: 0, to: count, by: 1_000) {
      try store.inTransaction { db in
        try (start..<min(count, start + 1_000)).map { number in
          NotedJob(number: number, group: number % 4 == 1 ? number % 20 : nil)
        }.enqueue(db)
      }
    }
    try putUnique(store, from: count)
    let journal = folder + "/journal"
    let kills = try killing(address, journal, store, options)
    var found = JobsVerdict(try String(contentsOfFile: journal, encoding: .utf8))
    found.check(count + uniqueCount, lease: lease)
    result.failures += found.failures.map { "\(engine), seed \(options.seed): \($0)" }
    let done = try store.read { db in try DoneJob.order { $0.number }.fetchAll(db).map(\.number) }
    let wanted = (0..<count + uniqueCount).filter { $0 % 5 == 0 }
    if done != wanted {
      result.failures.append("\(engine): \(done.count) effects of \(wanted.count) in the database")
    }
    result.tried += count + uniqueCount
    result.details.append(
      "\(engine): \(kills) kills, \(found.runs) runs, \(found.cut) cut off by kills")
    let rate = try rate(store, options)
    result.details.append("\(engine): \(rate) jobs a second")
    result.details += try claims(store, options).map { "\(engine): \($0)" }
    try store.close()
  }

  /// Puts in each unique job from several threads at once: one of each is there.
  private static func putUnique(_ store: any DatabaseAccess, from first: Int) throws {
    let failure = Lock<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for number in first..<first + uniqueCount {
        do {
          try store.inTransaction { db in
            _ = try NotedJob(number: number, unique: true).enqueue(db)
          }
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    if let failure = failure.withLock({ $0 }) { throw failure }
    let found = try store.read { db in
      try StoredJob.filter { $0.unique != nil }.fetchCount(db)
    }
    guard found == uniqueCount else {
      throw WrongAnswer(description: "\(found) jobs for \(uniqueCount) unique keys")
    }
  }

  /// Has processes work, and kills one after the other, until nothing is left: how many kills that were.
  private static func killing(
    _ address: String, _ journal: String, _ store: any DatabaseAccess, _ options: ProofOptions
  ) throws -> Int {
    var random = SeededGenerator(seed: options.seed)
    func start() throws -> ChildProcess {
      try ChildProcess.again(name, "--", "work", address, journal)
    }
    var children = try (0..<processes).map { _ in try start() }
    var kills = 0
    let end = ContinuousClock.now + .seconds(3_600)
    while true {
      usleep(UInt32.random(in: 100_000...900_000, using: &random))
      let left = try store.read { db in try StoredJob.all.fetchCount(db) }
      if left == 0 { break }
      guard ContinuousClock.now < end else {
        throw WrongAnswer(description: "\(left) jobs are left after an hour")
      }
      let index = Int.random(in: 0..<processes, using: &random)
      children[index].kill()
      _ = children[index].end()
      JobJournal(journal).killed(children[index].identifier)
      kills += 1
      children[index] = try start()
    }
    for child in children { child.kill() }
    return kills
  }

  /// A process that works until it is killed.
  private static func work(_ role: String, _ address: String, _ journal: String) throws {
    JobJournal.own = JobJournal(journal)
    let store = try open(address)
    let jobs = JobQueue(store, [NotedJob.self])
    var options = JobWorkerOptions()
    options.lease = lease
    options.poll = .milliseconds(100)
    for _ in 0..<4 {
      Task.detached { [options] in
        do {
          try await jobs.work(options: options)
        } catch {
          Parent.tell("error: \(error)")
        }
      }
    }
    while true { pause() }
  }

  // MARK: Figures

  /// Runs a task for a thread that waits for it.
  private static func wait<T: Sendable>(
    _ body: @escaping @Sendable () async throws -> T
  ) throws -> T {
    let done = DispatchSemaphore(value: 0)
    let outcome = Lock<Result<T, any Error>?>(nil)
    Task.detached {
      let result: Result<T, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      outcome.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    guard let outcome = outcome.withLock({ $0 }) else {
      throw WrongAnswer(description: "a task has no outcome")
    }
    return try outcome.get()
  }

  /// How many empty jobs two workers do in a second, each claimed, run and deleted durably.
  private static func rate(_ store: any DatabaseAccess, _ options: ProofOptions) throws -> Int {
    let count = max(2_000, min(20_000, options.count ?? 2_000))
    try store.inTransaction { db in
      try (0..<count).map { EmptyJob(number: $0) }.enqueue(db)
    }
    let start = ContinuousClock.now
    try wait {
      let jobs = JobQueue(store, [EmptyJob.self])
      var options = JobWorkerOptions()
      options.concurrency = 64
      let workers = (0..<2).map { _ in Task { [options] in try await jobs.work(options: options) } }
      while try await store.read({ db in try StoredJob.all.exists(db) }) {
        try await Task.sleep(for: .milliseconds(20))
      }
      for worker in workers { worker.cancel() }
      for worker in workers { try await worker.value }
    }
    return Int(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
  }

  /// The time of a claim with a thousand waiting jobs and with many.
  private static func claims(_ store: any DatabaseAccess, _ options: ProofOptions) throws
    -> [String]
  {
    var lines: [String] = []
    var put = 0
    for waiting in [1_000, max(10_000, min(1_000_000, 10 * (options.count ?? 0)))] {
      while put < waiting {
        let next = min(waiting, put + 50_000)
        try store.inTransaction { [put] db in
          try (put..<next).map { EmptyJob(number: $0) }.enqueue(db)
        }
        put = next
      }
      var times: [Duration] = []
      for _ in 0..<101 {
        let start = ContinuousClock.now
        try store.inTransaction { db in
          db.setRollbackOnly()
          _ = try StoredJob.filter { $0.state == .ready && $0.queue == "default" }
            .order { ($0.priority, $0.id) }
            .claim(db, limit: 16) {
              $0.state = .running
              $0.attempts += 1
            }
        }
        times.append(ContinuousClock.now - start)
      }
      let median = times.sorted()[50] / .microseconds(1)
      lines.append("a claim of 16 takes \(Int(median)) µs with \(waiting) waiting")
    }
    return lines
  }
}

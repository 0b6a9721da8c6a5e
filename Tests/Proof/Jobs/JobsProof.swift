import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import ProofSupport
import TestSupport

/// Several processes with several workers each do jobs, and are killed: each job is done at least once, none is
/// lost, none runs twice within its lease, unique ones are there once, and those that end themselves have their
/// effect exactly once. Then the rate without kills, and the time of a claim by how many jobs wait.
///
/// Behind `--` stands what ``JobsPlan`` reads, such as `file` or `server --workers 16 --processes 4`.
enum JobsProof: ProofRow {
  static let name = "jobs"
  static let number = 23
  static let unit = "jobs"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.first == "work" {
      try work(Array(options.rest.dropFirst()))
      exit(0)
    }
    var plan = try JobsPlan(options.rest)
    if (options.count ?? 0) > 100_000 { plan.lease = .seconds(5) }
    var result = ProofResult()
    for engine in plan.engines {
      let scratch = try ScratchFolder()
      defer { scratch.remove() }
      if engine == "file" {
        try prove(engine, scratch.path + "/jobs.db", scratch.path, plan, options, &result)
        continue
      }
      guard PostgresServer.isInstalled else {
        result.skipped = PostgresServer.whySkipped
        continue
      }
      // A server that syncs, with room for the table.
      let server = try PostgresServer(["--durable", "-c", "shared_buffers=256MB"])
      try prove(engine, server.database(), scratch.path, plan, options, &result)
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
    _ engine: String, _ address: String, _ folder: String, _ plan: JobsPlan,
    _ options: ProofOptions, _ result: inout ProofResult
  ) throws {
    let store = try open(address)
    try Migrator(JobQueue.migrations + [Migration("done") { try DoneJob.table.create($0) }])
      .migrate(store)
    if plan.parts.contains(.kills) {
      try proveKills(engine, address, folder, store, plan, options, &result)
    }
    let figures = JobsFigures(address: address, store: store, plan: plan, count: options.count)
    if plan.parts.contains(.rate) {
      result.details += try figures.rates().map { "\(engine): \($0)" }
    }
    if plan.parts.contains(.claims) {
      result.details += try figures.claims().map { "\(engine): \($0)" }
    }
    try store.close()
  }

  private static func proveKills(
    _ engine: String, _ address: String, _ folder: String, _ store: any DatabaseAccess,
    _ plan: JobsPlan, _ options: ProofOptions, _ result: inout ProofResult
  ) throws {
    let count = options.count ?? 2_000
    let uniqueCount = max(500, count / 1_000)
    for start in stride(from: 0, to: count, by: 1_000) {
      try store.inTransaction { db in
        try (start..<min(count, start + 1_000)).map { number in
          NotedJob(number: number, group: group(of: number))
        }.enqueue(db)
      }
    }
    try putUnique(store, from: count, uniqueCount)
    let journal = folder + "/journal"
    let start = ContinuousClock.now
    let kills = try killing(address, journal, store, plan, options)
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let notes = try Data(contentsOf: URL(fileURLWithPath: journal))
    var found = JobsVerdict(notes, count + uniqueCount)
    found.check(lease: plan.lease)
    result.failures += found.failures.map { "\(engine), seed \(options.seed): \($0)" }
    let done = try store.read { db in try DoneJob.order { $0.number }.fetchAll(db).map(\.number) }
    let wanted = (0..<count + uniqueCount).filter { $0 % 5 == 0 }
    if done != wanted {
      result.failures.append("\(engine): \(done.count) effects of \(wanted.count) in the database")
    }
    result.tried += count + uniqueCount
    result.details.append(
      """
      \(engine): \(count + uniqueCount) jobs in \(Int(seconds)) s by \(plan.workers) workers in \
      \(plan.processes) processes, \(kills) kills, \(found.runs) runs, \(found.cut) cut off by kills
      """)
  }

  /// The limit that a job shares with others; nil for none. Jobs of a limit wait for each other, two at a time:
  /// with many of them the proof would take hours.
  private static func group(of number: Int) -> Int? {
    number % 4 == 1 && number < 10_000 ? number % 20 : nil
  }

  /// Puts in each unique job from several threads at once: one of each is there.
  private static func putUnique(
    _ store: any DatabaseAccess, from first: Int, _ count: Int
  ) throws {
    let failure = Lock<(any Error)?>(nil)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for number in first..<first + count {
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
    guard found == count else {
      throw WrongAnswer(description: "\(found) jobs for \(count) unique keys")
    }
  }

  /// Has processes work, and kills one after the other, until nothing is left: how many kills that were.
  private static func killing(
    _ address: String, _ journal: String, _ store: any DatabaseAccess, _ plan: JobsPlan,
    _ options: ProofOptions
  ) throws -> Int {
    var random = SeededGenerator(seed: options.seed)
    func start() throws -> ChildProcess { try worker(address, plan, journal) }
    var children = try (0..<plan.processes).map { _ in try start() }
    var kills = 0
    let end = ContinuousClock.now + .seconds(3_600)
    // A second on average; half of one where there are few jobs.
    let isLong = (options.count ?? 0) > 100_000
    let pauses: ClosedRange<UInt32> = isLong ? 500_000...1_500_000 : 100_000...900_000
    while true {
      usleep(UInt32.random(in: pauses, using: &random))
      guard try store.read({ db in try StoredJob.all.exists(db) }) else { break }
      guard ContinuousClock.now < end else {
        let left = try store.read { db in try StoredJob.all.fetchCount(db) }
        throw WrongAnswer(description: "\(left) jobs are left after an hour")
      }
      let index = Int.random(in: 0..<children.count, using: &random)
      children[index].kill()
      _ = children[index].end()
      JobJournal(journal).killed(children[index].identifier)
      kills += 1
      children[index] = try start()
    }
    for child in children { child.kill() }
    return kills
  }

  // MARK: Workers

  /// Starts a process that works until it is killed.
  ///
  /// - Parameter journal: where its jobs note their runs; nil for jobs that don't.
  static func worker(
    _ address: String, _ plan: JobsPlan, _ journal: String? = nil
  ) throws -> ChildProcess {
    let lease = "\(Int((journal == nil ? .seconds(60) : plan.lease) / .milliseconds(1)))"
    return try ChildProcess.again(
      name, "--", "work", address, "\(plan.workersEach)", lease, journal ?? "")
  }

  private static func work(_ words: [String]) throws {
    guard words.count == 4, let workers = Int(words[1]), let lease = Int(words[2]) else { return }
    if !words[3].isEmpty { JobJournal.own = JobJournal(words[3]) }
    let store = try open(words[0])
    let jobs = JobQueue(store, [NotedJob.self, EmptyJob.self])
    var options = JobWorkerOptions()
    options.lease = .milliseconds(lease)
    options.poll = .milliseconds(100)
    for _ in 0..<workers {
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
}

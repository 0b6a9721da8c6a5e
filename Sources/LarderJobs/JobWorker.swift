import FoundationEssentials
import Larder
import Synchronization

/// One call of ``JobQueue/work(_:options:)``: a loop that claims jobs, starts a task for each, and writes down
/// how they end.
///
/// Only the loop uses the database, but for the leases. What ends while a transaction is being written is written
/// by the next one: the shorter the jobs, the more of them share a commit.
final class JobWorker: Sendable {
  private let queue: JobQueue
  private let options: JobWorkerOptions
  private let sweep: JobSweep
  private let queues: [String]
  /// A name that no other worker has, by which it knows its jobs.
  private let name = UUID().uuidString
  private let running: RunningJobs
  private let clock = ContinuousClock()

  /// The shortest time between two looks at what time brings: others may have locked what is due.
  private static let leastPause = Duration.milliseconds(10)

  init(_ queue: JobQueue, _ queues: [String], _ options: JobWorkerOptions) {
    self.queue = queue
    self.queues = queues
    self.options = options
    running = RunningJobs(options.grace)
    sweep = JobSweep(queue: queue, queues: queues, worker: name)
  }

  /// Has the loop end, once the running jobs have.
  func end() { running.end() }

  /// Cancels the loop once no job runs: it may be waiting for a database that is away. What it couldn't write down by
  /// the end of the grace ends with its leases.
  func cancel(_ loop: Task<Void, any Error>) async {
    let end = clock.now + options.grace
    do {
      repeat {
        try await Task.sleep(for: Self.lastWrites)
      } while running.hasJobs || running.hasOutcomes && clock.now < end + Self.lastWrites
      loop.cancel()
    } catch {}  // The loop has ended in time.
  }

  /// The time in which the ends of jobs can be written once the grace is over.
  private static let lastWrites = Duration.seconds(1)

  /// The loop's own times.
  private struct Times {
    var look: ContinuousClock.Instant
    /// Nil while the database can be reached.
    var failures = 0
    var isStarted = false
  }

  func run() async throws {
    try queue.checkTypes()
    try queue.checkSchedules()
    var times = Times(look: clock.now)
    var observer: Task<Void, Never>?
    var signals = WorkerSignals()
    let heartbeats = Task { await keepLeases() }
    defer {
      observer?.cancel()
      heartbeats.cancel()
    }
    var bells = running.bells.makeAsyncIterator()
    while !running.isOver, !Task.isCancelled {
      do {
        try await turn(&times)
        times.isStarted = true
        times.failures = 0
        if running.hasWork(options.concurrency) { continue }
        if isServer {
          await signals.wait(running.hasRoom(options.concurrency), queue.store) {
            [running, queues] name in
            if name.map({ queues.contains($0) }) != false { running.endObserving() }
          }
        } else if running.beginsObserving(options.concurrency) {
          observer = observe()
        }
        await wait(until: times.look, &bells)
      } catch {
        if Task.isCancelled { return }
        guard times.isStarted, (error as? DatabaseError)?.code != .misuse else {
          running.cancelAll()
          throw error
        }
        // The database may be back soon. Until then nothing is claimed or written.
        options.onWorkerError?(nil, error)
        times.failures += 1
        let pause = Duration.milliseconds(10 << min(times.failures, 8))
        await wait(until: clock.now + pause * Double.random(in: 0.5...1), &bells)
      }
    }
  }

  /// Does what is to be done now.
  private func turn(_ times: inout Times) async throws {
    if clock.now >= times.look {
      let next = try await look()
      times.look = clock.now + max(Self.leastPause, min(next, options.poll))
    }
    let outcomes = running.takeOutcomes()
    let count = running.room(options.concurrency)
    guard count > 0 || !outcomes.isEmpty else { return }
    let began = clock.now
    var jobs: [ClaimedJob]
    do {
      jobs = try await write(outcomes, claiming: count)
      running.endWriting()
    } catch {
      running.endWriting(but: outcomes)
      throw error
    }
    // The lease began before the commit, which may have waited for others until it was nearly over.
    if !jobs.isEmpty, clock.now - began > options.lease / 3 {
      let kept = Set(try await extendLeases(of: jobs.map(\.stored.id)))
      jobs.removeAll { !kept.contains($0.stored.id) }
    }
    for job in jobs { start(job) }
  }

  // MARK: The database

  private var isServer: Bool { queue.store.connections.engine != "SQLite" }

  /// Writes how jobs have ended, and claims others.
  private func write(
    _ outcomes: [JobOutcome], claiming count: Int
  ) async throws -> [ClaimedJob] {
    let worker = name
    // Both lock rows of limits, each in an order of its own: together they could wait for another worker's.
    let isApart = isServer && count > 0 && outcomes.contains { $0.stored.limit != nil }
    if isApart {
      try await queue.store.inTransaction { db in
        try db.beginWork()
        try JobOutcome.write(outcomes, of: worker, db)
      }
    }
    let claim = JobClaim(
      queue: queue, queues: queues, worker: worker, lease: options.lease / .seconds(1),
      count: count)
    let (jobs, hasMore) = try await queue.store.inTransaction { db in
      try db.beginWork()
      if !isApart { try JobOutcome.write(outcomes, of: worker, db) }
      return count > 0 ? try claim.run(db) : ([], false)
    }
    if count > 0 { running.noteClaim(hasMore: hasMore) }
    try await endBatches(of: outcomes)
    return jobs
  }

  /// Ends batches on a server. Only a transaction that begins after the ends were committed sees that others
  /// have ended meanwhile.
  private func endBatches(of outcomes: [JobOutcome]) async throws {
    let batches = Set(outcomes.compactMap(\.stored.batch))
    guard isServer, !batches.isEmpty else { return }
    // If this fails, a sweep ends them.
    try? await queue.store.inTransaction { db in
      try db.beginWork()
      try JobOutcome.endBatches(batches, db)
    }
    running.noteClaim(hasMore: true)
  }

  /// Extends the leases again and again, beside the loop: its transactions may wait for other workers', for the
  /// rows of limits.
  private func keepLeases() async {
    var pause = options.lease / 3
    while (try? await Task.sleep(for: pause)) != nil {
      do {
        try await extendLeases()
        pause = options.lease / 3
      } catch {
        pause = options.lease / 12
      }
    }
  }

  /// Extends the leases of the running jobs. Those that others have by now are cancelled.
  private func extendLeases() async throws {
    let ids = running.leased(options.lease)
    guard !ids.isEmpty else { return }
    let kept = try await extendLeases(of: ids)
    running.cancelLost(Set(ids).subtracting(kept).compactMap { $0 })
  }

  /// Extends the leases of those jobs that are this worker's, and returns their ids.
  private func extendLeases(of ids: [Int64?]) async throws -> [Int64?] {
    let (worker, seconds) = (name, options.lease / .seconds(1))
    return try await queue.store.inTransaction { db in
      try db.beginWork()
      let end = Date().addingTimeInterval(seconds)
      return try StoredJob.filter {
        $0.id.in(ids) && $0.state == .running && $0.worker == worker
      }.updated(db, returning: { $0.id }) { $0.due = .value(end) }
    }
  }

  /// Looks for what time has brought. Returns the time until the next look.
  private func look() async throws -> Duration {
    guard !running.isEnding else { return options.poll }
    let (sweep, ownJobs) = (sweep, running.ownJobs)
    // Reads can't choose how a server plans, and a replica may be behind.
    var (isReady, next) =
      isServer
      ? try await queue.store.inTransaction { db in
        try db.beginWork()
        return try sweep.look(db, ownJobs)
      } : try await queue.store.read { db in try sweep.look(db, ownJobs) }
    if let due = next, due <= Date() {
      let failures: [JobSweep.Failure]
      (failures, (isReady, next)) = try await queue.store.inTransaction { db in
        try db.beginWork()
        return (try sweep.run(db, ownJobs), try sweep.look(db, ownJobs))
      }
      for failure in failures { options.onWorkerError?(failure.schedule, failure.error) }
    }
    if isReady { running.noteClaim(hasMore: true) }
    return next.map { .seconds(max(0, min($0.timeIntervalSinceNow, 3_600))) } ?? options.poll
  }

  // MARK: Tasks

  private func start(_ claimed: ClaimedJob) {
    guard let id = claimed.stored.id else { return }
    let lease = JobLease(claimed.stored)
    let context = JobContext(
      store: queue.store, id: id, attempt: claimed.stored.attempts, lease: lease)
    // One of an unknown type fails by itself, and not because its time is over.
    let timeLimit = ((try? claimed.job.get().options) ?? JobOptions()).timeLimit
    running.start(id, lease, timeLimit) { [options] reason in
      var failure: (any Error)?
      do {
        try await claimed.job.get().run(context)
      } catch {
        failure = reason() == .timeLimit ? JobError.timeLimit : error
      }
      let isComplete = lease.isComplete.load(ordering: .acquiring)
      let isInterrupted = failure != nil && reason() == .ending
      if let failure, !isComplete, !isInterrupted { options.onError?(claimed.stored, failure) }
      return JobOutcome(
        claimed: claimed, error: failure, isComplete: isComplete, isInterrupted: isInterrupted)
    }
  }

  /// Wakes the loop once a job is ready in an SQLite database.
  private func observe() -> Task<Void, Never> {
    Task { [sweep, running, store = queue.store] in
      // After an error the worker looks for itself, every now and then.
      let values = store.values(of: { db in try sweep.isReady(db) })
      do {
        for try await isReady in values where isReady { return running.endObserving() }
      } catch {}
    }
  }

  /// Waits for a bell, but not for longer than until a time.
  private func wait(
    until time: ContinuousClock.Instant, _ bells: inout AsyncStream<Void>.AsyncIterator
  ) async {
    let timer = Task { [running] in
      guard (try? await Task.sleep(until: time)) != nil else { return }
      running.ring()
    }
    _ = await bells.next()
    timer.cancel()
  }
}

extension JobQueue {
  /// Runs jobs until the task is cancelled. Then takes no more, and waits for those that run.
  ///
  /// A database that is away for a while doesn't end a worker: it tries again, at longer and longer intervals.
  ///
  /// - Parameters:
  ///   - queues: the queues whose jobs it takes: those of the first one as long as there are any, and so on.
  ///   - options: how many jobs it runs at a time, and the times that it keeps to.
  ///
  /// Throws `DatabaseError` if the first look at the jobs fails, for instance without the tables, and
  /// `ResultCode.misuse` if two types or two schedules have the same name, or later, as after `close()`.
  public func work(
    _ queues: [String] = ["default"], options: JobWorkerOptions = .init()
  ) async throws {
    let worker = JobWorker(self, queues, options)
    // Its calls of the database have to go on after the cancellation.
    let task = Task { try await worker.run() }
    let watch = Mutex<Task<Void, Never>?>(nil)
    defer { watch.withLock { $0?.cancel() } }
    try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      worker.end()
      watch.withLock { $0 = Task { await worker.cancel(task) } }
    }
  }
}

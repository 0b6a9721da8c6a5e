import FoundationEssentials
import Larder

/// The work on jobs that time brings: those that become due, leases that are over, limits that open, batches
/// whose end a killed worker hasn't noted, schedules.
struct JobSweep: Sendable {
  let queue: JobQueue
  let queues: [String]
  /// The worker's name.
  let worker: String

  private static let most = 500
  /// The time between two looks at a batch, in seconds.
  private static let batchPause = 30.0
  /// The time for which a limit that nobody uses is kept, in seconds.
  private static let limitAge = 86_400.0

  /// Whether a job is ready, and the time of the next sweep; nil for none.
  ///
  /// - Parameter ownJobs: the jobs that the worker runs, which it can't lose.
  func look(_ db: Database, _ ownJobs: [Int64?]) throws -> (isReady: Bool, next: Date?) {
    let isReady = try isReady(db)
    var leaseEnd = try first(StoredJob.filter { $0.state == .running }, db)
    if let end = leaseEnd, end <= Date() { leaseEnd = try first(leases(but: ownJobs), db) }
    let dues = try [StoredJob.State.scheduled, .waiting].compactMap { state in
      try first(StoredJob.filter { $0.state == state }, db)
    }
    var opens = try LimitState.filter { $0.opens != nil }.order { $0.opens }
      .select { $0.opens }.fetchOne(db)
    if let last = opens ?? nil, last > Self.farAhead(of: Date()) { opens = .distantPast }
    let schedules = try queue.schedules.map { try $0.next(db) }
    return (isReady, (dues + [leaseEnd, opens ?? nil].compactMap { $0 } + schedules).min())
  }

  private func first(_ jobs: Query<StoredJob>, _ db: Database) throws -> Date? {
    try jobs.order { $0.due }.select { $0.due }.fetchOne(db)
  }

  /// The jobs that run, but for those that this worker is known to run itself. Another one of its own may be of a claim
  /// whose answer was lost.
  private func leases(but ownJobs: [Int64?]) -> Query<StoredJob> {
    let running = StoredJob.filter { $0.state == .running }
    guard !ownJobs.isEmpty else { return running }
    return running.filter { !($0.worker == worker && $0.id.in(ownJobs)) }
  }

  /// A time that no limit has to open, unless a clock that was ahead has been set back: they wait for seconds.
  private static func farAhead(of now: Date) -> Date { now.addingTimeInterval(60) }

  func isReady(_ db: Database) throws -> Bool {
    try queues.contains { name in
      try StoredJob.filter { $0.state == .ready && $0.queue == name }.exists(db)
    }
  }

  /// A schedule's name, and why its job couldn't be put in.
  typealias Failure = (schedule: String, error: any Error)

  func run(_ db: Database, _ ownJobs: [Int64?]) throws -> [Failure] {
    let now = Date()
    _ = try StoredJob.filter { $0.state == .scheduled && $0.due <= now }.order { $0.due }
      .claim(db, limit: Self.most) { $0.state = .ready }
    try endLeases(but: ownJobs, now, db)
    try openLimits(now, db)
    try checkBatches(now, db)
    return try queue.schedules.compactMap { schedule in
      try schedule.enqueue(db, now).map { (schedule.name, $0) }
    }
  }

  /// Gives the jobs of killed workers to others. A job that has killed its worker each time is dead.
  ///
  /// This worker's own jobs aren't lost, however long it couldn't extend their leases. It wouldn't begin them again while
  /// they run, so that each claim would count an attempt without one, until the job is dead.
  private func endLeases(but ownJobs: [Int64?], _ now: Date, _ db: Database) throws {
    let lost = try leases(but: ownJobs).filter { $0.due <= now }.order { $0.due }
      .claim(db, limit: Self.most) { $0.due = .value(now) }
    for job in lost {
      let errors = job.errors(with: "its worker was lost", at: now)
      let isLast = job.attempts >= job.mostAttempts
      try StoredJob.filter { $0.id == job.id }.update(db) {
        $0.state = .value(isLast ? .dead : .ready)
        $0.worker = .value(nil)
        $0.errors = .value(errors)
      }
    }
  }

  private func openLimits(_ now: Date, _ db: Database) throws {
    let ahead = Self.farAhead(of: now)
    let open = try LimitState.filter { $0.opens <= now || $0.opens > ahead }.order { $0.opens }
      .claim(db, limit: 100) { $0.opens = .value(nil) }
    for limit in open {
      try LimitState.unblock(limit.key, max(1, limit.step), db)
      let isBlocked = try StoredJob.filter { $0.limit == limit.key && $0.state == .blocked }
        .exists(db)
      guard isBlocked else { continue }
      let next = now.addingTimeInterval(max(0.001, limit.pause))
      try LimitState.filter { $0.key == limit.key }.update(db) { $0.opens = .value(next) }
    }
    let old = now.addingTimeInterval(-Self.limitAge)
    try LimitState.filter {
      $0.used < old && $0.opens == nil && $0.free < now.timeIntervalSince1970
    }.delete(db)
  }

  /// Looks at batches anew now and then: a worker may have been killed between the last job's end and its note.
  private func checkBatches(_ now: Date, _ db: Database) throws {
    let next = now.addingTimeInterval(Self.batchPause)
    let waiting = try StoredJob.filter { $0.state == .waiting && $0.due <= now }.order { $0.due }
      .claim(db, limit: 100) {
        $0.due = .value(next)
        $0.worker = .value("")
      }
    try JobOutcome.endBatches(Set(waiting.compactMap(\.id)), db)
  }
}

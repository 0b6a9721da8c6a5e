import FoundationEssentials
import Larder

/// A job that a worker has claimed, with its value or the reason why there is none.
struct ClaimedJob: Sendable {
  let stored: StoredJob
  let job: Result<any Job, any Error>

  /// The limit that the job has now, which may be another one than when it was put in.
  var limit: JobLimit? {
    guard let limit = try? job.get().options.limit, limit.key == stored.limit else { return nil }
    return limit
  }

  /// The limit's key as databases compare it: Swift takes texts for equal whose bytes differ.
  var limitBytes: [UInt8] { Array((stored.limit ?? "").utf8) }

  /// Whether the job comes before another one of its queue.
  func isBefore(_ other: ClaimedJob) -> Bool {
    (stored.priority, stored.id ?? 0) < (other.stored.priority, other.stored.id ?? 0)
  }
}

/// Takes the first ready jobs of some queues, in one transaction.
///
/// A job whose limit has no room is set aside as blocked, and so is read once, not by each claim. The end of
/// another one of the limit makes it ready again.
struct JobClaim: Sendable {
  let queue: JobQueue
  let queues: [String]
  let worker: String
  let lease: TimeInterval
  var count: Int

  private static let mostRounds = 8

  /// The jobs, and whether there may be more that could be claimed at once.
  func run(_ db: Database) throws -> (jobs: [ClaimedJob], hasMore: Bool) {
    var jobs: [ClaimedJob] = []
    var rounds = 0
    for name in queues {
      while jobs.count < count {
        guard rounds < Self.mostRounds else { return (jobs, true) }
        let wanted = count - jobs.count
        let claimed = try take(wanted, of: name, db)
        jobs += try admitted(claimed, of: name, db)
        // An empty queue is no round: the claim has to get to the last one.
        if claimed.count < wanted { break }
        rounds += 1
      }
    }
    return (jobs, jobs.count == count)
  }

  private func take(_ count: Int, of name: String, _ db: Database) throws -> [ClaimedJob] {
    let ready = StoredJob.filter { $0.state == .ready && $0.queue == name }
    return try take(count, ready.order { ($0.priority, $0.id) }, db)
  }

  private func take(_ count: Int, _ jobs: Query<StoredJob>, _ db: Database) throws -> [ClaimedJob] {
    let now = Date()
    return try jobs.claim(db, limit: count) {
      $0.state = .running
      $0.due = .value(now.addingTimeInterval(lease))
      $0.attempts += 1
      $0.worker = .value(worker)
    }
    .map { stored in ClaimedJob(stored: stored, job: Result { try queue.job(stored) }) }
  }

  /// Those of the jobs whose limits have room, or others of a limit that have waited for it. Sets the rest aside.
  private func admitted(
    _ claimed: [ClaimedJob], of name: String, _ db: Database
  ) throws -> [ClaimedJob] {
    let limited = Dictionary(grouping: claimed.filter { $0.limit != nil }, by: \.limitBytes)
    guard !limited.isEmpty else { return claimed }
    var claimed = claimed
    var blocked: Set<Int64?> = []
    // In the order of the keys, in which all workers lock them: nobody waits for one who waits for him.
    for (_, jobs) in limited.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      guard let limit = jobs.first?.limit, let key = jobs.first?.stored.limit else { continue }
      let now = Date()
      var state = try LimitState.locked(key, now, db)
      let running = try StoredJob.filter { $0.limit == key && $0.state == .running }.fetchCount(db)
      let room = state.admit(jobs.count, limit, running: running - jobs.count, now)
      try state.update(db)
      // Without a time to open, none is blocked.
      let waiting = state.opens == nil ? [] : try waiting(key, room, before: jobs, of: name, db)
      claimed += waiting
      let first = (waiting + jobs).sorted { $0.isBefore($1) }
      blocked.formUnion(first.dropFirst(room).map(\.stored.id))
    }
    guard !blocked.isEmpty else { return claimed }
    let now = Date()
    try StoredJob.filter { $0.id.in(Array(blocked)) }.update(db) {
      $0.state = .blocked
      $0.due = .value(now)
      $0.attempts -= 1
      $0.worker = .value(nil)
    }
    return claimed.filter { !blocked.contains($0.stored.id) }
  }

  /// Takes the first blocked jobs of a limit and a queue, if they come before claimed ones: those that were put in later
  /// would overtake them again and again.
  private func waiting(
    _ key: String, _ count: Int, before jobs: [ClaimedJob], of name: String, _ db: Database
  ) throws -> [ClaimedJob] {
    guard count > 0, let last = jobs.last?.stored else { return [] }
    // The first of all queues, so that the query doesn't read all that wait in others.
    let first = try StoredJob.filter { $0.limit == key && $0.state == .blocked }
      .order { ($0.priority, $0.id) }.limit(count).select { ($0.id, $0.priority, $0.queue) }
      .fetchAll(db)
    let ids = first.filter { id, priority, queue in
      queue == name && (priority, id ?? 0) < (last.priority, last.id ?? 0)
    }.map(\.0)
    guard !ids.isEmpty else { return [] }
    return try take(count, StoredJob.filter { $0.id.in(ids) && $0.state == .blocked }, db)
  }
}

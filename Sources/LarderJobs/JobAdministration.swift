import FoundationEssentials
import Larder

/// What waits, runs and has failed in one queue.
public struct JobStatistics: Hashable, Sendable {
  /// The queue's name.
  public let queue: String
  /// The number of jobs in each state; none of states without any.
  public let counts: [StoredJob.State: Int]
  /// The time at which the first of the ready jobs was put in or became due; nil if none is ready. It tells
  /// how far the workers are behind.
  public let oldest: Date?
}

extension JobQueue {
  /// The figures of each queue that has jobs, in the order of their names. Counts all jobs.
  ///
  /// - Throws: `DatabaseError`.
  public static func statistics(_ db: Database) throws -> [JobStatistics] {
    let rows = try StoredJob.all.group { ($0.queue, $0.state) }
      .select { ($0.queue, $0.state, count(), $0.due.min()) }.fetchAll(db)
    return Dictionary(grouping: rows) { $0.0 }.map { queue, rows in
      JobStatistics(
        queue: queue, counts: Dictionary(rows.map { ($0.1, $0.2) }) { $0 + $1 },
        oldest: rows.first { $0.1 == .ready }?.3)
    }.sorted { $0.queue < $1.queue }
  }

  /// Has jobs that are dead or wait for their time run as soon as possible, with all attempts before them. Their
  /// errors stay.
  ///
  /// ```swift
  /// try JobQueue.retry(db, StoredJob.filter { $0.state == .dead && $0.name == SendMail.name })
  /// ```
  ///
  /// Returns how many that are. A dead job is left alone if an unfinished one has its ``JobOptions/unique`` key.
  /// Throws `DatabaseError`.
  @discardableResult
  public static func retry(_ db: Database, _ jobs: Query<StoredJob>) throws -> Int {
    let now = Date()
    var count = 0
    let found = try jobs.filter { $0.state.in([.dead, .scheduled]) }.order { $0.id }
      .fetchAll(db)
    for job in found {
      if job.state == .dead, let key = job.unique,
        try StoredJob.filter({ $0.unique == key && $0.state != .dead }).exists(db)
      {
        continue
      }
      count += try StoredJob.filter { $0.id == job.id && $0.state == job.state }.update(db) {
        $0.state = .ready
        $0.due = .value(now)
        $0.attempts = 0
      }
    }
    if count > 0 { try db.signal(WorkerSignals.channel, "") }
    return count
  }

  /// Removes jobs. A running one isn't interrupted at once: its task is cancelled when its worker looks at the
  /// lease, and its end counts for nothing.
  ///
  /// Returns how many that are. Throws `DatabaseError`.
  @discardableResult
  public static func remove(_ db: Database, _ jobs: Query<StoredJob>) throws -> Int {
    let removed = try jobs.deleted(db) { ($0.id, $0.batch) }
    try JobOutcome.endBatches(Set(removed.compactMap(\.1)), db)
    return removed.count
  }
}

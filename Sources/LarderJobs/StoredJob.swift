import FoundationEssentials
import Larder

/// A job in the database, for queries about what waits, runs and has failed.
///
/// ```swift
/// let dead = try StoredJob.filter { $0.state == .dead }.order { $0.id }.fetchAll(db)
/// ```
///
/// Finished jobs aren't there: they are deleted. Change rows only by ``JobQueue/retry(_:_:)`` and
/// ``JobQueue/remove(_:_:)``.
public struct StoredJob: Record, Equatable {
  /// The state of a job.
  public enum State: Int, DatabaseValueConvertible {
    /// It isn't due yet, or is to be retried later.
    case scheduled
    /// A worker can take it.
    case ready
    /// A worker has it.
    case running
    /// It waits for others of its limit.
    case blocked
    /// It has failed for the last time.
    case dead
    /// It waits for the end of its batch.
    case waiting
  }

  /// The job's number, which no other job ever gets.
  public internal(set) var id: Int64?
  /// The queue's name.
  public internal(set) var queue: String
  /// The state.
  public internal(set) var state: State
  /// Smaller numbers come first.
  public internal(set) var priority: Int
  /// When the job is due; the end of its lease while it runs; when it died.
  public internal(set) var due: Date
  /// The name of its type.
  public internal(set) var name: String
  /// The job as JSON.
  public internal(set) var payload: String
  /// How often it was begun.
  public internal(set) var attempts: Int
  /// How often it is begun at most.
  public internal(set) var mostAttempts: Int
  /// Its ``JobOptions/unique`` key.
  public internal(set) var unique: String?
  /// The key of its ``JobOptions/limit``.
  public internal(set) var limit: String?
  /// The id of the job that runs at the end of its batch.
  public internal(set) var batch: Int64?
  /// The worker that has it.
  public internal(set) var worker: String?
  /// Its last ten errors, each with its time; nil for none.
  public internal(set) var errors: [String]?
  /// When it was put in.
  public internal(set) var created: Date

  /// The columns, one for each property.
  public struct Columns: Sendable {
    // A number is never used again: workers know their jobs by it.
    /// The column of ``StoredJob/id``.
    public let id = Column("id", \StoredJob.id, .autoincrement)
    /// The column of ``StoredJob/queue``.
    public let queue = Column("queue", \StoredJob.queue)
    /// The column of ``StoredJob/state``.
    public let state = Column("state", \StoredJob.state)
    /// The column of ``StoredJob/priority``.
    public let priority = Column("priority", \StoredJob.priority)
    /// The column of ``StoredJob/due``.
    public let due = Column("due", \StoredJob.due, as: .unixMilliseconds)
    /// The column of ``StoredJob/name``.
    public let name = Column("name", \StoredJob.name)
    /// The column of ``StoredJob/payload``.
    public let payload = Column("payload", \StoredJob.payload)
    /// The column of ``StoredJob/attempts``.
    public let attempts = Column("attempts", \StoredJob.attempts)
    /// The column of ``StoredJob/mostAttempts``.
    public let mostAttempts = Column("mostAttempts", \StoredJob.mostAttempts)
    /// The column of ``StoredJob/unique``.
    public let unique = Column("unique", \StoredJob.unique)
    /// The column of ``StoredJob/limit``.
    public let limit = Column("limit", \StoredJob.limit)
    /// The column of ``StoredJob/batch``.
    public let batch = Column("batch", \StoredJob.batch)
    /// The column of ``StoredJob/worker``.
    public let worker = Column("worker", \StoredJob.worker)
    /// The column of ``StoredJob/errors``.
    public let errors = Column("errors", \StoredJob.errors, as: .json)
    /// The column of ``StoredJob/created``.
    public let created = Column("created", \StoredJob.created, as: .unixMilliseconds)
  }

  /// The columns.
  public static let columns = Columns()
  /// The table `larder_job`.
  ///
  /// Its first index has the ready jobs of a queue in their order: a claim reads its beginning, however many
  /// wait. Jobs that aren't due, or wait for others, are elsewhere in it.
  public static let table = Table(
    "larder_job", StoredJob.init, columns.id, columns.queue, columns.state, columns.priority,
    columns.due, columns.name, columns.payload, columns.attempts, columns.mostAttempts,
    columns.unique, columns.limit, columns.batch, columns.worker, columns.errors, columns.created,
    indexes: [
      .index(columns.state, columns.queue, columns.priority, columns.id, name: "larder_job_next"),
      .index(columns.state, columns.due, name: "larder_job_due"),
      .index(
        columns.unique, unique: true, where: "\"unique\" IS NOT NULL AND \"state\" <> 4",
        name: "larder_job_unique"),
      .index(
        columns.limit, columns.state, columns.priority, columns.id,
        where: "\"limit\" IS NOT NULL", name: "larder_job_limited"),
      .index(columns.batch, where: "\"batch\" IS NOT NULL", name: "larder_job_batch"),
    ])
}

extension StoredJob {
  init(_ name: String, _ payload: String, _ options: JobOptions, _ now: Date) {
    let due = options.due ?? now
    self.init(
      id: nil, queue: options.queue, state: due > now ? .scheduled : .ready,
      priority: options.priority, due: due, name: name, payload: payload, attempts: 0,
      mostAttempts: max(1, options.attempts), unique: options.unique, limit: options.limit?.key,
      batch: nil, worker: nil, errors: nil, created: now)
  }

  /// Inserts jobs, and one that waits for their end. Returns the id of that one.
  static func insert(
    _ jobs: [StoredJob], then last: (any Job)?, _ db: Database
  ) throws -> Int64? {
    var jobs = jobs
    var batch: StoredJob?
    if let last {
      var stored = try last.stored(Date())
      if !jobs.isEmpty { stored.state = .waiting }
      // As for any other job, nothing is put in if an unfinished one has its key.
      if try stored.insert(db, or: .ignore) {
        batch = stored
        for index in jobs.indices { jobs[index].batch = stored.id }
      }
    }
    let isUnique = jobs.contains { $0.unique != nil }
    try insert(db, contentsOf: jobs, or: isUnique ? .ignore : nil)
    try wakeWorkers(of: jobs + (batch.map { [$0] } ?? []), db)
    return batch?.id
  }

  /// The errors with one more, without what a server can't store.
  func errors(with error: String, at time: Date) -> [String] {
    let text = error.prefix(2_000).filter { $0 != "\0" }
    let line = "\(time.formatted(.iso8601)) attempt \(attempts): \(text)"
    return ((errors ?? []) + [line]).suffix(10)
  }
}

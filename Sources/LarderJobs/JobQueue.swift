import FoundationEssentials
import Larder

/// The workers of a program: they run the jobs that are stored in a database.
///
/// ```swift
/// let migrator = Migrator(JobQueue.migrations + myMigrations)
/// let jobs = JobQueue(pool, [SendMail.self, CountOrder.self])
/// let worker = Task { try await jobs.work() }
/// …
/// worker.cancel()              // takes no more jobs, and ends those that run
/// try await worker.value
/// ```
///
/// Any number of workers, in any number of processes, share the jobs of a file or a server. A worker leases the jobs
/// that it runs, and extends the lease while it lives. If it is killed, others run them once the lease is over.
///
/// While nothing is to be done, a worker waits. On SQLite it is woken by the commit that puts a job in, also one of
/// another process. On a server the commit notifies it, if any worker is idle; behind a pooler that doesn't keep a
/// connection for each client, it looks every ``JobWorkerOptions/poll``.
public final class JobQueue: Sendable {
  let store: any DatabaseAccess
  let types: [String: any Job.Type]
  private let allTypes: [any Job.Type]
  let schedules: [JobSchedule]

  /// - Parameters:
  ///   - store: the database with the jobs.
  ///   - types: the types of jobs that the workers run. A job of another type fails, and is retried later. A worker
  ///     refuses two types of one ``Job/name``.
  ///   - schedules: the jobs that the workers put in again and again. They have to be the same in all processes
  ///     that have any.
  public init(
    _ store: any DatabaseAccess, _ types: [any Job.Type], schedules: [JobSchedule] = []
  ) {
    self.store = store
    self.types = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
    self.schedules = schedules
    allTypes = types + schedules.map { type(of: $0.job) }
  }

  /// The migrations that make the tables of jobs, for the program's `Migrator`.
  public static let migrations = [
    Migration("larder jobs 1") { db in
      try StoredJob.table.create(db)
      try LimitState.table.create(db)
      try ScheduleState.table.create(db)
    }
  ]

  func job(_ stored: StoredJob) throws -> any Job {
    guard let type = types[stored.name] else { throw JobError.unknown(name: stored.name) }
    return try type.decoded(from: stored)
  }

  /// Throws if two types have the same name: jobs of one would run as the other, and count as done.
  func checkTypes() throws {
    for type in allTypes {
      guard let other = types[type.name], other != type else { continue }
      throw DatabaseError(
        code: .misuse,
        message: "two types of jobs are named “\(type.name)”: "
          + "give one of them a “static var name” of its own")
    }
  }
}

/// The settings of a worker.
public struct JobWorkerOptions: Sendable {
  /// How many jobs run at a time.
  public var concurrency = 16
  /// How long others leave a job alone after its worker was killed; it is extended three times as often while the
  /// worker lives. Clocks of different machines may differ by less than half of it.
  public var lease = Duration.seconds(60)
  /// How long jobs may still run once the worker's task was cancelled. Then theirs are, too.
  public var grace = Duration.seconds(30)
  /// The time between two looks for jobs of which no signal tells, and for leases that are over.
  public var poll = Duration.milliseconds(500)
  /// Is told of each failed attempt, for a log.
  public var onError: (@Sendable (StoredJob, any Error) -> Void)?
  /// Is told of what the worker itself can't do, for a log: the name of a schedule whose job couldn't be put in, or nil
  /// if the database couldn't be used. It is told again at each attempt, at intervals of up to about 2.5 seconds.
  public var onWorkerError: (@Sendable (_ schedule: String?, any Error) -> Void)?

  /// The defaults.
  public init() {}
}

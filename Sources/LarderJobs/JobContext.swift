import Larder
import Synchronization

/// A running job's surroundings.
public struct JobContext: Sendable {
  /// The database that the job is stored in.
  public let store: any DatabaseAccess
  /// The job's id, the same for all of its attempts.
  public let id: Int64
  /// The number of this attempt, from 1.
  public let attempt: Int
  let lease: JobLease

  /// A text that no other job of this database has, the same for all attempts: for systems elsewhere that recognize a
  /// repeated request by its key (`Idempotency-Key`). Another database has the same keys: put a text of the program's own
  /// before them if both use one system.
  public var key: String { "larder-job-\(id)" }

  /// Makes the job's changes in this database, and ends the job, in one transaction: it is done exactly once.
  /// What the job throws afterwards doesn't count.
  ///
  /// ```swift
  /// func run(_ context: JobContext) async throws {
  ///   try await context.complete { db in
  ///     try Order.filter { $0.id == order }.update(db) { $0.counted += 1 }
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: what the closure throws, and then nothing has changed; ``JobError/lost`` if another worker may
  ///   have the job; what `inTransaction` throws.
  @discardableResult
  public func complete<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws -> T {
    let job = lease.job
    lease.isCompleting.store(true, ordering: .releasing)
    defer { lease.isCompleting.store(false, ordering: .releasing) }
    let value = try await store.inTransaction { db in
      let ended = try StoredJob.filter {
        $0.id == job.id && $0.state == .running && $0.attempts == job.attempts
          && $0.worker == job.worker
      }.delete(db)
      guard ended == 1 else { throw JobError.lost }
      return try body(db)
    }
    lease.isComplete.store(true, ordering: .releasing)
    return value
  }
}

/// A claimed job, and whether it has ended itself.
final class JobLease: Sendable {
  let job: StoredJob
  let isComplete = Atomic<Bool>(false)
  /// Whether it is ending itself: then its row may be gone before ``isComplete`` is set.
  let isCompleting = Atomic<Bool>(false)

  init(_ job: StoredJob) { self.job = job }

  /// Whether another worker may have the job if its row isn't this worker's.
  var canBeLost: Bool {
    !isCompleting.load(ordering: .acquiring) && !isComplete.load(ordering: .acquiring)
  }
}

/// A reason why a job isn't done, beside the job's own errors.
public enum JobError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The job can't be done, and isn't to be retried: it is dead at once.
  case final(String)
  /// The job isn't this attempt's any more: its lease is over and another worker may have it, or it was ended or removed.
  case lost
  /// The job has run for longer than its ``JobOptions/timeLimit``.
  case timeLimit
  /// The worker knows no type of this name.
  case unknown(name: String)
  /// A text isn't a schedule.
  case schedule(String)

  /// The reason in a sentence.
  public var description: String {
    switch self {
    case .final(let reason): reason
    case .lost:
      "the job isn't this attempt's any more: its lease is over and another worker may have it, or it has ended, or was removed"
    case .timeLimit: "the job has run for longer than its time limit"
    case .unknown(let name): "this worker has no type of job named “\(name)”"
    case .schedule(let text): "“\(text)” isn't a schedule such as “30 3 * * 1-5”"
    }
  }
}

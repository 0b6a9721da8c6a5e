import FoundationEssentials
import Larder

/// A piece of work that is stored in the database, and done later by a worker, at least once.
///
/// ```swift
/// struct SendMail: Job {
///   var order: Int64
///   func run(_ context: JobContext) async throws { … }
/// }
///
/// try pool.inTransaction { db in
///   let order = try Order(id: nil, customer: "Ada").inserted(db)
///   try SendMail(order: order.id).enqueue(db)
/// }
/// ```
///
/// The job is committed or rolled back with the transaction that puts it in. A worker (``JobQueue``) that dies
/// while it runs leaves the job to another one, so a job may run again after it has had its effect: use
/// ``JobContext/complete(_:)`` for effects in this database, and ``JobContext/key`` for effects elsewhere.
public protocol Job: Codable, Sendable {
  /// The name by which workers find the type; the type's own name by default, without that of a type around it:
  /// `Mail.Send` and `Sms.Send` need names of their own. It is stored with each job: it has to stay the same while
  /// jobs of the type wait.
  static var name: String { get }
  /// How this job is to be run; the defaults of ``JobOptions`` unless the type says otherwise. They may depend
  /// on the job's values.
  var options: JobOptions { get }
  /// Does the work, outside of any transaction. An error has the job retried later. The task is cancelled at
  /// ``JobOptions/timeLimit``, and once the worker ends.
  ///
  /// - Throws: any error; ``JobError/final(_:)`` if the job isn't to be retried.
  func run(_ context: JobContext) async throws
}

extension Job {
  /// The type's own name.
  public static var name: String { "\(Self.self)" }
  /// The default options.
  public var options: JobOptions { JobOptions() }

  /// Puts the job into the database. Call it in the transaction that makes the job necessary.
  ///
  /// - `change`: changes the job's ``options`` for this time.
  ///
  /// Returns the job's id; nil if an unfinished job has the same ``JobOptions/unique`` key. Throws
  /// `DatabaseError` if the tables of ``JobQueue/migrations`` aren't there, and `EncodingError`; `ResultCode.misuse`
  /// if an option is changed that isn't stored: ``JobOptions/limit``, ``JobOptions/timeLimit`` and
  /// ``JobOptions/backOff`` are those of ``options``, which may depend on the job's values.
  @discardableResult
  public func enqueue(
    _ db: Database, _ change: (inout JobOptions) -> Void = { _ in }
  ) throws -> Int64? {
    var stored = try stored(Date(), change)
    if stored.unique == nil {
      try stored.insert(db)
    } else if try !stored.insert(db, or: .ignore) {
      return nil
    }
    try StoredJob.wakeWorkers(of: [stored], db)
    return stored.id
  }

  func stored(_ now: Date, _ change: (inout JobOptions) -> Void = { _ in }) throws -> StoredJob {
    let own = options
    var options = own
    options.hasOtherBackOff = false
    change(&options)
    guard options.limit == own.limit, options.timeLimit == own.timeLimit, !options.hasOtherBackOff
    else {
      throw DatabaseError(
        code: .misuse,
        message:
          "limit, timeLimit and backOff aren't stored with a job, so that enqueue can't change them: "
          + "let “options” of the type \(Self.self) say so, by the job's values")
    }
    let payload = String(decoding: try JSONEncoder().encode(self), as: UTF8.self)
    return StoredJob(Self.name, payload, options, now)
  }

  static func decoded(from stored: StoredJob) throws -> any Job {
    try JSONDecoder().decode(Self.self, from: Data(stored.payload.utf8))
  }
}

extension Sequence where Element: Job {
  /// Puts many jobs into the database, as `enqueue` of a single one does.
  ///
  /// - `then`: a job that is put in with them, and runs once all of them have ended: done, dead or removed.
  ///   They are its batch: ``StoredJob/batch`` of each is its id.
  /// - `change`: changes the options of each job.
  ///
  /// Returns the id of the job `then`; nil if there is none, or an unfinished job has its ``JobOptions/unique`` key: then
  /// the others are put in without it. Throws as `enqueue` of a job does.
  @discardableResult
  public func enqueue(
    _ db: Database, then last: (any Job)? = nil, _ change: (inout JobOptions) -> Void = { _ in }
  ) throws -> Int64? {
    try StoredJob.insert(map { try $0.stored(Date(), change) }, then: last, db)
  }
}

extension Sequence where Element == any Job {
  /// Puts jobs of different types into the database, as `enqueue` of jobs of one type does.
  @discardableResult
  public func enqueue(
    _ db: Database, then last: (any Job)? = nil, _ change: (inout JobOptions) -> Void = { _ in }
  ) throws -> Int64? {
    try StoredJob.insert(map { try $0.stored(Date(), change) }, then: last, db)
  }
}

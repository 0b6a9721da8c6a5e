import Foundation
import LarderMacros

/// A durable queue: a job is there when the change that asks for it is, and done once, whoever dies.
enum Jobs {
  static let lease: TimeInterval = 2
  static let maximumAttempts = 5

  static func enqueue(_ work: Work, due: Date = Date(), _ db: Database) throws {
    var job = Job(id: nil, work: work, due: due)
    try job.insert(db)
  }

  /// The job that is to be taken next; an index finds it, however many are done.
  static func due(_ now: Date) -> Query<Job> {
    Job.filter { $0.state.in([.waiting, .running]) && $0.due <= now }.order { ($0.due, $0.id) }
      .limit(1)
  }

  /// Takes the job that has been due for longest, or one whose worker is late and taken for dead.
  static func claim(_ access: any DatabaseAccess, _ worker: String) async throws -> Job? {
    try await access.inTransaction { db in
      let now = Date()
      return try due(now)
        .updated(db) {
          $0.state = .running
          $0.due = .value(now.addingTimeInterval(lease))
          $0.attempts += 1
          $0.worker = .value(worker)
        }
        .first
    }
  }

  /// Writes down what a job has done; false where another worker has it by now.
  static func finish(_ job: Job, _ access: any DatabaseAccess) async throws -> Bool {
    try await access.inTransaction { db in
      let count = try mine(job).update(db) {
        $0.state = .done
        $0.error = .value(nil)
      }
      guard count == 1, let id = job.id else { return false }
      var delivery = Delivery(job: id, worker: job.worker ?? "", attempt: job.attempts)
      try delivery.insert(db)
      return true
    }
  }

  /// Has a job tried again later, each time twice as late; gives up after some times.
  static func fail(_ job: Job, _ error: any Error, _ access: any DatabaseAccess) async throws {
    let message = "\(error)"
    let pause = 0.02 * pow(2, Double(job.attempts))
    let isLast = job.attempts >= maximumAttempts
    try await access.inTransaction { db in
      _ = try mine(job).update(db) {
        $0.state = .value(isLast ? .failed : .waiting)
        $0.due = .value(Date().addingTimeInterval(pause))
        $0.error = .value(message)
      }
    }
  }

  /// The job if it is still that of its worker and attempt.
  private static func mine(_ job: Job) -> Query<Job> {
    Job.filter {
      $0.id == job.id && $0.state == .running && $0.worker == job.worker
        && $0.attempts == job.attempts
    }
  }

  struct Failed: Error { var attempt: Int }

  /// Does what is to be done; outside of any transaction, since it may take time.
  static func perform(_ job: Job) async throws {
    switch job.work {
    case .notify: try await Task.sleep(for: .milliseconds(1))
    case .flaky(_, let until): if job.attempts < until { throw Failed(attempt: job.attempts) }
    case .poison: throw Failed(attempt: job.attempts)
    }
  }

  /// Works until `isEnding`, then ends what it has begun. Returns how many jobs it did.
  static func work(
    _ access: any DatabaseAccess, as worker: String, until isEnding: @Sendable () -> Bool
  ) async throws -> Int {
    var done = 0
    var pause = Duration.milliseconds(20)
    while !isEnding() {
      do {
        guard let job = try await claim(access, worker) else {
          try await Task.sleep(for: .milliseconds(20))
          continue
        }
        do {
          try await perform(job)
          if try await finish(job, access) { done += 1 }
        } catch let error as Failed {
          try await fail(job, error, access)
        }
        pause = .milliseconds(20)
      } catch let error as DatabaseError where error.code != .misuse && pause < .seconds(5) {
        // The database may be back soon. What was claimed and not finished is taken up when its lease ends.
        try await Task.sleep(for: pause)
        pause *= 2
      }
    }
    return done
  }

  /// How many jobs aren't done and may still be.
  static func left(_ access: any DatabaseAccess) async throws -> Int {
    try await access.read { db in
      try Job.filter { $0.state.in([.waiting, .running]) }.fetchCount(db)
    }
  }
}

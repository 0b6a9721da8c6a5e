/// Calls the bodies of jobs on one connection, and interrupts the one that runs when its task is
/// cancelled.
final class JobRunner: Sendable {
  private let running = Lock<(job: Job, sharesTransaction: Bool)?>(nil)

  /// Calls the body of a job on this thread. Where it shares its transaction with others, no statement of
  /// it that writes is interrupted: SQLite would roll back what all have written.
  func call(_ job: Job, _ database: Database, sharesTransaction: Bool = false) throws {
    guard job.isAsynchronous else { return try job.call(database) }
    running.withLock { $0 = (job, sharesTransaction) }
    let outcome = Result {
      guard !job.isCancelled.load(ordering: .relaxed) else { throw CancellationError() }
      guard sharesTransaction, let handle = database.connection.usableHandle else {
        return try job.call(database)
      }
      try database.connection.deadlines.endingReads(
        on: handle, when: { job.isCancelled.load(ordering: .relaxed) }
      ) { try job.call(database) }
    }
    running.withLock { $0 = nil }
    database.connection.unblock(.cancellation)
    if job.isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    try outcome.get()
  }

  /// Interrupts a job if it is the one that runs.
  func interrupt(_ job: Job, _ connection: Connection) {
    // Under the lock: the job can't end meanwhile, and the next one isn't interrupted.
    running.withLock { running in
      guard let running, running.job === job else { return }
      connection.block(.cancellation)
      if !running.sharesTransaction { connection.interruptHandle.interrupt() }
    }
  }
}

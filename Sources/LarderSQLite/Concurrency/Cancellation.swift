/// Cancellation of the scope that runs on a connection, when its task is cancelled.
final class Cancellation: Sendable {
  private let running = Lock<(task: WaitingTask, connection: Connection)?>(nil)

  /// Runs a scope for a task, from its beginning to its commit: wherever it is cancelled, in the body,
  /// waiting for the lock of another process, or in COMMIT, it is interrupted and undone. Throws
  /// `CancellationError` then; a scope that has committed all the same returns.
  func run(
    _ task: WaitingTask, on database: Database, _ scope: () throws -> Void
  ) throws {
    running.withLock { $0 = (task, database.connection) }
    let outcome = Result {
      try task.checkCancellation()
      try scope()
    }
    running.withLock { $0 = nil }
    database.connection.unblock(.cancellation)
    if case .failure = outcome { try task.checkCancellation() }
    try outcome.get()
  }

  /// Interrupts the scope of a task, if it is the one that runs.
  func cancel(_ task: WaitingTask) {
    // Under the lock: the scope can't end meanwhile, and the next one isn't interrupted.
    running.withLock { running in
      guard let running, running.task === task else { return }
      running.connection.block(.cancellation)
      running.connection.interruptHandle.interrupt()
    }
  }
}

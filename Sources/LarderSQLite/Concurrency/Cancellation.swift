import Dispatch

/// Cancels the scope that runs on a connection when the scope's task is cancelled.
final class Cancellation: Sendable {
  private let running = Lock<(task: WaitingTask, connection: Connection)?>(nil)

  /// Runs a task's scope so that cancelling the task interrupts and undoes it at any point: in the body,
  /// while it waits for another process's lock, or in COMMIT. Throws `CancellationError` then. A scope that
  /// has committed nevertheless returns, and one whose outcome is unknown throws the error that says so.
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
    if case .failure(let error) = outcome,
      (error as? DatabaseError)?.sqlState != SQLState.unknownOutcome
    {
      try task.checkCancellation()
    }
    try outcome.get()
  }

  /// Interrupts a task's scope if it is running, until it ends.
  func cancel(_ task: WaitingTask) {
    let isRunning = running.withLock { running in
      guard let running, running.task === task else { return false }
      running.connection.block(.cancellation)
      return true
    }
    if isRunning { interrupt(task, thenAfter: .milliseconds(1)) }
  }

  /// Interrupts the scope's running statement, again and again with exponential back-off.
  ///
  /// SQLite forgets an interrupt between two statements once the next one begins, and that one may have
  /// checked for a cancellation already. The rollback of the scope isn't interrupted. See
  /// [sqlite3_interrupt](https://www.sqlite.org/c3ref/interrupt.html).
  private func interrupt(_ task: WaitingTask, thenAfter pause: Duration) {
    // Under the lock: the scope can't end meanwhile, and the next one isn't interrupted.
    let isInterrupted = running.withLock { running in
      guard let running, running.task === task,
        running.connection.reasons.contains(.cancellation)
      else { return false }
      running.connection.interruptHandle.interrupt()
      return true
    }
    guard isInterrupted else { return }
    Self.queue.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
      self?.interrupt(task, thenAfter: min(pause * 2, .seconds(1)))
    }
  }

  /// A serial queue gets a thread even while those of the global queues are all busy.
  private static let queue = DispatchQueue(label: "Larder.Cancellation")
}

import Dispatch

/// Cancellation of the scope that runs on a connection, when its task is cancelled.
final class Cancellation: Sendable {
  private let running = Lock<(task: WaitingTask, connection: Connection)?>(nil)

  /// Runs a scope for a task, from its beginning to its commit: wherever it is cancelled, in the body,
  /// waiting for the lock of another process, or in COMMIT, it is interrupted and undone. Throws
  /// `CancellationError` then; a scope that has committed all the same returns, and one of which nobody knows
  /// throws what says so.
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

  /// Interrupts the scope of a task, if it is the one that runs, and again while it does.
  func cancel(_ task: WaitingTask) {
    let isRunning = running.withLock { running in
      guard let running, running.task === task else { return false }
      running.connection.block(.cancellation)
      return true
    }
    if isRunning { interrupt(task, thenAfter: .milliseconds(1)) }
  }

  /// Interrupts what runs of the scope, again and again with exponential back-off.
  ///
  /// SQLite forgets an interrupt that comes between two statements once the next one begins, and that one
  /// may have looked already whether it is to begin. What undoes the scope isn't interrupted.
  /// See [sqlite3_interrupt](https://www.sqlite.org/c3ref/interrupt.html).
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

  /// A serial queue: it has a thread when those of the global queues are all busy.
  private static let queue = DispatchQueue(label: "Larder.Cancellation")
}

/// The followers of a group commit: threads and tasks that wait for one sync.
final class SyncBatch: @unchecked Sendable {
  /// The futex on which the threads sleep. Incremented when they have to look again.
  let futex = Futex()
  var threadCount = 0
  var tasks: [Waiter] = []

  /// A task that waits for the sync.
  ///
  /// Sendable because its variables are touched under the lock of ``GroupCommit`` only.
  final class Waiter: @unchecked Sendable {
    let position: Int
    /// The end of its wait; nil for no limit.
    let deadline: Duration?
    var continuation: UnsafeContinuation<Void, any Error>?
    var isCancelled = false

    init(position: Int, deadline: Duration?) {
      self.position = position
      self.deadline = deadline
    }

    /// Resumes the task. Called without the lock, after the caller has taken the task out of its batch.
    func resume(with outcome: Result<Void, any Error> = .success(())) {
      continuation?.resume(with: outcome)
    }
  }

  var isWaiting: Bool { threadCount > 0 || !tasks.isEmpty }

  /// Wakes the threads, which then look again. The caller holds the lock.
  func wakeThreads() {
    if letThreadsLook() { futex.wake(.max) }
  }

  /// Makes threads that aren't asleep yet look again. Returns whether others have to be woken. The caller
  /// holds the lock and wakes them after releasing it, since they take it first.
  func letThreadsLook() -> Bool {
    futex.increment()
    return threadCount > 0
  }

  func takeTasks(where condition: (Waiter) -> Bool) -> [Waiter] {
    let taken = tasks.filter(condition)
    if !taken.isEmpty { tasks.removeAll(where: condition) }
    return taken
  }
}

import CSQLite
import Synchronization

/// The followers of a group commit: threads and tasks that wait for one sync.
final class SyncBatch: @unchecked Sendable {
  /// The futex on which the threads sleep. Incremented when they have to look again.
  let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
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

  init() { word.initialize(to: Atomic(0)) }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  var isWaiting: Bool { threadCount > 0 || !tasks.isEmpty }

  /// Wakes the threads, which then look again. The caller holds the lock.
  func wakeThreads() {
    if letThreadsLook() { larder_futex_wake(word, Int32.max) }
  }

  /// Makes threads that aren't asleep yet look again. Returns whether others have to be woken. The caller
  /// holds the lock and wakes them after releasing it, since they take it first.
  func letThreadsLook() -> Bool {
    word.pointee.add(1, ordering: .releasing)
    return threadCount > 0
  }

  func takeTasks(where condition: (Waiter) -> Bool) -> [Waiter] {
    let taken = tasks.filter(condition)
    if !taken.isEmpty { tasks.removeAll(where: condition) }
    return taken
  }
}

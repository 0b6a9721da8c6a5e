import CSQLite
import Synchronization

/// The followers of a group commit: threads and tasks that wait for one sync.
final class SyncBatch: @unchecked Sendable {
  /// The futex on which the threads sleep; goes up when there is something to look at.
  let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
  var threadCount = 0
  var tasks: [Waiter] = []

  /// A task that waits.
  ///
  /// What makes it Sendable: its variables are touched under the lock of ``GroupCommit`` only.
  final class Waiter: @unchecked Sendable {
    let position: Int
    /// Until when it waits; nil for as long as it takes.
    let deadline: Duration?
    var continuation: UnsafeContinuation<Void, any Error>?
    var isCancelled = false

    init(position: Int, deadline: Duration?) {
      self.position = position
      self.deadline = deadline
    }

    /// Has the task go on. Without the lock, by the one who has taken it out of its batch.
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

  func wake(_ count: Int32) {
    word.pointee.add(1, ordering: .releasing)
    if threadCount > 0 { larder_futex_wake(word, count) }
  }

  func takeTasks(where condition: (Waiter) -> Bool) -> [Waiter] {
    let taken = tasks.filter(condition)
    if !taken.isEmpty { tasks.removeAll(where: condition) }
    return taken
  }
}

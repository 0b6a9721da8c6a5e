import CSQLite
import Synchronization

/// The followers of a group commit: threads and tasks that wait for one sync.
final class SyncBatch: @unchecked Sendable {
  /// The futex on which the threads sleep; goes up when there is something to look at.
  let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)
  var threadCount = 0
  var tasks: [Waiter] = []

  /// A task that waits.
  struct Waiter {
    let position: Int
    let continuation: UnsafeContinuation<Void, any Error>
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

import Glibc

/// A mutex with the state that it guards.
///
/// It takes the place of `Mutex`, whose locking the thread sanitizer doesn't see on Linux: it would
/// report each access inside as a race, and real ones would be lost among them.
///
/// It is Sendable because the state is only touched under the lock, whose mutex has an address of
/// its own, as pthreads require.
package final class Lock<State>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  package init(_ state: sending State) {
    self.state = state
    mutex.initialize(to: pthread_mutex_t())
    // Waiters look for a moment before they sleep: what is guarded takes less time than to sleep and wake.
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls a closure with the state while holding the mutex.
  package func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }
}

import Glibc

/// A mutex with the state that it guards.
///
/// As `Mutex`, whose locking the thread sanitizer doesn't see on Linux: it would report each access
/// inside as a race, and real ones would be lost among them.
///
/// What makes it Sendable: the state is touched under the lock only, which has an address of its
/// own, as pthreads ask.
package final class Lock<State>: @unchecked Sendable {
  private var state: State
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  package init(_ state: sending State) {
    self.state = state
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls a closure while nobody else is in one.
  package func withLock<T>(_ body: (inout State) throws -> T) rethrows -> T {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state)
  }
}

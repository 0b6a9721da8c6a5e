import Glibc
import Synchronization

/// Fork detection: counts the forks between the process that started and this one.
///
/// SQLite connections must not be carried across a fork: both processes would believe to hold the
/// same locks ([How To Corrupt](https://www.sqlite.org/howtocorrupt.html#_carrying_an_open_database_connection_across_a_fork_)).
/// Asking for the process id costs a system call; a counter that fork itself raises costs a load.
package enum ProcessGeneration {
  private static let counter = Atomic<Int>(0)

  private static let isWatching: Bool = {
    pthread_atfork(nil, nil, { ProcessGeneration.counter.wrappingAdd(1, ordering: .relaxed) }) == 0
  }()

  package static var current: Int { counter.load(ordering: .relaxed) }

  /// The current generation. Counts forks from now on.
  package static func watch() -> Int {
    _ = isWatching
    return current
  }
}

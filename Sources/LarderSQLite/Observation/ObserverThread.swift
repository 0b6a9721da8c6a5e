/// The thread on which observers of a queue or pool wait and read, if their reads are brief: one that has thousands to
/// wake after a commit takes a core for them, and leaves the threads of all tasks to those who write.
final class ObserverThread: TaskExecutor {
  /// Whose reads take longer, in nanoseconds, reads as other tasks do, since the others would have to wait.
  static let longest = 100_000

  private let thread = StandbyThread(idleTime: .seconds(10))

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Has the thread call a closure.
  func run(_ job: @escaping @Sendable () -> Void) { thread.run(job) }
}

/// The thread on which the observers of a queue or pool wait and read, if their reads are brief. Waking
/// thousands of them after a commit then takes one core, and leaves the task threads to the writers.
final class ObserverThread: TaskExecutor {
  /// The longest read that still runs here, in nanoseconds. Observers with longer reads use the ordinary task
  /// threads, so that the others needn't wait for them.
  static let longest = 100_000

  private let thread = StandbyThread(idleTime: .seconds(10))

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    thread.run { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Calls a closure on the thread, after the jobs that it has by now.
  func run(_ job: @escaping @Sendable () -> Void) { thread.run(job) }

  /// Calls a closure on the thread at a time, in nanoseconds of the ``MonotonicClock``, or later.
  func run(at time: Int, _ job: @escaping @Sendable () -> Void) { thread.run(at: time, job) }
}

import Dispatch
import Glibc

/// A thread that stands by for jobs, and ends when there has been none for a second.
///
/// Handing a job over and waiting for it takes 10 µs for the change of threads; a dispatch queue takes 35.
/// Dispatch looks for a thread first, and its threads look for other work before they sleep.
///
/// Sendable because it has no state except the futex, and what its lock guards.
final class StandbyThread: @unchecked Sendable {
  typealias Work = @Sendable () -> Void

  private let state = Lock(State())
  /// The thread sleeps on it. Incremented with each job.
  private let futex = Futex()

  private struct State {
    var jobs: [Work] = []
    /// The job that is to run later, if any.
    var timer: (time: Int, job: Work)?
    var isRunning = false
    /// Whether the thread sleeps, or is about to, so that a new job has to wake it.
    var isAsleep = false
  }

  private let idleTime: Int

  /// - Parameter idleTime: the time without a job after which the thread ends.
  init(idleTime: Duration = .seconds(1)) { self.idleTime = idleTime.inNanoseconds }

  /// Queues a job for the thread (FIFO).
  func run(_ job: @escaping Work) { run { $0.jobs.append(job) } }

  /// Has the thread run a job at a time, in nanoseconds of the ``MonotonicClock``, or later. There is one such
  /// job at a time: this one takes the place of another.
  func run(at time: Int, _ job: @escaping Work) { run { $0.timer = (time, job) } }

  private func run(_ change: (inout State) -> Void) {
    let (starts, wakes) = state.withLock { state in
      change(&state)
      defer { (state.isRunning, state.isAsleep) = (true, false) }
      return (!state.isRunning, state.isAsleep)
    }
    if starts { return start() }
    guard wakes else { return }
    futex.increment()
    futex.wake()
  }

  private func start() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 * 1024)
    // Signals are handled by the program's own threads: a new thread inherits the mask of the one that starts
    // it.
    var all = sigset_t()
    var former = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let code = pthread_create(&thread, &attributes, Self.body, context.toOpaque())
    guard code != 0 else { return }
    context.release()
    // If no thread can be created, one of Dispatch's does the work.
    DispatchQueue.global().async { self.work() }
  }

  /// The thread's function: takes over the reference that ``start()`` has made.
  private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    context in
    if let context { Unmanaged<StandbyThread>.fromOpaque(context).takeRetainedValue().work() }
    return nil
  }

  private func work() {
    while var jobs = next() {
      // Each job is released once it has ended, and not only after the last one.
      jobs.reverse()
      while let job = jobs.popLast() { job() }
    }
  }

  /// All jobs that wait; nil when the thread is to end.
  private func next() -> [Work]? {
    let end = MonotonicClock.nanoseconds &+ idleTime
    while true {
      let value = futex.value
      let now = MonotonicClock.nanoseconds
      let (jobs, ends, wakeUp): ([Work], Bool, Int) = state.withLock { state in
        state.isAsleep = false
        if !state.jobs.isEmpty {
          defer { state.jobs = [] }
          return (state.jobs, false, 0)
        }
        if let timer = state.timer {
          state.isAsleep = now < timer.time
          if state.isAsleep { return ([], false, timer.time) }
          state.timer = nil
          return ([timer.job], false, 0)
        }
        state.isRunning = now < end
        state.isAsleep = state.isRunning
        return ([], !state.isRunning, end)
      }
      if !jobs.isEmpty { return jobs }
      if ends { return nil }
      futex.wait(while: value, nanoseconds: wakeUp &- now)
    }
  }
}

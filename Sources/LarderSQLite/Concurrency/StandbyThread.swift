import CSQLite
import Dispatch
import Glibc
import Synchronization

/// A thread that stands by for jobs, and ends when there has been none for a second.
///
/// A caller that hands a job over and waits for it pays 10 µs for the change of threads, where a dispatch queue takes
/// 35: that looks for a thread first, and its threads look for other work before they sleep.
///
/// What makes it Sendable: it has no state but the futex's word, an atomic, and what its lock guards.
final class StandbyThread: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  private let state = Lock(State())
  /// The futex on which the thread sleeps; goes up with each job.
  private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

  private struct State {
    var jobs: [Job] = []
    var isRunning = false
  }

  private let idleTime: Int

  /// - Parameter idleTime: after how much time without a job the thread ends.
  init(idleTime: Duration = .seconds(1)) {
    self.idleTime = Int(idleTime.inNanoseconds)
    word.initialize(to: Atomic(0))
  }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  /// Has the thread call a closure, after those that it was given before.
  func run(_ job: @escaping Job) {
    let starts = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    word.pointee.add(1, ordering: .releasing)
    if starts { start() } else { larder_futex_wake(word, 1) }
  }

  private func start() {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 * 1024)
    // A program's signals are handled by its own threads: a new one inherits the mask of the one that starts it.
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
    // Where there can't be another thread, one of Dispatch's does it.
    DispatchQueue.global().async { self.work() }
  }

  /// The thread's function: takes over the reference that ``start()`` has made.
  private static let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    context in
    if let context { Unmanaged<StandbyThread>.fromOpaque(context).takeRetainedValue().work() }
    return nil
  }

  private func work() {
    while let job = next() { job() }
  }

  /// The next job; nil when the thread is to end.
  private func next() -> Job? {
    let end = MonotonicClock.nanoseconds &+ idleTime
    while true {
      let value = word.pointee.load(ordering: .acquiring)
      let left = Int64(end &- MonotonicClock.nanoseconds)
      let (job, ends): (Job?, Bool) = state.withLock { state in
        if !state.jobs.isEmpty { return (state.jobs.removeFirst(), false) }
        if left <= 0 { state.isRunning = false }
        return (nil, left <= 0)
      }
      if let job { return job }
      if ends { return nil }
      larder_futex_wait(word, value, left)
    }
  }
}

import CSQLite
import Dispatch
import Synchronization

/// A caller in a ``WaitQueue``: a thread that sleeps, or a task whose job waits to be run.
///
/// Sendable because its variables are touched under the lock of its queue only, or by the caller before it
/// has joined the queue and after it has left it.
class WaitingScope: ListElement, @unchecked Sendable {
  var links = ListLinks<WaitingScope>()
  /// Whether the caller was told to compete for what it waits for.
  var isAwake = false
  /// The connection that the caller was given, in a pool.
  var slot: PooledConnection?
  /// The beginning of the wait, on the ``MonotonicClock``.
  let start = MonotonicClock.now

  var asTask: WaitingTask? { nil }
}

/// A thread that sleeps on a futex until it is told to go on.
final class WaitingThread: WaitingScope, @unchecked Sendable {
  /// The last signal to the thread.
  private let signal = Futex()

  /// A signal to a thread.
  enum Signal: UInt32 {
    case none = 0
    /// The thread has to compete for what it waits for.
    case awake
    /// The thread has what it waited for.
    case granted
  }

  /// Sets the signal, under the lock of the queue. ``wake()`` follows outside of it.
  func tell(_ new: Signal) { signal.store(new.rawValue) }

  func wake() { signal.wake() }

  /// Sleeps for a time, or until there is another signal than `awake`.
  func pause(for time: Duration) {
    signal.wait(while: Signal.awake.rawValue, nanoseconds: time.inNanoseconds)
  }

  /// Sleeps until there is a signal, or the time is up (`.none`).
  func sleep(until deadline: Duration) -> Signal {
    while true {
      if let new = Signal(rawValue: signal.value), new != .none { return new }
      let left = deadline - MonotonicClock.now
      guard left > .zero else { return .none }
      signal.wait(while: Signal.none.rawValue, nanoseconds: left.inNanoseconds)
    }
  }
}

/// A task that waits for its scope, and the executor that its closure then runs on. The job keeps the task's
/// locals, priority and cancellation. The scheduler chooses the thread, which is never one of the cooperative
/// pool, nor another caller's.
///
/// See [TaskExecutor](https://developer.apple.com/documentation/swift/taskexecutor).
final class WaitingTask: WaitingScope, TaskExecutor, @unchecked Sendable {
  private let scheduler: any TaskScheduler
  private var job: UnownedJob?
  private let hasRun = Atomic<Bool>(false)
  private let cancelled = Atomic<Bool>(false)
  /// The error if the scope is refused, set before the job runs.
  private(set) var refusal: (any Error)?

  init(_ scheduler: any TaskScheduler) {
    self.scheduler = scheduler
    super.init()
  }

  override var asTask: WaitingTask? { self }

  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Called by the runtime, once: the operation is a single job.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard !hasRun.load(ordering: .relaxed) else {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      return
    }
    self.job = job
    // Once in the queue, the task may run, end and release this object before the call returns.
    let reference = Unmanaged.passRetained(self)
    scheduler.submit(self)
    reference.release()
  }

  /// Runs the task's closure on this thread.
  func run() {
    hasRun.store(true, ordering: .relaxed)
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Refuses the scope: the task's job runs on a global queue, and throws the error.
  func refuse(_ error: any Error) {
    refusal = error
    let isFirst = Self.refused.withLock { refused in
      refused.append(self)
      return refused.count == 1
    }
    // One work item for all refused tasks: 40,000 that are cancelled at once would otherwise take as many
    // items.
    if isFirst { DispatchQueue.global().async { Self.runRefused() } }
  }

  private static let refused = Lock<[WaitingTask]>([])

  private static func runRefused() {
    let tasks = refused.withLock { refused in
      defer { refused = [] }
      return refused
    }
    for task in tasks { task.run() }
  }
}

/// A scheduler of tasks' closures, each of which runs once it has what it waits for.
protocol TaskScheduler: AnyObject, Sendable {
  /// How long a scope may wait.
  var timeout: Duration { get }
  /// Schedules a task's closure to run once it has what it waits for.
  func submit(_ task: WaitingTask)
  /// Refuses the tasks that have waited too long, and returns whether others wait.
  func refuseLate() -> Bool
}

extension TaskScheduler {
  /// Refuses the tasks that have waited too long, again and again while any wait.
  func sweepLater() {
    DispatchQueue.global(qos: .utility).repeats(after: min(timeout, .milliseconds(250))) {
      [weak self] in self?.refuseLate() ?? false
    }
  }
}

extension DispatchQueue {
  /// Calls a closure after a pause, again and again while it returns true.
  package func repeats(after pause: Duration, _ body: @escaping @Sendable () -> Bool) {
    asyncAfter(deadline: .now() + pause.dispatchInterval) {
      if body() { self.repeats(after: pause, body) }
    }
  }
}

extension Duration {
  /// The duration for Dispatch: at least zero and at most about a century, so that sums don't overflow.
  package var dispatchInterval: DispatchTimeInterval {
    .nanoseconds(Int(min(max(self, .zero) / .nanoseconds(1), 3e18)))
  }
}

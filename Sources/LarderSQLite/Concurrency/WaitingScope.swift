import CSQLite
import Dispatch
import Synchronization

/// A caller in a ``WaitQueue``: a thread that sleeps, or a task whose job waits to be run.
///
/// What makes it Sendable: its variables are touched under the lock of its queue only, or by the caller
/// before it has joined the queue and after it has left it.
class WaitingScope: @unchecked Sendable {
  var next: WaitingScope?
  /// Unowned: the queue keeps all of its scopes by ``next``.
  unowned(unsafe) var previous: WaitingScope?
  var isQueued = false
  /// Whether it has been told to compete for what it waits for.
  var isAwake = false
  /// The reader that it was given, in a pool.
  var reader: Reader?
  /// When it began to wait, on the ``MonotonicClock``.
  let start: Duration

  init(start: Duration = MonotonicClock.now) { self.start = start }

  var asTask: WaitingTask? { nil }
}

/// A thread that sleeps on a futex until it is told to go on.
final class WaitingThread: WaitingScope, @unchecked Sendable {
  /// What the thread has been told; the futex's word.
  private let word = UnsafeMutablePointer<Atomic<UInt32>>.allocate(capacity: 1)

  /// What a thread is told.
  enum Signal: UInt32 {
    case none
    /// To compete for what it waits for.
    case awake
    /// That it has it.
    case granted
  }

  init() {
    word.initialize(to: Atomic(Signal.none.rawValue))
    super.init()
  }

  deinit {
    word.deinitialize(count: 1)
    word.deallocate()
  }

  /// Says what to do, under the lock of the queue. ``wake()`` follows outside of it.
  func tell(_ signal: Signal) { word.pointee.store(signal.rawValue, ordering: .releasing) }

  func wake() { larder_futex_wake(word, 1) }

  /// Sleeps for a time, or until it is told something else than to compete.
  func pause(for time: Duration) {
    larder_futex_wait(word, Signal.awake.rawValue, Int64(time.inNanoseconds))
  }

  /// Sleeps until it is told something, or the time is up (`.none`).
  func sleep(until deadline: Duration) -> Signal {
    while true {
      if let signal = Signal(rawValue: word.pointee.load(ordering: .acquiring)), signal != .none {
        return signal
      }
      let left = deadline - MonotonicClock.now
      guard left > .zero else { return .none }
      larder_futex_wait(word, Signal.none.rawValue, Int64(left.inNanoseconds))
    }
  }
}

/// A task that waits for its scope, as the executor on which its closure then runs: the job keeps the
/// task's locals, priority and cancellation, and whoever schedules it chooses the thread, which is never
/// one of the cooperative pool, nor another caller's.
///
/// See [TaskExecutor](https://developer.apple.com/documentation/swift/taskexecutor).
final class WaitingTask: WaitingScope, TaskExecutor, @unchecked Sendable {
  private let scheduler: any TaskScheduler
  private var job: UnownedJob?
  private let hasRun = Atomic<Bool>(false)
  private let cancelled = Atomic<Bool>(false)
  /// Why it gets nothing, set before its job runs.
  private(set) var refusal: (any Error)?

  init(_ scheduler: any TaskScheduler) {
    self.scheduler = scheduler
    super.init()
  }

  override var asTask: WaitingTask? { self }

  /// Whether its task was cancelled.
  var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  func cancel() { cancelled.store(true, ordering: .relaxed) }

  /// Called by the task's runtime once: what the operation does is one job.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard !hasRun.load(ordering: .relaxed) else {
      DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
      return
    }
    self.job = job
    // Once it is in the queue it may run, end and be let go of by its task, before this returns.
    let reference = Unmanaged.passRetained(self)
    scheduler.submit(self)
    reference.release()
  }

  /// Runs the task's closure on this thread.
  func run() {
    hasRun.store(true, ordering: .relaxed)
    job?.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs the rest of the task elsewhere, which throws this.
  func refuse(_ error: any Error) {
    refusal = error
    let isFirst = Self.refused.withLock { refused in
      refused.append(self)
      return refused.count == 1
    }
    // One work item for all: 40,000 that are cancelled at once would take as many.
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

/// Who runs the closures of tasks, each once it has what it waits for.
protocol TaskScheduler: AnyObject, Sendable {
  /// How long a scope may wait.
  var timeout: Duration { get }
  /// Has a task's closure run once it has what it waits for.
  func submit(_ task: WaitingTask)
  /// Refuses those tasks that have waited too long, and says whether others wait.
  func refuseLate() -> Bool
}

extension TaskScheduler {
  /// Looks for tasks that have waited too long, again and again while any wait.
  func sweepLater() {
    let pause = min(timeout, .milliseconds(250))
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + pause.dispatchInterval) {
      [weak self] in
      if let self, self.refuseLate() { self.sweepLater() }
    }
  }
}

extension Duration {
  /// The same for waiting: no less than nothing and no more than a century, which sums can hold.
  var dispatchInterval: DispatchTimeInterval {
    .nanoseconds(Int(min(max(self, .zero) / .nanoseconds(1), 3e18)))
  }
}

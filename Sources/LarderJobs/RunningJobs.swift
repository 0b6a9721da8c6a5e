import Larder
import Synchronization

/// The running jobs of a worker: their tasks, and what has ended and isn't written yet.
final class RunningJobs: Sendable {
  /// Rings when there is something to do.
  let bells: AsyncStream<Void>
  private let bell: AsyncStream<Void>.Continuation
  private let state = Mutex(State())
  private let grace: Duration

  /// The reason why a job's task was cancelled.
  enum Reason: Sendable { case none, timeLimit, ending, lost }

  private struct State {
    var jobs: [Int64: RunningJob] = [:]
    var outcomes: [JobOutcome] = []
    /// Whether outcomes are being written.
    var isWriting = false
    /// Whether a claim may find something.
    var mayClaim = true
    /// Whether a job may have come since the last claim began, which then hasn't seen it.
    var isRung = false
    var isObserving = false
    /// When the grace is over; nil if the worker wasn't told to end.
    var ending: ContinuousClock.Instant?
    /// Enforces the limits at the time; nil if there are none.
    var timer: (task: Task<Void, Never>, time: ContinuousClock.Instant)?
  }

  private struct RunningJob {
    let task: Task<Void, Never>
    let limit: ContinuousClock.Instant
    let lease: JobLease
    var reason = Reason.none

    mutating func cancel(for reason: Reason) {
      guard self.reason == .none else { return }
      self.reason = reason
      task.cancel()
    }
  }

  /// - Parameter grace: how long jobs may run once the worker was told to end.
  init(_ grace: Duration) {
    (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.grace = grace
  }

  deinit { state.withLock { $0.timer?.task.cancel() } }

  func ring() { bell.yield() }

  /// Begins a job's task.
  func start(
    _ id: Int64, _ lease: JobLease, _ timeLimit: Duration,
    _ body: @escaping @Sendable (_ reason: () -> Reason) async -> JobOutcome
  ) {
    // A limit of centuries would overflow.
    let limit = ContinuousClock.now + min(max(timeLimit, .zero), .seconds(1 << 32))
    state.withLock { state in
      // It is ours already, and its lease was over for a moment.
      guard state.jobs[id] == nil else { return }
      let task = Task {
        let outcome = await body { self.reason(for: id) }
        self.end(id, outcome)
      }
      state.jobs[id] = RunningJob(task: task, limit: limit, lease: lease)
      setTimer(min(limit, state.ending ?? limit), &state)
    }
  }

  private func reason(for id: Int64) -> Reason { state.withLock { $0.jobs[id]?.reason ?? .none } }

  private func end(_ id: Int64, _ outcome: JobOutcome) {
    state.withLock {
      $0.jobs[id] = nil
      $0.outcomes.append(outcome)
    }
    ring()
  }

  // MARK: The loop

  /// Whether the worker was told to end, and has nothing left to do.
  var isOver: Bool {
    state.withLock { $0.ending != nil && $0.jobs.isEmpty && $0.outcomes.isEmpty }
  }

  var hasJobs: Bool { state.withLock { !$0.jobs.isEmpty } }

  /// Whether the end of a job isn't written yet.
  var hasOutcomes: Bool { state.withLock { !$0.outcomes.isEmpty || $0.isWriting } }

  var isEnding: Bool { state.withLock { $0.ending != nil } }

  func end() {
    state.withLock { state in
      guard state.ending == nil else { return }
      let time = ContinuousClock.now + min(grace, .seconds(1 << 32))
      state.ending = time
      setTimer(time, &state)
    }
    ring()
  }

  func takeOutcomes() -> [JobOutcome] {
    state.withLock { state in
      defer { state.outcomes = [] }
      state.isWriting = !state.outcomes.isEmpty
      return state.outcomes
    }
  }

  /// Notes that outcomes are written, but for some that couldn't be.
  func endWriting(but outcomes: [JobOutcome] = []) {
    state.withLock {
      $0.outcomes += outcomes
      $0.isWriting = false
    }
  }

  /// How many jobs to claim now.
  func room(_ concurrency: Int) -> Int {
    state.withLock { state in
      guard state.mayClaim, state.ending == nil, state.jobs.count < concurrency else { return 0 }
      state.isRung = false
      return concurrency - state.jobs.count
    }
  }

  func hasWork(_ concurrency: Int) -> Bool {
    state.withLock {
      !$0.outcomes.isEmpty
        || $0.mayClaim && $0.ending == nil && $0.jobs.count < concurrency
    }
  }

  /// Whether another job could run.
  func hasRoom(_ concurrency: Int) -> Bool {
    state.withLock { $0.ending == nil && $0.jobs.count < concurrency }
  }

  func noteClaim(hasMore: Bool) { state.withLock { $0.mayClaim = hasMore || $0.isRung } }

  /// Notes that ready jobs are observed from now on; false if they are already, or there is no room for any.
  func beginsObserving(_ concurrency: Int) -> Bool {
    state.withLock { state in
      guard !state.isObserving, state.ending == nil, state.jobs.count < concurrency else {
        return false
      }
      state.isObserving = true
      return true
    }
  }

  func endObserving() {
    state.withLock {
      $0.isObserving = false
      $0.mayClaim = true
      $0.isRung = true
    }
    ring()
  }

  // MARK: Limits

  /// The jobs whose leases are to be extended. A task that goes on long after it was cancelled loses its job.
  func leased(_ lease: Duration) -> [Int64?] {
    let now = ContinuousClock.now
    return state.withLock { $0.jobs.filter { now < $0.value.limit + lease }.map(\.key) }
  }

  /// The jobs that this worker runs, or whose end it hasn't written: they aren't lost.
  var ownJobs: [Int64?] {
    state.withLock { $0.jobs.map(\.key) + $0.outcomes.map(\.stored.id) }
  }

  /// Cancels jobs that others have by now. One that has ended itself has lost its row, and goes on.
  func cancelLost(_ ids: [Int64]) {
    state.withLock { state in
      for id in ids where state.jobs[id]?.lease.canBeLost == true {
        state.jobs[id]?.cancel(for: .lost)
      }
    }
  }

  func cancelAll() {
    state.withLock { for id in $0.jobs.keys { $0.jobs[id]?.cancel(for: .ending) } }
  }

  /// Has the limits enforced at a time, beside the worker's loop: that may wait for the database.
  private func setTimer(_ time: ContinuousClock.Instant, _ state: inout State) {
    if let timer = state.timer {
      guard time < timer.time else { return }
      timer.task.cancel()
    }
    let task = Task { [weak self] in
      if (try? await Task.sleep(until: time)) != nil { self?.enforceLimits() }
    }
    state.timer = (task, time)
  }

  /// Cancels the jobs whose time is over.
  private func enforceLimits() {
    let now = ContinuousClock.now
    state.withLock { state in
      state.timer = nil
      let isOver = state.ending.map { $0 <= now } ?? false
      for (id, job) in state.jobs {
        if job.limit <= now { state.jobs[id]?.cancel(for: .timeLimit) }
        if isOver { state.jobs[id]?.cancel(for: .ending) }
      }
      var limits = state.jobs.values.filter { $0.reason == .none }.map(\.limit)
      if let ending = state.ending, !isOver { limits.append(ending) }
      if let next = limits.min() { setTimer(next, &state) }
    }
  }
}

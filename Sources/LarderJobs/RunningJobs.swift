import Larder
import Synchronization

/// The running jobs of a worker: their tasks, and what has ended and isn't written yet.
final class RunningJobs: Sendable {
  /// Rings when there is something to do.
  let bells: AsyncStream<Void>
  private let bell: AsyncStream<Void>.Continuation
  private let state = Mutex(State())

  /// The reason why a job's task was cancelled.
  enum Reason: Sendable { case none, timeLimit, ending, lost }

  private struct State {
    var jobs: [Int64: RunningJob] = [:]
    var outcomes: [JobOutcome] = []
    /// Whether a claim may find something.
    var mayClaim = true
    /// Whether a job may have come since the last claim began, which then hasn't seen it.
    var isRung = false
    var isObserving = false
    /// When the worker was told to end; nil if it wasn't.
    var ending: ContinuousClock.Instant?
  }

  private struct RunningJob {
    let task: Task<Void, Never>
    let began: ContinuousClock.Instant
    let limit: ContinuousClock.Instant
    var reason = Reason.none

    mutating func cancel(for reason: Reason) {
      guard self.reason == .none else { return }
      self.reason = reason
      task.cancel()
    }
  }

  init() { (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

  func ring() { bell.yield() }

  /// Begins a job's task.
  func start(
    _ id: Int64, _ timeLimit: Duration,
    _ body: @escaping @Sendable (_ reason: () -> Reason) async -> JobOutcome
  ) {
    let began = ContinuousClock.now
    // A limit of centuries would overflow.
    let limit = began + min(max(timeLimit, .zero), .seconds(1 << 32))
    state.withLock { state in
      // It is ours already, and its lease was over for a moment.
      guard state.jobs[id] == nil else { return }
      let task = Task {
        let outcome = await body { self.reason(for: id) }
        self.end(id, outcome)
      }
      state.jobs[id] = RunningJob(task: task, began: began, limit: limit)
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

  var isEnding: Bool { state.withLock { $0.ending != nil } }

  func end() {
    state.withLock { $0.ending = $0.ending ?? .now }
    ring()
  }

  func takeOutcomes() -> [JobOutcome] {
    state.withLock { state in
      defer { state.outcomes = [] }
      return state.outcomes
    }
  }

  func giveBack(_ outcomes: [JobOutcome]) { state.withLock { $0.outcomes += outcomes } }

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

  func cancelLost(_ ids: [Int64]) {
    state.withLock { for id in ids { $0.jobs[id]?.cancel(for: .lost) } }
  }

  func cancelAll() {
    state.withLock { for id in $0.jobs.keys { $0.jobs[id]?.cancel(for: .ending) } }
  }

  /// Cancels the jobs whose time is over.
  func enforceLimits(_ grace: Duration) {
    let now = ContinuousClock.now
    let isOver = state.withLock { state in
      for (id, job) in state.jobs where job.reason == .none && job.limit <= now {
        state.jobs[id]?.cancel(for: .timeLimit)
      }
      return state.ending.map { $0 + grace <= now } ?? false
    }
    if isOver { cancelAll() }
  }

  /// The time of the next such limit.
  func nextLimit(_ grace: Duration) -> ContinuousClock.Instant {
    state.withLock { state in
      var next = ContinuousClock.now + .seconds(3_600)
      for job in state.jobs.values where job.reason == .none { next = min(next, job.limit) }
      if let ending = state.ending, state.jobs.values.contains(where: { $0.reason == .none }) {
        next = min(next, ending + grace)
      }
      return next
    }
  }
}

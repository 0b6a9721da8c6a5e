import Dispatch

/// A line of jobs for several threads, out of which those go that have waited for too long.
final class Line: Sendable {
  private let state = Lock(State())
  let timeout: Duration
  /// What the line is for, in the error of those who don't get it.
  private let purpose: String

  private struct State {
    var waiting = WaitingLine()
    var isSweeping = false
  }

  /// How long a task that was created in a scope may wait for that scope to end. A body that waits
  /// for such a task would never end by itself.
  private static let patience = Duration.seconds(1)

  /// How the error begins, by which it differs from a lock of another process.
  static let timeoutMessage = "waited longer"

  init(timeout: Duration, purpose: String) {
    self.timeout = timeout
    self.purpose = purpose
  }

  /// How many jobs wait now.
  var count: Int { state.withLock { $0.waiting.count } }

  /// Changes the line; whatever else must change with it can change inside.
  func change<T>(_ body: (inout WaitingLine) -> T) -> T {
    state.withLock { state in
      let result = body(&state.waiting)
      if !state.isSweeping, state.waiting.hasAsynchronous {
        state.isSweeping = true
        sweepLater()
      }
      return result
    }
  }

  /// Waits on this thread until a job in the line has been settled by somebody else; takes it out
  /// and finishes it with an error when that takes too long.
  func wait(for job: Job, spins: Int) -> Job.Settlement {
    let limit = job.scope.mayWaitForItself ? min(Self.patience, timeout) : timeout
    if let settlement = job.wait(until: job.start + limit, spins: spins) { return settlement }
    if job.scope.mayWaitForItself || limit == timeout {
      if change({ $0.remove(job) }) { job.finish(.failure(error(for: job))) }
    } else if let settlement = job.wait(until: job.start + timeout, spins: 0) {
      // The scope that created the task has ended meanwhile.
      return settlement
    } else if change({ $0.remove(job) }) {
      job.finish(.failure(error(for: job)))
    }
    // Otherwise it has just been taken out, and is settled soon.
    return job.wait()
  }

  private func error(for job: Job) -> DatabaseError {
    job.scope.mayWaitForItself ? Scope.reentryError : timeoutError
  }

  private var timeoutError: DatabaseError {
    DatabaseError(.busy, "\(Self.timeoutMessage) than \(timeout) for \(purpose)")
  }

  private func sweepLater() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(250)) {
      [weak self] in self?.sweep()
    }
  }

  private func sweep() {
    let now = MonotonicClock.now
    let late = state.withLock { state in
      let late = state.waiting.removeAll { job in
        job.isAsynchronous && (now > job.start + timeout || waitsForItself(job, now))
      }
      state.isSweeping = state.waiting.hasAsynchronous
      if state.isSweeping { sweepLater() }
      return late
    }
    for job in late {
      job.finish(.failure(error(for: job)))
    }
  }

  private func waitsForItself(_ job: Job, _ now: Duration) -> Bool {
    now > job.start + Self.patience && job.scope.mayWaitForItself
  }
}

import CSQLite
import Dispatch

// Waiting until the log is on disk: threads and tasks, each with a deadline.

extension GroupCommit {
  /// Whether there is nothing to wait for: everything up to the position is on disk, or was announced
  /// and given up, and what came before is on disk.
  func isDurable(_ position: Int) -> Bool {
    let synced = synced.load(ordering: .acquiring)
    return synced >= position || synced >= announced.load(ordering: .sequentiallyConsistent)
  }

  /// How long a call waits for the disk that has waited for something else before: so that it takes no longer than
  /// `Configuration.scopeTimeout` and a second in all, as far as it isn't its closure that takes the time.
  func patience(after waited: Duration) -> Duration { max(patience - waited, .seconds(1)) }

  /// Blocks this thread until everything up to a position is on disk. Throws where that isn't known, and
  /// after a while.
  func wait(for position: Int, within limit: Duration) throws {
    if synced.load(ordering: .acquiring) >= position { return }
    let deadline = MonotonicClock.nanoseconds &+ limit.inNanoseconds
    while true {
      switch state.withLock({ next(position, &$0) }) {
      case .done: return
      case .failed(let error): throw error
      case .sleep(let batch, let value):
        let left = deadline &- MonotonicClock.nanoseconds
        if left > 0 { larder_futex_wait(batch.word, value, Int64(left)) }
        state.withLock { _ in batch.threadCount -= 1 }
        guard left > 0 || isDurable(position) else { throw Self.lateError }
      }
    }
  }

  private enum Next {
    case done
    case failed(DatabaseError)
    case sleep(SyncBatch, UInt32)
  }

  private func next(_ position: Int, _ state: inout State) -> Next {
    if isDurable(position) { return .done }
    if let failure = state.failure { return .failed(failure) }
    let leads = canLead(&state)
    let batch = state.batch(for: position)
    batch.threadCount += 1
    if leads { worker.async { self.lead() } }
    return .sleep(batch, batch.word.pointee.load(ordering: .acquiring))
  }

  /// Whether a sync is to begin: none runs, and there is something to sync.
  func canLead(_ state: inout State) -> Bool {
    guard !state.isSyncing, state.failure == nil else { return false }
    if !hasUnsynced {
      // What the caller waits for is just being written. First says that it waits, then looks again:
      // the writer does it the other way round.
      needsCommit.store(true, ordering: .sequentiallyConsistent)
      guard hasUnsynced else { return false }
    }
    state.isSyncing = true
    state.upTo = -1
    return true
  }

  private var hasUnsynced: Bool {
    committed.load(ordering: .sequentiallyConsistent) > synced.load(ordering: .relaxed)
  }

  /// Suspends the task until everything up to a position is on disk. Throws where that isn't known, and after a
  /// while.
  ///
  /// - Parameter isCancellable: for those who have committed nothing: throws `CancellationError` once the task is
  ///   cancelled. One who has waits on, as its commit is there.
  func wait(for position: Int, within limit: Duration?, isCancellable: Bool = false) async throws {
    if synced.load(ordering: .acquiring) >= position { return }
    let waiter = SyncBatch.Waiter(
      position: position, deadline: limit.map { MonotonicClock.now + $0 })
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation {
        waiter.continuation = $0
        add(waiter)
      }
    } onCancel: {
      if isCancellable { cancel(waiter) }
    }
  }

  private func add(_ task: SyncBatch.Waiter) {
    let (outcome, leads, sweeps): (Result<Void, any Error>?, Bool, Bool) = state.withLock { state in
      if isDurable(task.position) { return (.success(()), false, false) }
      if let failure = state.failure { return (.failure(failure), false, false) }
      // A cancellation before this point has found nobody to wake.
      if task.isCancelled { return (.failure(CancellationError()), false, false) }
      state.batch(for: task.position).tasks.append(task)
      let sweeps = task.deadline != nil && !state.isSwept
      if sweeps { state.isSwept = true }
      return (nil, canLead(&state), sweeps)
    }
    if let outcome { task.resume(with: outcome) }
    if leads { worker.async { self.lead() } }
    if sweeps { sweepLater() }
  }

  private func cancel(_ task: SyncBatch.Waiter) {
    let found = state.withLock { state in
      task.isCancelled = true
      return state.takeTasks { $0 === task }.first
    }
    found?.resume(with: .failure(CancellationError()))
  }

  /// Looks for tasks that have waited too long, again and again while any wait.
  private func sweepLater() {
    clock.asyncAfter(deadline: .now() + .milliseconds(250)) { [weak self] in self?.sweep() }
  }

  private func sweep() {
    let now = MonotonicClock.now
    let (late, goesOn) = state.withLock { state in
      let late = state.takeTasks { task in task.deadline.map { $0 <= now } ?? false }
      state.isSwept = !state.current.tasks.isEmpty || !state.gathering.tasks.isEmpty
      return (late, state.isSwept)
    }
    for task in late { task.resume(with: .failure(Self.lateError)) }
    if goesOn { sweepLater() }
  }

  /// Makes those who wait look again, after a commit or when one was given up.
  func lookAgain() {
    let (over, leads) = state.withLock { state in
      needsCommit.store(false, ordering: .sequentiallyConsistent)
      let over = state.gathering.takeTasks { isDurable($0.position) }
      state.gathering.wake(Int32.max)
      return (over, state.gathering.isWaiting && canLead(&state))
    }
    for task in over { task.resume() }
    if leads { worker.async { self.lead() } }
  }
}

import Dispatch

// Waiting until the log is on disk: threads and tasks, each with a deadline.

extension GroupCommit {
  /// Whether there is nothing to wait for. Either everything up to the position is on disk, or the position
  /// was an announcement that was taken back, and everything before it is on disk.
  func isDurable(_ position: Int) -> Bool {
    let synced = synced.load(ordering: .acquiring)
    return synced >= position || synced >= announced.load(ordering: .sequentiallyConsistent)
  }

  /// How long a call may wait for the disk after it has waited for something else. So it takes at most
  /// `Configuration.scopeTimeout` and a second in all, not counting its closure.
  func patience(after waited: Duration) -> Duration { max(patience - waited, .seconds(1)) }

  /// Blocks this thread until everything up to a position is on disk. Throws if a sync has failed, or when
  /// the time is up.
  func wait(for position: Int, within limit: Duration) throws {
    if synced.load(ordering: .acquiring) >= position { return }
    let start = MonotonicClock.nanoseconds
    let deadline = start &+ limit.inNanoseconds
    defer { waits.add(since: start) }
    while true {
      switch state.withLock({ next(position, &$0) }) {
      case .done: return
      case .failed(let error): throw error
      case .sleep(let batch, let value, let leads):
        // Called without the lock, which the worker's thread takes first.
        if leads { worker.run { self.lead() } }
        let left = deadline &- MonotonicClock.nanoseconds
        if left > 0 { batch.futex.wait(while: value, nanoseconds: left) }
        state.withLock { _ in batch.threadCount -= 1 }
        guard left > 0 || isDurable(position) else { throw Self.lateError }
      }
    }
  }

  private enum Next {
    case done
    case failed(DatabaseError)
    case sleep(SyncBatch, UInt32, leads: Bool)
  }

  private func next(_ position: Int, _ state: inout State) -> Next {
    if isDurable(position) { return .done }
    if let failure = state.failure { return .failed(failure) }
    let leads = canLead(&state)
    let batch = state.batch(for: position)
    batch.threadCount += 1
    return .sleep(batch, batch.futex.value, leads: leads)
  }

  /// Claims the lead of the next sync. False if a sync is running or has failed, or if there is nothing to
  /// sync.
  func canLead(_ state: inout State) -> Bool {
    guard !state.isSyncing, state.failure == nil else { return false }
    if !hasUnsynced {
      // The commit that the caller waits for is just being written. Raises the flag first, then looks again;
      // the writer does it in the reverse order.
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

  /// Suspends the task until everything up to a position is on disk. Throws if a sync has failed, or when the
  /// time is up.
  ///
  /// - Parameter isCancellable: true for scopes that have committed nothing: cancelling the task then throws
  ///   `CancellationError`. A scope that has committed waits on, since its commit stands.
  func wait(for position: Int, within limit: Duration?, isCancellable: Bool = false) async throws {
    if synced.load(ordering: .acquiring) >= position { return }
    let start = MonotonicClock.nanoseconds
    defer { waits.add(since: start) }
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
    if leads { worker.run { self.lead() } }
    if sweeps { clock.repeats(after: .milliseconds(250)) { [weak self] in self?.sweep() ?? false } }
  }

  private func cancel(_ task: SyncBatch.Waiter) {
    let found = state.withLock { state in
      task.isCancelled = true
      return state.takeTasks { $0 === task }.first
    }
    found?.resume(with: .failure(CancellationError()))
  }

  /// Checks the deadlines of waiting tasks. Returns whether there are others.
  private func sweep() -> Bool {
    let now = MonotonicClock.now
    let (late, goesOn) = state.withLock { state in
      let late = state.takeTasks { task in task.deadline.map { $0 <= now } ?? false }
      state.isSwept = !state.current.tasks.isEmpty || !state.gathering.tasks.isEmpty
      return (late, state.isSwept)
    }
    for task in late { task.resume(with: .failure(Self.lateError)) }
    return goesOn
  }

  /// Makes waiting callers look again, after a commit or after an announcement was taken back.
  func lookAgain() {
    let (over, leads) = state.withLock { state in
      needsCommit.store(false, ordering: .sequentiallyConsistent)
      let over = state.gathering.takeTasks { isDurable($0.position) }
      state.gathering.wakeThreads()
      return (over, state.gathering.isWaiting && canLead(&state))
    }
    for task in over { task.resume() }
    if leads { worker.run { self.lead() } }
  }
}

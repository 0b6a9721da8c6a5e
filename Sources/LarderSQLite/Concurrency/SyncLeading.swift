import CSQLite
import Glibc
import Synchronization

// The leader of the group commit: syncs the log, and wakes those who wait for it.

extension GroupCommit {
  /// Syncs the log for all committed transactions and wakes their callers, again and again while any wait.
  func lead() { while leadOnce() {} }

  /// Runs one sync. Returns whether another one has to follow.
  private func leadOnce() -> Bool {
    awaitCompany()
    let (file, upTo) = state.withLock { state in
      state.current = state.gathering
      state.gathering = SyncBatch()
      state.upTo = committed.load(ordering: .sequentiallyConsistent)
      return (state.file, state.upTo)
    }
    syncs.begin(at: MonotonicClock.nanoseconds)
    let code = file.map { larder_sync_file($0) } ?? SQLITE_OK
    syncs.end(at: MonotonicClock.nanoseconds)
    let (sleepers, durable, failed, failure, goesOn) = state.withLock { state in
      state.isSyncing = false
      let batch = state.current
      if code == SQLITE_OK {
        state.lastSync = .nanoseconds(syncs.lastTime)
        state.company = upTo - synced.load(ordering: .relaxed)
        state.largestGroup = max(state.largestGroup, state.company)
        synced.store(upTo, ordering: .releasing)
      } else {
        _ = fail(&state)
      }
      let durable = batch.takeTasks { isDurable($0.position) }
      var failed: [SyncBatch.Waiter] = []
      if state.failure == nil {
        state.gathering.tasks += batch.tasks
        batch.tasks = []
      } else {
        failed = batch.takeTasks { _ in true } + state.gathering.takeTasks { _ in true }
      }
      let sleepers = batch.letThreadsLook() ? batch : nil
      return (
        sleepers, durable, failed, state.failure, state.gathering.isWaiting && canLead(&state)
      )
    }
    sleepers?.futex.wake(.max)
    for task in durable { task.resume() }
    if let failure { for task in failed { task.resume(with: .failure(failure)) } }
    return goesOn
  }

  /// Waits for company if the last sync had some: until as many have committed again, at most a fifth of that
  /// sync's time, and 200 µs. This is what makes two writers share a sync.
  private func awaitCompany() {
    let (company, lastSync) = state.withLock { ($0.company, $0.lastSync) }
    guard company > 1 else { return }
    let enough = synced.load(ordering: .relaxed) + company
    let deadline = MonotonicClock.now + min(lastSync / 5, .microseconds(200))
    while committed.load(ordering: .relaxed) < enough, MonotonicClock.now < deadline {
      for _ in 0..<50 { larder_pause() }
      sched_yield()
    }
  }

  /// The error of a wait whose time is up. The disk may still answer; then nothing has failed.
  static var lateError: DatabaseError {
    DatabaseError(
      .ioErrorFsync,
      "the log was not synced in time: the commit is written, but not known to be durable yet"
    )
  }

  /// Makes all later waits fail after a failed sync, here or in SQLite, and wakes the waiting threads.
  private func fail(_ state: inout State) -> DatabaseError {
    let failure =
      state.failure
      ?? DatabaseError(
        .ioErrorFsync,
        """
        the log could not be synced: the last commits are written, but not known to be durable; close the \
        database and open it again
        """)
    state.failure = failure
    failed.store(true, ordering: .releasing)
    state.gathering.wakeThreads()
    return failure
  }

  /// Notes that one of SQLite's own syncs has failed: at the head of the log, or in a checkpoint.
  func hasFailedToSync() {
    let (tasks, failure) = state.withLock { state in
      let failure = fail(&state)
      return (state.gathering.takeTasks { _ in true }, failure)
    }
    for task in tasks { task.resume(with: .failure(failure)) }
  }
}

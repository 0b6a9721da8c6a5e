import Glibc
import LarderSQLite

// The end of shipping, and pauses.

extension LogShipper {
  /// Ends the replication. What was committed before is shipped, if the sink is there.
  func end() {
    queue.sync { finish() }
    finishWaiters { $0.hasEnded = true }
  }

  /// Notes whether anything was committed since a lazy replication has begun. What can't be told counts as that.
  func checkWhetherTouched() {
    guard isUntouched, let held else { return }
    isUntouched = (try? held.backlog.pages == 0 && !held.hasNews) ?? false
  }

  /// Ships the rest, saves the table of pages and releases the mark.
  private func finish() {
    checkWhetherTouched()
    if !isBarred, failures == 0, held != nil, !isUntouched {
      do {
        try sendPending()
        let held = try open()
        try ship(held)
        // A database that is closed soon after it was created may have no whole copy yet.
        while plan.isLazy, chain?.hasBase != true, try continueBase(held) {}
        try sendPending()
      } catch {
        note(error)
      }
    }
    noteWhetherAllIsShipped()
    saveTable()
    releaseMark()
  }

  /// Leaves the file `DATABASE-unshipped` if something has to be shipped later, since a fleet's databases aren't opened
  /// at the next start.
  private func noteWhetherAllIsShipped() {
    guard plan.isLazy, let held, state.withLock({ $0.lost == nil }) else { return }
    let hasNews = (try? held.hasNews) ?? true
    let isAllShipped =
      isUntouched
      || isFollowing && chain?.hasBase == true && chain?.isWithinCommit == false && pending == nil
        && held.backlog.pages == 0 && !hasNews
    let path = Self.unshippedPath(for: location.path)
    if isAllShipped {
      unlink(path)
    } else {
      Glibc.close(Glibc.open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600))
    }
    plan.onEnd?(isAllShipped)
  }

  static func unshippedPath(for database: String) -> String { database + "-unshipped" }

  func releaseMark() {
    held?.close()
    held = nil
    isFollowing = false
  }

  func finishWaiters(_ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func serve(upTo request: Int) {
    let waiters = state.withLock { state in
      state.served = max(state.served, request)
      let served = state.waiters.filter { $0.request <= state.served }
      state.waiters.removeAll { $0.request <= state.served }
      return served
    }
    for waiter in waiters { waiter.resume() }
  }
}

extension LogShipper: AccessCompanion {
  var currentWork: (label: String, since: Duration)? {
    state.withLock { $0.since }.map { ("a replication", $0) }
  }

  func pause() {
    queue.sync {
      finish()
      // The content may be another one afterwards.
      isUntouched = false
      state.withLock { $0.isPaused = true }
    }
  }

  func resume() {
    state.withLock { $0.isPaused = false }
    begin()
  }

  func abandon() {
    finishWaiters { $0.hasEnded = true }
    queue.async { [self] in releaseMark() }
  }
}

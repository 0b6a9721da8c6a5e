import CSQLite

// The readers' part of a pool's statistics.

extension ConnectionPool {
  /// Fills in the readers' part of the statistics.
  func describe(_ statistics: inout AccessStatistics) {
    let states = readers.map { $0.state.load(ordering: .relaxed) }
    statistics.busyReaders = states.count { $0 == PooledConnection.busy }
    statistics.idleReaders = states.count { $0 == PooledConnection.idle }
    statistics.oldestReaderAge = oldestAge
    if canWrite {
      statistics.transactions = transactions.load(ordering: .relaxed)
      statistics.timeInCommit = .nanoseconds(timeInCommit.load(ordering: .relaxed))
      let (waiting, figures) = queue.withLock { ($0.waiting.count, $0.figures) }
      statistics.waiting = waiting
      statistics.mostWaiting = figures.mostWaiting
      statistics.waits = figures.waits
      statistics.waited = figures.waited
      statistics.longestWait = figures.longestWait
    }
  }

  /// The number of callers that wait for a reader.
  var waitingCount: Int { queue.withLock { $0.waiting.count } }

  /// The age of the oldest running read.
  var oldestAge: Duration? {
    let (now, ticks) = (MonotonicClock.nanoseconds, larder_ticks())
    let since = readers.filter { $0.state.load(ordering: .relaxed) == PooledConnection.busy }
      .map { $0.since.load(ordering: .relaxed) }
    guard let oldest = since.filter({ $0 > 0 && $0 < ticks }).min(), ticks > start.ticks else {
      return nil
    }
    let rate = Double(now - start.time) / Double(ticks - start.ticks)
    return .nanoseconds(Int(Double(ticks - oldest) * rate))
  }
}

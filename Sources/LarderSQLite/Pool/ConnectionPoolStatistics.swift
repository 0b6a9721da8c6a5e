import CSQLite

// The readers' part of a pool's statistics.

extension ConnectionPool {
  func describe(_ statistics: inout AccessStatistics) {
    if canWrite {
      statistics = queue.withLock { $0.waiting.statistics }
      statistics.transactions = transactions.load(ordering: .relaxed)
      statistics.timeInCommit = .nanoseconds(timeInCommit.load(ordering: .relaxed))
    }
    let states = slots.map { $0.state.load(ordering: .relaxed) }
    statistics.busyReaders = states.count { $0 == PooledConnection.busy }
    statistics.idleReaders = states.count { $0 == PooledConnection.idle }
    statistics.oldestReaderAge = oldestAge
  }

  /// The age of the oldest running read.
  var oldestAge: Duration? {
    let (now, ticks) = (MonotonicClock.nanoseconds, larder_ticks())
    let since = slots.filter { $0.state.load(ordering: .relaxed) == PooledConnection.busy }
      .map { $0.since.load(ordering: .relaxed) }
    guard let oldest = since.filter({ $0 > 0 && $0 < ticks }).min(), ticks > start.ticks else {
      return nil
    }
    let rate = Double(now - start.time) / Double(ticks - start.ticks)
    return .nanoseconds(Int(Double(ticks - oldest) * rate))
  }
}

import CSQLite

// The readers' part of a pool's statistics.

extension ConnectionPool {
  func describe(_ statistics: inout AccessStatistics) {
    if canWrite {
      statistics = queue.withLock { $0.waiting.statistics }
      statistics.transactions = transactions.load(ordering: .relaxed)
      statistics.note(commits: commits)
    }
    let states = slots.map { $0.state.load(ordering: .relaxed) }
    statistics.busyReaders = states.count { $0 == PooledConnection.busy }
    statistics.idleReaders = states.count { $0 == PooledConnection.idle }
    statistics.oldestReaderAge = oldest?.age
    statistics.refusals += refusals.load(ordering: .relaxed)
    for slot in slots { statistics.bytes += slot.measureMemory() }
  }

  /// The call and age of the oldest running read.
  var oldest: (call: ScopeCall, age: Duration)? {
    let (now, ticks) = (MonotonicClock.nanoseconds, larder_ticks())
    let busy = slots.filter { $0.state.load(ordering: .relaxed) == PooledConnection.busy }
      .map { (slot: $0, since: $0.since.load(ordering: .relaxed)) }
      .filter { $0.since > 0 && $0.since < ticks }
    guard let oldest = busy.min(by: { $0.since < $1.since }), ticks > start.ticks else {
      return nil
    }
    let rate = Double(now - start.time) / Double(ticks - start.ticks)
    return (oldest.slot.call, .nanoseconds(Int(Double(ticks - oldest.since) * rate)))
  }
}

import Glibc
import LarderSQLite

// Read your writes: a standby is read from once it has replayed the log far enough.

extension PostgresEngine {
  /// Waits until the server, a standby, has replayed the log up to a place. Throws ``Replicas/Refusal`` where it hasn't
  /// in time, or is no standby.
  ///
  /// It is asked before the scope's transaction has begun, whose snapshot then has all of that.
  func catchUp(to position: LogPosition, until deadline: Duration) throws {
    guard replayed.timeline < position.timeline || replayed.bytes < position.bytes else { return }
    connection.isDroppedToStop = true
    defer { connection.isDroppedToStop = false }
    do {
      try perform(until: deadline) {
        try connection.beforeDeferredBegin { try waitForLog(position, until: deadline) }
      }
    } catch is DatabaseError where MonotonicClock.now >= deadline {
      throw Replicas.Refusal.lags
    }
  }

  private func waitForLog(_ position: LogPosition, until deadline: Duration) throws {
    while true {
      var done = 0
      guard let row = try connection.run(all: [Self.replay], done: &done), row.count == 2 else {
        throw Replicas.Refusal.isPrimary
      }
      replayed = LogPosition(timeline: row[0], bytes: row[1])
      if replayed.timeline >= position.timeline, replayed.bytes >= position.bytes { return }
      guard replayed.timeline >= position.timeline else { throw Replicas.Refusal.isBehind }
      guard MonotonicClock.now < deadline else { throw Replicas.Refusal.lags }
      usleep(300)
    }
  }

  /// No row on a primary. The timeline is one that the replica is on for certain: that of what it receives, which it
  /// tells those only who may read statistics, or of its last restart point. Another standby of a primary that has
  /// failed may have more of the log than the new primary had, and would seem to have what that wrote since.
  private static let replay = """
    SELECT greatest(
        (SELECT max(received_tli) FROM pg_stat_wal_receiver),
        (SELECT timeline_id FROM pg_control_checkpoint()),
        (SELECT min_recovery_end_timeline FROM pg_control_recovery()))::bigint,
      (pg_last_wal_replay_lsn() - '0/0')::bigint
    WHERE pg_is_in_recovery()
    """
}

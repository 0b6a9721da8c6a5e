import Glibc
import LarderSQLite

// Read your writes: a standby is read from once it has replayed the log far enough.

extension PostgresEngine {
  /// Waits until the server, a standby, has replayed the log up to a position. Throws ``Replicas/Refusal`` if
  /// it hasn't in time, or is no standby.
  ///
  /// The server is asked before the scope's transaction has begun, whose snapshot then includes all of that.
  func catchUp(to position: CommitPosition, until deadline: Duration) throws {
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

  private func waitForLog(_ position: CommitPosition, until deadline: Duration) throws {
    while true {
      guard let row = try connection.run(all: [Self.replay]), row.count == 2 else {
        throw Replicas.Refusal.isPrimary
      }
      replayed = CommitPosition(timeline: row[0], bytes: row[1])
      if replayed.timeline >= position.timeline, replayed.bytes >= position.bytes { return }
      guard replayed.timeline >= position.timeline else { throw Replicas.Refusal.isBehind }
      guard MonotonicClock.now < deadline else { throw Replicas.Refusal.lags }
      usleep(300)
    }
  }

  /// The query for the replica's timeline and replayed position; no row on a primary. The timeline is one
  /// that the replica is certainly on: that of the log it receives, which only roles that may read statistics
  /// are told, or that of its last restart point. Another standby of a failed primary may have more of the
  /// log than the new primary had, and would seem to have what that has written since.
  private static let replay = """
    SELECT greatest(
        (SELECT max(received_tli) FROM pg_stat_wal_receiver),
        (SELECT timeline_id FROM pg_control_checkpoint()),
        (SELECT min_recovery_end_timeline FROM pg_control_recovery()))::bigint,
      (pg_last_wal_replay_lsn() - '0/0')::bigint
    WHERE pg_is_in_recovery()
    """
}

import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport

/// Replicas that stand still or are gone.
extension ReplicaTrial {
  private func statistics(of node: Int) throws -> ReplicaStatistics {
    let all = own.replicaStatistics
    guard all.indices.contains(node) else { throw Wrong("there are no statistics of node\(node)") }
    return all[node]
  }

  /// Reads while a replica doesn't go on: it has to be left out, so that not each read waits for it; and once it goes on,
  /// it has to come back.
  private mutating func leaveOut(
    _ node: Int, _ what: String, _ halt: () throws -> Void, _ resume: () throws -> Void
  ) throws {
    try halt()
    let reads = try ownReads(60)
    note("node\(node) \(what)", reads)
    if try !statistics(of: node).isLeftOut { fail("node\(node) \(what), and isn't left out") }
    let slack = Duration.milliseconds(150)
    let late = reads.times.filter { $0 > .milliseconds(50) }
    if let longest = reads.times.max(), longest > waitAtMost + slack {
      fail("node\(node) \(what): a read took \(longest.inMilliseconds)")
    }
    if late.count > 12 { fail("node\(node) \(what): \(late.count) of 60 reads waited") }
    try resume()
    let back = try Self.wait(for: "node\(node) comes back") {
      _ = try ownReads(3)
      return try !statistics(of: node).isLeftOut
    }
    let before = try statistics(of: node).reads
    note("node\(node) is back after \(back.inMilliseconds)", try ownReads(60))
    if try statistics(of: node).reads <= before { fail("node\(node) gets no reads any more") }
  }

  mutating func whileReplayIsPaused() throws {
    let replica = try oneStandby(cluster.addresses[1])
    try leaveOut(1, "is paused") {
      _ = try replica.value("SELECT pg_wal_replay_pause()::text", as: String.self)
    } _: {
      _ = try replica.value("SELECT pg_wal_replay_resume()::text", as: String.self)
    }
  }

  mutating func whileOneStandsStill() throws {
    let cluster = cluster
    try leaveOut(1, "is frozen", { try cluster.stop(1) }, { try cluster.resume(1) })
  }

  mutating func whileOneIsKilled() throws {
    let cluster = cluster
    try leaveOut(2, "is killed", { try cluster.kill(2) }, { try cluster.start(2) })
  }

  mutating func whileAllAreGone() throws {
    for node in 1...2 { try cluster.kill(node) }
    note("all replicas are gone", try ownReads(60))
    var configuration = PostgresConfiguration()
    configuration.reads = .replicas(waitAtMost: waitAtMost)
    let late = try PostgresPool(cluster.address, configuration: configuration)
    let isThere = try late.read { try $0.value("SELECT true FROM line LIMIT 1", as: Bool.self) }
    if isThere != true { fail("a new pool reads nothing of the primary") }
    for node in 1...2 { try cluster.start(node) }
    let back = try Self.wait(for: "the replicas come back") {
      _ = try ownReads(3)
      return try !statistics(of: 1).isLeftOut && !statistics(of: 2).isLeftOut
    }
    report("all replicas are back after \(back.inMilliseconds)")
  }

  /// Node 2 has more of the old primary's log than node 1, which takes its place: by the length of its log alone it
  /// would have what is committed next.
  mutating func afterFailover() throws {
    let direct = try onePool(cluster.addresses[0])
    try cluster.stop(1)
    try direct.inTransaction { db in
      try db.executeUpdate("INSERT INTO load SELECT generate_series(1, 100000)")
    }
    let position = try direct.read { db in
      try db.value("SELECT pg_current_wal_lsn()::text", as: String.self) ?? ""
    }
    let ahead = try onePool(cluster.addresses[2])
    try Self.wait(for: "node2 is ahead") {
      try ahead.read { db in
        try db.value("SELECT pg_last_wal_replay_lsn() >= \(position)::pg_lsn", as: Bool.self)
      } ?? false
    }
    try cluster.kill(0)
    try cluster.resume(1)
    try cluster.promote(1)
    note("after a failover", try ownReads(60))
    note("after a failover, others with positions", try othersReads(60, withPosition: true))
    let node = try statistics(of: 1)
    if node.reads > 0, !node.isLeftOut { report("node1, the primary now, counts as a replica") }
    // A copy of the new primary is a replica again.
    try cluster.kill(2)
    try cluster.copy(2, of: 1)
    let before = try statistics(of: 2).reads
    let back = try Self.wait(for: "the new primary's replica is read") {
      _ = try ownReads(3)
      return try statistics(of: 2).reads > before
    }
    note("node2 follows node1, and is read after \(back.inMilliseconds)", try ownReads(60))
  }
}

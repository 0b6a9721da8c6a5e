import CSQLite
import Larder

/// The rows of the table that are about scopes of a pool, and of one task.
enum PoolBenchmarks {
  static let all = [read1, read4, emptyRead, write, writeBesideQueue, oneTask]

  static let read1 = Benchmark(
    name: "pool-read-1", storages: [.wal],
    makeReference: ScopeBenchmarks.readScopeFind.makeReference,
    makeLarder: { side, players in
      try side.fill(players)
      let pool = try side.pool()
      return .init { sink &+= try ScopeBenchmarks.find(players, in: pool) }
    })

  /// Four threads, each with a connection of its own on the side of C, share the rows.
  static let read4 = Benchmark(
    name: "pool-read-4", storages: [.wal], isOnOneThread: false,
    makeReference: { reference, players in
      try reference.fill(players)
      // Each is used by one thread at a time.
      nonisolated(unsafe) let lookups = try (0..<4).map { _ in
        try Lookup(Reference(path: reference.path, isNew: false))
      }
      return .init {
        try Threads.each(4) { thread in
          let lookup = lookups[thread]
          var sum = 0
          for player in share(of: players, thread) { sum &+= lookup.find(player.id) }
          consume(sum)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let pool = try side.pool()
      return .init {
        try Threads.each(4) { thread in
          consume(try ScopeBenchmarks.find(share(of: players, thread), in: pool))
        }
      }
    })

  private static func share(of players: [Player], _ thread: Int) -> ArraySlice<Player> {
    players[players.count * thread / 4..<players.count * (thread + 1) / 4]
  }

  @inline(never)
  private static func consume(_ sum: Int) {}

  static let emptyRead = Benchmark(
    name: "pool-empty-read", storages: [.wal],
    makeReference: { reference, players in
      let begin = try reference.prepare("BEGIN")
      let commit = try reference.prepare("COMMIT")
      return .init {
        for _ in players {
          sqlite3_step(begin)
          sqlite3_reset(begin)
          sqlite3_step(commit)
          sqlite3_reset(commit)
        }
      }
    },
    makeLarder: { side, players in
      let pool = try side.pool()
      return .init { for _ in players { try pool.read { _ in } } }
    })

  static let write = Benchmark(
    name: "pool-write", count: { min($0.rows, 50_000) }, storages: [.wal],
    makeReference: ScopeBenchmarks.updateInC, makeLarder: updateInPool)

  /// The same work in a pool and, as the reference, in a queue.
  static let writeBesideQueue = Benchmark(
    name: "pool-write-by-queue", count: { min($0.rows, 50_000) }, storages: [.wal],
    makeReference: { reference, players in
      try reference.fill(players)
      let queue = try DatabaseQueue(path: reference.path)
      return .init { try ScopeBenchmarks.update(players.prefix(50_000), in: queue) }
    }, makeLarder: updateInPool)

  @Sendable
  private static func updateInPool(
    _ side: LarderSide, _ players: [Player]
  ) throws -> Benchmark.Side {
    try side.fill(players)
    let pool = try side.pool()
    return .init { try ScopeBenchmarks.update(players.prefix(50_000), in: pool) }
  }

  /// The processor's time of transactions in a task, by that of the same ones on a thread.
  static let oneTask = Benchmark(
    name: "task-normal-1", count: { min($0.rows, 10_000) }, storages: [.wal], cost: .processorTime,
    isOnOneThread: false,
    makeReference: { reference, players in
      try reference.fill(players)
      let queue = try DatabaseQueue(path: reference.path)
      return .init { try ScopeBenchmarks.update(players.prefix(10_000), in: queue) }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let queue = try side.queue()
      return .init {
        try Tasks.wait {
          for player in players.prefix(10_000) {
            let id = player.id
            try await queue.inTransaction { db in
              _ = try db.executeUpdate("UPDATE player SET score = score + 1 WHERE id = ?", id)
            }
          }
        }
      }
    })
}

import Glibc
import Larder
import Synchronization

/// The row of the table that is about observing: what it costs those who write.
enum ObservationBenchmarks {
  static let all = [observedWrite]

  /// Inserts, each in a transaction of its own, while a feed and a value of the table are observed by tasks
  /// that take what comes; the reference is the same unobserved.
  static let observedWrite = Benchmark(
    name: "observe-write", count: { min($0.rows, 20_000) }, storages: [.wal],
    makeReference: { reference, players in
      let pool = try DatabasePool(path: reference.path ?? "")
      return .init(prepare: { try empty(pool) }) { try insert(players, pool) }
    },
    makeLarder: { side, players in
      let pool = try side.pool()
      let observers = Observers(pool)
      return .init(prepare: { try empty(pool) }) {
        try insert(players, pool)
        observers.check()
      }
    })

  private static func empty(_ pool: DatabasePool) throws {
    try pool.inTransaction { try $0.executeUpdate("DELETE FROM player") }
  }

  private static func insert(_ players: [Player], _ pool: DatabasePool) throws {
    for var player in players.prefix(20_000) { try pool.inTransaction { try player.insert($0) } }
  }

  /// Two tasks, as long as it is kept.
  private final class Observers: Sendable {
    private let tasks: [Task<Void, any Error>]
    private let values = Counter()
    private let changes = Counter()

    final class Counter: Sendable {
      let count = Atomic<Int>(0)
    }

    init(_ pool: DatabasePool) {
      let (values, changes) = (values, changes)
      tasks = [
        Task {
          for try await _ in pool.values(of: {
            try $0.value("SELECT coalesce(max(id), 0) FROM player", as: Int.self)
          }) {
            values.count.add(1, ordering: .relaxed)
          }
        },
        Task {
          for try await transaction in pool.changes(of: Player.self, limit: 1_000_000) {
            changes.count.add(transaction.changes.count, ordering: .relaxed)
          }
        },
      ]
      // Both have begun before anything is timed.
      while values.count.load(ordering: .relaxed) == 0 { usleep(100) }
      let player = Player.many(1)
      while changes.count.load(ordering: .relaxed) == 0 {
        try? pool.inTransaction { db in
          for var player in player { try player.save(db) }
        }
        usleep(1000)
      }
    }

    /// Ends the program where nothing was observed.
    func check() {
      precondition(values.count.load(ordering: .relaxed) > 0)
      precondition(changes.count.load(ordering: .relaxed) > 0)
    }

    deinit { for task in tasks { task.cancel() } }
  }
}

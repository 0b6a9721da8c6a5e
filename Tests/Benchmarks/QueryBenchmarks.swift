import CSQLite
import Larder

/// The rows of the table that are about typed queries.
enum QueryBenchmarks {
  static let all = [query, build, selectTuple]

  /// Built and run each time, against a statement that is prepared once.
  static let query = Benchmark(
    name: "query", count: { min($0.rows, 20_000) },
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare(
        """
        SELECT id, name, score, ratio, email FROM player WHERE id > ? AND score >= ?
        ORDER BY id LIMIT ?
        """)
      return .init(prepare: { try reference.beginAnew() }) {
        for player in players.prefix(20_000) {
          sqlite3_bind_int64(statement, 1, player.id)
          sqlite3_bind_int64(statement, 2, 100)
          sqlite3_bind_int64(statement, 3, 10)
          var found: [Player] = []
          while sqlite3_step(statement) == SQLITE_ROW { found.append(Reference.player(statement)) }
          sqlite3_reset(statement)
          sink &+= found.count
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init(prepare: { try side.beginAnew() }) {
        for player in players.prefix(20_000) {
          sink &+= try Player.filter { $0.id > player.id && $0.score >= 100 }
            .order { $0.id }
            .limit(10)
            .fetchAll(side.db).count
        }
      }
    })

  /// Building alone, which has no counterpart in C.
  static let build = Benchmark(
    name: "query-build", count: { min($0.rows, 20_000) },
    makeReference: { _, players in
      .init { for player in players.prefix(20_000) { nothing(player) } }
    },
    makeLarder: { _, players in
      .init {
        for player in players.prefix(20_000) {
          sink &+=
            Player.filter { $0.id > player.id && $0.score >= 100 }
            .order { $0.id }
            .limit(10)
            .sql.text.utf8.count
        }
      }
    })

  @inline(never)
  private static func nothing(_ player: Player) { sink &+= 1 }

  static let selectTuple = Benchmark(
    name: "select-tuple",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare("SELECT name, score FROM player")
      return .init {
        var all: [(String, Int)] = []
        while sqlite3_step(statement) == SQLITE_ROW {
          all.append((Reference.text(statement, 0), Int(sqlite3_column_int64(statement, 1))))
        }
        sqlite3_reset(statement)
        sink &+= all.count
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init {
        sink &+= try Player.all.select { ($0.name, $0.score) }.fetchAll(side.db).count
      }
    })
}

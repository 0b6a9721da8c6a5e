import CSQLite
import CTableReference
import Larder
import LarderVirtualTables

/// Tables that the program makes: a table-valued function beside the same in C, and a list that is bound as a table
/// beside a temporary table that is there already, and beside a parameter for each value.
enum TableBenchmarks {
  static let all = [function, boundTable, boundList]

  private static let series = "SELECT sum(value) FROM series(?, ?)"

  private static let function = Benchmark(
    name: "table-function", storages: [.memory],
    makeReference: { reference, players in
      try reference.check(reference_register_series(reference.handle))
      let statement = try reference.prepare(series)
      return .init {
        sqlite3_bind_int64(statement, 1, 1)
        sqlite3_bind_int64(statement, 2, Int64(players.count))
        try reference.check(sqlite3_step(statement))
        sink &+= Int(sqlite3_column_int64(statement, 0))
        sqlite3_reset(statement)
      }
    },
    makeLarder: { side, players in
      try side.db.createFunction(TableFunction("series") { (from: Int, to: Int) in from...to })
      return .init {
        sink &+= try side.db.value(SQL(raw: series), 1, players.count, as: Int.self) ?? 0
      }
    })

  /// Every other player.
  private static func wanted(_ players: [Player]) -> [Int64] {
    stride(from: 0, to: players.count, by: 2).map { players[$0].id }
  }

  private static let boundTable = Benchmark(
    name: "bound-table", count: { $0.rows / 2 }, storages: [.memory],
    makeReference: { reference, players in
      try reference.fill(players)
      try reference.execute("CREATE TEMP TABLE wanted (value INTEGER PRIMARY KEY)")
      let insert = try reference.prepare("INSERT INTO wanted VALUES (?)")
      for id in wanted(players) {
        sqlite3_bind_int64(insert, 1, id)
        try reference.check(sqlite3_step(insert))
        sqlite3_reset(insert)
      }
      let statement = try reference.prepare(
        "SELECT sum(score) FROM wanted JOIN player ON player.id = wanted.value")
      return .init {
        try reference.check(sqlite3_step(statement))
        sink &+= Int(sqlite3_column_int64(statement, 0))
        sqlite3_reset(statement)
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let ids = wanted(players)
      return .init {
        sink &+=
          try side.db.value(
            """
            SELECT sum(score) FROM \(table: ids) AS wanted JOIN player ON player.id = wanted.value
            """, as: Int.self) ?? 0
      }
    })

  /// The other side binds a parameter for each value, in lists as long as SQLite takes them.
  private static let boundList = Benchmark(
    name: "bound-list", count: { $0.rows / 2 }, storages: [.memory],
    makeReference: { _, players in
      let side = try LarderSide(path: nil)
      try side.fill(players)
      let ids = wanted(players)
      return .init {
        for start in stride(from: 0, to: ids.count, by: 30_000) {
          let part = Array(ids[start..<min(ids.count, start + 30_000)])
          sink &+=
            try side.db.value("SELECT sum(score) FROM player WHERE id IN \(part)", as: Int.self)
            ?? 0
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let ids = wanted(players)
      return .init {
        sink &+=
          try side.db.value(
            """
            SELECT sum(score) FROM \(table: ids) AS wanted JOIN player ON player.id = wanted.value
            """, as: Int.self) ?? 0
      }
    })
}

import CSQLite
import Larder

/// The rows of the table that are about records.
enum RecordBenchmarks {
  static let all =
    [insert, insertArray, fetchAll, stream, findOne, update] + OtherRecordBenchmarks.all
    + MacroRecordBenchmarks.all

  static let find = "SELECT id, name, score, ratio, email FROM player WHERE id = ?"
  private static let select = "SELECT id, name, score, ratio, email FROM player"

  static let insert = Benchmark(
    name: "insert", makeReference: WrapperBenchmarks.insertReference
  ) { side, players in
    .init(prepare: { try WrapperBenchmarks.begin(side) }) {
      for var player in players { try player.insert(side.db) }
    }
  }

  static let insertArray = Benchmark(
    name: "insert-array", countedRows: (2_000, 6_000),
    makeReference: WrapperBenchmarks.insertReference
  ) { side, players in
    .init(prepare: { try WrapperBenchmarks.begin(side) }) {
      try Player.insert(side.db, contentsOf: players)
    }
  }

  static let fetchAll = Benchmark(
    name: "fetch-all",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare(select)
      return .init {
        var all: [Player] = []
        while sqlite3_step(statement) == SQLITE_ROW { all.append(Reference.player(statement)) }
        sqlite3_reset(statement)
        sink &+= all.count
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init { sink &+= try Player.fetchAll(side.db).count }
    })

  static let stream = Benchmark(
    name: "stream",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare(select)
      return .init {
        while sqlite3_step(statement) == SQLITE_ROW { look(at: Reference.player(statement)) }
        sqlite3_reset(statement)
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init { try Player.forEach(side.db) { look(at: $0) } }
    })

  @inline(__always)
  private static func look(at player: Player) {
    sink &+= Int(player.id) &+ player.name.utf8.count &+ player.score &+ Int(player.ratio)
    sink &+= player.email?.utf8.count ?? 0
  }

  static let findOne = Benchmark(
    name: "find",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare(find)
      return .init(prepare: { try reference.beginAnew() }) {
        for player in players {
          sqlite3_bind_int64(statement, 1, player.id)
          if sqlite3_step(statement) == SQLITE_ROW { look(at: Reference.player(statement)) }
          sqlite3_reset(statement)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init(prepare: { try side.beginAnew() }) {
        for player in players { look(at: try Player.find(side.db, player.id)) }
      }
    })

  static let update = Benchmark(
    name: "update",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare(
        "UPDATE player SET name = ?, score = ?, ratio = ?, email = ? WHERE id = ?")
      return .init(prepare: { try reference.beginAnew() }) {
        for player in players { try reference.run(statement, player, id: 5, first: 1) }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init(prepare: { try side.beginAnew() }) {
        for var player in players { try player.update(side.db) }
      }
    })
}

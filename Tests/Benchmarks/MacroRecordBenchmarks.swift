import LarderMacros

/// The same record as ``Player``, by macro.
@Record("player")
struct MacroPlayer {
  @Column(.primaryKey) var id: Int64
  var name: String
  var score: Int
  var ratio: Double
  var email: String?
}

extension MacroPlayer {
  init(_ player: Player) {
    self.init(
      id: player.id, name: player.name, score: player.score, ratio: player.ratio,
      email: player.email)
  }
}

/// The rows of records for one that a macro has declared: its figures are those of the rows without “macro-”.
enum MacroRecordBenchmarks {
  static let all = [insert, insertArray, fetchAll, find, update]

  static let insert = Benchmark(
    name: "macro-insert", makeReference: RecordBenchmarks.insert.makeReference
  ) { side, players in
    let players = players.map(MacroPlayer.init)
    return .init(prepare: { try WrapperBenchmarks.begin(side) }) {
      for var player in players { try player.insert(side.db) }
    }
  }

  static let insertArray = Benchmark(
    name: "macro-insert-array", countedRows: (2_000, 6_000),
    makeReference: RecordBenchmarks.insertArray.makeReference
  ) { side, players in
    let players = players.map(MacroPlayer.init)
    return .init(prepare: { try WrapperBenchmarks.begin(side) }) {
      try MacroPlayer.insert(side.db, contentsOf: players)
    }
  }

  static let fetchAll = Benchmark(
    name: "macro-fetch-all", makeReference: RecordBenchmarks.fetchAll.makeReference
  ) { side, players in
    try side.fill(players)
    return .init { sink &+= try MacroPlayer.fetchAll(side.db).count }
  }

  static let find = Benchmark(
    name: "macro-find", makeReference: RecordBenchmarks.findOne.makeReference
  ) { side, players in
    try side.fill(players)
    return .init(prepare: { try side.beginAnew() }) {
      for player in players { sink &+= try MacroPlayer.find(side.db, player.id).score }
    }
  }

  static let update = Benchmark(
    name: "macro-update", makeReference: RecordBenchmarks.update.makeReference
  ) { side, players in
    try side.fill(players)
    let players = players.map(MacroPlayer.init)
    return .init(prepare: { try side.beginAnew() }) {
      for var player in players { try player.update(side.db) }
    }
  }
}

import CSQLite
import Larder

/// The rows of the table that are about scopes of a queue.
enum ScopeBenchmarks {
  static let all = [emptyScope, readScopeFind, writeScopeUpdate]

  static let emptyScope = Benchmark(
    name: "empty-scope",
    makeReference: { _, players in
      // There is nothing to do in C: a call of a function that does nothing.
      .init { for player in players { sink &+= nothing(Int(player.id)) } }
    },
    makeLarder: { side, players in
      let queue = try side.queue()
      return .init { for _ in players { try queue.inDatabase { _ in } } }
    })

  @inline(never)
  private static func nothing(_ number: Int) -> Int { number }

  static let readScopeFind = Benchmark(
    name: "read-scope-find",
    makeReference: { reference, players in
      try reference.fill(players)
      let begin = try reference.prepare("BEGIN")
      let find = try reference.prepare(RecordBenchmarks.find)
      let commit = try reference.prepare("COMMIT")
      return .init {
        for player in players {
          sqlite3_step(begin)
          sqlite3_reset(begin)
          sqlite3_bind_int64(find, 1, player.id)
          if sqlite3_step(find) == SQLITE_ROW { sink &+= Reference.player(find).name.utf8.count }
          sqlite3_reset(find)
          sqlite3_step(commit)
          sqlite3_reset(commit)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let queue = try side.queue()
      return .init {
        for player in players {
          // Only the key is captured: the closure would copy the player.
          let id = player.id
          sink &+= try queue.read { db in try Player.find(db, id) }.name.utf8.count
        }
      }
    })

  static let writeScopeUpdate = Benchmark(
    name: "write-scope-update", count: { min($0.rows, 50_000) },
    makeReference: { reference, players in
      try reference.fill(players)
      let begin = try reference.prepare("BEGIN IMMEDIATE")
      let update = try reference.prepare("UPDATE player SET score = score + 1 WHERE id = ?")
      let commit = try reference.prepare("COMMIT")
      return .init {
        for player in players.prefix(50_000) {
          try reference.check(sqlite3_step(begin))
          sqlite3_reset(begin)
          sqlite3_bind_int64(update, 1, player.id)
          try reference.check(sqlite3_step(update))
          sqlite3_reset(update)
          try reference.check(sqlite3_step(commit))
          sqlite3_reset(commit)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let queue = try side.queue()
      return .init {
        for player in players.prefix(50_000) {
          try queue.inTransaction { db in
            try db.executeUpdate("UPDATE player SET score = score + 1 WHERE id = ?", player.id)
          }
        }
      }
    })
}

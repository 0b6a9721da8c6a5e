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
      let lookup = try Lookup(reference)
      return .init { for player in players { sink &+= lookup.find(player.id) } }
    },
    makeLarder: { side, players in
      try side.fill(players)
      let queue = try side.queue()
      return .init { sink &+= try find(players, in: queue) }
    })

  /// Looks up players, each in a scope of its own.
  static func find(
    _ players: some Sequence<Player>, in access: some DatabaseAccess
  ) throws -> Int {
    var sum = 0
    for player in players {
      // Only the key is captured: the closure would copy the player.
      let id = player.id
      sum &+= try access.read { db in try Player.find(db, id) }.name.utf8.count
    }
    return sum
  }

  /// Adds to players' scores, each in a transaction of its own.
  static func update(
    _ players: some Sequence<Player>, in access: some DatabaseAccess
  ) throws {
    for player in players {
      try access.inTransaction { db in
        try db.executeUpdate("UPDATE player SET score = score + 1 WHERE id = ?", player.id)
      }
    }
  }

  static let writeScopeUpdate = Benchmark(
    name: "write-scope-update", count: { min($0.rows, 50_000) }, makeReference: updateInC,
    makeLarder: { side, players in
      try side.fill(players)
      let queue = try side.queue()
      return .init { try update(players.prefix(50_000), in: queue) }
    })

  /// As ``update(_:in:)``, by hand.
  @Sendable
  static func updateInC(_ reference: Reference, _ players: [Player]) throws -> Benchmark.Side {
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
  }
}

/// A player looked up in a transaction, by hand.
final class Lookup {
  private let reference: Reference
  private let begin: OpaquePointer
  private let find: OpaquePointer
  private let commit: OpaquePointer

  init(_ reference: Reference) throws {
    self.reference = reference
    begin = try reference.prepare("BEGIN")
    find = try reference.prepare(RecordBenchmarks.find)
    commit = try reference.prepare("COMMIT")
  }

  @inline(__always)
  func find(_ id: Int64) -> Int {
    sqlite3_step(begin)
    sqlite3_reset(begin)
    sqlite3_bind_int64(find, 1, id)
    let length = sqlite3_step(find) == SQLITE_ROW ? Reference.player(find).name.utf8.count : 0
    sqlite3_reset(find)
    sqlite3_step(commit)
    sqlite3_reset(commit)
    return length
  }
}

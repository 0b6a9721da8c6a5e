import Larder

/// Larder with a database like that of ``Reference``.
final class LarderSide {
  let db: Database
  let path: String?

  init(path: String?) throws {
    self.path = path
    db = try Database(path: path)
    try db.executeUpdate(SQL(raw: Player.schema))
  }

  /// A queue with what the database holds now.
  func queue() throws -> DatabaseQueue {
    if let path { return try DatabaseQueue(path: path) }
    let queue = try DatabaseQueue()
    try queue.inDatabase { try db.backup(to: $0) }
    return queue
  }

  /// Commits what was begun before, and begins a transaction.
  func beginAnew() throws {
    if db.isInTransaction { try db.commit() }
    try db.begin(.deferred)
  }

  /// A pool of the same file.
  func pool() throws -> DatabasePool { try DatabasePool(path: path ?? "") }

  func fill(_ players: [Player]) throws {
    try db.inTransaction { db in
      let insert = try db.prepare("INSERT INTO player VALUES (?, ?, ?, ?, ?)")
      for player in players {
        try insert.execute(player.id, player.name, player.score, player.ratio, player.email)
      }
    }
  }
}

/// Keeps the compiler from leaving out work whose result nobody looks at.
nonisolated(unsafe) var sink = 0

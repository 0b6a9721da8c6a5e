import LarderSQLite

/// Larder with a database like that of ``Reference``.
final class LarderSide {
  let db: Database

  init(path: String?) throws {
    db = try Database(path: path)
    try db.executeUpdate(SQL(raw: Player.schema))
  }

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

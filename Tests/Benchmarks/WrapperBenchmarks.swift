import CSQLite
import LarderSQLite

/// The rows of the table that are about the wrapper.
enum WrapperBenchmarks {
  static let all = [
    columnsByPosition, columnsByName, executePositional, executeNamed, statementExecute,
    cachedQuery, prepareEachTime, uniqueSQL,
  ]

  static let columnsByPosition = Benchmark(
    name: "columns-by-position", makeReference: scanReference
  ) { side, players in
    try side.fill(players)
    return .init {
      let rows = try side.db.executeQuery("SELECT id, name, score, ratio, email FROM player")
      while try rows.next() {
        sink &+= Int(try rows.get(at: 0, as: Int64.self))
        sink &+= try rows.get(at: 1, as: String.self).utf8.count
        sink &+= try rows.get(at: 2, as: Int.self)
        sink &+= Int(try rows.get(at: 3, as: Double.self))
        sink &+= try rows.get(at: 4, as: String?.self)?.utf8.count ?? 0
      }
    }
  }

  static let columnsByName = Benchmark(
    name: "columns-by-name", makeReference: scanReference
  ) { side, players in
    try side.fill(players)
    return .init {
      let rows = try side.db.executeQuery("SELECT id, name, score, ratio, email FROM player")
      while try rows.next() {
        sink &+= Int(try rows.get("id", as: Int64.self))
        sink &+= try rows.get("name", as: String.self).utf8.count
        sink &+= try rows.get("score", as: Int.self)
        sink &+= Int(try rows.get("ratio", as: Double.self))
        sink &+= try rows.get("email", as: String?.self)?.utf8.count ?? 0
      }
    }
  }

  @Sendable private static func scanReference(
    _ reference: Reference, _ players: [Player]
  ) throws -> Benchmark.Side {
    try reference.fill(players)
    let statement = try reference.prepare("SELECT id, name, score, ratio, email FROM player")
    return .init {
      while sqlite3_step(statement) == SQLITE_ROW {
        sink &+= Int(sqlite3_column_int64(statement, 0))
        sink &+= Reference.text(statement, 1).utf8.count
        sink &+= Int(sqlite3_column_int64(statement, 2))
        sink &+= Int(sqlite3_column_double(statement, 3))
        if sqlite3_column_type(statement, 4) != SQLITE_NULL {
          sink &+= Reference.text(statement, 4).utf8.count
        }
      }
      sqlite3_reset(statement)
    }
  }

  static let executePositional = Benchmark(
    name: "execute-positional", makeReference: insertReference
  ) { side, players in
    .init(prepare: { try begin(side) }) {
      for player in players {
        try side.db.executeUpdate(
          "INSERT INTO player VALUES (?, ?, ?, ?, ?)", player.id, player.name, player.score,
          player.ratio, player.email)
      }
    }
  }

  static let executeNamed = Benchmark(
    name: "execute-named", makeReference: insertReference
  ) { side, players in
    .init(prepare: { try begin(side) }) {
      for player in players {
        try side.db.executeUpdate(
          "INSERT INTO player VALUES (:id, :name, :score, :ratio, :email)",
          arguments: [
            "id": player.id, "name": player.name, "score": player.score, "ratio": player.ratio,
            "email": player.email,
          ])
      }
    }
  }

  static let statementExecute = Benchmark(
    name: "statement-execute", makeReference: insertReference
  ) { side, players in
    let insert = try side.db.prepare("INSERT INTO player VALUES (?, ?, ?, ?, ?)")
    return .init(prepare: { try begin(side) }) {
      for player in players {
        try insert.execute(player.id, player.name, player.score, player.ratio, player.email)
      }
    }
  }

  @Sendable static func insertReference(
    _ reference: Reference, _ players: [Player]
  ) throws -> Benchmark.Side {
    let insert = try reference.prepare("INSERT INTO player VALUES (?, ?, ?, ?, ?)")
    return .init(prepare: {
      if sqlite3_get_autocommit(reference.handle) == 0 { try reference.execute("COMMIT") }
      try reference.execute("DELETE FROM player; VACUUM; BEGIN")
    }) {
      for player in players { try reference.insert(player, insert) }
    }
  }

  static func begin(_ side: LarderSide) throws {
    if side.db.isInTransaction { try side.db.commit() }
    // Without free pages that the table had before: what is inserted is appended to the file.
    try side.db.executeUpdate("DELETE FROM player")
    try side.db.executeUpdate("VACUUM")
    try side.db.begin()
  }

  static let cachedQuery = Benchmark(
    name: "cached-query",
    makeReference: { reference, players in
      try reference.fill(players)
      let statement = try reference.prepare("SELECT name FROM player WHERE id = ?")
      return .init {
        for player in players {
          sqlite3_bind_int64(statement, 1, player.id)
          if sqlite3_step(statement) == SQLITE_ROW {
            sink &+= Reference.text(statement, 0).utf8.count
          }
          sqlite3_reset(statement)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init {
        for player in players {
          sink &+=
            try side.db.value(
              "SELECT name FROM player WHERE id = ?", player.id, as: String.self)?.utf8.count ?? 0
        }
      }
    })

  static let prepareEachTime = Benchmark(
    name: "prepare-each-time", count: { min($0.rows, 20_000) },
    makeReference: { reference, players in
      try reference.fill(players)
      return .init {
        for player in players.prefix(20_000) {
          var statement: OpaquePointer?
          try reference.check(
            sqlite3_prepare_v2(
              reference.handle, "SELECT name FROM player WHERE id = ?", -1, &statement, nil))
          sqlite3_bind_int64(statement, 1, player.id)
          if let statement, sqlite3_step(statement) == SQLITE_ROW {
            sink &+= Reference.text(statement, 0).utf8.count
          }
          sqlite3_finalize(statement)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      side.db.statementCacheCapacity = 0
      return .init {
        for player in players.prefix(20_000) {
          sink &+=
            try side.db.value(
              "SELECT name FROM player WHERE id = ?", player.id, as: String.self)?.utf8.count ?? 0
        }
      }
    })

  /// SQL that never repeats, with the cache as it is by default: at most 1.25 times the time of C.
  static let uniqueSQL = Benchmark(
    name: "unique-sql", count: { min($0.rows, 20_000) },
    makeReference: { reference, players in
      try reference.fill(players)
      var number = 0
      return .init {
        for player in players.prefix(20_000) {
          number += 1
          var statement: OpaquePointer?
          try reference.check(
            sqlite3_prepare_v3(reference.handle, uniqueText(number), -1, 0, &statement, nil))
          sqlite3_bind_int64(statement, 1, player.id)
          if let statement, sqlite3_step(statement) == SQLITE_ROW {
            sink &+= Reference.text(statement, 0).utf8.count
          }
          sqlite3_finalize(statement)
        }
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      var number = 0
      return .init {
        for player in players.prefix(20_000) {
          number += 1
          sink &+=
            try side.db.value(SQL(raw: uniqueText(number)), player.id, as: String.self)?
            .utf8.count ?? 0
        }
      }
    })

  private static func uniqueText(_ number: Int) -> String {
    "SELECT name FROM player WHERE id = ? AND score <> -\(number)"
  }
}

import CSQLite
import Larder

/// The rows of the table about changing the schema.
enum SchemaBenchmarks {
  static let all = [rebuild]

  /// A table made anew with all its rows: Larder also counts them, and looks whether anything that
  /// depends on the table is broken.
  static let rebuild = Benchmark(
    name: "rebuild",
    makeReference: { reference, players in
      try reference.fill(players)
      return .init {
        try reference.execute(
          """
          BEGIN IMMEDIATE;
          CREATE TABLE player_new (id INTEGER PRIMARY KEY, name TEXT NOT NULL,
            score INTEGER NOT NULL, ratio REAL NOT NULL, email TEXT) STRICT;
          INSERT INTO player_new SELECT id, name, score + 1, ratio, email FROM player;
          DROP TABLE player;
          ALTER TABLE player_new RENAME TO player;
          COMMIT
          """)
      }
    },
    makeLarder: { side, players in
      try side.fill(players)
      return .init {
        sink &+= try Player.table.rebuild(side.db, copying: ["score": "score + 1"])
      }
    })
}

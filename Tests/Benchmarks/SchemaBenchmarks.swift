import CSQLite
import Larder

/// The rows of the table about the schema: changing it, and looking at it.
enum SchemaBenchmarks {
  static let all = [rebuild, firstUse]

  /// A record of ten columns.
  private struct Visit: Record {
    var id: Int64
    var page: String
    var visitor: String
    var country: String?
    var time: Double
    var duration: Double?
    var status: Int
    var bytes: Int
    var isFirst: Bool
    var referrer: String?

    struct Columns: Sendable {
      let id = Column("id", \Visit.id, .primaryKey)
      let page = Column("page", \Visit.page)
      let visitor = Column("visitor", \Visit.visitor)
      let country = Column("country", \Visit.country)
      let time = Column("time", \Visit.time)
      let duration = Column("duration", \Visit.duration)
      let status = Column("status", \Visit.status)
      let bytes = Column("bytes", \Visit.bytes)
      let isFirst = Column("isFirst", \Visit.isFirst)
      let referrer = Column("referrer", \Visit.referrer)
    }
    static let columns = Columns()
    static let table = Larder.Table(
      "visit", Visit.init, columns.id, columns.page, columns.visitor, columns.country,
      columns.time, columns.duration, columns.status, columns.bytes, columns.isFirst,
      columns.referrer)

    static let schema = """
      CREATE TABLE visit (id INTEGER PRIMARY KEY, page TEXT NOT NULL, visitor TEXT NOT NULL,
        country TEXT, time REAL NOT NULL, duration REAL, status INTEGER NOT NULL,
        bytes INTEGER NOT NULL, isFirst INTEGER NOT NULL, referrer TEXT)
      """
  }

  /// The settings that Larder makes, as a program in C would make them.
  private static let settings = """
    PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON; PRAGMA encoding;
    PRAGMA cache_size = -16384; PRAGMA journal_size_limit = 67108864; PRAGMA synchronous = FULL
    """

  /// A connection that is opened and set up, creates a table, and finds a record in it for the first time: Larder
  /// also registers its functions, and compares the table with the record's declaration.
  static let firstUse = Benchmark(
    name: "first-use", count: { min($0.rows, 1000) }, storages: [.memory],
    countedRows: (10, 30),
    makeReference: { _, players in
      .init {
        for player in players.prefix(1000) {
          var opened: OpaquePointer?
          let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
          sqlite3_open_v2(":memory:", &opened, flags, nil)
          sqlite3_exec(opened, settings, nil, nil, nil)
          sqlite3_exec(opened, Visit.schema, nil, nil, nil)
          var statement: OpaquePointer?
          let find = """
            SELECT id, page, visitor, country, time, duration, status, bytes, isFirst, referrer
              FROM visit WHERE id = ?
            """
          sqlite3_prepare_v3(opened, find, -1, 0, &statement, nil)
          sqlite3_bind_int64(statement, 1, player.id)
          if sqlite3_step(statement) == SQLITE_ROW { sink &+= 1 }
          sqlite3_finalize(statement)
          sqlite3_close_v2(opened)
        }
      }
    },
    makeLarder: { _, players in
      .init {
        for player in players.prefix(1000) {
          let db = try Database()
          try db.executeUpdate(SQL(raw: Visit.schema))
          if try Visit.fetchOne(db, player.id) != nil { sink &+= 1 }
          try db.close()
        }
      }
    })

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

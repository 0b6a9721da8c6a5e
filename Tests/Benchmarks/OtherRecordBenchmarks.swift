import CSQLite
import FoundationEssentials
import Larder

/// The rows of the table about records with many columns, and with columns that take converting.
/// Both sides convert in the same way.
enum OtherRecordBenchmarks {
  static let all = [insertWide, fetchWide, insertCoded, fetchCoded]

  private static let insertStation =
    "INSERT INTO station VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
  private static let insertJourney = "INSERT INTO journey VALUES (?, ?, ?, ?, ?)"

  private static func empty(_ reference: Reference, _ table: String) throws {
    if sqlite3_get_autocommit(reference.handle) == 0 { try reference.execute("COMMIT") }
    try reference.execute("DELETE FROM \(table); VACUUM; BEGIN")
  }

  private static func empty(_ side: LarderSide, _ table: String) throws {
    if side.db.isInTransaction { try side.db.commit() }
    try side.db.executeUpdate("DELETE FROM \(identifier: table)")
    try side.db.executeUpdate("VACUUM")
    try side.db.begin()
  }

  static let insertWide = Benchmark(
    name: "insert-wide",
    makeReference: { reference, players in
      let stations = Station.many(players.count)
      try reference.execute(Station.schema)
      let insert = try reference.prepare(insertStation)
      return .init(prepare: { try empty(reference, "station") }) {
        for station in stations { try reference.insert(station, insert) }
      }
    },
    makeLarder: { side, players in
      let stations = Station.many(players.count)
      try side.db.executeUpdate(SQL(raw: Station.schema))
      return .init(prepare: { try empty(side, "station") }) {
        for var station in stations { try station.insert(side.db) }
      }
    })

  static let fetchWide = Benchmark(
    name: "fetch-wide",
    makeReference: { reference, players in
      try reference.execute(Station.schema)
      let insert = try reference.prepare(insertStation)
      try reference.execute("BEGIN")
      for station in Station.many(players.count) { try reference.insert(station, insert) }
      try reference.execute("COMMIT")
      let statement = try reference.prepare("SELECT * FROM station")
      return .init {
        var all: [Station] = []
        while sqlite3_step(statement) == SQLITE_ROW {
          if let station = Reference.station(statement) { all.append(station) }
        }
        sqlite3_reset(statement)
        sink &+= all.count
      }
    },
    makeLarder: { side, players in
      try side.db.executeUpdate(SQL(raw: Station.schema))
      try Station.insert(side.db, contentsOf: Station.many(players.count))
      return .init { sink &+= try Station.fetchAll(side.db).count }
    })

  static let insertCoded = Benchmark(
    name: "insert-coded",
    makeReference: { reference, players in
      let journeys = Journey.many(players.count)
      try reference.execute(Journey.schema)
      let insert = try reference.prepare(insertJourney)
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return .init(prepare: { try empty(reference, "journey") }) {
        for journey in journeys { try reference.insert(journey, insert, encoder) }
      }
    },
    makeLarder: { side, players in
      let journeys = Journey.many(players.count)
      try side.db.executeUpdate(SQL(raw: Journey.schema))
      return .init(prepare: { try empty(side, "journey") }) {
        for var journey in journeys { try journey.insert(side.db) }
      }
    })

  static let fetchCoded = Benchmark(
    name: "fetch-coded",
    makeReference: { reference, players in
      try reference.execute(Journey.schema)
      let insert = try reference.prepare(insertJourney)
      try reference.execute("BEGIN")
      for journey in Journey.many(players.count) {
        try reference.insert(journey, insert, JSONEncoder())
      }
      try reference.execute("COMMIT")
      let statement = try reference.prepare("SELECT * FROM journey")
      let decoder = JSONDecoder()
      return .init {
        var all: [Journey] = []
        while sqlite3_step(statement) == SQLITE_ROW {
          if let journey = try Reference.journey(statement, decoder) { all.append(journey) }
        }
        sqlite3_reset(statement)
        sink &+= all.count
      }
    },
    makeLarder: { side, players in
      try side.db.executeUpdate(SQL(raw: Journey.schema))
      try Journey.insert(side.db, contentsOf: Journey.many(players.count))
      return .init { sink &+= try Journey.fetchAll(side.db).count }
    })
}

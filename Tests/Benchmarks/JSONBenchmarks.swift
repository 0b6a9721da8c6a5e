import CSQLite
import FoundationEssentials
import Larder

/// JSON in columns: a search of 100,000 rows without an index, by Larder's functions, and in C by SQLite's
/// `json_extract`; and columns read as Codable types, by Larder's scanner and by Foundation's decoder.
enum JSONBenchmarks {
  static let all = [filter, columns]

  private static let rows = 100_000

  private static let filter = Benchmark(
    name: "filter by a path in JSON", count: { InstructionCount.calls(rows, $0.rows) },
    makeReference: { reference, players in
      let rows = InstructionCount.calls(rows, players.count)
      try Event.fill(rows) { try reference.execute($0) }
      let statement = try reference.prepare(
        """
        SELECT id, body FROM event
        WHERE json_extract(body, '$.customer.id') = ?1 AND json_extract(body, '$.state') = ?2
        """)
      let isCopied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      return .init {
        sqlite3_bind_int64(statement, 1, 7)
        sqlite3_bind_text(statement, 2, "done", -1, isCopied)
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
          let event = Event(
            id: sqlite3_column_int64(statement, 0), body: Reference.text(statement, 1))
          sink &+= event.body.utf8.count
          code = sqlite3_step(statement)
        }
        try reference.check(code == SQLITE_DONE ? SQLITE_OK : code)
        sqlite3_reset(statement)
      }
    },
    makeLarder: { side, players in
      let rows = InstructionCount.calls(rows, players.count)
      try Event.fill(rows) { try side.db.executeStatements(SQL(raw: $0)) }
      return .init {
        let events = try Event.filter {
          $0.body["customer"]["id"] == 7 && $0.body["state"] == "done"
        }.fetchAll(side.db)
        for event in events { sink &+= event.body.utf8.count }
      }
    })

  private static let columns = Benchmark(
    name: "json-columns",
    makeReference: { reference, players in
      try Parcel.fill(players.count) { try reference.execute($0) }
      let statement = try reference.prepare("SELECT * FROM parcel")
      let decoder = JSONDecoder()
      return .init {
        var all: [Parcel] = []
        while sqlite3_step(statement) == SQLITE_ROW {
          all.append(try Parcel(statement, decoder))
        }
        sqlite3_reset(statement)
        sink &+= all.count
      }
    },
    makeLarder: { side, players in
      try Parcel.fill(players.count) { try side.db.executeStatements(SQL(raw: $0)) }
      return .init { sink &+= try Parcel.fetchAll(side.db).count }
    })

  /// What columns of JSON mostly hold: a list of texts, one of numbers, and a small object.
  private struct Parcel: Record {
    var id: Int64
    var labels: [String]
    var sizes: [Int]
    var address: Address

    struct Address: Codable, Sendable {
      var street: String
      var number: Int
      var city: String
      var country: String?
      var isBusiness: Bool
      var longitude: Double
      var latitude: Double
    }

    struct Columns: Sendable {
      let id = Column("id", \Parcel.id, .primaryKey)
      let labels = Column("labels", \Parcel.labels, as: .json)
      let sizes = Column("sizes", \Parcel.sizes, as: .json)
      let address = Column("address", \Parcel.address, as: .json)
    }
    static let columns = Columns()
    static let table = Larder.Table(
      "parcel", Parcel.init, columns.id, columns.labels, columns.sizes, columns.address)

    init(id: Int64, labels: [String], sizes: [Int], address: Address) {
      (self.id, self.labels, self.sizes, self.address) = (id, labels, sizes, address)
    }

    /// The parcel of the row that a statement stands on.
    init(_ statement: OpaquePointer, _ decoder: JSONDecoder) throws {
      func value<Value: Decodable>(_ type: Value.Type, _ column: Int32) throws -> Value {
        let text = sqlite3_column_text(statement, column)
        let bytes = UnsafeBufferPointer(
          start: text, count: Int(sqlite3_column_bytes(statement, column)))
        return try decoder.decode(type, from: Data(bytes))
      }
      id = sqlite3_column_int64(statement, 0)
      labels = try value([String].self, 1)
      sizes = try value([Int].self, 2)
      address = try value(Address.self, 3)
    }

    static func fill(_ rows: Int, _ execute: (String) throws -> Void) throws {
      for sql in try table.schema().statements { try execute(sql) }
      try execute("BEGIN")
      for number in 1...rows {
        try execute(
          """
          INSERT INTO parcel VALUES (\(number), '["fragile","this side up","box \(number)"]',
            '[\(number % 90),40,\(number % 7),1200]', '{"city":"Tromsø","country":"NO","isBusiness":false,\
          "latitude":69.6492,"longitude":18.\(number % 1000),"number":\(number % 50),"street":"Storgata"}')
          """)
      }
      try execute("COMMIT")
    }
  }

  /// Something that has happened, as JSON.
  private struct Event: Record {
    var id: Int64
    var body: String

    struct Columns: Sendable {
      let id = Column("id", \Event.id, .primaryKey)
      let body = Column("body", \Event.body)
    }
    static let columns = Columns()
    static let table = Larder.Table("event", Event.init, columns.id, columns.body)

    static func fill(_ rows: Int, _ execute: (String) throws -> Void) throws {
      for sql in try table.schema().statements { try execute(sql) }
      try execute("BEGIN")
      for number in 1...rows {
        let state = number % 3 == 0 ? "done" : "waiting"
        try execute(
          """
          INSERT INTO event VALUES (\(number), '{"at":"2023-11-14T22:13:20.000Z",\
          "customer":{"id":\(number % 1000),"name":"Åse \(number)"},"isUrgent":false,\
          "lines":[{"count":5,"sku":"X1"},{"count":60,"sku":"Y\(number)"}],"price":9.5,\
          "state":"\(state)","tags":["red","urgent"]}')
          """)
      }
      try execute("COMMIT")
    }
  }
}

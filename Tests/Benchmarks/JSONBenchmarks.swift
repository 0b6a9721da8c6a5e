import CSQLite
import Larder

/// A search in JSON, of 100,000 rows without an index: by Larder's functions, and in C by SQLite's `json_extract`.
enum JSONBenchmarks {
  static let all = [filter]

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

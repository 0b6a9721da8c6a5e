import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "Queries that are left before their end",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct EarlyEndTests {
  private let server: OneConnection
  private var pool: PostgresPool { server.pool }

  init() throws { server = try OneConnection() }

  @Test(
    "Leaving an endless query cancels it at the end of its scope, and keeps the connection"
  )
  func early() throws {
    struct Stop: Error {}
    let endless = "SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b"
    let process = try server.number("SELECT pg_backend_pid()")
    let time = try ContinuousClock().measure {
      try pool.read { db in
        let rows = try db.executeQuery(SQL(raw: endless))
        #expect(try rows.next())
      }
      #expect(try pool.read { try $0.value(SQL(raw: endless), as: Int.self) } == 1)
      #expect(try pool.inDatabase { try $0.value(SQL(raw: endless), as: Int.self) } == 1)
      #expect(throws: Stop.self) {
        try pool.inTransaction { db in
          try db.executeQuery(SQL(raw: endless)).forEach { _ in throw Stop() }
        }
      }
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO t VALUES (5)")
        #expect(throws: Stop.self) {
          try db.inSavepoint { db in
            _ = try db.value(SQL(raw: endless), as: Int.self)
            throw Stop()
          }
        }
      }
    }
    #expect(time < .seconds(20))
    #expect(try server.number("SELECT sum(a) FROM t") == 5)
    #expect(try server.number("SELECT pg_backend_pid()") == process)
  }

  @Test("Leaving a query in an ongoing transaction reads its rest, within the deadline")
  func earlyInTransaction() throws {
    try pool.inTransaction { db in
      #expect(try db.value("SELECT generate_series(1, 100000)", as: Int.self) == 1)
      try db.executeUpdate("INSERT INTO t VALUES (6)")
      #expect(try db.value("SELECT generate_series(1, 100000)", as: Int.self) == 1)
    }
    #expect(try server.number("SELECT sum(a) FROM t") == 6)
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        db.statementDeadline = .milliseconds(300)
        _ = try db.value(
          "SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b", as: Int.self)
        try db.executeUpdate("INSERT INTO t VALUES (7)")
      }
    }
    #expect(error?.code == .interrupt)
    #expect(try server.number("SELECT sum(a) FROM t") == 6)
  }

  @Test("A slow reader's query ends at the deadline")
  func slowReader() throws {
    let error = #expect(throws: DatabaseError.self) {
      try pool.read { db in
        db.statementDeadline = .milliseconds(200)
        try db.executeQuery("SELECT generate_series(1, 10000000)").forEach { _ in }
      }
    }
    #expect(error?.code == .interrupt)
  }
}

import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "Limits and statistics of scopes on a server",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ScopeTests {
  private let server: OneConnection
  private var pool: PostgresPool { server.pool }

  init() throws { server = try OneConnection() }

  @Test("The greatest durations mean no limit, and the least connectTimeout fails")
  func extremes() throws {
    let pool = try server.pool { configuration in
      configuration.connectTimeout = .seconds(Int64.max)
      configuration.scopeTimeout = .seconds(Int64.max)
      configuration.statementDeadline = .seconds(Int64.max)
      configuration.retryLimit = .seconds(Int64.max)
    }
    try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO t VALUES (1)") }
    try pool.close()
    #expect(throws: DatabaseError.self) {
      _ = try server.pool { $0.connectTimeout = .seconds(Int64.min) }
    }
  }

  @Test("PREPARE TRANSACTION and COMMIT as statements throw misuse")
  func preparedTransactions() throws {
    for sql in ["PREPARE TRANSACTION 'x'", "ABORT", "START TRANSACTION", "COMMIT"] {
      let error = #expect(throws: DatabaseError.self) {
        try pool.inTransaction { try $0.executeUpdate(SQL(raw: sql)) }
      }
      #expect(error?.code == .misuse)
    }
  }

  @Test("An authorizer makes statements and commits throw until it is removed or the scope ends")
  func authorizer() throws {
    #expect(throws: UnsupportedByEngine.self) {
      try pool.inTransaction { db in
        db.authorizer = .readOnly
        try db.executeUpdate("INSERT INTO t VALUES (1)")
      }
    }
    #expect(throws: UnsupportedByEngine.self) {
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO t VALUES (1)")
        db.authorizer = .readOnly
      }
    }
    #expect(try server.number("SELECT count(*) FROM t") == 0)
    try pool.inDatabase { db in
      db.authorizer = .readOnly
      db.authorizer = nil
      _ = try db.value("SELECT 1", as: Int.self)
    }
  }

  @Test("`changes` is the number of rows that the last writing statement changed")
  func changes() throws {
    try pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO t VALUES (1), (2), (3)")
      #expect(db.changes == 3)
      try db.executeUpdate("UPDATE t SET a = 4 WHERE a > 1")
      _ = try db.value("SELECT 1", as: Int.self)
      #expect(db.changes == 2)
    }
  }

  @Test("A pool's statistics count waits, their duration and the time in COMMIT")
  func statistics() async throws {
    let pool = pool
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          _ = try await pool.inTransaction { db in
            try db.executeUpdate("INSERT INTO t SELECT count(*) FROM t, pg_sleep(0.02)")
          }
        }
      }
      try await group.waitForAll()
    }
    let statistics = pool.statistics
    #expect(statistics.waits > 0 && statistics.mostWaiting > 0)
    #expect(statistics.longestWait > .zero && statistics.waited >= statistics.longestWait)
    #expect(statistics.timeInCommit > .zero)
  }

  @Test("A writing statement whose result can't be read throws, and changes nothing")
  func unreadable() throws {
    #expect(throws: DatabaseError.self) {
      try pool.inDatabase { db in
        _ = try db.executeUpdate("INSERT INTO t VALUES (1) RETURNING point(a, a)")
      }
    }
    #expect(try server.number("SELECT count(*) FROM t") == 0)
  }
}

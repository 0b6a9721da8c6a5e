import Larder
import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Signals that wake waiting workers", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(10)))
struct SignalTests {
  /// How many channels somebody is known to wait for.
  private func markCount(_ server: ListeningServer) throws -> Int {
    try server.pool.read { db in
      try db.value(
        """
        SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """, as: Int.self) ?? 0
    }
  }

  @Test("Only while somebody waits is a signal sent, to those of its channel, if it is committed")
  func waiting() async throws {
    let server = try ListeningServer()
    let texts = Lock<[String]>([])
    let reception = try #require(
      try await server.pool.signals(on: "a") { text in
        if let text { texts.withLock { $0.append(text) } }
      })
    func signal(_ text: String, isCommitted: Bool = true) async throws {
      try await server.pool.inTransaction { db in
        try db.signal("a", text)
        if !isCommitted { db.setRollbackOnly() }
      }
    }
    try await signal("nobody waits")
    reception.wait(true)
    #expect(try await becomesTrue { try markCount(server) == 1 })
    try await signal("rolled back", isCommitted: false)
    try await signal("it's")
    #expect(try await becomesTrue { texts.withLock { $0 } == ["it's"] })
    reception.wait(false)
    #expect(try await becomesTrue { try markCount(server) == 0 })
    try await signal("nobody waits")
    reception.wait(true)
    #expect(try await becomesTrue { try markCount(server) == 1 })
    try await signal("two")
    #expect(try await becomesTrue { texts.withLock { $0 } == ["it's", "two"] })
    withExtendedLifetime(reception) {}
  }

  @Test("Whoever begins to wait while somebody puts something in is rung after that commit")
  func beginning() async throws {
    let server = try ListeningServer()
    let writer = try Database.postgres(server.address)
    try writer.executeStatements("BEGIN; INSERT INTO other VALUES (1)")
    // Nobody waits: nothing is sent.
    try writer.signal("a", "one")
    let seen = Lock(0)
    let pool = server.pool
    let reception = try #require(
      try await pool.signals(on: "a") { text in
        #expect(text == nil)
        let count = try? pool.read { db in
          try db.value("SELECT count(*) FROM other", as: Int.self)
        }
        seen.withLock { $0 = count ?? $0 }
      })
    reception.wait(true)
    try writer.executeStatements("COMMIT")
    #expect(try await becomesTrue { seen.withLock { $0 } == 1 })
    #expect(try await becomesTrue { try markCount(server) == 1 })
    withExtendedLifetime(reception) {}
  }

  @Test("After a lost connection, whoever waits is rung, and signalled again")
  func lost() async throws {
    let server = try ListeningServer()
    let texts = Lock<[String?]>([])
    let reception = try #require(
      try await server.pool.signals(on: "a") { text in texts.withLock { $0.append(text) } })
    reception.wait(true)
    for number in 1...3 {
      #expect(try await becomesTrue { try markCount(server) == 1 })
      try await server.pool.inTransaction { try $0.signal("a", "\(number)") }
      #expect(try await becomesTrue { texts.withLock { $0 }.contains("\(number)") })
      texts.withLock { $0 = [] }
      try server.psql(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_locks
        WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """)
      #expect(try await becomesTrue { texts.withLock { $0 }.contains(nil) })
    }
    withExtendedLifetime(reception) {}
  }

  @Test("SQLite has no signals, since observation does the same")
  func otherEngine() async throws {
    let queue = try DatabaseQueue()
    try await queue.inTransaction { try $0.signal("a", "one") }
    #expect(try await queue.signals(on: "a") { _ in } == nil)
  }
}

import Larder
import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Signals that wake waiting workers", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(10)))
struct SignalTests {
  /// The texts that were received; “?” for those that may have been missed.
  private final class Received: Sendable {
    let texts = Lock<[String]>([])
    func note(_ text: String?) { texts.withLock { $0.append(text ?? "?") } }
    func takeAll() -> [String] {
      texts.withLock { texts in
        defer { texts = [] }
        return texts
      }
    }
    func becomes(_ expected: [String]) async throws -> Bool {
      try await becomesTrue { texts.withLock { $0 } == expected }
    }
  }

  @Test("Only while somebody waits is a signal sent, and to those of its channel")
  func waiting() async throws {
    let server = try ListeningServer()
    let (received, others) = (Received(), Received())
    let reception = try #require(
      try await server.pool.signals(on: "a") { received.note($0) })
    let other = try #require(try await server.pool.signals(on: "b") { others.note($0) })
    #expect(try await received.becomes(["?"]))
    #expect(try await others.becomes(["?"]))
    reception.wait(true)
    #expect(try await received.becomes(["?", "?"]))
    try await server.pool.inTransaction { db in
      try db.signal("a", "one")
      try db.signal("b", "two")
    }
    #expect(try await received.becomes(["?", "?", "one"]))
    other.wait(true)
    #expect(try await others.becomes(["?", "?"]))
    _ = received.takeAll()
    reception.wait(false)
    // The session gives the lock back before it takes the next one.
    let third = try #require(try await server.pool.signals(on: "c") { _ in })
    third.wait(true)
    func isFree(_ channel: String) throws -> Bool {
      try server.pool.inTransaction { db in
        try db.value(
          "SELECT pg_try_advisory_xact_lock(\(SQL(raw: WaitingMarks.key(channel))))", as: Bool.self
        ) == true
      }
    }
    #expect(try await becomesTrue { try isFree("a") && !isFree("c") })
    try await server.pool.inTransaction { try $0.signal("a", "three") }
    try await server.pool.inTransaction { try $0.signal("b", "four") }
    #expect(try await others.becomes(["?", "?", "four"]))
    #expect(received.takeAll() == [])
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
    #expect(
      try await becomesTrue {
        try pool.inTransaction { db in
          try db.value(
            "SELECT pg_try_advisory_xact_lock(\(SQL(raw: WaitingMarks.key("a"))))", as: Bool.self)
        } == false
      })
  }

  @Test("After a lost connection, whoever waits is rung, and signalled again")
  func lost() async throws {
    let server = try ListeningServer()
    let received = Received()
    let reception = try #require(try await server.pool.signals(on: "a") { received.note($0) })
    reception.wait(true)
    for number in 1...3 {
      try await server.pool.inTransaction { try $0.signal("a", "\(number)") }
      #expect(try await becomesTrue { received.texts.withLock { $0.last } == "\(number)" })
      _ = received.takeAll()
      try server.psql(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_locks
        WHERE locktype = 'advisory' AND pid <> pg_backend_pid()
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """)
      // Once for the connection, once for the lock.
      #expect(try await received.becomes(["?", "?"]))
    }
  }

  @Test("A rolled back transaction signals nothing, and SQLite has no signals")
  func none() async throws {
    let server = try ListeningServer()
    let received = Received()
    let reception = try #require(try await server.pool.signals(on: "a") { received.note($0) })
    reception.wait(true)
    #expect(try await becomesTrue { received.texts.withLock { $0.count } >= 1 })
    try await server.pool.inTransaction { db in
      try db.signal("a", "rolled back")
      db.setRollbackOnly()
    }
    try await server.pool.inTransaction { try $0.signal("a", "it's") }
    #expect(try await becomesTrue { received.texts.withLock { $0.last } == "it's" })
    #expect(!received.takeAll().contains("rolled back"))
    let queue = try DatabaseQueue()
    try await queue.inTransaction { try $0.signal("a", "one") }
    #expect(try await queue.signals(on: "a") { _ in } == nil)
  }
}

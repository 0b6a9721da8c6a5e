import Larder
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Notifications of a server", .enabled(if: PostgresServer.isInstalled), .timeLimit(.minutes(10)))
struct NotificationTests {
  private let server: ListeningServer
  private var pool: PostgresPool { server.pool }

  init() throws { server = try ListeningServer() }

  @Test("Notifications arrive after their transaction's commit, in order, and not after a rollback")
  func order() async throws {
    var events = pool.notifications(on: "Orders").makeAsyncIterator()
    #expect(try await events.next() == .gap)
    try await pool.inTransaction { db in
      try db.notify("Orders", "1")
      try db.notify("Orders", "2")
      try db.notify("Orders", "1")
      try db.notify("orders", "another channel")
    }
    try await pool.inTransaction { db in
      try db.notify("Orders", "rolled back")
      db.setRollbackOnly()
    }
    try server.psql("NOTIFY \"Orders\", 'it''s'")
    try await pool.inDatabase { try $0.notify("Orders") }
    for text in ["1", "2", "it's", ""] { #expect(try await events.next() == .payload(text)) }
  }

  @Test("A consumer is told of a gap after its connection was lost, and gets what comes then")
  func reconnection() async throws {
    var events = pool.notifications(on: "orders").makeAsyncIterator()
    #expect(try await events.next() == .gap)
    for number in 1...3 {
      try server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE \(ListeningServer.listens)")
      #expect(try await events.next() == .gap)
      try server.psql("NOTIFY orders, '\(number)'")
      #expect(try await events.next() == .payload("\(number)"))
    }
  }

  @Test("A consumer that is too slow is told of a gap in place of what was dropped")
  func overflow() async throws {
    var slow = pool.notifications(on: "orders", limit: 3).makeAsyncIterator()
    var quick = pool.notifications(on: "orders").makeAsyncIterator()
    #expect(try await slow.next() == .gap)
    #expect(try await quick.next() == .gap)
    try await pool.inTransaction { db in
      for number in 1...5 { try db.notify("orders", "\(number)") }
    }
    for number in 1...5 { #expect(try await quick.next() == .payload("\(number)")) }
    for event in [ServerNotification.gap, .payload("4"), .payload("5")] {
      #expect(try await slow.next() == event)
    }
  }

  @Test("Several channels share one connection, which ends with the last consumer")
  func sharing() async throws {
    do {
      var first = pool.notifications(on: "a").makeAsyncIterator()
      var second = pool.notifications(on: "b").makeAsyncIterator()
      #expect(try await first.next() == .gap)
      #expect(try await second.next() == .gap)
      try server.psql("NOTIFY b, '2'; NOTIFY a, '1'")
      #expect(try await first.next() == .payload("1"))
      #expect(try await second.next() == .payload("2"))
      #expect(try server.listenerCount() == 1)
    }
    #expect(try await becomesTrue { try server.listenerCount() == 0 })
  }

  @Test("A cancelled task's sequence ends, and so does that of a closed pool")
  func ends() async throws {
    let waiting = Task { [pool] in
      var count = 0
      for try await _ in pool.notifications(on: "orders") { count += 1 }
      return count
    }
    #expect(try await becomesTrue { try server.listenerCount() == 1 })
    waiting.cancel()
    #expect(try await waiting.value <= 1)
    #expect(try await becomesTrue { try server.listenerCount() == 0 })
    var events = pool.notifications(on: "orders").makeAsyncIterator()
    #expect(try await events.next() == .gap)
    try await pool.close()
    #expect(try await events.next() == nil)
    #expect(try await events.next() == nil)
    await #expect(throws: DatabaseError.self) {
      for try await _ in pool.notifications(on: "orders") {}
    }
  }

  @Test("A channel without a name, or with one that is too long, throws at both ends")
  func names() async throws {
    for name in ["", String(repeating: "x", count: 64)] {
      await #expect(throws: DatabaseError.self) {
        for try await _ in pool.notifications(on: name) {}
      }
      #expect(throws: DatabaseError.self) { try pool.inTransaction { try $0.notify(name) } }
    }
    #expect(throws: DatabaseError.self) {
      try pool.inTransaction { try $0.notify("a", String(repeating: "x", count: 8_000)) }
    }
  }

  @Test("notify throws UnsupportedByEngine on SQLite")
  func otherEngine() throws {
    let queue = try DatabaseQueue()
    #expect(throws: UnsupportedByEngine.self) { try queue.inTransaction { try $0.notify("a") } }
  }

  @Test("A server that can't be reached at first throws once the retry limit is over")
  func unreachable() async throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder)
    let folder = try PostgresServer.shared.folder
    let pool = try ListeningServer.pool(server.address.replacing(folder, with: proxy.folder)) {
      $0.retryLimit = .milliseconds(200)
    }
    proxy.cut(after: 0)
    await #expect(throws: DatabaseError.self) {
      for try await _ in pool.notifications(on: "orders") {}
    }
  }

  @Test(
    "Behind a pooler in transaction mode, listening throws UnsupportedByEngine",
    .enabled(if: PostgresServer.hasPooler))
  func pooler() async throws {
    let own = try PostgresServer(["--pooler", "transaction"])
    let pool = try PostgresPool(PostgresServer.throughPooler(own.address))
    await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in pool.notifications(on: "orders") {}
    }
    await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in pool.values(of: { try $0.value("SELECT 1", as: Int.self) }) {}
    }
  }
}

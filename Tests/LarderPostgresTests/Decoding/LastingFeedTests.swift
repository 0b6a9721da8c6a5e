import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Feeds of a server that last",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct LastingFeedTests {
  private let server: FeedServer

  init() throws { server = try FeedServer() }

  private func feed(
    _ name: String = "search", limit: Int = 1_000, tables: [String] = ["city"],
    beginning: (@Sendable (Database) throws -> Void)? = { _ in }
  ) async throws -> ServerFeed<RowChange> {
    try await ServerFeed(
      server.pool.changes(of: tables, limit: limit, beginning: beginning).lasting(as: name))
  }

  private func insert(_ ids: ClosedRange<Int>) throws {
    for id in ids { try server.run("INSERT INTO city VALUES (\(id), 'x')") }
  }

  @Test("Goes on after the last transaction that was handled, and begins only once")
  func resumes() async throws {
    let beginnings = Recorder<Int>()
    let first = { @Sendable (db: Database) in
      beginnings.add(try db.value("SELECT count(*) FROM city", as: Int.self) ?? -1)
    }
    try insert(1...2)
    do {
      let feed = try await feed(beginning: first)
      try insert(3...5)
      #expect(try await feed.text() == "+3 x")
      #expect(try await feed.text() == "+4 x")
    }
    try insert(6...6)
    do {
      // The transaction that was given last may not have been handled.
      let feed = try await feed(beginning: first)
      #expect(try await feed.text() == "+4 x")
      #expect(try await feed.text() == "+5 x")
      #expect(try await feed.text() == "+6 x")
    }
    let feed = try await feed(beginning: first)
    #expect(try await feed.text() == "+6 x")
    #expect(beginnings.elements == [2])
  }

  @Test("A feed that is new and has no `beginning` begins with an unknown change")
  func unknownBeginning() async throws {
    do {
      let feed = try await feed(beginning: nil)
      #expect(try await feed.text() == "?")
      try insert(1...1)
      #expect(try await feed.text() == "+1 x")
    }
    let feed = try await feed(beginning: nil)
    #expect(try await feed.text() == "+1 x")
  }

  @Test("A feed whose `beginning` throws isn't remembered")
  func failedBeginning() async throws {
    struct Stop: Error {}
    await #expect(throws: Stop.self) { _ = try await feed { _ in throw Stop() } }
    #expect(try await server.pool.inDatabase { try LastingFeed.all($0) } == [])
  }

  @Test("A cut connection is made again, and nothing is missing, twice or unknown")
  func cut() async throws {
    let feed = try await feed()
    var next = 1
    for round in 0..<5 {
      try insert((round * 10 + 1)...(round * 10 + 5))
      try server.cut()
      try insert((round * 10 + 6)...(round * 10 + 10))
      while next <= round * 10 + 8 {
        #expect(try await feed.text() == "+\(next) x")
        next += 1
      }
    }
  }

  @Test("A consumer that is behind makes the server wait, which stays connected")
  func slow() async throws {
    // The server ends connections that don't answer for so long.
    try server.run("ALTER DATABASE \(databaseName) SET wal_sender_timeout = '3s'")
    let feed = try await feed(limit: 10)
    let process = try server.processes()
    #expect(process.count == 1)
    try server.run(
      "DO $$ BEGIN FOR n IN 1..3000 LOOP INSERT INTO city VALUES (n, repeat('x', 3000)); COMMIT; END LOOP; END $$"
    )
    // So long that it would have been ended.
    try server.run("SELECT pg_sleep(5)")
    for number in 1...3000 {
      #expect(try await feed.next()?.changes.first?.new?.first == .integer(Int64(number)))
    }
    #expect(try server.processes() == process)
  }

  private var databaseName: String {
    String(server.address.split(separator: "=").last ?? "")
  }

  @Test("The server keeps nothing for a feed whose consumer waits, while others write")
  func advances() async throws {
    let feed = try await feed()
    let waiting = Task { try await feed.text() }
    func kept() async throws -> Int {
      try await server.pool.inDatabase { try LastingFeed.all($0).first?.keptBytes ?? 0 }
    }
    try server.run("INSERT INTO port SELECT n, n FROM generate_series(1, 50000) n")
    // A running transaction's log is kept until the server has noted that it has ended.
    while try await kept() > 1_000_000 { try server.run("CHECKPOINT") }
    try insert(1...1)
    #expect(try await waiting.value == "+1 x")
  }

  @Test("Removing a feed waits for those who write to its tables, whose next write would fail")
  func removedBesideWriter() async throws {
    _ = try await feed()
    while try await server.pool.inDatabase({ try LastingFeed.all($0).first?.isActive }) == true {
      await Task.yield()
    }
    let writer = try Database.postgres(server.address)
    try writer.executeStatements("BEGIN; INSERT INTO city VALUES (1, 'x')")
    let removal = Task { [server] in
      try await server.pool.inTransaction { db in
        try db.executeStatements("SET LOCAL lock_timeout = '7s'")
        _ = try LastingFeed.remove(db, "search")
        return try db.value("SELECT current_setting('lock_timeout')", as: String.self)
      }
    }
    let isWaiting: SQL = """
      SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'city'::regclass
        AND mode = 'ShareRowExclusiveLock' AND NOT granted)
      """
    while try await server.pool.inDatabase({ try $0.value(isWaiting, as: Bool.self) }) != true {
      await Task.yield()
    }
    try writer.executeStatements("UPDATE city SET name = 'y'; COMMIT")
    #expect(try await removal.value == "7s")
    #expect(try await server.pool.inDatabase { try LastingFeed.all($0) } == [])
  }

  @Test("Feeds that last are listed and removed, but not while somebody follows them")
  func listed() async throws {
    do {
      let feed = try await feed()
      let found = try await server.pool.inDatabase { try LastingFeed.all($0) }
      #expect(found.map(\.name) == ["search"])
      #expect(found.first?.isActive == true && found.first?.isLost == false)
      let error = await #expect(throws: DatabaseError.self) {
        try await server.pool.inDatabase { try LastingFeed.remove($0, "search") }
      }
      #expect(error?.sqlState == "55006")
      withExtendedLifetime(feed) {}
    }
    while try await server.pool.inDatabase({ try LastingFeed.all($0).first?.isActive }) == true {
      await Task.yield()
    }
    #expect(try await server.pool.inDatabase { try LastingFeed.remove($0, "search") })
    #expect(try await server.pool.inDatabase { try !LastingFeed.remove($0, "search") })
    #expect(try await server.pool.inDatabase { try LastingFeed.all($0) } == [])
    #expect(
      try await server.pool.inDatabase {
        try $0.value("SELECT count(*) FROM pg_publication", as: Int.self)
      } == 0)
  }

  @Test("Other tables than before are an unknown change")
  func otherTables() async throws {
    do { _ = try await feed() }
    try insert(1...1)
    try server.run("ALTER TABLE port REPLICA IDENTITY FULL; INSERT INTO port VALUES (1, 1)")
    let feed = try await feed(tables: ["city", "port"])
    try server.run("INSERT INTO port VALUES (2, 1)")
    #expect(try await feed.text() == "?")
    #expect(try await feed.text() == "+1 x")
    #expect(try await feed.text() == "+2 1")
  }

  @Test("A feed lasts through a server's restart and its crash")
  func restart() async throws {
    let cluster = try PostgresCluster(standbys: 0, ["-c", "wal_level=logical"])
    let pool = try FeedServer.pool(cluster.address)
    try await pool.inDatabase { db in
      try db.executeStatements(
        "CREATE TABLE city (id BIGINT PRIMARY KEY); ALTER TABLE city REPLICA IDENTITY FULL")
    }
    let feed = try await ServerFeed(
      pool.changes(of: ["city"]) { _ in }.lasting(as: "search"))
    var next = 1
    for stop in [cluster.shutDown, cluster.kill] {
      for _ in 0..<3 {
        let id = next
        try await pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (?)", id) }
        #expect(try await feed.text() == "+\(id)")
        next += 1
      }
      try stop(0)
      try cluster.start(0)
    }
    let id = next
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES (?)", id) }
    #expect(try await feed.text() == "+\(id)")
  }

  @Test("A feed that the server has given up says so")
  func lost() async throws {
    let cluster = try PostgresCluster(
      standbys: 0,
      ["-c", "wal_level=logical", "-c", "max_slot_wal_keep_size=8MB", "-c", "wal_keep_size=0"])
    let pool = try FeedServer.pool(cluster.address)
    try await pool.inDatabase {
      try $0.executeStatements("CREATE TABLE city (id BIGINT PRIMARY KEY, name TEXT)")
    }
    do { _ = try await ServerFeed(pool.changes(of: ["city"]) { _ in }.lasting(as: "search")) }
    while try await pool.inDatabase({ try LastingFeed.all($0).first?.isLost }) == false {
      try await pool.inDatabase { db in
        #expect(try LastingFeed.all(db).first?.remainingBytes != nil)
        try db.executeStatements(
          "INSERT INTO city SELECT n, repeat('x', 1000) FROM generate_series(1, 5000) n; TRUNCATE city; CHECKPOINT"
        )
      }
    }
    let error = await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(pool.changes(of: ["city"]).lasting(as: "search"))
    }
    #expect(error?.message.contains("LastingFeed.remove") == true)
    #expect(try await pool.inDatabase { try LastingFeed.remove($0, "search") })
  }
}

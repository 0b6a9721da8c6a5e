import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Testing

@Suite(
  "What keeps a feed of a server from beginning",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct FeedRefusalTests {
  private let server: FeedServer

  init() throws { server = try FeedServer(isWhole: false) }

  private func error(
    _ tables: [String] = ["city"], as name: String? = nil, _ pool: PostgresPool? = nil
  ) async -> (any Error)? {
    let feed = (pool ?? server.pool).changes(of: tables)
    do {
      _ = try await ServerFeed(name.map(feed.lasting(as:)) ?? feed)
      return nil
    } catch { return error }
  }

  @Test("A server that keeps too little in its log names the setting")
  func level() async throws {
    let pool = try PostgresPool(try PostgresServer.shared.database())
    let error = await error(pool)
    #expect("\(try #require(error as? UnsupportedByEngine))".contains("wal_level = 'logical'"))
  }

  @Test("A role that may not replicate, or make a publication, names what it needs")
  func privileges() async throws {
    let role = "r\(UInt32.random(in: 0...UInt32.max))"
    try server.run("CREATE ROLE \(role) LOGIN; GRANT SELECT ON city TO \(role)")
    let pool = try PostgresPool(
      server.address.replacing("user=larder", with: "user=\(role)"))
    let first = try #require(await error(pool) as? DatabaseError)
    #expect(first.message.contains("ALTER ROLE \"\(role)\" REPLICATION"))
    #expect(first.code == .authorization && first.sqlState == "42501")
    try server.run("ALTER ROLE \(role) REPLICATION")
    let second = try #require(await error(pool) as? DatabaseError)
    #expect(second.message.contains("CREATE PUBLICATION \"larder:public.city\" FOR TABLE"))
    try server.run("CREATE PUBLICATION ours FOR TABLE port, city")
    let feed = try await ServerFeed(pool.changes(of: ["city"]))
    try server.run("INSERT INTO port VALUES (1, 1); INSERT INTO city VALUES (1, 'Oslo')")
    #expect(try await feed.text() == "+1 Oslo")
    try await pool.close()
    try server.run("DROP OWNED BY \(role)")
  }

  @Test("A table that doesn't exist, isn't a table, or whose old rows aren't known is told")
  func tables() async throws {
    let missing = try #require(await error(["none"]) as? DatabaseError)
    #expect(missing.message == "no such table: none" && missing.sqlState == "42P01", "\(missing)")
    #expect(await error([]) is DatabaseError)
    try server.run(
      """
      CREATE VIEW v AS SELECT 1; CREATE UNLOGGED TABLE u (id BIGINT PRIMARY KEY);
      CREATE TABLE bare (a BIGINT); CREATE TABLE nothing (a BIGINT PRIMARY KEY);
      ALTER TABLE nothing REPLICA IDENTITY NOTHING
      """)
    for table in ["v", "u"] {
      #expect(
        (await error([table]) as? DatabaseError)?.message.contains("can't be followed") == true)
    }
    for table in ["bare", "nothing"] {
      let error = try #require(await error([table]) as? DatabaseError)
      #expect(error.message.contains("ALTER TABLE \"public\".\"\(table)\" REPLICA IDENTITY FULL"))
    }
    try server.run("INSERT INTO bare VALUES (1); UPDATE bare SET a = 2")
  }

  @Test("Tables with long or unusual names are followed, too")
  func unusualNames() async throws {
    let names = [String(repeating: "ø", count: 31), "a.b", "Two words, \"quoted\"", "main.c"]
    for (number, name) in names.enumerated() {
      let quoted = name.quotedIdentifier
      try server.run("CREATE TABLE \(quoted) (id BIGINT PRIMARY KEY)")
      let feed = try await ServerFeed(server.pool.changes(of: [name]))
      try server.run("INSERT INTO \(quoted) VALUES (\(number))")
      #expect(try await feed.next()?.changes.map(\.table) == [name])
    }
  }

  @Test("A feed of records needs whole rows, and no generated columns")
  func records() async throws {
    try await server.pool.inTransaction { try Place.table.create($0) }
    let error = await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(server.pool.changes(of: Place.self))
    }
    #expect(error?.message.contains("REPLICA IDENTITY FULL") == true)
    try server.run(
      """
      ALTER TABLE place REPLICA IDENTITY FULL;
      ALTER TABLE place ADD shout TEXT GENERATED ALWAYS AS (upper(name)) STORED
      """)
    let other = await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(server.pool.changes(of: Place.self))
    }
    #expect(other?.message.contains("\"shout\" is a generated column") == true)
    let feed = try await ServerFeed(server.pool.changes(of: ["place"]))
    try await server.pool.inTransaction { try Place.insert($0, contentsOf: [.some("Oslo", 5)]) }
    #expect(try await feed.next()?.changes.first?.columns.contains("shout") == false)
  }

  @Test("A feed's name that isn't a slot's is refused, and SQLite has no feeds that last")
  func names() async throws {
    for name in ["", "Search", "a b", String(repeating: "a", count: 41)] {
      #expect((await error(as: name) as? DatabaseError)?.code == .misuse)
    }
    let queue = try DatabaseQueue()
    try await queue.inDatabase { try $0.executeUpdate("CREATE TABLE city (id)") }
    await #expect(throws: UnsupportedByEngine.self) {
      _ = try await ServerFeed(queue.changes(of: ["city"]).lasting(as: "search"))
    }
    await #expect(throws: UnsupportedByEngine.self) {
      try await queue.read { try LastingFeed.all($0) }
    }
    await #expect(throws: UnsupportedByEngine.self) {
      try await queue.inDatabase { try LastingFeed.remove($0, "search") }
    }
  }

  private func error(_ pool: PostgresPool) async -> (any Error)? {
    await error(["city"], as: nil, pool)
  }
}

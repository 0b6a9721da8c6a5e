import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import Testing

@Suite(
  "Feeds of partitioned tables",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct PartitionedFeedTests {
  private let server: FeedServer

  /// Creates a table `event` with three partitions, of which one is itself partitioned and one has its columns in
  /// another order.
  init() throws {
    server = try FeedServer()
    try server.run(
      """
      CREATE TABLE event (day BIGINT, id BIGINT, name TEXT, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
      CREATE TABLE event_1 PARTITION OF event FOR VALUES FROM (0) TO (10);
      CREATE TABLE event_2 PARTITION OF event FOR VALUES FROM (10) TO (30) PARTITION BY RANGE (day);
      CREATE TABLE event_2a PARTITION OF event_2 FOR VALUES FROM (10) TO (20);
      CREATE TABLE event_3 (name TEXT, gone BIGINT, id BIGINT NOT NULL, day BIGINT NOT NULL, PRIMARY KEY (day, id));
      ALTER TABLE event_3 DROP COLUMN gone;
      ALTER TABLE event ATTACH PARTITION event_3 FOR VALUES FROM (30) TO (40);
      ALTER TABLE event_1 REPLICA IDENTITY FULL; ALTER TABLE event_2a REPLICA IDENTITY FULL;
      ALTER TABLE event_3 REPLICA IDENTITY FULL;
      """)
  }

  /// Makes a partition with whole rows.
  private func make(_ name: String, from: Int, to: Int, of table: String = "event") throws {
    try server.run(
      """
      CREATE TABLE \(name) PARTITION OF \(table) FOR VALUES FROM (\(from)) TO (\(to));
      ALTER TABLE \(name) REPLICA IDENTITY FULL
      """)
  }

  @Test("A row of any partition is told as one of the table, also if it moves to another partition")
  func rows() async throws {
    let feed = try await ServerFeed(server.pool.changes(of: ["event"]))
    try server.run("INSERT INTO event VALUES (1, 1, 'a'), (11, 2, 'b'), (31, 3, 'c')")
    let inserted = try #require(try await feed.next())
    #expect(inserted.changes.map(\.table) == ["event", "event", "event"])
    #expect(inserted.changes.map(\.database) == ["public", "public", "public"])
    let names = inserted.changes.map { change in
      zip(change.columns, change.new ?? []).first { $0.0 == "name" }?.1
    }
    #expect(names == ["a", "b", "c"])
    try server.run("UPDATE event SET day = 12 WHERE id = 1")
    #expect(try await feed.text() == "-1 1 a, +12 1 a")
    try server.run("DELETE FROM event_2a WHERE id = 2")
    #expect(try await feed.text() == "-11 2 b")
  }

  @Test("Partitions that are made later are followed, and emptying one is an unknown change")
  func later() async throws {
    let feed = try await ServerFeed(server.pool.changes(of: ["event"]))
    try make("event_2b", from: 20, to: 30, of: "event_2")
    try server.run("INSERT INTO event VALUES (21, 1, 'a')")
    #expect(try await feed.text() == "+21 1 a")
    for table in ["event_2b", "event_1", "event"] {
      try server.run("TRUNCATE \(table)")
      #expect(try await feed.text() == "?")
    }
    try server.run("DROP TABLE event_1")
    try make("event_1", from: 0, to: 10)
    try server.run("INSERT INTO event VALUES (2, 1, 'b')")
    #expect(try await feed.text() == "+2 1 b")
  }

  @Test("A feed that lasts tells changes as unknown whose partition is none any more")
  func detached() async throws {
    func feed(_ name: String) async throws -> ServerFeed<RowChange> {
      try await ServerFeed(server.pool.changes(of: ["event"]) { _ in }.lasting(as: name))
    }
    for (name, sql) in [
      "detached": "ALTER TABLE event DETACH PARTITION event_4", "dropped": "DROP TABLE event_4",
    ] {
      _ = try await feed(name)
      try make("event_4", from: 40, to: 50)
      try server.run("INSERT INTO event VALUES (41, 1, 'a')")
      try server.run(sql)
      try server.run("INSERT INTO event VALUES (1, 1, 'b')")
      let resumed = try await feed(name)
      #expect(try await resumed.text() == "?")
      #expect(try await resumed.text() == "+1 1 b")
      try server.run("DELETE FROM event; DROP TABLE IF EXISTS event_4")
    }
  }

  @Test("A partition is followed by its own name, also if it is partitioned itself")
  func parts() async throws {
    let one = try await ServerFeed(server.pool.changes(of: ["event_1"]))
    let two = try await ServerFeed(server.pool.changes(of: ["event_2"]))
    try server.run("INSERT INTO event VALUES (1, 1, 'a'), (11, 2, 'b'), (31, 3, 'c')")
    #expect(try await one.next()?.changes.map(\.table) == ["event_1"])
    #expect(try await two.next()?.changes.map(\.table) == ["event_2"])
  }

  @Test("A feed of records follows a partitioned table")
  func records() async throws {
    let pool = server.pool
    let feed = try await ServerFeed(pool.changes(of: Event.self))
    let event = Event(day: 31, id: 3, name: "c")
    try await pool.inTransaction { try event.insert($0) }
    try await pool.inTransaction { try Event.filter { $0.id == 3 }.update($0) { $0.name = "d" } }
    let first = try #require(try await feed.next()?.changes.first)
    #expect(first.new == event && first.old == nil)
    let second = try #require(try await feed.next()?.changes.first)
    #expect(second.old == event && second.new?.name == "d")
  }

  @Test("A partition whose old rows aren't known, or that isn't logged, is named")
  func refused() async throws {
    func message() async -> String? {
      do { _ = try await ServerFeed(server.pool.changes(of: Event.self)) } catch {
        return (error as? DatabaseError)?.message
      }
      return nil
    }
    try server.run("CREATE TABLE event_5 PARTITION OF event FOR VALUES FROM (50) TO (60)")
    #expect(
      await message()?.contains("ALTER TABLE \"public\".\"event_5\" REPLICA IDENTITY FULL") == true)
    try server.run("ALTER TABLE event_5 SET UNLOGGED")
    #expect(await message()?.contains("\"event_5\" can't be followed") == true)
  }

  @Test("Another program's publication is used unless partitions are told as their table there")
  func publication() async throws {
    let role = "r\(UInt32.random(in: 0...UInt32.max))"
    try server.run(
      """
      CREATE ROLE \(role) LOGIN REPLICATION; GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(role);
      CREATE PUBLICATION root FOR ALL TABLES WITH (publish_via_partition_root = true)
      """)
    let pool = try PostgresPool(server.address.replacing("user=larder", with: "user=\(role)"))
    let error = await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(pool.changes(of: ["event"]))
    }
    #expect(error?.message.contains("CREATE PUBLICATION") == true)
    try server.run("CREATE PUBLICATION leaves FOR ALL TABLES")
    let feed = try await ServerFeed(pool.changes(of: ["event"]))
    try server.run("INSERT INTO port VALUES (1, 1); INSERT INTO event VALUES (1, 1, 'a')")
    #expect(try await feed.text() == "+1 1 a")
    try await pool.close()
    try server.run("DROP OWNED BY \(role)")
  }
}

private struct Event: Record, Equatable {
  var day: Int
  var id: Int64
  var name: String?

  struct Columns: Sendable {
    let day = Column("day", \Event.day, .primaryKey)
    let id = Column("id", \Event.id, .primaryKey)
    let name = Column("name", \Event.name)
  }
  static let columns = Columns()
  static let table = Table("event", Event.init, columns.day, columns.id, columns.name)
}

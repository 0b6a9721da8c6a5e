import Larder
import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Triggers that report commits", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(10)))
struct ChangeTriggerTests {
  private let server: ListeningServer
  private var pool: PostgresPool { server.pool }

  init() throws { server = try ListeningServer { $0.listeningInterval = .milliseconds(20) } }

  private func triggers() throws -> [String] {
    try pool.read { db in
      try db.executeQuery(
        """
        SELECT tgrelid::regclass::text FROM pg_trigger WHERE tgname = 'larder_change'
        UNION ALL SELECT proname::text FROM pg_proc WHERE proname = 'larder_change' ORDER BY 1
        """
      ).map { try $0.get(at: 0) }
    }
  }

  @Test("An observed table gets its trigger, which a schema doesn't show, and loses it when told")
  func removal() async throws {
    let before = try await pool.inDatabase { try Schema($0) }
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try server.psql("INSERT INTO city VALUES (3, 1)")
    #expect(try await totals.next() == 31)
    #expect(try triggers() == ["city", "larder_change"])
    #expect(try await pool.inDatabase { try Schema($0) } == before)
    try await pool.close()
    let other = try ListeningServer.pool(server.address)
    try await other.inTransaction { try $0.reportChanges(of: ["public.city"], false) }
    let left = try await other.read { db in
      try db.value("SELECT count(*) FROM pg_proc WHERE proname = 'larder_change'", as: Int.self)
    }
    #expect(left == 0)
  }

  @Test("Triggers are made and removed by a migration, also of partitions, and twice does no harm")
  func migration() async throws {
    try server.psql(
      """
      CREATE TABLE day (k BIGINT) PARTITION BY RANGE (k);
      CREATE TABLE day1 PARTITION OF day FOR VALUES FROM (0) TO (10)
      """)
    try Migrator([
      Migration("report") { db in
        try db.reportChanges(of: ["city", "day"])
        try db.reportChanges(of: ["day"])
      }
    ]).migrate(pool)
    #expect(try triggers() == ["city", "day", "day1", "larder_change"])
    try await pool.inTransaction { try $0.reportChanges(of: ["city"], false) }
    #expect(try triggers() == ["day", "day1", "larder_change"])
    try await pool.inTransaction { try $0.reportChanges(of: ["city", "day"], false) }
    #expect(try triggers() == [])
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { try $0.reportChanges(of: ["nowhere"]) }
    }
    #expect(error?.sqlState == "42P01")
    try await DatabaseQueue().inTransaction { try $0.reportChanges(of: ["city"]) }
  }

  @Test("A role that may only read is told which step its owner has to run, and then observes")
  func reader() async throws {
    try server.psql(
      """
      DO $$ BEGIN CREATE ROLE reads_only LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
      GRANT SELECT ON city TO reads_only
      """)
    let reader = try ListeningServer.pool(
      server.address.replacing("user=larder", with: "user=reads_only"))
    var totals = reader.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    let error = await #expect(throws: DatabaseError.self) { _ = try await totals.next() }
    #expect(error?.code == .authorization)
    #expect(error?.message.contains("reportChanges(of:)") == true)
    #expect(error?.message.contains("public.city") == true)
    try await pool.inTransaction { try $0.reportChanges(of: ["city"]) }
    totals = reader.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try server.psql("INSERT INTO city VALUES (3, 1)")
    #expect(try await totals.next() == 31)
  }

  @Test("A trigger that somebody drops or disables is made again, and nothing is missed")
  func dropped() async throws {
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try server.psql("INSERT INTO city VALUES (3, 1)")
    #expect(try await totals.next() == 31)
    try server.psql("DROP TRIGGER larder_change ON city; INSERT INTO city VALUES (4, 1)")
    #expect(try await totals.next() == 32)
    try server.psql("INSERT INTO city VALUES (5, 1)")
    #expect(try await totals.next() == 33)
    try server.psql("ALTER TABLE city DISABLE TRIGGER ALL; INSERT INTO city VALUES (6, 1)")
    #expect(try await totals.next() == 34)
    try server.psql("INSERT INTO city VALUES (7, 1)")
    #expect(try await totals.next() == 35)
  }

  @Test(
    "A value is read again after another program has changed the table's or a view's definition")
  func schema() async throws {
    try server.psql("CREATE VIEW part AS SELECT * FROM city WHERE id = 1")
    var some = pool.values { db in
      try db.value("SELECT sum(population)::bigint FROM part", as: Int.self)
    }.makeAsyncIterator()
    #expect(try await some.next() == 10)
    try server.psql("UPDATE city SET population = 11 WHERE id = 1")
    #expect(try await some.next() == 11)
    try server.psql("CREATE OR REPLACE VIEW part AS SELECT * FROM city WHERE id = 2")
    #expect(try await some.next() == 20)
    try server.psql(
      """
      DROP VIEW part; ALTER TABLE city ALTER population TYPE bigint USING population * 2;
      CREATE VIEW part AS SELECT * FROM city WHERE id = 2
      """)
    #expect(try await some.next() == 40)
    try server.psql("UPDATE city SET population = 41 WHERE id = 2")
    #expect(try await some.next() == 41)
  }
}

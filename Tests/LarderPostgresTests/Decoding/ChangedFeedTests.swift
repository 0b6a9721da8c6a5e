import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Feeds of a server whose tables others change",
  .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct ChangedFeedTests {
  private let server: FeedServer

  init() throws { server = try FeedServer() }

  private func lasting(
    _ tables: [String], _ pool: PostgresPool? = nil
  ) async throws -> ServerFeed<RowChange> {
    try await ServerFeed(
      (pool ?? server.pool).changes(of: tables) { _ in }.lasting(as: "search"))
  }

  @Test("A feed that lasts keeps its tables while another program begins it with fewer")
  func otherTables() async throws {
    let feed = try await lasting(["city", "port"])
    var configuration = PostgresConfiguration()
    configuration.retryLimit = .milliseconds(50)
    let other = try PostgresPool(server.address, configuration: configuration)
    let error = await #expect(throws: DatabaseError.self) { try await lasting(["city"], other) }
    #expect(error?.sqlState == "55006")
    try server.run("INSERT INTO port VALUES (1, 1)")
    #expect(try await feed.text() == "+1 1")
  }

  @Test("A feed ends with an error if its table is dropped, also if there is a new one of its name")
  func dropped() async throws {
    let feed = try await ServerFeed(server.pool.changes(of: ["port"]))
    try server.run(
      """
      INSERT INTO port VALUES (1, 1); DROP TABLE port;
      CREATE TABLE port (id BIGINT PRIMARY KEY, city BIGINT); INSERT INTO port VALUES (2, 2)
      """)
    let error = await #expect(throws: DatabaseError.self) {
      while try await feed.next() != nil {}
    }
    #expect(error?.message.contains("\"public\".\"port\" was dropped") == true)
  }

  @Test("A feed that lasts tells once that columns have changed while nobody followed it")
  func altered() async throws {
    _ = try await lasting(["port"])
    try server.run("ALTER TABLE port ALTER city TYPE NUMERIC; INSERT INTO port VALUES (1, 1)")
    do {
      // As long as it isn't handled, it comes again.
      let feed = try await lasting(["port"])
      #expect(try await feed.text() == "?")
    }
    do {
      let feed = try await lasting(["port"])
      #expect(try await feed.text() == "?")
      #expect(try await feed.text() == "+1 1")
    }
    let feed = try await lasting(["port"])
    #expect(try await feed.text() == "+1 1")
  }

  @Test("A publication that others have changed to fewer kinds of changes has all of them again")
  func publication() async throws {
    let name = "\"larder:public.port\""
    _ = try await ServerFeed(server.pool.changes(of: ["port"]))
    try server.run(
      "INSERT INTO port VALUES (1, 1); ALTER PUBLICATION \(name) SET (publish = 'insert')")
    let feed = try await ServerFeed(server.pool.changes(of: ["port"]))
    try server.run("DELETE FROM port")
    #expect(try await feed.text() == "-1")
  }

  @Test("A feed of records says what to set once their table reports only keys")
  func identity() async throws {
    try await server.pool.inTransaction { try Place.table.create($0) }
    try server.run("ALTER TABLE place REPLICA IDENTITY FULL")
    let feed = try await ServerFeed(server.pool.changes(of: Place.self))
    try server.run("ALTER TABLE place REPLICA IDENTITY DEFAULT")
    try await server.pool.inTransaction { try Place.insert($0, contentsOf: [.some("Oslo", 5)]) }
    let error = await #expect(throws: DatabaseError.self) { try await feed.next() }
    #expect(
      error?.message.contains("ALTER TABLE \"public\".\"place\" REPLICA IDENTITY FULL") == true)
  }

  @Test("A table with a deferrable key can be written while it is observed, and can't be followed")
  func deferrable() async throws {
    try server.run(
      "CREATE TABLE pier (id BIGINT PRIMARY KEY DEFERRABLE, n BIGINT); INSERT INTO pier VALUES (1, 1)"
    )
    var sums = server.pool.values { try $0.value("SELECT sum(n)::bigint FROM pier", as: Int.self) }
      .makeAsyncIterator()
    #expect(try await sums.next() == 1)
    try server.run("UPDATE pier SET n = 2")
    #expect(try await sums.next() == 2)
    let error = await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(server.pool.changes(of: ["pier"]))
    }
    #expect(error?.message.contains("has no key by which a row that was is known") == true)
  }

  @Test("A change of one of two tables of the same name is told as its own record")
  func schemas() async throws {
    try server.run(
      """
      CREATE SCHEMA sales; CREATE SCHEMA crm;
      CREATE TABLE sales.item (id BIGINT PRIMARY KEY, n BIGINT);
      CREATE TABLE crm.item (id BIGINT PRIMARY KEY, n BIGINT);
      ALTER TABLE sales.item REPLICA IDENTITY FULL; ALTER TABLE crm.item REPLICA IDENTITY FULL
      """)
    let feed = try await ServerFeed(server.pool.changes(of: SoldItem.self, KnownItem.self))
    try server.run("INSERT INTO sales.item VALUES (1, 1); INSERT INTO crm.item VALUES (2, 2)")
    let (sold, known) = (try await feed.next(), try await feed.next())
    #expect(sold?.changes.first?.new is SoldItem)
    #expect(known?.changes.first?.new is KnownItem)
  }
}

private struct SoldItem: Record {
  var id: Int64
  var n: Int

  struct Columns: Sendable {
    let id = Column("id", \SoldItem.id, .primaryKey)
    let n = Column("n", \SoldItem.n)
  }
  static let columns = Columns()
  static let table = Table("item", SoldItem.init, columns.id, columns.n, schema: "sales")
}

private struct KnownItem: Record {
  var id: Int64
  var n: Int

  struct Columns: Sendable {
    let id = Column("id", \KnownItem.id, .primaryKey)
    let n = Column("n", \KnownItem.n)
  }
  static let columns = Columns()
  static let table = Table("item", KnownItem.init, columns.id, columns.n, schema: "crm")
}

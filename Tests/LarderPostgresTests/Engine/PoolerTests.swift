import Foundation
import Larder
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "A pooler in transaction mode",
  .enabled(if: PostgresServer.hasPooler, "no PgBouncer here"))
struct PoolerTests {
  private let server: PostgresServer
  private let address: String
  private let messages = Lock<[String]>([])

  init() throws {
    server = try PostgresServer(["--pooler", "transaction"])
    address = PostgresServer.throughPooler(server.address)
    try server.run(
      "CREATE TABLE town (name TEXT); INSERT INTO town SELECT 'a' FROM generate_series(1, 5)")
  }

  private func pool(_ isolation: PostgresConfiguration.Isolation = .serializable) throws
    -> PostgresPool
  {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    configuration.isolation = isolation
    configuration.log = { [messages] error in messages.withLock { $0.append(error.message) } }
    return try PostgresPool(address, configuration: configuration)
  }

  @Test("Behind a pooler, two pools run their own statements and not each other's")
  func ownStatements() throws {
    let (counting, deleting) = (try pool(), try pool())
    for _ in 0..<3 {
      #expect(
        try counting.read {
          try $0.value("SELECT count(*) FROM town WHERE name = ?", "a", as: Int.self)
        } == 5)
      #expect(
        try deleting.inTransaction { try $0.executeUpdate("DELETE FROM town WHERE name = ?", "b") }
          == 0)
    }
    #expect(
      try counting.inDatabase { try $0.value("SELECT count(*) FROM town", as: Int.self) } == 5)
  }

  @Test(
    "A clash of prepared statements behind a pooler turns preparing off, logged once in each pool"
  )
  func told() throws {
    for _ in 0..<3 {
      let pool = try pool()
      for _ in 0..<3 {
        let find: SQL = "SELECT count(*) FROM town WHERE name = ?"
        #expect(try pool.inTransaction { try $0.value(find, "a", as: Int.self) } == 5)
        #expect(try pool.inDatabase { try $0.value(find, "b", as: Int.self) } == 0)
      }
    }
    let told = messages.withLock { $0.filter { $0.contains("preparesStatements") } }
    // The first pool didn't share its connection to the server.
    #expect(told.count == 2)
  }

  @Test(
    "Behind a pooler, transactions have the configured isolation",
    arguments: [PostgresConfiguration.Isolation.serializable, .repeatableRead, .readCommitted])
  func isolation(_ isolation: PostgresConfiguration.Isolation) throws {
    let pool = try pool(isolation)
    for _ in 0..<3 {
      let found = try pool.inTransaction {
        try $0.value("SHOW transaction_isolation", as: String.self)
      }
      #expect(found == isolation.rawValue)
    }
  }

  @Test("Behind a pooler, a transaction's settings don't reach another program's")
  func settings() throws {
    let (one, other) = (try pool(), try pool())
    for sql in [
      "SELECT set_config('app.tenant', 'A', false)", "SET search_path = nowhere",
      "SET ROLE pg_monitor",
      "SELECT pg_advisory_lock(1)::text", "CREATE TEMP TABLE town (name TEXT)",
    ] as [SQL] {
      try one.inTransaction { try $0.executeStatements(sql) }
      #expect(try other.inTransaction(Self.state) == Self.initial)
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try one.inTransaction { db in
          try db.executeStatements(sql)
          throw Stop()
        }
      }
      #expect(try other.read { try $0.value("SELECT current_user", as: String.self) } == "larder")
      #expect(
        try other.read {
          try $0.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'", as: Int.self)
        } == 0)
    }
  }

  @Test(
    "Behind a pooler, a statement of use for its session alone is refused outside of transactions",
    arguments: [
      "SET search_path = nowhere", "SELECT set_config('app.tenant', 'A', false)", "LISTEN news",
      "SELECT pg_advisory_lock(1)::text", "CREATE TEMP TABLE town (name TEXT)", "RESET ALL",
      "PREPARE one AS SELECT 1",
    ])
  func refused(sql: String) throws {
    let error = #expect(throws: DatabaseError.self) {
      try pool().inDatabase { try $0.executeStatements(SQL(raw: sql)) }
    }
    #expect(error?.message.contains("inTransaction") == true)
    #expect(try state() == Self.initial)
  }

  @Test("Behind a pooler, a statement outside of transactions leaves nothing to another program")
  func alone() throws {
    try server.run(
      """
      CREATE FUNCTION enter(text) RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_advisory_lock(1);
        INSERT INTO town VALUES ($1);
        RETURN set_config('search_path', $1, false);
      END $$
      """)
    let pool = try pool()
    let found = try pool.inDatabase { db in try db.value("SELECT enter(?)", "b", as: String.self) }
    #expect(found == "b")
    #expect(try state() == Self.initial.replacing("05", with: "06"))
    #expect(throws: DatabaseError.self) {
      try pool.inDatabase { try $0.executeStatements("SELECT enter('c'), 1 / 0") }
    }
    #expect(try state() == Self.initial.replacing("05", with: "06"))
    try pool.inDatabase { db in
      for end in ["COMMIT", "ROLLBACK WORK"] {
        try db.executeStatements("BEGIN")
        try db.executeStatements("SELECT enter('d')")
        try db.executeStatements(SQL(raw: end))
      }
    }
    #expect(try state() == Self.initial.replacing("05", with: "07"))
    try pool.inSavepoint { try $0.executeStatements("SELECT enter('e')") }
    #expect(try state() == Self.initial.replacing("05", with: "08"))
  }

  @Test("Behind a pooler, statements that can't run in a transaction run outside of one")
  func maintenance() throws {
    try pool().inDatabase { db in
      try db.executeStatements("VACUUM town")
      try db.executeStatements("CREATE INDEX CONCURRENTLY town_name ON town (name)")
    }
    #expect(try state() == Self.initial)
  }

  private static let initial = #"larder"$user", public05"#

  /// What another program finds in the session: the user, the schemas, the locks and the table.
  private func state() throws -> String? { try pool().inTransaction(Self.state) }

  private static func state(_ db: Database) throws -> String? {
    try db.value(
      """
      SELECT concat(current_setting('app.tenant', true), current_user, current_setting('search_path'),
        (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), (SELECT count(*) FROM town))
      """, as: String.self)
  }
}

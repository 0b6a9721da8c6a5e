import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "What a scope leaves on a server",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ScopeEndTests {
  private let address: String
  private let pool: PostgresPool

  init() throws {
    address = try PostgresServer.shared.database()
    pool = try Self.pool(address)
    try pool.inDatabase { db in
      try db.executeStatements(
        "CREATE TABLE line (number BIGINT); CREATE SCHEMA other; CREATE TABLE other.line (number BIGINT)"
      )
    }
  }

  private static func pool(_ address: String) throws -> PostgresPool {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    return try PostgresPool(address, configuration: configuration)
  }

  private func process() throws -> Int? {
    try pool.inDatabase { try $0.value("SELECT pg_backend_pid()", as: Int.self) }
  }

  @Test(
    "What is set for a connection is gone for the next scope",
    arguments: [
      "SET search_path = other", "/* for now */ set Search_Path to other",
      "SELECT set_config('search_path', 'other', false)", "SET ROLE pg_monitor",
      "CREATE TEMP TABLE line (number BIGINT)", "CREATE LOCAL TEMPORARY TABLE line (number BIGINT)",
      "SELECT pg_advisory_lock(1)", "SET default_transaction_read_only = on",
      "DO $$ BEGIN PERFORM set_config('search_path', 'other', false); END $$",
      "RESET client_encoding", "LISTEN news", "PREPARE one AS SELECT 1",
    ])
  func settings(sql: String) throws {
    let before = try process()
    try pool.inTransaction { try $0.executeStatements(SQL(raw: sql)) }
    #expect(try process() != before)
    try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (1)") }
    #expect(try pool.read { try $0.value("SELECT count(*) FROM public.line", as: Int.self) } == 1)
  }

  @Test(
    "What is set for a transaction alone keeps the connection",
    arguments: [
      "SET LOCAL search_path = other", "SET TRANSACTION DEFERRABLE", "SET CONSTRAINTS ALL DEFERRED",
      "SELECT 'SET search_path = other'", "UPDATE line SET number = 2",
      "SELECT pg_advisory_xact_lock(1)", "DECLARE rows CURSOR FOR SELECT 1",
    ])
  func transactions(sql: String) throws {
    let before = try process()
    try pool.inTransaction { try $0.executeStatements(SQL(raw: sql)) }
    #expect(try process() == before)
  }

  // MARK: Types that change

  private func alter(_ sql: String) throws {
    try Self.pool(address).inDatabase { try $0.executeStatements(SQL(raw: sql)) }
  }

  @Test("A value keeps its digits where its column has got a type with more of them")
  func realToDouble() throws {
    try alter("CREATE TABLE reading (value REAL)")
    let insert: SQL = "INSERT INTO reading VALUES (?)"
    try pool.inTransaction { _ = try $0.executeUpdate(insert, arguments: [0.5]) }
    try pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [0.25]) }
    try alter("ALTER TABLE reading ALTER value TYPE DOUBLE PRECISION")
    try pool.inTransaction { _ = try $0.executeUpdate(insert, arguments: [1234567.891]) }
    try alter("ALTER TABLE reading ALTER value TYPE REAL")
    try pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [0.5]) }
    try alter("ALTER TABLE reading ALTER value TYPE DOUBLE PRECISION")
    try pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [7654321.891]) }
    let values = try pool.read { db in
      try db.executeQuery("SELECT value FROM reading ORDER BY value").map {
        try $0.get(at: 0, as: Double.self)
      }
    }
    #expect(values.suffix(1) == [7654321.891])
    #expect(values.dropLast().last.map { abs($0 - 1234567.891) < 0.1 } == true)
  }

  @Test("A column that takes more than it did fails once at most for what it couldn't have had")
  func wider() throws {
    try alter("CREATE TABLE reading (value INTEGER)")
    let insert: SQL = "INSERT INTO reading VALUES (?)"
    try pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [1]) }
    try alter("ALTER TABLE reading ALTER value TYPE BIGINT")
    for _ in 0..<2 {
      try? pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [5_000_000_000]) }
    }
    #expect(
      try pool.read { try $0.value("SELECT max(value) FROM reading", as: Int.self) }
        == 5_000_000_000)
    let find: SQL = "SELECT count(*) FROM reading WHERE value = ?"
    _ = try pool.inDatabase { try $0.value(find, 1, as: Int.self) }
    try alter("ALTER TABLE reading ALTER value TYPE TEXT")
    let counts = (0..<2).map { _ in try? pool.inDatabase { try $0.value(find, "1", as: Int.self) } }
    #expect(counts.last == 1)
  }

  @Test("A transaction that changes a table reads it as it is then, at once")
  func ownDefinitions() throws {
    var attempts = 0
    let count = try pool.inTransaction { db in
      attempts += 1
      try db.executeUpdate("INSERT INTO line VALUES (1)")
      _ = try db.executeQuery("SELECT * FROM line").map { $0.columnNames.count }
      try db.executeUpdate("ALTER TABLE line ADD text TEXT")
      return try db.executeQuery("SELECT * FROM line").map { $0.columnNames.count }
    }
    #expect(count == [2])
    #expect(attempts == 1)
  }

  @Test("An error of a function's own isn't taken for a plan that is out of date")
  func ownError() throws {
    try alter(
      """
      CREATE FUNCTION refused(fails boolean) RETURNS integer LANGUAGE plpgsql AS $$
      BEGIN IF fails THEN RAISE 'not yet' USING ERRCODE = '0A000'; END IF; RETURN 1; END $$
      """)
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try pool.inTransaction { db in
        attempts += 1
        for fails in [false, true] { _ = try db.value("SELECT refused(?)", fails, as: Int.self) }
      }
    }
    #expect(error?.sqlState == "0A000")
    #expect(attempts == 1)
  }
}

import Larder
import LarderPostgres
import PostgresSupport
import Testing

@Suite(
  "Session state after a scope",
  .enabled(if: PostgresServer.isInstalled, "no PostgreSQL here"))
struct ScopeEndTests {
  private let address: String
  private let pool: PostgresPool

  init() throws {
    address = try PostgresServer.shared.database()
    pool = try Self.pool(address)
    try pool.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE line (number BIGINT); CREATE SCHEMA other; CREATE TABLE other.line (number BIGINT);
        CREATE FUNCTION number(text) RETURNS integer LANGUAGE plpgsql AS 'BEGIN EXECUTE $1; RETURN 1; END'
        """)
      for word in [
        "by", "first", "set", "system", "join", "\"like\"", "ilike", "is", "similar",
      ] {
        try db.executeStatements(
          SQL(
            raw: """
              CREATE FUNCTION \(word)(text) RETURNS text LANGUAGE plpgsql AS 'BEGIN EXECUTE $1; RETURN ''1''; END'
              """))
      }
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
    "Session state that a scope changes is reset for the next one on the same connection",
    arguments: [
      "SET \"app.tenant\" = 'A'", "SET \"role\" = pg_monitor",
      "SELECT \"set_config\"('app.tenant', 'A', false)",
      "UPDATE pg_settings SET setting = 'other' WHERE name = 'search_path'",
      "UPDATE pg_catalog.\"pg_settings\" SET setting = 'other' WHERE name = 'search_path'",
      "SELECT 1 AS number INTO TEMP line", "SELECT 1 AS insert INTO TEMP line",
      "WITH one AS (SELECT 1 AS number) SELECT (number) insert INTO TEMP line FROM one",
      "CREATE TABLE pg_temp.line (number BIGINT)", "SELECT \"pg_advisory_lock\"(1)",
      "SELECT U&\"\\0073et_config\"('app.tenant', 'A', false)", "SET local.tenant = 'A'",
      "SELECT query_to_xml('SELECT set_config(''app.tenant'', ''A'', false)', true, true, '')::text",
      "EXPLAIN ANALYZE SELECT set_config('app.tenant', 'A', false)",
      "DECLARE rows CURSOR WITH HOLD FOR SELECT 1", "SELECT setseed(0.5)",
      "SET search_path = other", "/* for now */ set Search_Path to other",
      "SELECT set_config('search_path', 'other', false)", "SET ROLE pg_monitor",
      "CREATE TEMP TABLE line (number BIGINT)", "CREATE LOCAL TEMPORARY TABLE line (number BIGINT)",
      "SELECT pg_advisory_lock(1)", "SET default_transaction_read_only = on",
      "DO $$ BEGIN PERFORM set_config('search_path', 'other', false); END $$",
      "RESET client_encoding", "LISTEN news", "PREPARE one AS SELECT 1",
      "SELECT array_length((ARRAY[1, 2])[1: number('SET app.tenant = A')], 1)",
      "SELECT E'one' -- two\n  'it\\'', set_config('app.tenant', 'A', false) --'",
      "SELECT 1 -- one\r, set_config('app.tenant', 'A', false)",
      "SELECT first('SET app.tenant = A')",
      "SELECT system('SET app.tenant = A')", "SELECT 1 ORDER BY by('SET app.tenant = A')",
      "UPDATE line SET number = CASE WHEN set('SET app.tenant = A') <> '' THEN 1 ELSE 2 END",
      "WITH one AS (SELECT 1) (SELECT 1) ORDER BY set_config('app.tenant', 'A', false)",
      "WITH one AS (SELECT 1) (SELECT 1) ORDER BY 1, set_config('app.tenant', 'A', false)",
      "SELECT E'a'--x\r'b\\'', set_config('app.tenant', 'A', false), ''",
      "SELECT join('SET app.tenant = A')", "SELECT like('SET app.tenant = A')",
      "SELECT ilike('SET app.tenant = A')", "SELECT is('SET app.tenant = A')",
      "SELECT similar('SET app.tenant = A')",
      "SELECT DISTINCT ON (number) like('SET app.tenant = A') FROM (VALUES (1)) AS one (number)",
      "SELECT trim(BOTH like('SET app.tenant = A') FROM 'a')",
      "SELECT 1 AS do, set('SET app.tenant = A')",
      "SET LOCAL standard_conforming_strings = off; "
        + #"SELECT '\'', set_config('app.tenant', 'A', false) --'"#,
    ])
  func settings(sql: String) throws {
    let before = try process()
    try pool.inTransaction { try $0.executeStatements(SQL(raw: sql)) }
    #expect(try process() == before)
    #expect(try SessionState(pool).difference(from: SessionState(Self.pool(address))) == nil)
    try pool.inTransaction { _ = try $0.executeUpdate("INSERT INTO line VALUES (1)") }
    #expect(try pool.read { try $0.value("SELECT count(*) FROM public.line", as: Int.self) } == 1)
  }

  @Test("A transaction that deallocates prepared statements succeeds at the second attempt")
  func discarding() throws {
    var attempts = 0
    try pool.inTransaction { db in
      attempts += 1
      for _ in 0..<2 {
        _ = try db.value("SELECT count(*) FROM line WHERE number = ?", 1, as: Int.self)
        try db.executeStatements("DEALLOCATE ALL")
      }
    }
    #expect(attempts == 2)
  }

  @Test("Scopes of random statements leave no session state behind")
  func randomScopes() throws {
    _ = try? PostgresServer.shared.run("CREATE ROLE larder_other")
    var sessions = try RandomSessions(PostgresServer.shared.database(), seed: 1)
    try sessions.run(200)
    #expect(sessions.leaks == [])
  }

  @Test(
    "Session state that a typed query's function call changes is reset after the scope")
  func typed() throws {
    struct Line: Record {
      var number: Int64
      struct Columns: Sendable { let number = Column("number", \Line.number) }
      static let columns = Columns()
      static let table = Table("line", Line.init, columns.number, options: .noPrimaryKey)
    }
    try pool.inTransaction { db in
      _ = try Line(number: 1).inserted(db)
      let (name, value): (SQLExpression<String>, SQLExpression<String>) = ("app.tenant", "A")
      let isLocal: SQLExpression<Bool> = false
      let set = try Line.all.select { _ in
        function("set_config", name, value, isLocal, as: String.self)
      }.fetchAll(db)
      #expect(set == ["A"])
    }
    #expect(try SessionState(pool).difference(from: SessionState(Self.pool(address))) == nil)
  }

  @Test(
    "Resetting a session takes no extra round trip"
  )
  func roundTrips() throws {
    let proxy = try Proxy(to: PostgresServer.shared.folder, countsRoundTrips: true)
    let pool = try Self.pool(
      address.replacing(try PostgresServer.shared.folder, with: proxy.folder))
    func trips(_ sql: SQL) throws -> Int {
      let scope = { try pool.inTransaction { db in _ = try db.value(sql, as: String?.self) } }
      try scope()
      let before = proxy.roundTrips
      try scope()
      return proxy.roundTrips - before
    }
    #expect(try trips("SELECT 'x'") == 2)
    #expect(try trips("SELECT set_config('app.tenant', 'A', false)") == 2)
  }

  @Test("A scope that only calls harmlessFunctions keeps its prepared statements")
  func harmless() throws {
    try alter(
      "CREATE FUNCTION twice(number bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 2 * number'")
    func keeps(_ names: Set<String>) throws -> Bool {
      var configuration = PostgresConfiguration()
      configuration.connections = 1
      configuration.harmlessFunctions = names
      let pool = try PostgresPool(address, configuration: configuration)
      func count(_ db: Database) throws -> Int? {
        try db.value(
          "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%twice%'", as: Int.self
        )
      }
      _ = try pool.read { try $0.value("SELECT twice(?)", 2, as: Int.self) }
      return try pool.read { try count($0) } == 2
    }
    #expect(try !keeps([]))
    #expect(try keeps(["twice"]))
  }

  @Test(
    "A scope with transaction-local settings keeps its connection",
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

  @Test("A value keeps its precision after its column's type was widened")
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

  @Test("A prepared statement fails at most once after its parameter's type was widened")
  func wider() throws {
    try alter("CREATE TABLE reading (value INTEGER)")
    let insert: SQL = "INSERT INTO reading VALUES (?)"
    try pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [1]) }
    try alter("ALTER TABLE reading ALTER value TYPE BIGINT")
    let hasWritten = (0..<2).map { _ in
      (try? pool.inDatabase { _ = try $0.executeUpdate(insert, arguments: [5_000_000_000]) }) != nil
    }
    #expect(hasWritten.last == true)
    #expect(
      try pool.read { try $0.value("SELECT max(value) FROM reading", as: Int.self) }
        == 5_000_000_000)
    let find: SQL = "SELECT count(*) FROM reading WHERE value = ?"
    _ = try pool.inDatabase { try $0.value(find, 1, as: Int.self) }
    try alter("ALTER TABLE reading ALTER value TYPE TEXT")
    let counts = (0..<2).map { _ in try? pool.inDatabase { try $0.value(find, "1", as: Int.self) } }
    #expect(counts.last == 1)
  }

  @Test("A transaction sees its own schema change without another attempt")
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

  @Test("A function's own error with SQLSTATE 0A000 isn't retried as an outdated plan")
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

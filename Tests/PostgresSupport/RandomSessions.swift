import Larder
import LarderPostgres
import TestSupport

/// Scopes of random statements, most of which change something of the session in one of many ways, each followed by a
/// look at the session, which has to be like a new one.
package struct RandomSessions {
  /// How many scopes there were, what one of them has left, and how many connections it took.
  package private(set) var tried = 0
  package private(set) var leaks: [String] = []
  package private(set) var processes: Set<Int> = []

  private let pool: PostgresPool
  private let new: SessionState
  private var random: SeededGenerator
  private var statements: [String] = []

  private struct Stop: Error {}

  private struct Line: Record {
    var number: Int64
    var text: String

    struct Columns: Sendable {
      let number = Column("number", \Line.number, .primaryKey)
      let text = Column("text", \Line.text)
    }
    static let columns = Columns()
    static let table = Table("line", Line.init, columns.number, columns.text)
  }

  /// - Parameter address: that of an empty database.
  package init(_ address: String, seed: UInt64) throws {
    var configuration = PostgresConfiguration()
    configuration.connections = 1
    pool = try PostgresPool(address, configuration: configuration)
    random = SeededGenerator(seed: seed)
    try pool.inTransaction { db in
      try Line.table.create(db)
      try Line.insert(db, contentsOf: (1...3).map { Line(number: $0, text: "line \($0)") })
      for definition in Self.definitions { try db.executeUpdate(SQL(raw: definition)) }
    }
    new = try SessionState(PostgresPool(address, configuration: configuration))
  }

  private static let definitions = [
    """
    CREATE FUNCTION run(text) RETURNS bigint LANGUAGE plpgsql AS
    $$ BEGIN EXECUTE $1; RETURN 1; END $$
    """,
    """
    CREATE FUNCTION setting(text, text) RETURNS text LANGUAGE sql AS
    $$ SELECT set_config($1, $2, false) $$
    """,
    """
    CREATE FUNCTION "Set"() RETURNS text LANGUAGE plpgsql SET work_mem = '1MB' AS
    $$ BEGIN SET app.tenant = 'A'; RETURN current_setting('app.tenant'); END $$
    """,
    "CREATE PROCEDURE proceed(text) LANGUAGE plpgsql AS $$ BEGIN EXECUTE $1; END $$",
    // Words of SQL that are no reserved ones.
    """
    DO $do$ DECLARE word text; BEGIN FOREACH word IN ARRAY ARRAY['by', 'conflict', 'cube', 'double', 'explain', 'filter',
    'first', 'insert', 'materialized', 'next', 'over', 'partition', 'recursive', 'rollup', 'set', 'sets', 'system',
    'varying', 'within'] LOOP EXECUTE format($$ CREATE FUNCTION %s(text) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN EXECUTE $1; RETURN true; END' $$, word); END LOOP; END $do$
    """,
  ]

  // MARK: Statements

  /// What changes something, as one statement of SQL.
  private static let changes = [
    "SET app.tenant = 'A'", "SET \"app.tenant\" = 'A'", "SET SESSION app.tenant TO 'A'",
    "SET role TO pg_monitor", "SET \"role\" = pg_monitor", "SET ROLE pg_monitor",
    "SET SESSION AUTHORIZATION larder_other", "SET search_path = nowhere, public",
    "SET TIME ZONE 'Asia/Shanghai'",
    "SET DateStyle = German", "SET NAMES 'LATIN1'", "SET standard_conforming_strings = off",
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET default_transaction_isolation = 'read committed'",
    "SET default_transaction_read_only = on",
    "SET local.tenant = 'A'", "SET statement_timeout = 100000", "SET extra_float_digits = 0",
    "RESET TimeZone",
    "RESET ALL", "RESET client_encoding", "RESET default_transaction_isolation",
    "SET bytea_output = 'escape'",
    "CREATE TEMP TABLE line (number BIGINT)", "CREATE TABLE pg_temp.line (number BIGINT)",
    "CREATE TEMPORARY VIEW line AS SELECT 1 AS number", "CREATE TEMP SEQUENCE numbers",
    "CREATE LOCAL TEMP TABLE line AS SELECT 1 AS number", "PREPARE one AS SELECT 1",
    "LISTEN news", "LISTEN \"News\"", "LOAD 'plpgsql'", "DISCARD PLANS", "DEALLOCATE ALL",
    "DECLARE rows CURSOR WITH HOLD FOR SELECT number FROM line",
  ]

  /// The same by a query.
  private static let calls = [
    "SELECT set_config('app.tenant', 'A', false)",
    "SELECT \"set_config\"('app.tenant', 'A', false)",
    "SELECT pg_catalog.set_config('role', 'pg_monitor', false)",
    "SELECT pg_catalog . \"set_config\" ('role', 'pg_monitor', false)",
    "SELECT pg_advisory_lock(1)", "SELECT \"pg_advisory_lock\"(2)",
    "SELECT pg_try_advisory_lock_shared(3)",
    "UPDATE pg_settings SET setting = 'nowhere' WHERE name = 'search_path'",
    "UPDATE \"pg_settings\" SET setting = 'A' WHERE name = 'application_name'",
    "UPDATE pg_catalog.pg_settings AS s SET setting = '7MB' WHERE name = 'work_mem' RETURNING 1",
    "SELECT 1 AS number INTO TEMP line", "SELECT * INTO pg_temp.line FROM line",
    "SELECT 1 AS insert INTO TEMPORARY line",
    "WITH one AS (SELECT 1 AS number) SELECT (number) insert INTO TEMP line FROM one",
    "SELECT setting('app.tenant', 'A')", "SELECT \"Set\"()", "SELECT run('SET app.tenant = ''A''')",
    "SELECT run('LISTEN news')", "SELECT run('CREATE TEMP TABLE line (number BIGINT)')",
    "SELECT query_to_xml('SELECT set_config(''app.tenant'', ''A'', false)', true, true, '')::text",
    "INSERT INTO line SELECT 100, set_config('app.tenant', 'A', false) ON CONFLICT DO NOTHING",
    "INSERT INTO line VALUES (101, 'x') ON CONFLICT (number) DO UPDATE SET text = set_config('app.tenant', 'A', false)",
    "DELETE FROM line WHERE text = set_config('app.tenant', 'A', false)",
    "UPDATE line SET text = \"set_config\"('app.tenant', text, false) RETURNING pg_try_advisory_lock(number)",
    "VALUES (set_config('app.tenant', 'A', false))",
    "TABLE line UNION ALL SELECT 1, set_config('app.tenant', 'A', false)",
    "SELECT * FROM line, LATERAL set_config('app.tenant', text, false) AS f(a)",
    "SELECT CASE WHEN number > 0 THEN (SELECT set_config('app.tenant', text, false)) END FROM line",
    "EXPLAIN (ANALYZE) SELECT pg_advisory_lock(number) FROM line",
    "EXPLAIN ANALYZE CREATE TEMP TABLE line AS SELECT 1 AS number",
    "MERGE INTO line USING (SELECT 1) AS one(a) ON number = a WHEN MATCHED THEN UPDATE SET text = set_config('app.tenant', 'A', false)",
    "SELECT U&\"\\0073et_config\"('app.tenant', 'A', false)", "SELECT setseed(0.25)",
    "SELECT (ARRAY[1, 2])[1: run('SET app.tenant = ''A''')]",
    "SELECT 1 -- one\r, set_config('app.tenant', 'A', false)",
    "SELECT E'one' \n 'it\\'', set_config('app.tenant', 'A', false) --'",
    "SELECT first('SET app.tenant = ''A''')",
    "SELECT number FROM line ORDER BY by('SET app.tenant = ''A''')",
    "SELECT 1 FROM line WHERE NOT materialized('LISTEN news')",
    "SELECT cube('SET app.tenant = ''A''')",
    "INSERT INTO line SELECT 5, '' FROM line AS a JOIN line AS b ON conflict('SET ROLE pg_monitor') ON CONFLICT DO NOTHING",
    "SELECT system('SET ROLE pg_monitor'), next('LISTEN news')", "SELECT set('LISTEN news')",
    "UPDATE line SET text = (SELECT set('LISTEN news')) WHERE set('LISTEN news')",
    "UPDATE line SET text = CASE WHEN set('LISTEN news') THEN 'x' END",
    "INSERT INTO line VALUES (1) ON CONFLICT DO NOTHING RETURNING set('LISTEN news')",
    "SELECT explain('LISTEN news'), sets('LISTEN news'), filter('LISTEN news'), over('LISTEN news')",
    "SELECT double('LISTEN news'), varying('LISTEN news'), within('LISTEN news'), recursive('LISTEN news')",
    "MERGE INTO line USING (SELECT 1) AS one(a) ON insert('LISTEN news') WHEN MATCHED THEN DO NOTHING",
  ]

  /// What leaves nothing.
  private static let plain = [
    "SELECT count(*) FROM line WHERE number = 2",
    "INSERT INTO line VALUES (7, 'x') ON CONFLICT DO NOTHING",
    "SET LOCAL app.tenant = 'A'", "SELECT upper(text) FROM line", "SELECT pg_advisory_xact_lock(1)",
    "DECLARE rows CURSOR FOR SELECT number FROM line", "SET LOCAL ROLE pg_monitor",
    "SAVEPOINT here", "BEGIN", "COMMIT", "ROLLBACK AND CHAIN", "START TRANSACTION READ ONLY",
    "ROLLBACK TO here", "RELEASE here", "SET LOCAL search_path = nowhere, public",
    "SET CONSTRAINTS ALL DEFERRED",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
    "UPDATE line SET text = text || 'x' WHERE number = 3",
  ]

  private mutating func statement() -> String {
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<3: return pick(Self.plain)
    case 3..<5: return varied(pick(Self.changes))
    case 5..<8: return varied(pick(Self.calls))
    case 8: return "DO $x$ BEGIN EXECUTE \(pick(Self.changes + Self.calls).quoted); END $x$"
    default: return "CALL proceed(\(pick(Self.changes + Self.calls).quoted))"
    }
  }

  private mutating func pick(_ list: [String]) -> String {
    list.randomElement(using: &random) ?? ""
  }

  /// The same statement written otherwise.
  private mutating func varied(_ sql: String) -> String {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: "/* SELECT /* 1 */ */ " + sql
    case 1: "-- plain\n" + sql
    case 2: sql.replacing(" ", with: " /**/ ")
    case 3: sql.contains("\"") || sql.contains("'") ? "  " + sql : sql.lowercased()
    case 4: sql.replacing("SELECT", with: "select").replacing("SET ", with: "set\n")
    default: sql
    }
  }

  // MARK: Scopes

  /// Runs so many scopes.
  package mutating func run(_ count: Int) throws {
    for _ in 0..<count {
      tried += 1
      statements = []
      scope()
      let state = try SessionState(pool)
      if let difference = state.difference(from: new) {
        leaks.append("\(statements.joined(separator: "; ")): \(difference)")
        try pool.inDatabase { db in _ = try? db.executeUpdate("DISCARD ALL") }
      }
      let process = try pool.inDatabase { try $0.value("SELECT pg_backend_pid()", as: Int.self) }
      processes.insert(process ?? 0)
    }
  }

  /// One that may fail, or be undone.
  private mutating func scope() {
    let count = Int.random(in: 1...4, using: &random)
    statements = (0..<count).map { _ in statement() }
    let stops = Int.random(in: 0..<5, using: &random) == 0
    let isTyped = Int.random(in: 0..<3, using: &random) == 0
    let key = Int64.random(in: 1...5, using: &random)
    let statements = statements
    func body(_ db: Database) throws {
      for sql in statements {
        var text = SQL(raw: sql)
        text.isCacheable = key > 2
        // One that fails aborts the transaction, which goes on to its end.
        do { try db.executeStatements(text) } catch  where key == 5 {}
        if isTyped { _ = try Line.filter { $0.number == key }.fetchAll(db) }
      }
      if isTyped {
        let (name, isLocal): (SQLExpression<String>, SQLExpression<Bool>) = ("app.tenant", false)
        _ = try Line.all.select { function("set_config", name, $0.text, isLocal, as: String.self) }
          .fetchAll(db)
      }
      if stops { throw Stop() }
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try? pool.inDatabase(body)
    case 1: try? pool.read(body)
    case 2: try? pool.inSavepoint(body)
    default: try? pool.inTransaction(body)
    }
  }
}

extension String {
  fileprivate var quoted: String { "'\(replacing("'", with: "''"))'" }
}

import Larder
import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

private struct City: Record, Equatable {
  var id: Int64
  var population: Int

  struct Columns: Sendable {
    let id = Column("id", \City.id, .primaryKey)
    let population = Column("population", \City.population)
  }
  static let columns = Columns()
  static let table = Table("city", City.init, columns.id, columns.population)
}

@Suite(
  "Observed values on a server", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(10)))
struct ServerValueTests {
  @Test(
    "A value follows records, SQL and TRUNCATE of its pool, and of another program",
    arguments: ListeningServer.sources)
  func follows(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try await pool.inTransaction { db in
      try City.insert(db, contentsOf: [City(id: 3, population: 5)])
    }
    #expect(try await totals.next() == 35)
    try await pool.inTransaction { db in
      try City.filter { $0.id == 3 }.update(db) { $0.population += 1 }
    }
    #expect(try await totals.next() == 36)
    try await pool.inDatabase { try $0.executeUpdate("DELETE FROM city WHERE id = ?", 3) }
    #expect(try await totals.next() == 30)
    try server.psql("INSERT INTO city VALUES (4, 4)")
    #expect(try await totals.next() == 34)
    try server.psql("COPY city FROM PROGRAM 'echo 5,5' (FORMAT csv)")
    #expect(try await totals.next() == 39)
    try server.psql("TRUNCATE city")
    #expect(try await totals.next() == 0)
  }

  @Test(
    "A value isn't read again after a commit to another table, or a rollback",
    arguments: ListeningServer.sources)
  func others(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    let count = Lock(0)
    var totals = pool.values { db in
      count.withLock { $0 += 1 }
      return try ListeningServer.total(db)
    }.makeAsyncIterator()
    var rows = pool.values { try $0.value("SELECT count(*) FROM other", as: Int.self) }
      .makeAsyncIterator()
    #expect(try await totals.next() == 30)
    #expect(try await rows.next() == 0)
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (0)") }
    #expect(try await rows.next() == 1)
    try await pool.inTransaction {
      try $0.executeUpdate("UPDATE city SET population = 15 WHERE id = 1")
    }
    #expect(try await totals.next() == 35)
    if source == .automatic {
      for table in ["city", "other"] { try await server.waitUntilFollowed(table) }
    }
    try await pool.inTransaction {
      try $0.executeUpdate("UPDATE city SET population = 16 WHERE id = 1")
    }
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (1)") }
    #expect(try await totals.next() == 36)
    #expect(try await rows.next() == 2)
    let before = count.withLock { $0 }
    for number in 3...9 {
      try await pool.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (\(number))") }
      #expect(try await rows.next() == number)
    }
    try await pool.inTransaction { db in
      try db.executeUpdate("UPDATE city SET population = 0")
      db.setRollbackOnly()
    }
    try await pool.inTransaction { try $0.executeUpdate("UPDATE city SET population = 1") }
    #expect(try await totals.next() == 2)
    #expect(count.withLock { $0 } == before + 1)
  }

  @Test(
    "A value that equals the previous one is left out, and a slow consumer gets the newest",
    arguments: ListeningServer.sources)
  func equal(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try server.psql(
      "UPDATE city SET population = population; UPDATE city SET population = 30 - population")
    for number in 1...20 {
      try await pool.inTransaction {
        try $0.executeUpdate("INSERT INTO city VALUES (\(100 + number), 1)")
      }
    }
    var last = 30
    while last < 50, let total = try await totals.next() {
      #expect(total > last)
      last = total
    }
    #expect(last == 50)
  }

  @Test(
    "Values see through views, functions, foreign keys, partitions and inheritance",
    arguments: ListeningServer.sources)
  func throughOthers(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    try server.psql(
      """
      CREATE VIEW large AS SELECT * FROM city WHERE population > 15;
      CREATE FUNCTION cities() RETURNS bigint STABLE LANGUAGE plpgsql AS
        $$ BEGIN RETURN (SELECT count(*) FROM city); END $$;
      CREATE TABLE house (id BIGINT PRIMARY KEY, city BIGINT REFERENCES city ON DELETE CASCADE);
      INSERT INTO house VALUES (1, 1);
      CREATE TABLE day (k BIGINT, v BIGINT) PARTITION BY RANGE (k);
      CREATE TABLE day1 PARTITION OF day FOR VALUES FROM (0) TO (10);
      CREATE TABLE day2 PARTITION OF day FOR VALUES FROM (10) TO (20);
      CREATE TABLE parent (v BIGINT); CREATE TABLE child () INHERITS (parent);
      """)
    func count(_ sql: String) -> ObservedValues<Int?>.AsyncIterator {
      pool.values { try $0.value(SQL(raw: sql), as: Int.self) }.makeAsyncIterator()
    }
    var (views, functions) = (count("SELECT count(*) FROM large"), count("SELECT cities()"))
    var houses = count("SELECT count(*) FROM house")
    var (days, first) = (
      count("SELECT count(*) FROM day WHERE k > 0"), count("SELECT count(*) FROM day1")
    )
    var parents = count("SELECT count(*) FROM parent")
    #expect(try await [views.next(), functions.next(), houses.next()] == [1, 2, 1])
    #expect(try await [days.next(), first.next(), parents.next()] == [0, 0, 0])
    try server.psql("INSERT INTO city VALUES (3, 30)")
    #expect(try await [views.next(), functions.next()] == [2, 3])
    try server.psql("DELETE FROM city WHERE id = 1")
    #expect(try await houses.next() == 0)
    try server.psql("INSERT INTO day VALUES (1, 1)")
    #expect(try await [days.next(), first.next()] == [1, 1])
    try server.psql("INSERT INTO day2 VALUES (11, 1)")
    #expect(try await days.next() == 2)
    try server.psql("INSERT INTO child VALUES (1)")
    #expect(try await parents.next() == 1)
  }

  @Test(
    "After the connection that listens was ended, a value has what was committed meanwhile",
    arguments: ListeningServer.sources)
  func ended(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    for number in 1...5 {
      try server.psql(
        """
        SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE \(ListeningServer.tells);
        INSERT INTO city VALUES (\(100 + number), 1)
        """)
      #expect(try await totals.next() == 30 + number)
    }
  }

  @Test(
    "A cancelled task's values end, and its connection that listens; so do those of a closed pool",
    arguments: ListeningServer.sources)
  func ends(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    let following = Task { [pool] in
      var last = 0
      for try await total in pool.values(of: ListeningServer.total) { last = total }
      return last
    }
    #expect(try await becomesTrue { try server.listenerCount() == 1 })
    following.cancel()
    _ = try await following.value
    #expect(try await becomesTrue { try server.listenerCount() == 0 })
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    let closing = Task { [pool] in try await pool.close() }
    #expect(try await totals.next() == nil)
    try await closing.value
  }

  @Test(
    "A closure that reads no table gives one value; one that throws ends its sequence",
    arguments: ListeningServer.sources)
  func noTable(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    var one = pool.values { try $0.value("SELECT 1", as: Int.self) }.makeAsyncIterator()
    #expect(try await one.next() == 1)
    #expect(try await one.next() == nil)
    var nothing = pool.values { _ in 1 }.makeAsyncIterator()
    #expect(try await nothing.next() == 1)
    #expect(try await nothing.next() == nil)
    var writing = pool.values { try $0.executeUpdate("DELETE FROM city") }.makeAsyncIterator()
    let error = await #expect(throws: DatabaseError.self) { _ = try await writing.next() }
    #expect(error?.code == .readOnly)
  }

  @Test(
    "What can't be observed throws: a materialized view, and a savepoint that is rolled back",
    arguments: ListeningServer.sources)
  func refused(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    try server.psql("CREATE MATERIALIZED VIEW total AS SELECT sum(population) AS v FROM city")
    await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in pool.values(of: {
        try $0.value("SELECT v::bigint FROM total", as: Int.self)
      }) {}
    }
    let error = await #expect(throws: DatabaseError.self) {
      for try await _ in pool.values(of: { db in
        try? db.inSavepoint { db in
          _ = try ListeningServer.total(db)
          throw CancellationError()
        }
      }) {}
    }
    #expect(error?.code == .misuse)
  }

  @Test(
    "While another transaction writes to the table, the first value comes, and later its change",
    arguments: ListeningServer.sources)
  func held(_ source: PostgresConfiguration.CommitSource) async throws {
    let server = try ListeningServer(source)
    let pool = server.pool
    let other = try Database.postgres(server.address)
    try other.executeStatements("BEGIN; UPDATE city SET population = 1")
    var totals = pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    let next = Task { try await totals.next() }
    // Behind the trigger's wait for the lock nobody waits for long.
    try server.psql("SET lock_timeout = '5s'; INSERT INTO other VALUES (1)")
    try other.executeStatements("COMMIT")
    #expect(try await next.value == 2)
  }
}

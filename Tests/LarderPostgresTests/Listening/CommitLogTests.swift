import Larder
import LarderSQLite
import PostgresSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Values that a server's log tells of", .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(10)))
struct CommitLogTests {
  private func slotCount(_ pool: PostgresPool) throws -> Int {
    try pool.read { db in
      try db.value(
        "SELECT count(*) FROM pg_replication_slots WHERE database = current_database()",
        as: Int.self) ?? 0
    }
  }

  @Test("A followed table has no trigger, its observers share a slot, and none is left behind")
  func noTrigger() async throws {
    let server = try ListeningServer(.log)
    do {
      var totals = server.pool.values(of: ListeningServer.total).makeAsyncIterator()
      var others = server.pool.values(of: ListeningServer.total).makeAsyncIterator()
      #expect(try await [totals.next(), others.next()] == [30, 30])
      try server.psql("INSERT INTO city VALUES (3, 1)")
      #expect(try await [totals.next(), others.next()] == [31, 31])
      try await server.waitUntilFollowed("city")
      #expect(try server.tellingTables() == ["log: city"])
      #expect(try slotCount(server.pool) == 1)
      let lasting = try await server.pool.read { db in
        try db.value(
          """
          SELECT count(*) FROM pg_replication_slots
          WHERE database = current_database() AND NOT temporary
          """, as: Int.self)
      }
      #expect(lasting == 0)
    }
    #expect(try await becomesTrue { try slotCount(server.pool) == 0 })
  }

  @Test("A table without a key, whose updates the server would refuse, is told of by a trigger")
  func withoutKey() async throws {
    let server = try ListeningServer(.automatic)
    try server.psql(
      "CREATE TABLE plain (n BIGINT); INSERT INTO plain VALUES (1); CREATE UNLOGGED TABLE brief (n BIGINT)"
    )
    let last = Lock(0)
    let values = server.pool.values { db in
      try db.value(
        """
        SELECT (SELECT sum(population) FROM city)::bigint + (SELECT sum(n) FROM plain)::bigint
          + (SELECT count(*) FROM brief)
        """, as: Int.self)
    }
    let following = Task {
      for try await value in values { last.withLock { $0 = value ?? 0 } }
    }
    defer { following.cancel() }
    #expect(
      try await becomesTrue {
        try server.tellingTables() == ["log: city", "trigger: brief", "trigger: plain"]
      })
    let changes = [
      "UPDATE plain SET n = 2", "UPDATE city SET population = population + 1 WHERE id = 1",
      "INSERT INTO brief VALUES (1)",
    ]
    for (number, change) in changes.enumerated() {
      #expect(try await becomesTrue { last.withLock { $0 } == 31 + number })
      try server.psql(change)
    }
    #expect(try await becomesTrue { last.withLock { $0 } == 34 })
    let strict = try ListeningServer.pool(server.address) { $0.commitSource = .log }
    let error = await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in strict.values(of: { try $0.value("SELECT n FROM plain", as: Int.self) }) {}
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("without a key"))
  }

  @Test("A server that doesn't decode its log has triggers, or throws what it lacks")
  func notPermitted() async throws {
    let server = try ListeningServer(.triggers)
    let automatic = try ListeningServer.pool(server.address)
    let last = Lock(0)
    let following = Task {
      for try await total in automatic.values(of: ListeningServer.total) {
        last.withLock { $0 = total }
      }
    }
    defer { following.cancel() }
    #expect(try await becomesTrue { try server.tellingTables() == ["trigger: city"] })
    try server.psql("INSERT INTO city VALUES (3, 1)")
    #expect(try await becomesTrue { last.withLock { $0 } == 31 })
    let strict = try ListeningServer.pool(server.address) { $0.commitSource = .log }
    let error = await #expect(throws: UnsupportedByEngine.self) {
      for try await _ in strict.values(of: ListeningServer.total) {}
    }
    #expect("\(error.map { "\($0)" } ?? "")".contains("wal_level"))
  }

  @Test(
    "Where any connection for the log would count as a standby, or it is on disk late, there are triggers",
    arguments: [
      ["synchronous_standby_names=*", "synchronous_commit=local"], ["synchronous_commit=off"],
    ])
  func notAdvisable(_ settings: [String]) async throws {
    let own = try PostgresServer((["wal_level=logical"] + settings).flatMap { ["-c", $0] })
    let pool = try ListeningServer.pool(own.address)
    try await pool.inTransaction { db in
      try db.executeStatements("CREATE TABLE city (id BIGINT PRIMARY KEY, population BIGINT)")
    }
    let last = Lock(-1)
    let following = Task {
      for try await total in pool.values(of: ListeningServer.total) {
        last.withLock { $0 = total }
      }
    }
    defer { following.cancel() }
    #expect(
      try await becomesTrue {
        try pool.read { db in
          try db.value(
            "SELECT count(*) FROM pg_trigger WHERE tgname = 'larder_change'", as: Int.self)
        } == 1
      })
    try await pool.inDatabase { try $0.executeUpdate("INSERT INTO city VALUES (1, 1)") }
    #expect(try await becomesTrue { last.withLock { $0 } == 1 })
  }

  @Test("A table that has its trigger already is told of by it")
  func existingTrigger() async throws {
    let server = try ListeningServer(.automatic)
    try await server.pool.inTransaction { try $0.reportChanges(of: ["city"]) }
    var totals = server.pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    try server.psql("INSERT INTO city VALUES (3, 1)")
    #expect(try await totals.next() == 31)
    #expect(try server.tellingTables() == ["trigger: city"])
  }

  @Test(
    "A commit that is decoded before others see it, since a standby is to confirm it, isn't missed")
  func unconfirmed() async throws {
    let cluster = try PostgresCluster(standbys: 0, ["-c", "wal_level=logical"])
    let pool = try ListeningServer.pool(cluster.address) { $0.commitSource = .log }
    let admin = try ListeningServer.pool(cluster.address) {
      // Two commits are held, and somebody looks at them.
      $0.connections = 4
    }
    try await pool.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE city (id BIGINT PRIMARY KEY, population BIGINT);
        INSERT INTO city VALUES (1, 30);
        CREATE TABLE probe (id BIGINT)
        """)
    }
    let last = Lock(0)
    let following = Task {
      for try await total in pool.values(of: ListeningServer.total) {
        last.withLock { $0 = total }
      }
    }
    defer { following.cancel() }
    #expect(try await becomesTrue { last.withLock { $0 } == 30 })
    try await admin.inDatabase { try $0.executeUpdate("INSERT INTO city VALUES (2, 1)") }
    #expect(try await becomesTrue { last.withLock { $0 } == 31 })
    let decoded = try #require(pool.listener.decoded)
    let city = try await admin.read { db in
      UInt32(try db.value("SELECT 'city'::regclass::oid::bigint", as: Int.self) ?? 0)
    }
    #expect(try await becomesTrue { decoded.followed.contains(city) && decoded.nextLook == .max })
    func waitFor(_ standby: String) async throws {
      try await admin.inDatabase { db in
        try db.executeUpdate(
          SQL(raw: "ALTER SYSTEM SET synchronous_standby_names = '\(standby)'"))
        _ = try db.value("SELECT pg_reload_conf()", as: Bool.self)
      }
      #expect(
        try await becomesTrue {
          try admin.read { db in
            try db.value("SHOW synchronous_standby_names", as: String.self)
          } == standby
        })
    }
    /// Waits until commits wait: they do once the server's checkpointer has read the setting, some time after others.
    func waitUntilHeld() async throws {
      let (begun, ended) = (Lock(0), Lock(0))
      repeat {
        begun.withLock { $0 += 1 }
        Task {
          try await admin.inDatabase { try $0.executeUpdate("INSERT INTO probe VALUES (1)") }
          ended.withLock { $0 += 1 }
        }
        #expect(
          try await becomesTrue {
            let held = try admin.read { db in
              try db.value(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'", as: Int.self)
            }
            return held == 1 || ended.withLock { $0 } == begun.withLock { $0 }
          })
      } while ended.withLock { $0 } == begun.withLock { $0 }
    }
    for number in 3...5 {
      try await waitFor("nobody")
      try await waitUntilHeld()
      let writing = Task {
        try await admin.inDatabase {
          try $0.executeUpdate("INSERT INTO city VALUES (\(number), 1)")
        }
      }
      // It is on disk, and decoded.
      #expect(try await becomesTrue { decoded.pendingCount > 0 })
      #expect(try await pool.read { try ListeningServer.total($0) } == 28 + number)
      try await waitFor("")
      _ = try await writing.value
      #expect(try await becomesTrue { last.withLock { $0 } == 29 + number })
    }
  }

  @Test("A publication that somebody drops or changes is made again, and nothing is missed")
  func publication() async throws {
    let server = try ListeningServer(.log) { $0.listeningInterval = .milliseconds(20) }
    var totals = server.pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    let changes = [
      "SELECT 1", "DROP PUBLICATION \"larder:public.city\"",
      "ALTER PUBLICATION \"larder:public.city\" SET TABLE other",
      "ALTER PUBLICATION \"larder:public.city\" SET (publish = 'delete')",
    ]
    for (number, change) in changes.enumerated() {
      try server.psql("\(change); INSERT INTO city VALUES (\(100 + number), 1)")
      #expect(try await totals.next() == 31 + number)
      // It is made again once somebody looks at the tables, and until then the next change would find none.
      #expect(
        try await becomesTrue {
          try server.pool.read { db in
            try db.value(
              """
              SELECT count(*) FROM pg_publication p JOIN pg_publication_rel r ON r.prpubid = p.oid
              WHERE r.prrelid = 'city'::regclass AND p.pubinsert AND p.pubdelete
              """, as: Int.self)
          } == 1
        })
      try await server.waitUntilFollowed("city")
    }
  }

  @Test("While a transaction keeps the server from beginning, values are read again all the same")
  func heldUp() async throws {
    let server = try ListeningServer(.log)
    let other = try Database.postgres(server.address)
    try other.executeStatements("BEGIN; INSERT INTO other VALUES (1)")
    var totals = server.pool.values(of: ListeningServer.total).makeAsyncIterator()
    #expect(try await totals.next() == 30)
    for number in 1...3 {
      try server.psql("INSERT INTO city VALUES (\(100 + number), 1)")
      #expect(try await totals.next() == 30 + number)
    }
    try other.executeStatements("COMMIT")
    try await server.waitUntilFollowed("city")
    try server.psql("INSERT INTO city VALUES (9, 1)")
    #expect(try await totals.next() == 34)
  }

  @Test("A snapshot sees what has ended, also where the numbers of transactions begin anew")
  func snapshots() throws {
    let snapshot = try ServerSnapshot("100:110:103,105")
    #expect((95...111).filter { !snapshot.sees($0) } == [103, 105, 110, 111])
    let next = try ServerSnapshot("4294967290:4294967300:4294967295,4294967297")
    #expect(next.sees(4_294_967_289) && next.sees(0) && next.sees(3))
    #expect(!next.sees(4_294_967_295) && !next.sees(1) && !next.sees(4))
    for text in [nil, "", "1:2", "a:2:", "1:b:"] {
      #expect(throws: PostgresFailure.self) { try ServerSnapshot(text) }
    }
  }

  @Test("A snapshot of the log is read once none runs that it has as ended, whichever else run")
  func snapshotsOfLog() throws {
    // As the log has it, 104 is committed and 103 runs; 110 begins later.
    let logged = try ServerSnapshot("103:110:103,105")
    #expect(try ServerSnapshot("103:112:103,104,105").isBehind(logged))
    #expect(try ServerSnapshot("102:110:102").isBehind(logged))
    #expect(try !ServerSnapshot("103:112:103,105,110,111").isBehind(logged))
    #expect(try !ServerSnapshot("112:112:").isBehind(logged))
    // 109 runs, and isn't listed: none that is later has ended.
    #expect(try ServerSnapshot("109:109:").isBehind(logged))
    #expect(try ServerSnapshot("103:109:103,105").isBehind(logged))
    #expect(try !ServerSnapshot("103:110:103,105").isBehind(logged))
    let wrapped = try ServerSnapshot("4294967290:4294967297:")
    #expect(try ServerSnapshot("4294967290:4294967295:").isBehind(wrapped))
    #expect(try !ServerSnapshot("4294967297:4294967297:").isBehind(wrapped))
    #expect(try ServerSnapshot("105:112:105,111").hasRunning(of: logged))
    #expect(try !ServerSnapshot("104:112:104,111").hasRunning(of: logged))
  }
}

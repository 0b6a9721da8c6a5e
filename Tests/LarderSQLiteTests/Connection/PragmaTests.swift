import LarderSQLite
import TestSupport
import Testing

@Suite("PRAGMAs that SQLite runs while it compiles them")
struct PragmaTests {
  private func isEnforcing(_ db: Database) throws -> Bool? {
    try db.value("PRAGMA foreign_keys", as: Bool.self)
  }

  static let forms: [SQL] = [
    "PRAGMA foreign_keys = OFF", "pragma main.foreign_keys(0)", #"PRAGMA "foreign_keys" = 'no'"#,
    "-- off\r\n\t PRAGMA/**/[foreign_keys]=false;", "PRAGMA `main` . `FOREIGN_KEYS` = off -- yes",
    "\u{FEFF}PRAGMA foreign_keys = OFF", " \u{0B}PRAGMA foreign_keys = OFF",
  ]

  @Test(
    "A PRAGMA in any notation has no effect when validated, prepared or explained, only when run",
    arguments: forms)
  func lookedAt(sql: SQL) throws {
    let db = try makeCities()
    try db.validate(sql)
    #expect(try isEnforcing(db) == true)
    let statement = try db.prepare(sql)
    #expect(statement.columnNames.isEmpty)
    #expect(!statement.isReadOnly)
    #expect(try isEnforcing(db) == true)
    _ = try? db.executeStatements(SQL(raw: "EXPLAIN " + sql.text))
    _ = try? db.executeStatements(SQL(raw: "EXPLAIN QUERY PLAN " + sql.text))
    #expect(try isEnforcing(db) == true)

    // The PRAGMA takes effect each time it runs.
    for _ in 1...2 {
      try statement.execute()
      #expect(try isEnforcing(db) == false)
      try db.executeUpdate("PRAGMA foreign_keys = ON")
      #expect(try isEnforcing(db) == true)
    }
    try db.executeStatements(sql)
    #expect(try isEnforcing(db) == false)
  }

  @Test(
    "A PRAGMA in SQL that is refused has no effect",
    arguments: [
      "INSERT INTO city (name) VALUES ('Narvik'); PRAGMA foreign_keys = OFF",
      "PRAGMA foreign_keys = OFF; SELECT 1", "PRAGMA foreign_keys = OFF OFF",
      "PRAGMA foreign_keys(OFF", "PRAGMA nowhere.foreign_keys = OFF",
      "EXPLAIN PRAGMA foreign_keys = OFF; SELECT 1",
    ] as [SQL])
  func refused(sql: SQL) throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
    #expect(throws: DatabaseError.self) { try db.executeQuery(sql) }
    #expect(throws: DatabaseError.self) { try db.value(sql, as: Int.self) }
    #expect(throws: DatabaseError.self) { try db.prepare(sql) }
    #expect(throws: DatabaseError.self) { try db.validate(sql) }
    #expect(try isEnforcing(db) == true)
    #expect(try db.cityCount() == 4)
  }

  @Test("A PRAGMA that is run with a surplus argument throws and has no effect")
  func wrongCount() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) { try db.executeUpdate("PRAGMA foreign_keys = OFF", 1) }
    #expect(throws: DatabaseError.self) {
      try db.executeQuery("PRAGMA foreign_keys = OFF", arguments: [1])
    }
    #expect(throws: DatabaseError.self) {
      try db.value("PRAGMA foreign_keys = OFF", 1, as: Int.self)
    }
    #expect(try isEnforcing(db) == true)
  }

  @Test("A syntax error in a PRAGMA throws SQLite's message with the offset in the caller's SQL")
  func syntaxError() throws {
    let db = try Database()
    let sql: SQL = "PRAGMA foreign_keys = OFF OFF"
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
    #expect(error?.message == #"near "OFF": syntax error"#)
    #expect(error?.sql == sql.text)
    #expect(error?.offset == SQLiteLibrary.offset(26))
  }

  @Test("A PRAGMA that sets something returns the rows that SQLite answers")
  func answers() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      #expect(try db.value("PRAGMA journal_mode = delete", as: String.self) == "delete")
      let rows = try db.executeQuery("PRAGMA journal_size_limit = 4096")
      #expect(rows.columnNames == ["journal_size_limit"])
      #expect(try rows.map { try $0.get(at: 0, as: Int.self) } == [4096])
      #expect(try db.value("PRAGMA user_version = 7", as: Int.self) == nil)
      #expect(try db.userVersion == 7)
    }
  }

  @Test("PRAGMA `busy_timeout` sets and returns the connection's `busyTimeout`")
  func busyTimeout() throws {
    let folder = try ScratchFolder()
    let holder = try Database(path: folder.file("cities.db"))
    let db = try Database(path: folder.file("cities.db"))
    #expect(try db.value("PRAGMA busy_timeout", as: Int.self) == 5000)
    #expect(try db.value("PRAGMA busy_timeout = 60000", as: Int.self) == 60000)
    #expect(db.busyTimeout == .seconds(60))
    #expect(try db.effectiveSettings.busyTimeout == .seconds(60))

    // The connection still does its own waiting, so a deadline ends it.
    try holder.begin()
    db.statementDeadline = .milliseconds(50)
    let error = #expect(throws: DatabaseError.self) { try db.begin() }
    #expect(error?.code == .interrupt)
    db.statementDeadline = nil
    try db.executeUpdate("PRAGMA busy_timeout(-1)")
    #expect(db.busyTimeout == .zero)
    let rows = try db.executeQuery("PRAGMA busy_timeout")
    #expect(rows.columnNames == ["timeout"])
  }

  @Test("PRAGMA `wal_autocheckpoint` sets and returns the number of frames before a checkpoint")
  func autocheckpoint() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      #expect(try db.value("PRAGMA wal_autocheckpoint", as: Int.self) == 1000)
      #expect(try db.value("PRAGMA wal_autocheckpoint = 1", as: Int.self) == 1)
      #expect(try db.value("PRAGMA wal_autocheckpoint", as: Int.self) == 1)
      try createCities(in: db)
      let frames = try db.checkpoint(.passive)
      #expect(frames.logFrames == frames.checkpointed)
      #expect(try db.value("PRAGMA wal_autocheckpoint = 0", as: Int.self) == 0)
    }
  }

  @Test("PRAGMA `foreign_keys` throws in a transaction, where SQLite would ignore it")
  func foreignKeysInTransaction() throws {
    let db = try makeCities()
    func expectRefusal() throws {
      let error = #expect(throws: DatabaseError.self) {
        try db.executeUpdate("PRAGMA foreign_keys = OFF")
      }
      #expect(error?.code == .misuse)
      #expect(try isEnforcing(db) == true)
    }
    try db.inTransaction { _ in try expectRefusal() }
    try db.inSavepoint { _ in try expectRefusal() }
    try db.begin()
    try expectRefusal()
    try db.rollback()
    try db.executeUpdate("PRAGMA foreign_keys = OFF")
    #expect(try isEnforcing(db) == false)
  }

  @Test(
    "The authorizer `.readOnly` refuses a PRAGMA that sets something, even one prepared earlier")
  func authorizer() throws {
    let db = try Database()
    let statement = try db.prepare("PRAGMA busy_timeout = 1")
    db.authorizer = .readOnly
    for sql in ["PRAGMA busy_timeout = 1", "PRAGMA cache_size = 7"] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.validate(sql) }
      #expect(error?.code == .authorization)
    }
    #expect(throws: DatabaseError.self) { try statement.execute() }
    #expect(db.busyTimeout == .seconds(5))
  }
}

@Suite("PRAGMAs in read scopes")
struct ReadScopePragmaTests {
  private func expectReading(_ access: any DatabaseAccess, journalMode: String) throws {
    try access.read { try expectReading($0, journalMode: journalMode) }
  }

  private func expectReading(_ db: Database, journalMode: String) throws {
    #expect(try db.effectiveSettings.foreignKeys)
    #expect(try db.value("PRAGMA journal_mode", as: String.self) == journalMode)
    #expect(try db.value("PRAGMA main.journal_mode", as: String.self) == journalMode)
    #expect(try db.value("PRAGMA busy_timeout", as: Int.self) == 5000)
    #expect(try db.value("PRAGMA integrity_check(1)", as: String.self) == "ok")
    for sql in [
      "PRAGMA foreign_keys = OFF", "PRAGMA cache_size(7)", "PRAGMA busy_timeout = 1",
      "PRAGMA wal_checkpoint", "PRAGMA optimize", "PRAGMA user_version = 3",
      "ATTACH ':memory:' AS other",
    ] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
      #expect(error?.code == .readOnly, "\(sql.text)")
    }
    #expect(try db.effectiveSettings.foreignKeys)
    #expect(db.busyTimeout == .seconds(5))
  }

  @Test(
    "In a read scope, PRAGMAs that read work, and those that set something throw without effect")
  func readScopes() throws {
    try withTemporaryFolder { folder in
      try expectReading(try DatabaseQueue(), journalMode: "memory")
      try expectReading(try DatabaseQueue(path: folder + "/queue.db"), journalMode: "wal")
      try expectReading(try DatabasePool(path: folder + "/pool.db"), journalMode: "wal")
    }
  }
}

import LarderSQLite
import TestSupport
import Testing

@Suite("Settings that are restored at the end of a scope")
struct ScopeSettingTests {
  private struct Doubt: Error {}

  static let pragmas: [SQL] = [
    "PRAGMA foreign_keys = OFF", "PRAGMA synchronous = OFF", "PRAGMA main.cache_size = 7",
    "PRAGMA journal_size_limit = 1", "PRAGMA cell_size_check = OFF", "PRAGMA query_only = ON",
    "PRAGMA ignore_check_constraints = ON", "PRAGMA recursive_triggers = ON",
    "PRAGMA secure_delete = FAST", "PRAGMA case_sensitive_like = ON", "PRAGMA busy_timeout = 1",
    "PRAGMA wal_autocheckpoint = 7", "PRAGMA locking_mode = exclusive", "PRAGMA cache_spill = OFF",
    "PRAGMA automatic_index = OFF", "PRAGMA reverse_unordered_selects = ON",
    "PRAGMA trusted_schema = ON", "PRAGMA short_column_names = OFF", "PRAGMA threads = 2",
    "PRAGMA max_page_count = 5000", "PRAGMA mmap_size = 65536", "PRAGMA defer_foreign_keys = ON",
    "PRAGMA temp_store = memory", "PRAGMA read_uncommitted = ON", "PRAGMA legacy_alter_table = ON",
  ]

  private static let unread: Set<String> = ["data_version", "optimize", "incremental_vacuum"]

  private func settings(_ db: Database) throws -> [String] {
    // Read first, since outside of a transaction the next read of the file switches it off.
    let isDeferred = try db.value("PRAGMA defer_foreign_keys", as: Int.self) ?? -1
    var settings = try db.texts("PRAGMA pragma_list").filter { !Self.unread.contains($0) }
      .filter { !$0.hasSuffix("_list") && !$0.hasSuffix("_check") && !$0.hasPrefix("wal_check") }
      .sorted().map { name in
        let value = try db.executeQuery(SQL(raw: "PRAGMA \(name)")).map { "\(try $0[0])" }
        return "\(name) \(value)"
      }
    settings.append("deferred \(isDeferred)")
    settings.append("LIKE \(try db.value("SELECT 'a' LIKE 'A'", as: Int.self) ?? -1)")
    settings.append("\(try db.effectiveSettings)")
    settings += Limit.allCases.map { "\($0) \(db.limit($0))" }
    settings.append("\(db.busyTimeout) \(db.statementCacheCapacity)")
    settings.append(
      "\(String(describing: db.statementDeadline)) \(String(describing: db.authorizer))")
    return settings
  }

  private func fail(after sql: SQL, _ db: Database) throws {
    for _ in 1...2 { try db.executeStatements(sql) }
    throw Doubt()
  }

  private func makeQueue(in folder: ScratchFolder) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.statementDeadline = .seconds(100)
    configuration.prepareDatabase = { db in
      // Scopes restore the values that are set here.
      try db.executeUpdate("PRAGMA cache_size = -1234")
      try db.executeUpdate("PRAGMA secure_delete = FAST")
      db.busyTimeout = .seconds(9)
      try db.setLimit(.attached, 3)
      db.authorizer = nil
    }
    return try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
  }

  @Test(
    "A PRAGMA that a queue's scope sets has an effect, and is restored at its end, even if it throws",
    arguments: pragmas)
  func pragma(sql: SQL) throws {
    let folder = try ScratchFolder()
    let queues = [try makeQueue(in: folder), try DatabaseQueue()]
    var hasEffect = false
    for queue in queues {
      let before = try queue.inDatabase { try settings($0) }
      try queue.inDatabase { db in
        try db.executeUpdate(sql)
        // Some have none in memory, or are set already in the file's queue.
        if try settings(db) != before { hasEffect = true }
      }
      #expect(try queue.inDatabase { try settings($0) } == before)
      try queue.inDatabase { _ = try $0.executeUpdate(sql) }
      #expect(try queue.inDatabase { try settings($0) } == before)
      #expect(throws: Doubt.self) { try queue.inDatabase { try fail(after: sql, $0) } }
      #expect(try queue.inDatabase { try settings($0) } == before)
    }
    #expect(hasEffect)
  }

  @Test(
    "Properties and limits that a scope sets are restored at its end, also in transactions and readers"
  )
  func properties() throws {
    let folder = try ScratchFolder()
    let queue = try makeQueue(in: folder)
    let pool = try DatabasePool(path: folder.file("pool.db"))
    func meddle(_ db: Database) throws {
      db.busyTimeout = .zero
      db.statementDeadline = nil
      db.statementCacheCapacity = 1
      try db.setLimit(.sqlLength, 5000)
      try db.setLimit(.sqlLength, 4000)
      db.authorizer = .tables([])
    }
    let before = try queue.inDatabase { try settings($0) }
    try queue.inDatabase { try meddle($0) }
    #expect(try queue.inDatabase { try settings($0) } == before)
    try queue.inTransaction { try meddle($0) }
    #expect(try queue.inDatabase { try settings($0) } == before)
    try queue.inSavepoint { try meddle($0) }
    #expect(try queue.inDatabase { try settings($0) } == before)
    try queue.read { try meddle($0) }
    #expect(try queue.read { try settings($0) } == before)
    let reader = try pool.read { try settings($0) }
    try pool.read { try meddle($0) }
    #expect(try pool.read { try settings($0) } == reader)
  }

  @Test("Settings are restored even if the scope also set an authorizer or limit that prevents it")
  func obstacles() throws {
    let queue = try DatabaseQueue()
    let before = try queue.inDatabase { try settings($0) }
    try queue.inDatabase { db in
      try db.executeUpdate("PRAGMA foreign_keys = OFF")
      try db.executeUpdate("PRAGMA query_only = ON")
      db.authorizer = .readOnly
      try db.setLimit(.sqlLength, 5)
    }
    #expect(try queue.inDatabase { try settings($0) } == before)
  }

  @Test("Settings are restored after a scope that left a transaction open")
  func openTransaction() throws {
    let queue = try DatabaseQueue()
    let before = try queue.inDatabase { try settings($0) }
    func leaveOpen(_ db: Database) throws {
      try db.executeUpdate("PRAGMA foreign_keys = OFF")
      try db.begin()
    }
    #expect(throws: DatabaseError.self) { try queue.inDatabase { try leaveOpen($0) } }
    #expect(try queue.inDatabase { try settings($0) } == before)
  }

  @Test("Foreign keys are enforced again after a scope that switched them off")
  func orphans() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE country (code TEXT PRIMARY KEY);
        CREATE TABLE city (country TEXT REFERENCES country);
        PRAGMA foreign_keys = OFF;
        """)
    }
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('NO')") }
    }
    #expect(error?.extendedCode == .constraintForeignKey)
  }

  @Test(
    "A cached INSERT that was compiled with deferred foreign keys is undone when it violates one later"
  )
  func deferredKeys() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE parent (id INTEGER PRIMARY KEY);
        CREATE TABLE child (parent INTEGER REFERENCES parent);
        """)
    }
    let insert: SQL = "INSERT INTO child VALUES (7)"
    try queue.inTransaction { db in
      try db.executeUpdate("PRAGMA defer_foreign_keys = ON")
      try db.executeUpdate(insert)
      try db.executeUpdate("DELETE FROM child")
    }
    try queue.inTransaction { (db: Database) throws in
      #expect(throws: DatabaseError.self) { try db.executeUpdate(insert) }
      #expect(try db.value("SELECT count(*) FROM child", as: Int.self) == 0)
    }
  }

  @Test(
    "A scope that changes settings of an attached database and detaches it ends without an error")
  func detached() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.executeUpdate("ATTACH ':memory:' AS \"other one\"")
      try db.executeUpdate("PRAGMA \"other one\".cache_size = 7")
      try db.executeUpdate("DETACH \"other one\"")
    }
    #expect(try queue.read { try $0.value("SELECT 1", as: Int.self) } == 1)
  }

  @Test("The exclusive lock of PRAGMA `locking_mode` is released at the end of its scope")
  func exclusive() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    try pool.inDatabase { db in
      try db.executeUpdate("PRAGMA locking_mode = EXCLUSIVE")
      try createCities(in: db)
    }
    #expect(try pool.read { try $0.cityCount() } == 4)
  }

  @Test("PRAGMAs stored in the file outlast a queue's scope; a `Database` keeps all its settings")
  func lasting() throws {
    let queue = try DatabaseQueue()
    try queue.inDatabase { db in
      try db.executeUpdate("PRAGMA user_version = 7")
      try db.executeUpdate("PRAGMA application_id = 8")
    }
    #expect(try queue.read { try $0.userVersion } == 7)
    #expect(try queue.read { try $0.applicationID } == 8)

    let db = try Database()
    try db.executeUpdate("PRAGMA cache_size = 7")
    db.busyTimeout = .seconds(1)
    try db.inTransaction { _ in db.statementCacheCapacity = 3 }
    #expect(try db.value("PRAGMA cache_size", as: Int.self) == 7)
    #expect(db.busyTimeout == .seconds(1))
    #expect(db.statementCacheCapacity == 3)
  }
}

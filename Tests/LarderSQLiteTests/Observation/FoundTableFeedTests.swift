import TestSupport
import Testing

@testable import LarderSQLite

@Suite(
  "Feeds of tables whose schema was made or changed elsewhere", .promptly, .needsPreupdateHook,
  .serialized)
struct FoundTableFeedTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func open(_ schema: SQL) async throws -> DatabaseQueue {
    let access = try DatabaseQueue()
    try await access.inDatabase { try $0.executeStatements(schema) }
    return access
  }

  /// The changes of the next transaction that isn't reported as unknown.
  private func nextTold(_ feed: Followed) async throws -> [RowChange] {
    while let next = try await feed.next() {
      if !next.isFromElsewhere { return next.changes }
    }
    return []
  }

  // MARK: Other schemas

  @Test(
    "After a restore, a feed reports rows with the restored table's columns",
    arguments: ["CREATE TABLE t (b, a)", "CREATE TABLE t (b, a, c)", "CREATE TABLE t (b)"],
    [false, true])
  func restored(declaration: String, isNew: Bool) async throws {
    let other = folder.file("other.db")
    let copy = try Database(path: other)
    try copy.executeStatements(SQL(raw: declaration))
    let columns = try copy.columns(of: "t").map(\.name)
    try copy.close()
    let pool = try DatabasePool(path: folder.file("a.db"))
    try await pool.inTransaction { try $0.executeUpdate("CREATE TABLE t (a, b)") }
    var feed = try await Followed.begin(pool, ["t"])
    try await pool.inDatabase { try $0.restore(from: other) }
    #expect(try await feed.next()?.isFromElsewhere == true)
    if isNew { feed = try await Followed.begin(pool, ["t"]) }
    for number in 1...2 {
      try await pool.inTransaction { try $0.executeUpdate("INSERT INTO t (b) VALUES (?)", number) }
      let changes = try #require(try await feed.next()?.changes)
      #expect(changes.map(\.columns) == [columns])
      #expect(changes.map { $0.new?[0] } == [.integer(Int64(number))])
    }
  }

  enum Way: CaseIterable { case transaction, deferred, statement, savepoint }

  @Test(
    "Rows written after another process has altered the table are reported with the new columns",
    arguments: Way.allCases)
  func altered(way: Way) async throws {
    let path = folder.file("a.db")
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { try $0.executeUpdate("CREATE TABLE t (c0, x)") }
    let other = try ChildProcess.role("execute", path)
    #expect(other.line() == "ready")
    let feed = try await Followed.begin(pool, ["t"])
    for number in 1...20 {
      other.say("ALTER TABLE t RENAME COLUMN c\(number - 1) TO c\(number)")
      #expect(other.line() != nil)
      let write: @Sendable (Database) throws -> Void = { db in
        try db.executeUpdate("INSERT INTO t VALUES (?, 0)", number)
      }
      switch way {
      case .transaction: try await pool.inTransaction(.immediate, write)
      case .deferred: try await pool.inTransaction(.deferred, write)
      case .statement: try await pool.inDatabase(write)
      case .savepoint: try await pool.inDatabase { try $0.inSavepoint(write) }
      }
      try await pool.inDatabase { try $0.executeUpdate("UPDATE t SET x = 1 WHERE x = 0") }
      let changes = try await nextTold(feed)
      #expect(changes.map(\.columns) == [["c\(number)", "x"]])
      let isWhole = changes.first?.kind == .insert
      #expect(isWhole || way != .transaction)
      if isWhole { #expect(try await nextTold(feed).map(\.kind) == [.update]) }
    }
  }

  @Test(
    "A table that another process recreates is reported as unknown once, then with its new columns")
  func madeAnew() async throws {
    let path = folder.file("a.db")
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { try $0.executeUpdate("CREATE TABLE t (a, b)") }
    let feed = try await Followed.begin(pool, ["t"])
    let other = try ChildProcess.role("execute", path)
    #expect(other.line() == "ready")
    other.say("DROP TABLE t; CREATE TABLE t (b, a)")
    #expect(other.line() != nil)
    try await pool.inTransaction { try $0.executeUpdate("INSERT INTO t (a) VALUES (1)") }
    #expect(try await feed.next()?.isFromElsewhere == true)
    let changes = try await nextTold(feed)
    #expect(changes.map(\.columns) == [["b", "a"]] && changes.map(\.new) == [[nil, 1]])
  }

  @Test(
    "Rows changed in a transaction that rolls back an ALTER TABLE are reported with the old columns",
    arguments: [false, true])
  func undone(isOuter: Bool) async throws {
    let access = try await open("CREATE TABLE t (a, b); INSERT INTO t VALUES (1, 2)")
    let feed = try await Followed.begin(access, ["t"])
    try? await access.inTransaction { db in
      try db.executeUpdate("UPDATE t SET a = 3")
      try? db.inSavepoint { db in
        try db.executeUpdate("ALTER TABLE t RENAME COLUMN a TO c")
        try db.executeUpdate("UPDATE t SET c = 4")
        throw CancellationError()
      }
      if isOuter { throw CancellationError() }
    }
    try await access.inTransaction { try $0.executeUpdate("UPDATE t SET b = 5") }
    if !isOuter { #expect(try await feed.next()?.changes.map(\.new) == [[3, 2]]) }
    let last = try await feed.next()?.changes
    #expect(last?.map(\.new) == [[isOuter ? 1 : 3, 5]] && last?.map(\.columns) == [["a", "b"]])
  }

  // MARK: Defaults

  @Test(
    "A feed's old values of an added column equal its default as SQLite reads it",
    arguments: [
      "INTEGER DEFAULT '0'", "TEXT DEFAULT 5", "TEXT DEFAULT 5.0", "REAL DEFAULT 4",
      "REAL DEFAULT '4'", "REAL DEFAULT '4e1'", "NUMERIC DEFAULT '1.0'", "NUMERIC DEFAULT 'x'",
      "BLOB DEFAULT '7'", "DEFAULT '7'", "BLOB DEFAULT x'00ff'", "INTEGER DEFAULT x'31'",
      "DEFAULT pending", "INTEGER DEFAULT pending", "DEFAULT \"quoted\"", "DEFAULT [brackets]",
      "DEFAULT -5", "DEFAULT +5", "DEFAULT - 5", "TEXT DEFAULT -5", "DEFAULT -5.5",
      "DEFAULT -9223372036854775808", "DEFAULT 9223372036854775808", "DEFAULT 0x10",
      "DEFAULT -0x10", "TEXT DEFAULT 0x10", "DEFAULT TRUE", "DEFAULT false", "TEXT DEFAULT true",
      "DEFAULT 'true'", "DEFAULT NULL", "DEFAULT (5)", "DEFAULT ('a b')", "DEFAULT (-5)",
      "DEFAULT (CAST('5' AS INTEGER))", "TEXT DEFAULT (x'61')", "DEFAULT 'it''s'",
      "DEFAULT ''", "INT NOT NULL DEFAULT '12'", "VARCHAR(10) DEFAULT 12", "DATE DEFAULT '2024'",
      "DOUBLE PRECISION DEFAULT '1'", "DEFAULT -0.0", "REAL DEFAULT -0.0", "DEFAULT 1e300",
    ])
  func defaults(declaration: String) async throws {
    let access = try await open("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
    try await access.inDatabase {
      try $0.executeUpdate(SQL(raw: "ALTER TABLE t ADD COLUMN b \(declaration)"))
    }
    let expected = try await access.inDatabase {
      try $0.value("SELECT b FROM t", as: DatabaseValue.self)
    }
    let feed = try await Followed.begin(access, ["t"])
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM t WHERE a = 1") }
    try await access.inTransaction { try $0.executeUpdate("UPDATE t SET a = 3") }
    let deleted = try await feed.next()
    #expect(deleted?.changes.map { "\($0.old?[1] as Any)" } == ["\(expected as Any)"])
    let updated = try await feed.next()
    #expect(updated?.changes.map { "\($0.old?[1] as Any)" } == ["\(expected as Any)"])
    // With a TEXT column's default TRUE, the UPDATE writes another value than SQLite read before.
    let written = try await access.inDatabase {
      try $0.value("SELECT b FROM t", as: DatabaseValue.self)
    }
    #expect(updated?.changes.map { "\($0.new?[1] as Any)" } == ["\(written as Any)"])
  }

  @Test(
    "A feed's old values of a column added to a STRICT table equal its default as SQLite reads it",
    arguments: [
      "ANY DEFAULT '0'", "ANY DEFAULT 5", "INTEGER DEFAULT '0'", "INT DEFAULT 1.0",
      "REAL DEFAULT 3", "TEXT DEFAULT 3", "BLOB DEFAULT x'01'",
    ])
  func strictDefaults(declaration: String) async throws {
    let access = try await open("CREATE TABLE t (a INT) STRICT; INSERT INTO t VALUES (1)")
    try await access.inDatabase {
      try $0.executeUpdate(SQL(raw: "ALTER TABLE t ADD COLUMN b \(declaration)"))
    }
    let expected = try await access.inDatabase {
      try $0.value("SELECT b FROM t", as: DatabaseValue.self)
    }
    let feed = try await Followed.begin(access, ["t"])
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM t") }
    #expect(
      try await feed.next()?.changes.map { "\($0.old?[1] as Any)" } == ["\(expected as Any)"])
  }

  @Test(
    "A feed begins on a table with computed defaults that every row has stored")
  func computedDefaults() async throws {
    let access = try await open(
      """
      CREATE TABLE t (a, b DEFAULT CURRENT_TIMESTAMP, c DEFAULT (1 + 1), d DEFAULT (random()),
        e DEFAULT CURRENT_DATE, f DEFAULT (CURRENT_TIME));
      INSERT INTO t (a, c) VALUES (1, 5)
      """)
    let feed = try await Followed.begin(access, ["t"])
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM t") }
    #expect(try await feed.next()?.changes.map { $0.old?[2] } == [5])
  }

  // MARK: Names

  @Test(
    "A feed and a value follow a table whose name has dots, quotes, spaces or non-ASCII letters",
    arguments: [
      "Überweisung", "a.b", "aux.city", "main.x", "it's", "a \"b\"", "Ä", "order", "x y", "ﬁ", "İ",
      "temp.t", "日本",
    ])
  func names(name: String) async throws {
    let access = try DatabaseQueue()
    let followed = name == "main.x" || name == "temp.t" ? "main.\(name)" : name
    try await access.inDatabase {
      try $0.executeUpdate("CREATE TABLE \(identifier: name) (a)")
    }
    let feed = try await Followed.begin(access, [followed])
    let values = ObservedReads(access) {
      try $0.value("SELECT count(*) FROM \(identifier: name)", as: Int.self)
    }
    #expect(try await values.next() == 0)
    try await access.inTransaction {
      try $0.executeUpdate("INSERT INTO \(identifier: name) VALUES (1)")
    }
    let changes = try await feed.next()?.changes
    #expect(changes?.map(\.table) == [name] && changes?.map(\.new) == [[1]])
    #expect(try await values.next() == 1)
  }

  @Test("Two tables whose names are canonically equivalent Unicode have separate feeds")
  func alike() async throws {
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    let access = try DatabaseQueue()
    try await access.inDatabase { db in
      for name in [composed, decomposed] {
        try db.executeUpdate("CREATE TABLE \(identifier: name) (a)")
      }
    }
    let first = try await Followed.begin(access, [composed])
    let second = try await Followed.begin(access, [decomposed])
    for (number, name) in [decomposed, composed].enumerated() {
      try await access.inTransaction {
        try $0.executeUpdate("INSERT INTO \(identifier: name) VALUES (?)", number)
      }
    }
    #expect(try await first.next()?.changes.map(\.new) == [[1]])
    #expect(try await second.next()?.changes.map(\.new) == [[0]])
  }

  @Test(
    "An update of an INTEGER PRIMARY KEY whose name has a non-ASCII capital updates observed values"
  )
  func keyNames() async throws {
    let access = try await open(
      "CREATE TABLE t (Überkey INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    let values = ObservedReads(access) { try $0.texts("SELECT a FROM t") }
    #expect(try await values.next() == ["x", "y"])
    try await access.inTransaction {
      try $0.executeUpdate("UPDATE t SET Überkey = 9 WHERE a = 'x'")
    }
    #expect(try await values.next() == ["y", "x"])
  }

  // MARK: Bytes

  @Test(
    "A feed reports the rows that OR FAIL keeps, and a trigger's delete and insert of an equal row")
  func failWithTrigger() async throws {
    let access = try await open(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE);
      CREATE TABLE log (id INTEGER PRIMARY KEY, n);
      INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO log VALUES (1, 0);
      CREATE TRIGGER tr AFTER UPDATE ON t BEGIN
        DELETE FROM log WHERE id = 1; INSERT INTO log VALUES (1, 0);
      END;
      """)
    let feed = try await Followed.begin(access, ["t", "log"])
    await #expect(throws: DatabaseError.self) {
      try await access.inDatabase { try $0.executeUpdate("UPDATE OR FAIL t SET x = 'z'") }
    }
    let changes = try #require(try await feed.next()?.changes)
    #expect(changes.filter { $0.table == "t" }.map(\.new) == [[1, "z"]])
    #expect(changes.filter { $0.table == "log" }.map(\.kind) == [.delete, .insert])
  }

  @Test(
    "A feed reports a row that OR FAIL keeps when old and new values are equal only to Swift",
    arguments: [
      (DatabaseValue.text("caf\u{e9}"), DatabaseValue.text("cafe\u{301}")), (.real(0), .real(-0.0)),
    ])
  func failWithEqual(old: DatabaseValue, new: DatabaseValue) async throws {
    let access = try await open("CREATE TABLE t (id INTEGER PRIMARY KEY, x, u UNIQUE)")
    try await access.inDatabase { db in
      try db.executeUpdate("INSERT INTO t VALUES (1, ?, 1), (2, 0, 2)", old)
    }
    let feed = try await Followed.begin(access, ["t"])
    await #expect(throws: DatabaseError.self) {
      try await access.inDatabase { db in
        try db.executeUpdate("UPDATE OR FAIL t SET x = ?, u = 1", new)
      }
    }
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM t WHERE id = 2") }
    let changes = try #require(try await feed.next()?.changes)
    #expect(changes.map(\.kind) == [.update])
    #expect(changes.first?.new?[1].isSame(as: new) == true)
  }
}

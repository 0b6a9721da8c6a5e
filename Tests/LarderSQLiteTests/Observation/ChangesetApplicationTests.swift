import TestSupport
import Testing

@testable import LarderChangeset
@testable import LarderSQLite

@Suite("Applying changesets")
struct ChangesetApplicationTests {
  private func rows(_ db: Database, _ sql: SQL = "SELECT * FROM t ORDER BY 1") throws
    -> [[DatabaseValue]]
  {
    try db.executeQuery(sql).map { row in
      try (0..<row.columnCount).map { try row.get(at: $0) }
    }
  }

  private func make(_ sql: SQL) throws -> Database {
    let db = try Database()
    try db.executeStatements(sql)
    return db
  }

  @Test(
    "A feed reports what applying a changeset changed, without the rows that a trigger refused",
    .needsSessions,
    .promptly, arguments: ["ABORT", "FAIL"])
  func feed(refusal: String) async throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x);
      INSERT INTO t VALUES (1, 'one'), (2, 'two'), (3, 'three');
      """
    let source = try make(schema)
    let changeset = try source.record("t") { db in
      try db.executeUpdate("UPDATE t SET x = 'changed'")
      try db.executeUpdate("INSERT INTO t VALUES (4, 'four'), (5, 'five')")
    }
    let queue = try DatabaseQueue()
    try await queue.inDatabase { db in
      try db.executeStatements(schema)
      try db.executeStatements(
        SQL(
          raw: """
            CREATE TRIGGER no AFTER UPDATE ON t WHEN new.id = 2 BEGIN SELECT RAISE(\(refusal), 'no'); END;
            CREATE TRIGGER neither AFTER INSERT ON t WHEN new.id = 5
            BEGIN SELECT RAISE(\(refusal), 'no'); END;
            INSERT INTO t VALUES (4, 'another');
            """))
    }
    let feed = Followed(queue.changes(of: ["t"]))
    try await feed.begin()
    let before = try await queue.inDatabase { try rows($0) }
    let kinds = try await queue.inDatabase { db in
      var kinds: [Changeset.Conflict.Kind] = []
      try changeset.apply(to: db) { conflict in
        kinds.append(conflict.kind)
        return conflict.kind == .conflict ? .replace : .omit
      }
      return kinds
    }
    let told = try await #require(feed.next())
    #expect(!told.isFromElsewhere)
    // The reported changes turn the rows before into the rows after.
    var copy = before
    for change in told.changes {
      if let old = change.old {
        let place = try #require(copy.firstIndex(of: old), "\(old)")
        copy.remove(at: place)
      }
      if let new = change.new { copy.append(new) }
    }
    copy.sort { "\($0[0])" < "\($1[0])" }
    let after = try await queue.inDatabase { try rows($0) }
    #expect(copy == after)
    #expect(after.count == (refusal == "ABORT" ? 4 : 5))
    // The row that FAIL leaves behind conflicts when the change is tried again.
    let refused: [Changeset.Conflict.Kind] =
      refusal == "ABORT" ? [.constraint, .constraint] : [.data, .conflict, .constraint]
    #expect(kinds.contains(.conflict) && Set(refused).isSubset(of: kinds), "\(kinds)")
  }

  @Test("Applying a changeset makes observed values of its tables read again, and no others")
  func values() async throws {
    let table = RecordedTable(name: "t", keys: [1, 0], isPatch: false)
    var encoder = ChangesetEncoder()
    encoder.append(
      RecordedChange(
        operation: .insert, isIndirect: false, old: table.blank, new: [.integer(1), .integer(2)]),
      of: table)
    let changeset = encoder.changeset
    let queue = try DatabaseQueue()
    try await queue.inDatabase {
      try $0.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, x); CREATE TABLE u (y)")
    }
    let seen = ObservedReads(queue) { try $0.value("SELECT count(*) FROM t", as: Int.self) }
    let other = ObservedReads(queue) { try $0.value("SELECT count(*) FROM u", as: Int.self) }
    #expect(try await seen.next() == 0)
    #expect(try await other.next() == 0)
    try await queue.inDatabase { _ = try changeset.apply(to: $0) }
    #expect(try await seen.next() == 1)
    try await queue.inDatabase { _ = try $0.executeUpdate("INSERT INTO u VALUES (1)") }
    #expect(try await other.next() == 1)
    #expect(other.count == 2)
  }

  @Test(
    "A changeset whose rows exchange unique values is applied, whatever its order", .needsSessions)
  func exchanged() throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x UNIQUE); INSERT INTO t VALUES (1, 'a'), (2, 'b');
      """
    let source = try make(schema)
    let changeset = try source.record("t") { db in
      try db.executeStatements(
        """
        DELETE FROM t WHERE id = 1; UPDATE t SET x = 'a' WHERE id = 2; INSERT INTO t VALUES (0, 'b');
        """)
    }
    let target = try make(schema)
    try changeset.apply(to: target)
    #expect(try rows(target) == rows(source))
    let occupied = try make(schema)
    try occupied.executeUpdate("INSERT INTO t VALUES (9, 'b2')")
    try occupied.executeUpdate("UPDATE t SET x = 'c' WHERE id = 2")
    var kinds: [Changeset.Conflict.Kind] = []
    try occupied.executeUpdate("INSERT INTO t VALUES (8, 'b')")
    try changeset.apply(to: occupied) {
      kinds.append($0.kind)
      return .omit
    }
    #expect(Set(kinds) == [.data, .constraint])
  }

  @Test(
    "A trigger's RAISE(ROLLBACK) while a changeset is applied is thrown, and nothing is applied",
    .needsSessions)
  func rolledBack() throws {
    let schema: SQL = "CREATE TABLE t (id INTEGER PRIMARY KEY, x); INSERT INTO t VALUES (1, 2)"
    let changeset = try make(schema).record("t") { db in
      try db.executeStatements("INSERT INTO t VALUES (2, 3); UPDATE t SET x = 4 WHERE id = 1")
    }
    let target = try make(schema)
    try target.executeStatements(
      """
      CREATE TRIGGER no BEFORE UPDATE ON t BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END
      """)
    let error = #expect(throws: DatabaseError.self) {
      try changeset.apply(to: target) { _ in .omit }
    }
    #expect(error?.message.contains("all of it") == true)
    #expect(try rows(target) == [[1, 2]])
    try target.executeUpdate("INSERT INTO t VALUES (7, 7)")
    #expect(try target.value("PRAGMA defer_foreign_keys", as: Int.self) == 0)
  }

  @Test("Applying a changeset keeps invalid UTF-8 text and negative zero bit by bit")
  func bytes() throws {
    let table = RecordedTable(name: "t", keys: [1, 0, 0], isPatch: false)
    var encoder = ChangesetEncoder()
    encoder.append(
      RecordedChange(
        operation: .insert, isIndirect: false, old: table.blank,
        new: [.text([0x61, 0xff, 0]), .real(bits: (-0.0).bitPattern), .blob([])]), of: table)
    let changeset = encoder.changeset
    let db = try make("CREATE TABLE t (k PRIMARY KEY, x, y)")
    try changeset.apply(to: db)
    #expect(
      try rows(db, "SELECT typeof(k), hex(k), x, typeof(y), length(y) FROM t")
        == [["text", "61FF00", -0.0, "blob", 0]])
    // A conflict can't pass this row to the closure, because its text isn't UTF-8.
    #expect(throws: ConversionError.self) { try changeset.apply(to: db) { _ in .omit } }
    try changeset.inverted().apply(to: db)
    #expect(try rows(db).isEmpty)
  }

  @Test("A changeset is applied to a table with other key order, more columns or generated columns")
  func otherShapes() throws {
    let table = RecordedTable(name: "T", keys: [1, 2, 0], isPatch: false)
    var encoder = ChangesetEncoder()
    encoder.append(
      RecordedChange(
        operation: .insert, isIndirect: false, old: table.blank,
        new: [.integer(1), .integer(2), .integer(3)]), of: table)
    for declaration in [
      "a, b, x, PRIMARY KEY (b, a)", "a, b, x, PRIMARY KEY (a, b)) WITHOUT ROWID; SELECT (1",
      "a, g AS (a + 1), b, x, more DEFAULT 7, PRIMARY KEY (a, b)",
    ] {
      let db = try make(SQL(raw: "CREATE TABLE t (\(declaration))"))
      try encoder.changeset.apply(to: db)
      #expect(try rows(db, "SELECT a, b, x FROM t") == [[1, 2, 3]])
      var found: [DatabaseValue]?
      try encoder.changeset.apply(to: db) {
        found = $0.found
        return .omit
      }
      #expect(found == [1, 2, 3])
    }
    for declaration in ["a PRIMARY KEY, b, x", "a, b, x, y, PRIMARY KEY (a, b, y)", "a, b"] {
      let db = try make(SQL(raw: "CREATE TABLE t (\(declaration))"))
      let error = #expect(throws: DatabaseError.self) { try encoder.changeset.apply(to: db) }
      #expect(error?.code == .schema)
    }
    let none = try make("CREATE TABLE u (a)")
    #expect(try encoder.changeset.apply(to: none).data.isEmpty)
  }

  @Test("The statistics of ANALYZE are recorded in a changeset and applied", .needsSessions)
  func statistics() throws {
    let schema: SQL = """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x); CREATE TABLE u (y); CREATE INDEX ux ON t (x);
      INSERT INTO t VALUES (1, 2); INSERT INTO u VALUES (1); ANALYZE;
      """
    let (source, target) = (try make(schema), try make(schema))
    let changeset = try source.record { db in
      try db.executeStatements("INSERT INTO t VALUES (2, 3); INSERT INTO u VALUES (2); ANALYZE")
    }
    try changeset.apply(to: target)
    let statistics: SQL = "SELECT * FROM sqlite_stat1 ORDER BY 1"
    #expect(try rows(target, statistics) == rows(source, statistics))
    try changeset.inverted().apply(to: target)
    try changeset.apply(to: target)
    var kinds: [Changeset.Conflict.Kind] = []
    try changeset.apply(to: target) {
      kinds.append($0.kind)
      return .omit
    }
    #expect(Set(kinds) == [.data, .conflict])
  }

  @Test("Applying a changeset leaves `defer_foreign_keys` on when it was on before", .needsSessions)
  func deferredBefore() throws {
    let schema: SQL = """
      CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE t (id INTEGER PRIMARY KEY, p REFERENCES p);
      INSERT INTO p VALUES (1);
      """
    let changeset = try make(schema).record { db in
      try db.executeUpdate("INSERT INTO t VALUES (1, 1)")
    }
    let target = try make(schema)
    try target.inTransaction { db in
      try db.executeUpdate("PRAGMA defer_foreign_keys = 1")
      try changeset.apply(to: db)
      try db.executeUpdate("INSERT INTO t VALUES (2, 5)")
      try db.executeUpdate("INSERT INTO p VALUES (5)")
    }
    #expect(try rows(target) == [[1, 1], [2, 5]])
  }

  @Test("Two changesets whose bytes are appended are applied as one when the second frees a value")
  func appended() throws {
    func cities(_ one: String, _ two: String) throws -> Database {
      let db = try make("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
      try db.executeUpdate("INSERT INTO city VALUES (1, \(one)), (2, \(two))")
      return db
    }
    let takes = try cities("Nice", "Lyon").differences(to: cities("Paris", "Lyon"))
    let leaves = try cities("Nice", "Paris").differences(to: cities("Nice", "Brest"))
    let db = try cities("Nice", "Paris")
    try Changeset(data: takes.data + leaves.data).apply(to: db)
    #expect(try rows(db, "SELECT * FROM city ORDER BY id") == [[1, "Paris"], [2, "Brest"]])
  }
}

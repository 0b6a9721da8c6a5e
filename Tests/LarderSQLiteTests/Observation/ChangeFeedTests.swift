import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Change feeds", .promptly, .needsPreupdateHook)
struct ChangeFeedTests {
  private func described(_ changes: [RowChange]) -> [String] {
    changes.map { change in
      func text(_ values: [DatabaseValue]?) -> String {
        values.map { values in values.map { "\($0)" }.joined(separator: ",") } ?? "-"
      }
      return "\(change.table): \(text(change.old)) > \(text(change.new))"
    }
  }

  @Test("A feed reports each commit with the rows' old and new values", arguments: Company.all)
  func commits(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let feed = try await Followed.begin(access)
    try await company.start(access) { db in
      try db.executeUpdate("UPDATE city SET population = 5 WHERE id = 1")
      try db.executeUpdate("INSERT INTO city VALUES (7, 'Rome', 1, 2)")
      try db.executeUpdate("DELETE FROM city WHERE id = 2")
    }.end()
    let first = try await #require(feed.next())
    #expect(first.changes.map(\.kind) == [.update, .insert, .delete])
    #expect(
      first.changes[0].old == [1, "Bergen", 291940, 464.7]
        && first.changes[0].new == [1, "Bergen", 5, 464.7])
    #expect(first.changes[1].old == nil && first.changes[1].new == [7, "Rome", 1, 2.0])
    #expect(first.changes[2].old == [2, "Oslo", 709037, 454.1] && first.changes[2].new == nil)
    #expect(first.changes[0].columns == ["id", "name", "population", "area"])
    try await company.start(access) { try $0.executeUpdate("DELETE FROM city") }.end()
    let second = try await #require(feed.next())
    #expect(second.changes.map(\.kind) == [.delete, .delete, .delete, .delete])
    #expect(second.number == first.number + 1)
  }

  @Test(
    "A feed leaves out what a rollback, a savepoint's rollback or a failed statement has undone")
  func rolledBack() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { try createCities(in: $0) }
    let feed = try await Followed.begin(access)
    try await access.inTransaction { db in
      try db.executeUpdate("UPDATE city SET area = 1 WHERE id = 1")
      try? db.inSavepoint { db in
        try db.executeUpdate("UPDATE city SET area = 2 WHERE id = 1")
        throw CancellationError()
      }
      try db.savepoint("a")
      try db.executeUpdate("UPDATE city SET area = 3 WHERE id = 1")
      try db.savepoint("B")
      try db.executeUpdate("UPDATE city SET area = 4 WHERE id = 1")
      try db.rollback(to: "A")
      try db.executeUpdate("UPDATE city SET area = 5 WHERE id = 1")
      try db.release("a")
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("INSERT INTO city (name) VALUES ('new'), ('Oslo')")
      }
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate(
          "INSERT OR FAIL INTO city (id, name) VALUES (50, 'kept'), (51, 'Oslo')")
      }
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("UPDATE OR FAIL city SET name = 'Lagos' WHERE id = 50 OR id = 1")
      }
    }
    try? await access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      throw CancellationError()
    }
    _ = try? await access.inDatabase { db in
      try db.executeUpdate("INSERT OR FAIL INTO city (id, name) VALUES (60, 'alone'), (61, 'Oslo')")
    }
    try? await access.inTransaction { db in
      try db.executeUpdate("UPDATE city SET area = 9")
      try db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
    }
    try await access.inDatabase { db in
      try db.begin()
      try db.executeUpdate("UPDATE city SET area = 6 WHERE id = 1")
      try db.commit()
    }
    let first = try await #require(feed.next())
    #expect(first.changes.map { $0.new?[3] } == [1.0, 5.0, .null], "\(described(first.changes))")
    #expect(try await feed.next()?.changes.map { $0.new?[1] } == ["alone"])
    #expect(try await feed.next()?.changes.map { $0.new?[3] } == [6.0])
  }

  @Test("A feed reports replaced rows, cascades, triggers' writes and rows of WITHOUT ROWID tables")
  func ways() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { db in
      try createCities(in: db)
      try db.executeStatements(
        """
        CREATE TABLE part (city REFERENCES city(id) ON DELETE CASCADE, n);
        INSERT INTO part VALUES (1, 'a'), (3, 'b');
        CREATE TABLE w (k TEXT, l INT, v REAL, PRIMARY KEY (l, k)) WITHOUT ROWID;
        CREATE TRIGGER t AFTER INSERT ON w BEGIN INSERT INTO part VALUES (NULL, new.v); END;
        """)
    }
    let feed = try await Followed.begin(access, ["city", "part", "W"])
    try await access.inTransaction { db in
      try db.executeUpdate("REPLACE INTO city VALUES (2, 'Bergen', 1, 1)")
      try db.executeUpdate("DELETE FROM city WHERE id = 3")
      try db.executeUpdate("INSERT INTO w VALUES ('k', 1, 2)")
      try db.executeUpdate("UPDATE w SET v = 3, k = 'x'")
      try db.executeUpdate("DELETE FROM w")
    }
    let changes = try await #require(feed.next()).changes
    #expect(
      described(changes).sorted()
        == [
          "city: integer(1),text(\"Bergen\"),integer(291940),real(464.7) > -",
          "city: integer(2),text(\"Oslo\"),integer(709037),real(454.1) > -",
          "city: - > integer(2),text(\"Bergen\"),integer(1),real(1.0)",
          "city: integer(3),text(\"Lagos\"),integer(15388000),real(1171.3) > -",
          "part: integer(1),text(\"a\") > -", "part: integer(3),text(\"b\") > -",
          "part: - > null,real(2.0)",
          "w: - > text(\"k\"),integer(1),real(2.0)",
          "w: text(\"k\"),integer(1),real(2.0) > text(\"x\"),integer(1),real(3.0)",
          "w: text(\"x\"),integer(1),real(3.0) > -",
        ].sorted())
  }

  @Test("A feed reports an added column's default in rows that were inserted before")
  func addedColumns() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t (a) VALUES (1), (2);
        ALTER TABLE t ADD COLUMN b NOT NULL DEFAULT 'none'; ALTER TABLE t ADD COLUMN c DEFAULT 7;
        INSERT INTO t (a, b, c) VALUES (3, 'some', NULL);
        """)
    }
    let feed = try await Followed.begin(access, ["t"])
    try await access.inTransaction { db in try db.executeUpdate("UPDATE t SET a = a * 2") }
    let changes = try await #require(feed.next()).changes
    #expect(changes.map(\.old) == [[1, 1, "none", 7], [2, 2, "none", 7], [3, 3, "some", nil]])
    #expect(changes.map(\.new) == [[1, 2, "none", 7], [2, 4, "none", 7], [3, 6, "some", nil]])
    try await access.inTransaction { db in
      try db.executeStatements("ALTER TABLE t ADD COLUMN d; ALTER TABLE t RENAME COLUMN a TO x")
    }
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM t WHERE id = 1") }
    #expect(try await feed.next()?.isFromElsewhere == true)
    let last = try await #require(feed.next()).changes
    #expect(last.map(\.old) == [[1, 2, "none", 7, nil]])
    #expect(last[0].columns == ["id", "x", "b", "c", "d"])
  }

  @Test(
    "A table that is recreated or altered is reported as unknown, and then followed",
    arguments: [
      "DROP TABLE city; CREATE TABLE city (id INTEGER PRIMARY KEY, name, population, area)",
      "CREATE TABLE n AS SELECT * FROM city; DROP TABLE city; ALTER TABLE n RENAME TO city",
      "ALTER TABLE city ADD COLUMN x", "ALTER TABLE city RENAME COLUMN name TO names",
    ])
  func madeAnew(statements: String) async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase {
      try $0.executeStatements(
        """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name, population, area);
        INSERT INTO city (name) VALUES ('Bergen'), ('Oslo');
        """)
      try $0.executeUpdate("CREATE TABLE other (a)")
    }
    let feed = try await Followed.begin(access, ["city", "other"])
    try? await access.inTransaction { db in
      try db.executeStatements(SQL(raw: statements))
      throw CancellationError()
    }
    try await access.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (1)") }
    #expect(try await feed.next()?.changes.map(\.table) == ["other"])
    try await access.inTransaction { try $0.executeStatements(SQL(raw: statements)) }
    let unknown = try await feed.next()
    #expect(unknown?.isFromElsewhere == true && unknown?.changes.isEmpty == true)
    try await access.inTransaction { try $0.executeUpdate("INSERT INTO city (id) VALUES (9)") }
    #expect(try await feed.next()?.changes.map(\.new?.first) == [9])
  }

  @Test("A feed reports the drop of its only table as unknown, and a feed of another table works")
  func gone() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase {
      try createCities(in: $0)
      try $0.executeUpdate("CREATE TABLE other (a)")
    }
    let feed = try await Followed.begin(access)
    try await access.inDatabase { try $0.executeUpdate("DROP TABLE city") }
    #expect(try await feed.next()?.isFromElsewhere == true)
    let others = try await Followed.begin(access, ["other"])
    try await access.inTransaction { try $0.executeUpdate("INSERT INTO other VALUES (1)") }
    #expect(try await others.next()?.changes.count == 1)
    try await access.inDatabase { try createCities(in: $0) }
    let first = try await feed.next()
    #expect(first?.changes.isEmpty == false || first?.isFromElsewhere == true)
  }

  @Test("A constraint error on a followed table names its columns")
  func constraints() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { try createCities(in: $0) }
    let feed = try await Followed.begin(access)
    let error = await #expect(throws: DatabaseError.self) {
      try await access.inTransaction { db in
        try db.executeUpdate("INSERT INTO city (name) VALUES ('new'), ('Oslo')")
      }
    }
    #expect(error?.message == "UNIQUE constraint failed: city.name")
    #expect(error?.constraint?.columns == ["name"])
    try await access.close()
    #expect(try await feed.next() == nil)
  }

  @Test(
    "A feed that exceeds its limit gives the changes it holds, then throws FeedOverflow",
    arguments: Company.threads)
  func overflow(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let feed = try await Followed.begin(access, limit: 6)
    for number in 0..<10 {
      try await access.inTransaction { db in
        try db.executeUpdate("UPDATE city SET area = ? WHERE id = 1", number)
      }
    }
    var last = 0
    for number in 0..<6 {
      let transaction = try await #require(feed.next())
      #expect(transaction.changes.map { $0.new?[3] } == [.real(Double(number))])
      last = transaction.number
    }
    let error = await #expect(throws: FeedOverflow.self) { try await feed.next() }
    #expect(error?.number == last + 1 && error?.limit == 6)
    #expect(try await feed.next() == nil)
    await #expect(throws: DatabaseError.self) { _ = try await Followed.begin(access, limit: 0) }
    let second = try await Followed.begin(access, limit: 6)
    try await access.inTransaction { db in
      for number in 0..<7 { try db.executeUpdate("UPDATE city SET area = ? WHERE id = 1", number) }
    }
    await #expect(throws: FeedOverflow.self) { try await second.next() }
  }

  @Test(
    "Closing the database ends a waiting feed, and an unread one after its changes",
    arguments: Company.threads)
  func closed(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let feed = try await Followed.begin(access)
    let unread = try await Followed.begin(access)
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    #expect(try await feed.next()?.changes.count == 1)
    let waiting = Task { [feed = Handed(feed)] in try await feed.content.next() == nil }
    try await access.close()
    #expect(try await waiting.value)
    // Changes that were committed before closing can still be read.
    #expect(try await unread.next()?.changes.count == 1)
    #expect(try await unread.next() == nil)
    let error = await #expect(throws: DatabaseError.self) { try await Followed.begin(access) }
    #expect(error?.code == .misuse)
  }

  @Test("A feed of a virtual table, a view, generated columns or a missing table throws")
  func refused() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { db in
      try db.executeStatements(
        """
        CREATE VIRTUAL TABLE f USING fts5(a); CREATE VIEW v AS SELECT 1;
        CREATE TABLE g (a, b AS (a + 1));
        """)
    }
    for table in ["f", "v", "g", "none", "other.t", ""] {
      await #expect(throws: DatabaseError.self) { try await Followed.begin(access, [table]) }
    }
    // A refused feed doesn't keep the next one from working.
    try await access.inDatabase { db in try db.executeUpdate("CREATE TABLE t (a)") }
    let feed = try await Followed.begin(access, ["t"])
    try await access.inDatabase { db in try db.executeUpdate("INSERT INTO t VALUES (1)") }
    #expect(try await feed.next()?.changes.count == 1)
  }

  @Test("A feed of `b.t` reports the attached table and not the main database's `t`")
  func attached() async throws {
    let folder = try ScratchFolder()
    let access = try DatabaseQueue()
    try await access.inDatabase { [path = folder.file("b.db")] db in
      try db.executeUpdate("ATTACH ? AS b", path)
      try db.executeStatements("CREATE TABLE t (a); CREATE TABLE b.t (a)")
    }
    let feed = try await Followed.begin(access, ["b.t"])
    try await access.inTransaction { db in
      try db.executeStatements("INSERT INTO t VALUES (1); INSERT INTO b.t VALUES (2)")
    }
    let changes = try await #require(feed.next()).changes
    #expect(changes.map(\.new) == [[2]] && changes.map(\.database) == ["b"])
  }

  @Test(
    "A feed's initial read and its changes together contain each concurrent insert once",
    arguments: Company.tasks)
  func beginning(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let recorder = Recorder<Int>()
    let writers = (0..<4).map { writer in
      company.start(access) { db in
        for number in 0..<25 {
          try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "\(writer).\(number)")
        }
      }
    }
    let feed = Followed(
      access.changes(of: ["city"]) { db in recorder.add(try db.cityCount() ?? 0) })
    try await feed.begin()
    for writer in writers { try await writer.end() }
    try await access.inTransaction { db in
      try db.executeUpdate("INSERT INTO city (name) VALUES ('end')")
    }
    var count = try #require(recorder.elements.first)
    while let transaction = try await feed.next() {
      count += transaction.changes.count
      if transaction.changes.last?.new?[1] == "end" { break }
    }
    #expect(count == 105)
  }

  @Test(
    "Replaying a feed of random transactions on a copy gives the same rows",
    arguments: Company.threads, 0..<4)
  func replayed(company: Company, seed: Int) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let random = try RandomChanges(seed: UInt64(seed))
    try await access.inDatabase { try random.createTables(in: $0) }
    let feed = try await Followed.begin(access, RandomChanges.tables, limit: 1_000_000)
    let copy = try Database()
    try random.createTables(in: copy)
    try copy.executeUpdate("PRAGMA foreign_keys = OFF")
    for _ in 0..<60 { random.runTransaction(access) }
    try await access.inTransaction { db in try db.executeUpdate("INSERT INTO a (x) VALUES ('end')")
    }
    while let transaction = try await feed.next() {
      for change in transaction.changes { try FeedReplay.apply(change, to: copy) }
      if transaction.changes.last?.new?.contains("end") == true { break }
    }
    for table in RandomChanges.tables {
      let expected = try await access.read { try FeedReplay.rows(of: table, in: $0) }
      #expect(try FeedReplay.rows(of: table, in: copy) == expected)
    }
  }
}

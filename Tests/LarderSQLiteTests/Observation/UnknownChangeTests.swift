import LarderChangeset
import LarderSQLite
import TestSupport
import Testing

@Suite("Transactions that a feed reports as unknown", .promptly, .needsPreupdateHook)
struct UnknownChangeTests {
  private func open(_ schema: SQL) async throws -> DatabaseQueue {
    let access = try DatabaseQueue()
    try await access.inDatabase { try $0.executeStatements(schema) }
    return access
  }

  @Test(
    "Dropping a followed table is reported as unknown, and the feed's other tables are still followed"
  )
  func dropped() async throws {
    let access = try await open(
      "CREATE TABLE a (x); CREATE TABLE b (x); INSERT INTO b VALUES (1)")
    let feed = Followed(access.changes(of: ["a", "b"]))
    try await feed.begin()
    try await access.inTransaction { db in
      try db.executeStatements("DROP TABLE b; INSERT INTO a VALUES (1)")
    }
    try await access.inTransaction { db in try db.executeUpdate("INSERT INTO a VALUES (2)") }
    try await access.inTransaction { db in
      try db.executeStatements("CREATE TABLE b (y, z); INSERT INTO b VALUES (3, 4)")
    }
    let unknown = try await #require(feed.next())
    #expect(unknown.isFromElsewhere && unknown.changes.isEmpty)
    #expect(try await feed.next()?.changes.map(\.new) == [[2]])
    #expect(try await feed.next()?.isFromElsewhere == true)
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM b") }
    let again = try await #require(feed.next())
    #expect(again.changes.map(\.old) == [[3, 4]] && again.changes.map(\.columns) == [["y", "z"]])
  }

  @Test("A table whose DROP or ALTER is rolled back is followed as before")
  func droppedInPart() async throws {
    let access = try await open("CREATE TABLE a (x); INSERT INTO a VALUES (1)")
    let feed = Followed(access.changes(of: ["a"]))
    try await feed.begin()
    try? await access.inTransaction { db in
      try db.executeUpdate("DROP TABLE a")
      throw CancellationError()
    }
    try await access.inTransaction { db in try db.executeUpdate("UPDATE a SET x = 2") }
    #expect(try await feed.next()?.changes.map(\.new) == [[2]])
    try await access.inTransaction { db in
      try db.savepoint("s")
      try db.executeUpdate("ALTER TABLE a ADD COLUMN y DEFAULT 5")
      try db.rollback(to: "s")
      try db.executeUpdate("UPDATE a SET x = 3")
    }
    let last = try await #require(feed.next()).changes
    #expect(last.map(\.new) == [[3]] && last.map(\.columns) == [["x"]])
  }

  @Test("A feed that fails for a missing table doesn't disturb another feed or value")
  func refusedBeside() async throws {
    let access = try await open("CREATE TABLE a (x)")
    let feed = Followed(access.changes(of: ["a"]))
    try await feed.begin()
    let values = ObservedReads(access) { try $0.value("SELECT count(*) FROM a", as: Int.self) }
    #expect(try await values.next() == 0)
    for number in 1...20 {
      let other = Followed(access.changes(of: ["none"]))
      async let refusal = #expect(throws: DatabaseError.self) { try await other.begin() }
      try await access.inTransaction { db in
        try db.executeUpdate("INSERT INTO a VALUES (?)", number)
      }
      _ = await refusal
      #expect(try await feed.next()?.changes.map(\.new) == [[.integer(Int64(number))]])
      #expect(try await values.next() == number)
    }
  }

  @Test("A transaction with a row that can't be read is reported as unknown, without any rows")
  func unreadable() async throws {
    let access = try await open("CREATE TABLE a (x); INSERT INTO a VALUES (1)")
    let feed = Followed(access.changes(of: ["a"]))
    try await feed.begin()
    try await access.inTransaction { db in
      try db.executeStatements("UPDATE a SET x = 2; INSERT INTO a VALUES (CAST(x'ff' AS TEXT))")
    }
    let readable = try await access.read { db in
      (try? db.value("SELECT x FROM a WHERE rowid = 2", as: DatabaseValue.self)) != nil
    }
    let transaction = try await #require(feed.next())
    #expect(transaction.isFromElsewhere != readable)
    #expect(transaction.changes.isEmpty != readable)
  }

  @Test("A transaction that is partly recorded as a changeset is reported as unknown as a whole")
  func recorded() async throws {
    let access = try await open("CREATE TABLE a (id INTEGER PRIMARY KEY, x)")
    let feed = Followed(access.changes(of: ["a"]))
    try await feed.begin()
    let changeset = try await access.inTransaction { db in
      try db.executeUpdate("INSERT INTO a VALUES (1, 'before')")
      let changeset = try db.record("a") { db in
        try db.executeUpdate("INSERT INTO a VALUES (2, 'recorded')")
      }
      try db.executeUpdate("UPDATE a SET x = 'after'")
      return changeset
    }
    var recorded: [DatabaseValue?] = []
    try changeset.forEach { recorded += $0.new }
    #expect(recorded == [2, "recorded"])
    try await access.inTransaction { db in try db.executeUpdate("DELETE FROM a WHERE id = 1") }
    let unknown = try await #require(feed.next())
    #expect(unknown.isFromElsewhere && unknown.changes.isEmpty)
    #expect(try await feed.next()?.changes.map(\.old) == [[1, "after"]])
  }

  @Test("Statements that fail to compile, or are only prepared, make no observed value read again")
  func compiled() async throws {
    let access = try await open("CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x)")
    let values = ObservedReads(access) { try $0.value("SELECT count(*) FROM a", as: Int.self) }
    #expect(try await values.next() == 0)
    let later = ObservedReads(access) { try $0.value("SELECT count(*) FROM c", as: Int.self) }
    #expect(try await later.next() == 0)
    for _ in 0..<3 {
      try await access.inTransaction { db in
        #expect(throws: DatabaseError.self) {
          try db.executeUpdate("DELETE FROM a WHERE nothing = (SELECT x FROM a)")
        }
        _ = try db.prepare("DELETE FROM a")
        try db.executeUpdate("INSERT INTO b VALUES (1)")
      }
    }
    try await access.inTransaction { db in try db.executeUpdate("INSERT INTO c VALUES (1)") }
    #expect(try await later.next() == 1)
    try await access.inTransaction { db in try db.executeUpdate("INSERT INTO a VALUES (1)") }
    #expect(try await values.next() == 1)
    #expect(values.count == 2)
  }
}

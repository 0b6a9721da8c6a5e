import Synchronization
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("The starting point and the limits of a change feed", .promptly, .needsPreupdateHook)
struct FeedBoundTests {
  @Test("A change feed reports numbers with their stored type, also in a WITHOUT ROWID table")
  func numbers() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase {
      try $0.executeStatements(
        """
        CREATE TABLE w (v REAL, x, k TEXT, j INT, PRIMARY KEY (j, k)) WITHOUT ROWID;
        INSERT INTO w VALUES (1, 2, 'a', 3); INSERT INTO w VALUES (4, NULL, 'b', 9007199254740993);
        CREATE TABLE t (a); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN e REAL DEFAULT 4;
        """)
    }
    let feed = try await Followed.begin(access, ["w", "t"])
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM w WHERE j = 3") }
    #expect(try await feed.next()?.changes.map(\.old) == [[1.0, 2, "a", 3]])
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM w") }
    let next = try #require(try await feed.next())
    if next.isFromElsewhere {
      // An older SQLite reports the integer as REAL, which stands for several integers.
      #expect(SQLiteLibrary.versionNumber < 3_053_000)
    } else {
      #expect(next.changes.map(\.old) == [[4.0, .null, "b", 9_007_199_254_740_993]])
    }
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM t") }
    #expect(try await feed.next()?.changes.map(\.old) == [[1, 4.0]])
  }

  @Test("Only committed changes of followed tables count towards a feed's limit")
  func limits() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase {
      try createCities(in: $0)
      try $0.executeUpdate("CREATE TABLE other (a)")
    }
    let feed = try await Followed.begin(access, limit: 3)
    let others = try await Followed.begin(access, ["other"], limit: 20)
    try await access.inTransaction { db in
      for number in 0..<15 { try db.executeUpdate("INSERT INTO other VALUES (?)", number) }
      try db.executeUpdate("UPDATE city SET area = 0 WHERE id < 4")
      try? db.inSavepoint { db in
        try db.executeUpdate("UPDATE city SET area = 1")
        throw CancellationError()
      }
    }
    #expect(try await feed.next()?.changes.map { $0.new?[3] } == [0.0, 0.0, 0.0])
    #expect(try await others.next()?.changes.count == 15)
    try await access.inTransaction { try $0.executeUpdate("UPDATE city SET area = 2") }
    await #expect(throws: FeedOverflow.self) { try await feed.next() }
    try await access.inTransaction { try $0.executeUpdate("DELETE FROM other WHERE a = 1") }
    #expect(try await others.next()?.changes.count == 1)
  }

  @Test("A feed whose unread changes exceed its byte limit ends with a FeedOverflow in bytes")
  func bytes() async throws {
    let access = try DatabaseQueue()
    try await access.inDatabase { try $0.executeUpdate("CREATE TABLE t (a)") }
    let feed = Followed(access.changes(of: ["t"], byteLimit: 100_000))
    try await feed.begin()
    let large = Followed(access.changes(of: ["t"], limit: 4, byteLimit: 10_000_000))
    try await large.begin()
    for size in [30_000, 30_000, 90_000] {
      try await access.inTransaction {
        try $0.executeUpdate("INSERT INTO t VALUES (zeroblob(?))", size)
      }
    }
    #expect(try await feed.next()?.changes.count == 1)
    #expect(try await feed.next()?.changes.count == 1)
    let overflow = await #expect(throws: FeedOverflow.self) { try await feed.next() }
    #expect(overflow?.kind == .bytes && overflow?.limit == 100_000)
    #expect(overflow?.description.contains("more than 100000 unread bytes") == true)
    for _ in 0..<3 { #expect(try await large.next()?.changes.count == 1) }
    // A transaction that exceeds the limit isn't kept in memory while it runs.
    try await access.inTransaction { db in
      for _ in 0..<3 { try db.executeUpdate("INSERT INTO t VALUES (zeroblob(4000000))") }
      let log = (db.connection.follower as? WriteFollower)?.loggedChanges
      #expect(log == 2)
    }
    let second = await #expect(throws: FeedOverflow.self) { try await large.next() }
    #expect(second?.kind == .bytes && second?.limit == 10_000_000)
    let none = Followed(access.changes(of: ["t"], byteLimit: 0))
    await #expect(throws: DatabaseError.self) { try await none.begin() }
  }

  @Test("A feed reports no commit that its initial read has already seen")
  func beginsWithItsBeginning() async throws {
    let folder = try ScratchFolder()
    let access = try DatabasePool(path: folder.file("a.db"))
    try await access.inTransaction { try $0.executeUpdate("CREATE TABLE t (a)") }
    let writing = Task {
      while !Task.isCancelled {
        try await access.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
      }
    }
    for _ in 0..<50 {
      let count = Mutex(0)
      let feed = Followed(
        access.changes(of: ["t"]) { db in
          let rows = try db.value("SELECT count(*) FROM t", as: Int.self) ?? 0
          count.withLock { $0 = rows }
        })
      try await feed.begin()
      let row = try await feed.next()?.changes.first?.newRowID
      #expect(row == Int64(count.withLock { $0 }) + 1)
    }
    writing.cancel()
    _ = try? await writing.value
  }
}

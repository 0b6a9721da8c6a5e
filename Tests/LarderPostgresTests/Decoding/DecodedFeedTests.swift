import Foundation
import Larder
import LarderPostgres
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@Suite(
  "Feeds of a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"),
  .timeLimit(.minutes(10)))
struct DecodedFeedTests {
  @Test("Transactions of several connections arrive in commit order, without what was rolled back")
  func order() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    let first = try Database.postgres(server.address)
    let second = try Database.postgres(server.address)
    try first.executeStatements("BEGIN; INSERT INTO city VALUES (1, 'Oslo')")
    try second.executeStatements(
      "BEGIN; INSERT INTO city VALUES (2, 'Bergen'); UPDATE city SET name = 'Voss' WHERE id = 2; COMMIT"
    )
    try first.executeStatements(
      "SAVEPOINT a; INSERT INTO city VALUES (3, 'Moss'); ROLLBACK TO a; COMMIT")
    try second.executeStatements(
      """
      BEGIN; INSERT INTO city VALUES (4, 'Hamar'); ROLLBACK;
      INSERT INTO port VALUES (1, 1);
      DELETE FROM city WHERE id = 1
      """)
    #expect(try await feed.text() == "+2 Bergen, 2 Bergen > 2 Voss")
    #expect(try await feed.text() == "+1 Oslo")
    #expect(try await feed.text() == "-1 Oslo")
  }

  @Test("A feed of several tables has both tables' changes, in their order")
  func tables() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city", "public.port"]))
    try await server.pool.inTransaction { db in
      try db.executeUpdate("INSERT INTO port VALUES (1, NULL)")
      try db.executeUpdate("INSERT INTO city VALUES (1, 'Oslo')")
      try db.executeUpdate("UPDATE port SET city = 1")
    }
    let transaction = try #require(try await feed.next())
    #expect(transaction.changes.map(\.table) == ["port", "city", "port"])
    #expect(transaction.changes.map(\.database) == ["public", "public", "public"])
    #expect(transaction.changes[0].columns == ["id", "city"])
  }

  @Test("A feed begins right after the rows that `beginning` reads, while others write")
  func beginning() async throws {
    let server = try FeedServer()
    let isOver = Lock(false)
    let writer = Task.detached {
      var number = 0
      while !isOver.withLock({ $0 }) || number < 50 {
        number += 1
        let id = number
        try await server.pool.inTransaction {
          try $0.executeUpdate("INSERT INTO city VALUES (?, 'x')", id)
        }
      }
      return number
    }
    let found = Lock<[Int]>([])
    let feed = try await ServerFeed(
      server.pool.changes(of: ["city"]) { db in
        let ids = try db.fetch(Int.self, "SELECT id FROM city")
        found.withLock { $0 = ids }
      })
    isOver.withLock { $0 = true }
    let count = try await writer.value
    var ids = found.withLock { $0 }
    while ids.count < count, let transaction = try await feed.next() {
      for change in transaction.changes {
        if case .integer(let id)? = change.new?.first { ids.append(Int(id)) }
      }
    }
    #expect(ids.sorted() == Array(1...count))
  }

  @Test("A large transaction arrives as a whole; one beyond the limit ends the feed")
  func large() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"], limit: 20_000))
    try server.run("INSERT INTO city SELECT n, 'city ' || n FROM generate_series(1, 20000) n")
    #expect(try await feed.next()?.changes.count == 20_000)
    try server.run("DELETE FROM city WHERE id = 1")
    try server.run("DELETE FROM city")
    #expect(try await feed.text() == "-1 city 1")
    try server.run("INSERT INTO city SELECT n, 'x' FROM generate_series(1, 20001) n")
    #expect(try await feed.next()?.changes.count == 19_999)
    let error = await #expect(throws: FeedOverflow.self) { try await feed.next() }
    #expect(error?.limit == 20_000)
    #expect(error?.kind == .changes)
    #expect(try await feed.next() == nil)
  }

  @Test("A key that changes is reported, and a table that is emptied is an unknown change")
  func keys() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    try server.run("INSERT INTO city VALUES (1, 'Oslo'), (2, 'Voss')")
    try server.run("UPDATE city SET id = id + 10")
    try server.run("TRUNCATE city")
    try server.run("INSERT INTO city VALUES (1, 'Oslo')")
    #expect(try await feed.text() == "+1 Oslo, +2 Voss")
    #expect(try await feed.text() == "1 Oslo > 11 Oslo, 2 Voss > 12 Voss")
    #expect(try await feed.text() == "?")
    #expect(try await feed.text() == "+1 Oslo")
  }

  @Test("Large values that an update leaves as they were are in the whole row")
  func toast() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    try server.run(
      """
      ALTER TABLE city ALTER name SET STORAGE EXTERNAL;
      INSERT INTO city VALUES (1, repeat('x', 100000))
      """)
    try server.run("UPDATE city SET id = 2")
    #expect(try await feed.text() == "+1 100000 characters")
    #expect(try await feed.text() == "1 100000 characters > 2 100000 characters")
  }

  @Test("Without REPLICA IDENTITY FULL, a change tells which columns are known")
  func partialRows() async throws {
    let server = try FeedServer(isWhole: false)
    try server.run(
      """
      ALTER TABLE city ADD motto TEXT, ADD size INTEGER;
      ALTER TABLE city ALTER motto SET STORAGE EXTERNAL;
      """)
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    try server.run("INSERT INTO city VALUES (1, 'Oslo', repeat('x', 100000), 5)")
    try server.run("UPDATE city SET name = 'Kristiania'")
    try server.run("UPDATE city SET id = 7, motto = 'y'")
    try server.run("DELETE FROM city")
    _ = try await feed.next()
    let kept = try #require(try await feed.next()?.changes.first)
    #expect(kept.oldColumns == ["id"] && kept.old == [1])
    #expect(kept.columns == ["id", "name", "size"] && kept.new == [1, "Kristiania", 5])
    let moved = try #require(try await feed.next()?.changes.first)
    #expect(moved.oldColumns == ["id"] && moved.old == [1])
    #expect(moved.columns == ["id", "name", "motto", "size"])
    #expect(moved.new == [7, "Kristiania", "y", 5])
    let deleted = try #require(try await feed.next()?.changes.first)
    #expect(deleted.kind == .delete && deleted.oldColumns == ["id"] && deleted.old == [7])
  }

  @Test("A column that was added is in the changes after an unknown one")
  func addedColumn() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    try server.run("INSERT INTO city VALUES (1, 'Oslo')")
    try server.run("ALTER TABLE city ADD size INTEGER DEFAULT 7")
    try server.run("UPDATE city SET name = 'Voss'")
    try server.run("CREATE TYPE mood AS ENUM ('sad', 'happy')")
    try server.run("ALTER TABLE city ADD mood mood")
    try server.run("UPDATE city SET mood = 'happy'")
    try server.run("UPDATE city SET mood = 'sad'")
    #expect(try await feed.text() == "+1 Oslo")
    #expect(try await feed.text() == "?")
    #expect(try await feed.text() == "1 Oslo 7 > 1 Voss 7")
    #expect(try await feed.text() == "?")
    #expect(try await feed.text() == "1 Voss 7 – > 1 Voss 7 happy")
    #expect(try await feed.text() == "1 Voss 7 happy > 1 Voss 7 sad")
  }

  @Test("A feed whose connection is cut tells unknown changes, and goes on")
  func cut() async throws {
    let server = try FeedServer()
    let feed = try await ServerFeed(server.pool.changes(of: ["city"]))
    try server.run("INSERT INTO city VALUES (1, 'Oslo')")
    #expect(try await feed.text() == "+1 Oslo")
    for number in 2...4 {
      try server.cut()
      #expect(try await feed.text() == "?")
      try server.run("INSERT INTO city VALUES (\(number), 'Voss')")
      #expect(try await feed.text() == "+\(number) Voss")
    }
  }

  @Test("A feed ends with its iterator, its task and its pool, and leaves no slot")
  func end() async throws {
    let server = try FeedServer()
    var feed: ServerFeed<RowChange>? = try await ServerFeed(server.pool.changes(of: ["city"]))
    #expect(try server.processes().count == 1)
    withExtendedLifetime(feed) {}
    feed = nil
    while try !server.processes().isEmpty { await Task.yield() }
    let task = Task { for try await _ in server.pool.changes(of: ["city"]) {} }
    while try server.processes().isEmpty { await Task.yield() }
    task.cancel()
    try await task.value
    let other = try FeedServer.pool(server.address)
    let last = try await ServerFeed(other.changes(of: ["city"]))
    let waiting = Task { try await last.next() == nil }
    try await other.close()
    #expect(try await waiting.value)
    while try !server.processes().isEmpty { await Task.yield() }
    await #expect(throws: DatabaseError.self) {
      _ = try await ServerFeed(other.changes(of: ["city"]))
    }
  }
}

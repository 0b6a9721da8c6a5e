import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Observing writes of other processes", .promptly, .serialized)
struct OtherProcessTests {
  let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  @Test(
    "A queue's observed value follows commits of another process, also after a checkpoint",
    arguments: [Configuration.JournalMode.wal, .delete, .truncate])
  func seen(mode: Configuration.JournalMode) async throws {
    var configuration = Configuration()
    configuration.journalMode = mode
    let path = folder.file("a.db")
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try await see(queue, path)
  }

  @Test("A pool's observed value follows commits of another process, also after a checkpoint")
  func pool() async throws {
    let path = folder.file("a.db")
    let pool = try DatabasePool(path: path)
    try await see(pool, path)
  }

  private func see(_ access: any DatabaseAccess, _ path: String) async throws {
    try await access.inTransaction { try createCities(in: $0) }
    let values = ObservedReads(access) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    let other = try ChildProcess.role("execute", path)
    #expect(other.line() == "ready")
    for number in 1...3 {
      other.say("INSERT INTO city (name) VALUES ('\(number)')")
      #expect(other.line() != nil)
      #expect(try await values.next() == 4 + number)
    }
    try access.checkpoint(.truncate)
    other.say("DELETE FROM city")
    #expect(try await values.next() == 0)
  }

  @Test(
    "A feed reports another process's commit as `isFromElsewhere`, without row changes",
    .needsPreupdateHook)
  func feed() async throws {
    let path = folder.file("a.db")
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { try createCities(in: $0) }
    let feed = Followed(pool.changes(of: ["city"]))
    try await feed.begin()
    let other = try ChildProcess.role("execute", path)
    #expect(other.line() == "ready")
    other.say("INSERT INTO city (name) VALUES ('x')")
    let transaction = try await #require(feed.next())
    #expect(transaction.isFromElsewhere && transaction.changes.isEmpty)
    try await pool.inTransaction { db in try db.executeUpdate("DELETE FROM city WHERE name = 'x'") }
    let own = try await #require(feed.next())
    #expect(!own.isFromElsewhere && own.changes.count == 1)
  }

  @Test(
    "An observation ends with SQLITE_READONLY_DBMOVED when the database file is replaced")
  func replaced() async throws {
    let path = folder.file("a.db")
    let queue = try DatabaseQueue(path: path)
    try await queue.inTransaction { try createCities(in: $0) }
    let values = ObservedReads(queue) { try $0.cityCount() }
    #expect(try await values.next() == 4)
    try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
    #expect(rename(path + ".new", path) == 0)
    let error = await #expect(throws: DatabaseError.self) { try await values.next() }
    #expect(error?.extendedCode == .readOnlyMoved)
  }
}

import LarderSQLite
import Synchronization
import Testing

@Suite("Many threads at once")
struct QueueStressTests {
  private struct Doubt: Error {}

  private static let threads = 16
  private static let transactions = 1_000
  private static let readers = 4

  private static func run(_ access: any DatabaseAccess) throws {
    try access.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL);
        CREATE TABLE entry (account INTEGER NOT NULL, number INTEGER NOT NULL);
        INSERT INTO account VALUES (1, 0);
        """)
    }
    let isDone = Recorder<Bool>()
    let readers = (0..<readers).map { _ in
      Caller {
        var last = 0
        while isDone.elements.isEmpty {
          let (balance, count) = try access.read { db in
            (
              try db.value("SELECT balance FROM account", as: Int.self) ?? -1,
              try db.value("SELECT count(*) FROM entry", as: Int.self) ?? -1
            )
          }
          // Both tables are of one moment, and time doesn't go back.
          #expect(balance == count)
          #expect(balance >= last)
          last = balance
        }
      }
    }
    let writers = (0..<threads).map { account in
      Caller {
        for number in 0..<transactions {
          do {
            try access.inTransaction { db in
              try db.executeUpdate("UPDATE account SET balance = balance + 1")
              try db.executeUpdate("INSERT INTO entry VALUES (?, ?)", account, number)
              // Every tenth changes its mind, one way or the other.
              if number % 20 == 3 { db.setRollbackOnly() }
              if number % 20 == 7 { throw Doubt() }
            }
          } catch is Doubt {}
        }
      }
    }
    for writer in writers { try writer.join() }
    isDone.add(true)
    for reader in readers { try reader.join() }
    let total = threads * transactions * 9 / 10
    try access.read { db in
      #expect(try db.value("SELECT balance FROM account", as: Int.self) == total)
      #expect(try db.value("SELECT count(*) FROM entry", as: Int.self) == total)
      let uneven = try db.value(
        """
        SELECT count(*) FROM
          (SELECT count(DISTINCT number) AS n FROM entry GROUP BY account) WHERE n != 900
        """, as: Int.self)
      #expect(uneven == 0)
      #expect(try db.value("PRAGMA integrity_check", as: String.self) == "ok")
    }
  }

  @Test("16 threads with 1,000 transactions each add up exactly in a pool, readers beside them")
  func pool() async throws {
    let folder = try ScratchFolder()
    let pool = try DatabasePool(path: folder.file("accounts.db"))
    let caller = Caller { try Self.run(pool) }
    try await yieldUntil(within: .seconds(600)) { caller.hasReturned }
    try caller.join()
    #expect(pool.readerCounts.busy == 0)
    try pool.close()
  }

  @Test(
    "16 threads with 1,000 transactions each add up exactly in a queue", arguments: [true, false])
  func queue(groupCommit: Bool) async throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.groupCommit = groupCommit
    let queue = try DatabaseQueue(path: folder.file("accounts.db"), configuration: configuration)
    let caller = Caller { try Self.run(queue) }
    try await yieldUntil(within: .seconds(600)) { caller.hasReturned }
    try caller.join()
    try queue.close()
  }
}

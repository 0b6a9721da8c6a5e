import Foundation
import Larder
import LarderOutbox
import LarderPostgres
import PostgresSupport
import TestSupport
import Testing

/// A server's transactions run at the same time, and commit in another order than they append in.
@Suite(
  "Outboxes on a server", .enabled(if: PostgresServer.isInstalled, "PostgreSQL isn't installed"))
struct ServerOrderTests {
  /// A transaction on a thread of its own, which does one step after the other.
  private final class Steps: Sendable {
    private let asked = DispatchSemaphore(value: 0)
    private let done = DispatchSemaphore(value: 0)
    private let steps: [@Sendable (Database) throws -> Void]
    private let errors = Notes<String>()

    init(_ store: any DatabaseAccess, _ steps: [@Sendable (Database) throws -> Void]) {
      self.steps = steps
      Thread.detachNewThread { [self] in
        do {
          try store.inTransaction { db in
            for step in self.steps {
              asked.wait()
              try step(db)
              done.signal()
            }
            asked.wait()
          }
        } catch {
          errors.add("\(error)")
        }
        done.signal()
      }
    }

    /// Makes the next step; after the last one commits.
    func next() throws {
      asked.signal()
      done.wait()
      if let error = errors.all.first { throw DatabaseError(code: .error, message: error) }
    }
  }

  @Test("A message that is committed after later ones isn't passed over, and comes before them")
  func late() async throws {
    let open = try TestStore.server.open()
    let slow = Steps(open.store, [{ db in _ = try events.append(db, Event(number: 1)) }])
    try slow.next()
    try await open.append(2)
    try await open.following {
      try await open.append(3)
      // The worker has looked, and waits.
      try await eventually { try await open.consumer()?.isFollowed == true }
      #expect(try await open.copied() == [])
      #expect(try await open.consumer()?.waiting == 2)
      try slow.next()
      try await open.wait(for: 3)
    }
    #expect(try await open.copied() == [1, 2, 3])
  }

  @Test("A transaction that is rolled back holds nobody up, and leaves a gap")
  func gap() async throws {
    let open = try TestStore.server.open()
    let failing = Steps(
      open.store,
      [
        { db in
          try events.append(db, Event(number: 1))
          db.setRollbackOnly()
        }
      ])
    try failing.next()
    try await open.append(2)
    try failing.next()
    try await open.following { try await open.wait(for: 1) }
    #expect(try await open.copied() == [2])
  }

  @Test("A transaction with an older id that has waited for another one's commit comes after it")
  func olderIdentifier() async throws {
    let open = try TestStore.server.open(isolation: .readCommitted)
    try await open.store.inTransaction { db in
      try Copy.add([], "", db)
      var row = Copy(id: 1, consumer: "row", position: 0, number: 0)
      try row.insert(db)
    }
    let change: @Sendable (Database) throws -> Void = { db in
      try Copy.filter { $0.id == 1 }.update(db) { $0.number += 1 }
      let number = try Copy.filter { $0.id == 1 }.select { $0.number }.fetchOne(db)
      try events.append(db, Event(number: number ?? 0))
    }
    let older = Steps(
      open.store,
      [{ db in _ = try db.value("SELECT pg_current_xact_id()::text", as: String.self) }, change])
    try older.next()
    try await open.store.inTransaction(change)
    try older.next()
    try older.next()
    try await open.following { try await open.wait(for: 2) }
    #expect(try await open.copied() == [1, 2])
  }

  @Test(
    "A server that has lost its last commits with one of its processes gives their positions again, and none is passed over"
  )
  func killedProcess() async throws {
    let server = try PostgresServer()
    let store = try PostgresPool(server.address)
    let open = OpenStore(store, try ScratchFolder())
    try Migrator(OutboxTables.migrations + [Migration("copies") { try Copy.table.create($0) }])
      .migrate(store)
    func checkpointer() async throws -> pid_t? {
      try await store.inDatabase { db in
        try db.fetch(
          pid_t.self, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"
        ).first
      }
    }
    try await open.following {
      try await open.append(1, 2, 3, 4, 5)
      try await open.wait(for: 5)
      // As after a loss of the log that `synchronous_commit = off` hasn't written.
      try await store.inTransaction { db in
        try db.executeUpdate("DELETE FROM larder_outbox WHERE id > 2")
        try db.executeUpdate("UPDATE larder_outbox_consumer SET position = 2")
        _ = try db.value(
          "SELECT setval(pg_get_serial_sequence('larder_outbox', 'id'), 2)", as: Int64.self)
      }
      try await store.inDatabase { db in _ = try db.executeStatements("CHECKPOINT") }
      let old = try await checkpointer()
      let session = try await store.inDatabase { db in
        try db.value("SELECT pg_backend_pid()", as: pid_t.self)
      }
      kill(try #require(session), SIGKILL)
      // All of the server's processes begin anew.
      try await eventually {
        let new = try? await checkpointer()
        return new != nil && new != old
      }
      let slow = Steps(store, [{ db in _ = try events.append(db, Event(number: 6)) }])
      try slow.next()
      try await open.append(7)
      // The worker looks several times.
      let time = ContinuousClock.now + .milliseconds(500)
      try await eventually { ContinuousClock.now > time }
      try slow.next()
      try await open.wait(for: 7)
    }
    #expect(try await open.copied() == Array(1...7))
    withExtendedLifetime(server) {}
  }

  @Test("A consumer that is added at the end gets what a transaction commits that was open then")
  func openAtTheEnd() async throws {
    let open = try TestStore.server.open()
    try await open.append(1)
    let slow = Steps(open.store, [{ db in _ = try events.append(db, Event(number: 2)) }])
    let adding = Task { [store = open.store] in
      try await events.addConsumer(store, "copy", from: .end)
    }
    try slow.next()
    try slow.next()
    try await adding.value
    try await open.append(3)
    try await open.following {
      try await eventually { try await open.copied().last == 3 }
    }
    // The second one may have been committed before or after.
    #expect([[2, 3], [3]].contains(try await open.copied()))
  }
}

import Foundation
import LarderMacros
import LarderTesting
import Testing

@testable import desk

/// Each test has a database of its own, which takes a millisecond.
@Suite("A support desk, in memory")
struct InMemoryTests {
  let store: Store

  init() throws { store = try Store.open(":memory:", Watch()) }

  @Test("A ticket is there once, and its job with it")
  func aTicketIsThereOnce() async throws {
    let desk = Desk(access: store.access)
    _ = try await desk.open("1", subject: "one", tags: ["a", "b"])
    await #expect(throws: DeskError.isThere("1")) { try await desk.open("1", subject: "two") }
    #expect(try await Jobs.left(store.access) == 1)
  }

  @Test("The declarations are what they store")
  func declarationsAreWhatTheyStore() throws {
    try Ticket.table.verify(
      Ticket(
        id: 1, reference: "r", subject: "s", body: "b", state: .pending,
        created: .init(timeIntervalSince1970: 1),
        version: 2, priority: .low, details: Details(channel: "c", device: "d", labels: ["l"]),
        due: .init(timeIntervalSince1970: 2)))
  }

  @Test("The migrations make what is declared")
  func migrationsHoldTogether() throws {
    try migrator.check(records: tables)
  }

  @Test("Jobs that are due are found by an index")
  func jobsAreFoundByAnIndex() throws {
    let plan = try store.access.read { db in
      try Jobs.due(Date()).explain(db)
    }
    #expect(plan.usesIndex("job_state_due_id_index"), "\(plan)")
  }
}

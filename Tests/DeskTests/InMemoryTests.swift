import Foundation
import LarderMacros
import LarderTesting
import Testing

@testable import desk

/// Each test makes its own database, which takes a millisecond.
@Suite("The sample support desk, in memory")
struct InMemoryTests {
  let store: Store

  init() throws { store = try Store.open(":memory:", Watch()) }

  @Test("Opening a ticket twice with one reference throws, and leaves a single job")
  func aTicketIsThereOnce() async throws {
    let desk = Desk(access: store.access)
    _ = try await desk.open("1", subject: "one", tags: ["a", "b"])
    await #expect(throws: DeskError.isThere("1")) { try await desk.open("1", subject: "two") }
    #expect(try await Jobs.left(store.access) == 1)
  }

  @Test("`verify` finds no error in the declaration of Ticket")
  func declarationsAreWhatTheyStore() throws {
    try Ticket.table.verify(
      Ticket(
        id: 1, reference: "r", subject: "s", body: "b", state: .pending,
        created: .init(timeIntervalSince1970: 1),
        version: 2, priority: .low, details: Details(channel: "c", device: "d", labels: ["l"]),
        due: .init(timeIntervalSince1970: 2)))
  }

  @Test("The support desk's migrations make the schema that its records declare")
  func migrationsHoldTogether() throws {
    try migrator.check(records: tables)
  }

  @Test("The query for due jobs uses the index on state and due")
  func jobsAreFoundByAnIndex() throws {
    let plan = try store.access.read { db in
      try Jobs.due(Date()).explain(db)
    }
    #expect(plan.usesIndex("job_state_due_id_index"), "\(plan)")
  }
}

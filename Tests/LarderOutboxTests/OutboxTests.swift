import Foundation
import Larder
import LarderOutbox
import Testing

@Suite("Outboxes")
struct OutboxTests {
  @Test(
    "A message is rolled back with its transaction, and one that is committed keeps its value",
    arguments: TestStore.all)
  func rolledBack(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.store.inTransaction { db in
      db.setRollbackOnly()
      try events.append(db, Event(number: 1))
    }
    let position = try await open.store.inTransaction { db in
      try events.append(db, Event(number: 2))
    }
    let found = Notes<OutboxMessage<Event>>()
    let worker = Task { [store = open.store] in
      try await events.follow(store, as: "look") { _, messages in messages.forEach(found.add) }
    }
    try await eventually { !found.all.isEmpty }
    worker.cancel()
    try await worker.value
    #expect(found.all.map(\.payload) == [Event(number: 2)])
    #expect(found.all.map(\.position) == [position])
    #expect(found.all.allSatisfy { abs($0.appended.timeIntervalSinceNow) < 60 })
  }

  @Test(
    "Each consumer gets all messages of its outbox in their order, and none of another one",
    arguments: TestStore.all)
  func consumers(_ kind: TestStore) async throws {
    let open = try kind.open()
    let others = Outbox<Event>("others")
    try await open.append(-1, to: others)
    try await open.store.inTransaction { db in
      try events.append(db, contentsOf: (1...150).map { Event(number: $0) })
    }
    try await open.following("one") {
      try await open.following("two") {
        for number in 151...200 { try await open.append(number) }
        try await open.append(-2, to: others)
        try await open.wait(for: 200, by: "one")
        try await open.wait(for: 200, by: "two")
      }
    }
    #expect(try await open.copied(by: "one") == Array(1...200))
    #expect(try await open.copied(by: "two") == Array(1...200))
  }

  @Test(
    "A new consumer begins at the beginning, at the end or after a position",
    arguments: TestStore.all)
  func start(_ kind: TestStore) async throws {
    let open = try kind.open()
    let position = try await open.store.inTransaction { db in
      try events.append(db, Event(number: 1))
    }
    try await open.append(2)
    try await events.addConsumer(open.store, "end", from: .end)
    try await open.append(3)
    try await open.following("beginning") { try await open.wait(for: 3, by: "beginning") }
    try await open.following("end") { try await open.wait(for: 1, by: "end") }
    try await open.following("after", from: .after(position)) {
      try await open.wait(for: 2, by: "after")
    }
    // One that is there goes on where it was.
    try await open.append(4)
    try await open.following("end", from: .beginning) { try await open.wait(for: 2, by: "end") }
    #expect(try await open.copied(by: "beginning") == [1, 2, 3])
    #expect(try await open.copied(by: "after") == [2, 3])
    #expect(try await open.copied(by: "end") == [3, 4])
  }

  @Test(
    "A consumer tells how many messages it hasn't handled, for how long, and whether it is followed",
    arguments: TestStore.all)
  func statistics(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await events.addConsumer(open.store, "copy", from: .beginning)
    try await events.addConsumer(open.store, "late", from: .beginning)
    try await open.append(1, 2, 3)
    try await open.following {
      try await open.wait(for: 3)
      let found = try await open.store.read { db in try events.consumers(db) }
      #expect(found.map(\.name) == ["copy", "late"])
      #expect(found.map(\.waiting) == [0, 3])
      #expect(found.map(\.isFollowed) == [true, false])
      #expect(found[0].age == 0)
      #expect(found[1].age > 0 && found[1].age < 60)
      #expect(found[0].position > 0 && found[1].position == 0)
    }
    let found = try await open.store.read { db in try events.consumers(db) }
    #expect(found.map(\.isFollowed) == [false, false])
  }

  @Test(
    "Cleaning removes what all consumers have handled and is old enough, and no position comes again",
    arguments: TestStore.all)
  func clean(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.store.inTransaction { db in
      try events.append(db, contentsOf: (1...2_500).map { Event(number: $0) })
    }
    #expect(try await events.clean(open.store) == 0)
    try await events.addConsumer(open.store, "slow", from: .after(0))
    try await open.following { try await open.wait(for: 2_500) }
    #expect(try await events.clean(open.store) == 0)
    try await open.store.inTransaction { db in _ = try events.removeConsumer(db, "slow") }
    #expect(try await events.clean(open.store, olderThan: .seconds(3_600)) == 0)
    #expect(try await events.clean(open.store) == 2_500)
    try await open.append(2_501)
    try await open.following { try await open.wait(for: 2_501) }
    #expect(try await open.copied() == Array(1...2_501))
  }

  @Test("A batch is read from the beginning of an index")
  func plan() throws {
    let open = try TestStore.memory.open()
    let plan = try open.store.read { db in
      try db.executeQuery(
        """
        EXPLAIN QUERY PLAN SELECT * FROM larder_outbox WHERE outbox = 'events' AND id > 5
        AND id <= 100 ORDER BY id LIMIT 10
        """
      ).map { try $0.get(at: 3, as: String.self) }
    }
    #expect(
      plan == [
        "SEARCH larder_outbox USING INDEX larder_outbox_next (outbox=? AND id>? AND id<?)"
      ])
  }
}

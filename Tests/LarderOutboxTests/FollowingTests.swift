import Foundation
import Larder
import LarderOutbox
import Testing

@Suite("Consumers of outboxes")
struct FollowingTests {
  @Test(
    "An idle worker is woken by a commit, however seldom it looks",
    arguments: TestStore.all)
  func woken(_ kind: TestStore) async throws {
    let open = try kind.open()
    var options = OutboxOptions.prompt
    options.poll = .seconds(3_600)
    options.lease = .seconds(36_000)
    try await open.following(options: options) {
      for number in 1...3 {
        try await open.append(number)
        try await open.wait(for: number)
      }
    }
    #expect(try await open.copied() == [1, 2, 3])
  }

  @Test(
    "A batch whose closure throws changes nothing, and is handled again up to the message that fails",
    arguments: TestStore.all)
  func failure(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1, 2, 3, 4, 5)
    let (refusals, failed) = (Notes<Int>(), Notes<Int64?>())
    var options = OutboxOptions.prompt
    options.onError = { position, _ in failed.add(position) }
    let worker = Task { [store = open.store, options] in
      try await events.follow(store, as: "copy", options: options) { db, messages in
        try Copy.add(messages, "copy", db)
        if messages.contains(where: { $0.payload.number == 3 }), refusals.all.count < 5 {
          refusals.add(messages.count)
          throw Refused()
        }
      }
    }
    try await eventually { refusals.all.count >= 3 }
    #expect(try await open.copied() == [1, 2])
    try await open.wait(for: 5)
    worker.cancel()
    try await worker.value
    #expect(try await open.copied() == [1, 2, 3, 4, 5])
    // Of the whole batch first, then those before it, then the one alone.
    #expect(refusals.all.first == 5)
    #expect(refusals.all.last == 1)
    #expect(failed.all.first == 1 && failed.all.last == 3)
  }

  @Test(
    "Several workers with one name handle each message once, and one takes over from another",
    arguments: TestStore.all)
  func shared(_ kind: TestStore) async throws {
    let open = try kind.open()
    var options = OutboxOptions.prompt
    options.batch = 7
    try await open.following(options: options) {
      try await open.following(options: options) {
        for number in 1...50 { try await open.append(number) }
        try await open.wait(for: 50)
      }
      // One of the two has ended.
      for number in 51...60 { try await open.append(number) }
      try await open.wait(for: 60)
    }
    #expect(try await open.copied() == Array(1...60))
  }

  @Test(
    "The messages of a worker that was killed are handled by another one once its lease is over",
    arguments: TestStore.all)
  func killed(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await events.addConsumer(open.store, "copy", from: .beginning)
    try await open.append(1)
    let due = Date().addingTimeInterval(0.3)
    try await open.take(until: due)
    try await open.following {
      try await open.wait(for: 1)
      #expect(Date() >= due.addingTimeInterval(-0.001))
    }
  }

  @Test(
    "A message that is delivered is delivered again with the same key after an error, and then no more",
    arguments: TestStore.all)
  func delivered(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1, 2)
    let keys = Notes<String>()
    let deliver = { @Sendable [store = open.store] in
      try await events.deliver(store, as: "mail", options: .prompt) { messages in
        for message in messages { keys.add(message.key) }
        if keys.all.count == 2 { throw Refused() }
      }
    }
    let worker = Task { try await deliver() }
    try await eventually { keys.all.count >= 4 }
    worker.cancel()
    try await worker.value
    #expect(keys.all.count == 4)
    #expect(Array(keys.all[..<2]) == Array(keys.all[2...]))
    let again = Task { try await deliver() }
    try await open.append(3)
    try await eventually { keys.all.count == 5 }
    again.cancel()
    try await again.value
    #expect(Set(keys.all).count == 3)
  }

  @Test(
    "A worker whose lease another one has taken meanwhile doesn't move the position",
    arguments: TestStore.all)
  func overtaken(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1)
    let worker = Task { [open] in
      try await events.deliver(open.store, as: "copy", options: .prompt) { _ in
        try await open.take(until: Date().addingTimeInterval(3_600))
      }
    }
    try await eventually { try await open.consumer()?.isFollowed == true }
    try await eventually { try await open.owner() == "another" }
    worker.cancel()
    try await worker.value
    let found = try await open.consumer()
    #expect(found?.position == 0)
    #expect(found?.isFollowed == true)
  }

  @Test(
    "Cancelling a worker ends the closure that delivers, and its messages are delivered again",
    arguments: TestStore.all)
  func cancelled(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1)
    let begun = Notes<Int>()
    let errors = Notes<String>()
    var options = OutboxOptions.prompt
    options.lease = .seconds(30)
    options.onError = { _, error in errors.add("\(error)") }
    let worker = Task { [store = open.store, options] in
      try await events.deliver(store, as: "mail", options: options) { messages in
        begun.add(messages.count)
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    try await eventually { begun.all == [1] }
    worker.cancel()
    try await worker.value
    #expect(errors.all.isEmpty)
    // The lease is free at once.
    try await open.following("mail") { try await open.wait(for: 1, by: "mail") }
  }

  @Test(
    "What has been delivered counts, although the worker is cancelled and its commit waits for others",
    arguments: TestStore.all)
  func slowCommit(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1)
    let returned = Notes<Int>()
    let (held, hold) = AsyncStream<Void>.makeStream()
    let isOver = DispatchSemaphore(value: 0)
    let worker = Task { [open] in
      try await events.deliver(open.store, as: "mail", options: .prompt) { _ in
        Thread.detachNewThread {
          try? open.store.inTransaction { db in
            if kind == .server { try db.executeStatements("LOCK TABLE larder_outbox_consumer") }
            hold.finish()
            isOver.wait()
          }
        }
        for await _ in held {}
        returned.add(1)
      }
    }
    try await eventually { !returned.all.isEmpty }
    worker.cancel()
    // For longer than the second after which a worker ends that has nothing to write.
    let time = ContinuousClock.now + .milliseconds(2_500)
    try await eventually { ContinuousClock.now > time }
    isOver.signal()
    try await worker.value
    #expect(returned.all.count == 1)
    #expect(try await open.consumer("mail")?.waiting == 0)
  }

  @Test(
    "A lease that a clock was far ahead for is taken over, or shortened by its own worker",
    arguments: TestStore.all)
  func clockSetBack(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await events.addConsumer(open.store, "copy", from: .beginning)
    try await open.append(1)
    let ahead = Date().addingTimeInterval(86_400)
    try await open.take(until: ahead)
    try await open.following {
      try await open.wait(for: 1)
      let due = Int64(ahead.timeIntervalSince1970 * 1_000)
      try await open.store.inTransaction { db in
        _ = try db.executeUpdate("UPDATE larder_outbox_consumer SET due = ?", due)
      }
      try await eventually {
        try await open.store.read { db in
          try db.value("SELECT due FROM larder_outbox_consumer", as: Int64.self) ?? due
        } < due - 3_600_000
      }
    }
  }

  @Test("The lease is extended while messages are delivered", arguments: TestStore.all)
  func extended(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1)
    let (begun, end) = (Notes<String>(), Notes<Int>())
    var options = OutboxOptions.prompt
    options.lease = .seconds(2)
    let deliver = { @Sendable [store = open.store, options] (worker: String) in
      try await events.deliver(store, as: "mail", options: options) { _ in
        begun.add(worker)
        // Until what was the lease's end is over.
        let time = ContinuousClock.now + .milliseconds(2_100)
        try await eventually { ContinuousClock.now > time }
        end.add(1)
      }
    }
    let workers = ["one", "two"].map { name in Task { try await deliver(name) } }
    try await eventually { end.all.count == 1 }
    try await eventually { try await open.consumer("mail")?.waiting == 0 }
    for worker in workers { worker.cancel() }
    for worker in workers { try await worker.value }
    #expect(begun.all.count == 1)
  }

  @Test("A cancelled worker doesn't wait for a database that is away")
  func endAway() async throws {
    let queue = try DatabaseQueue()
    try Migrator(OutboxTables.migrations).migrate(queue)
    let worker = Task {
      try await events.follow(queue, as: "copy", options: .prompt) { _, _ in }
    }
    try await eventually { try await queue.read { db in try !events.consumers(db).isEmpty } }
    let (held, hold) = AsyncStream<Void>.makeStream()
    let isOver = DispatchSemaphore(value: 0)
    defer { isOver.signal() }
    Thread.detachNewThread {
      try? queue.inDatabase { _ in
        hold.finish()
        isOver.wait()
      }
    }
    for await _ in held {}
    try await eventually { queue.statistics.waiting > 0 }
    worker.cancel()
    try await worker.value
  }

  @Test("A worker ends with an error once its consumer is removed", arguments: TestStore.all)
  func removed(_ kind: TestStore) async throws {
    let open = try kind.open()
    try await open.append(1)
    let worker = Task { [store = open.store] in
      try await events.follow(store, as: "copy", options: .prompt) { db, messages in
        try Copy.add(messages, "copy", db)
      }
    }
    try await open.wait(for: 1)
    try await open.store.inTransaction { db in _ = try events.removeConsumer(db, "copy") }
    try await open.append(2)
    let error = await #expect(throws: DatabaseError.self) { try await worker.value }
    #expect(error?.message == "the outbox “events” has no consumer “copy”")
  }

  @Test("Following throws without the tables")
  func withoutTables() async throws {
    let store = try DatabaseQueue()
    await #expect(throws: DatabaseError.self) {
      try await events.follow(store, as: "copy") { _, _ in }
    }
  }
}

extension OpenStore {
  func consumer(_ name: String = "copy") async throws -> OutboxConsumer? {
    try await store.read { db in try events.consumers(db).first { $0.name == name } }
  }

  func owner() async throws -> String? {
    try await store.read { db in
      try db.fetch(
        String?.self, "SELECT worker FROM larder_outbox_consumer WHERE name = ?", "copy"
      ).first ?? nil
    }
  }

  /// Has another worker hold the consumer.
  func take(until end: Date) async throws {
    let due = Int64((end.timeIntervalSince1970 * 1_000).rounded())
    try await store.inTransaction { db in
      _ = try db.executeUpdate(
        "UPDATE larder_outbox_consumer SET worker = 'another', due = ? WHERE name = 'copy'", due)
    }
  }
}

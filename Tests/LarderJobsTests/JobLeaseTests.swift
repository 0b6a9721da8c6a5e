import Foundation
import Larder
import LarderJobs
import Testing

@Suite("Leases of jobs")
struct JobLeaseTests {
  @Test("A job that its living worker still runs isn't lost, although its lease is over")
  func ownJobs() async throws {
    let (store, events) = (try jobStore(), Events())
    try await store.inTransaction { db in
      _ = try Held("held", events).enqueue(db) { $0.attempts = 1 }
    }
    let dead = StoredJob.filter { $0.state == .dead }
    try await JobQueue(store, [Held.self]).working {
      try await wait { events.noted == ["held"] }
      try await store.inTransaction { db in
        try Held("lost", events).enqueue(db) { $0.attempts = 1 }
        // One sweep finds both. The worker couldn't reach the database meanwhile, or the task ignores that it
        // was cancelled.
        try db.executeUpdate("UPDATE larder_job SET due = ?", Int64(1_000))
        try db.executeUpdate(
          "UPDATE larder_job SET state = 2, attempts = 1, worker = 'killed' WHERE state = 1")
      }
      try await wait(store, for: 1, of: dead)
      let held = try await store.read { db in try StoredJob.order { $0.id }.fetchOne(db) }
      #expect(held?.state == .running)
      #expect(held?.attempts == 1)
      #expect(held?.errors == nil)
      Events.note("release", events.number)
      // Its end counts.
      try await wait(store, for: 1)
    }
    #expect(events.noted == ["held", "release", "end of held"])
  }
}

/// A job that runs until the event `release`, also if it is cancelled.
struct Held: Job {
  var text: String
  var events: Int

  init(_ text: String, _ events: Events) {
    self.text = text
    self.events = events.number
  }

  func run(_ context: JobContext) async throws {
    Events.note(text, events)
    while !Events.has("release", events) {
      // A task of its own isn't cancelled.
      await Task { try? await Task.sleep(for: .milliseconds(2)) }.value
    }
    Events.note("end of \(text)", events)
  }
}

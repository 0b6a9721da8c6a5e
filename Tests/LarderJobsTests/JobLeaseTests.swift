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

  @Test("A job that goes on after it has completed isn't cancelled")
  func completed() async throws {
    let (store, events) = (try jobStore(), Events())
    var options = JobWorkerOptions.prompt
    options.lease = .milliseconds(600)
    try await store.inTransaction { db in
      try Held("other", events).enqueue(db)
      var completing = Held("completing", events)
      completing.completes = true
      try completing.enqueue(db)
    }
    try await JobQueue(store, [Held.self]).working(options) {
      try await wait { events.noted.contains("completing is complete") }
      // The leases of the worker's jobs are extended thrice.
      var ends: Set<Date> = []
      try await wait {
        let job = try await store.read { db in try StoredJob.all.fetchOne(db) }
        if let job { ends.insert(job.due) }
        return ends.count == 4
      }
      Events.note("release", events.number)
      try await wait(store, for: 0)
      try await wait { events.noted.contains("end of completing") }
    }
    #expect(!events.noted.contains("completing was cancelled"))
  }
}

/// A job that runs until the event `release`, also if it is cancelled.
struct Held: Job {
  var text: String
  var events: Int
  var completes = false

  init(_ text: String, _ events: Events) {
    self.text = text
    self.events = events.number
  }

  func run(_ context: JobContext) async throws {
    Events.note(text, events)
    if completes {
      try await context.complete { _ in }
      Events.note("\(text) is complete", events)
    }
    while !Events.has("release", events) {
      // A task of its own isn't cancelled.
      await Task { try? await Task.sleep(for: .milliseconds(2)) }.value
    }
    if Task.isCancelled { Events.note("\(text) was cancelled", events) }
    Events.note("end of \(text)", events)
  }
}

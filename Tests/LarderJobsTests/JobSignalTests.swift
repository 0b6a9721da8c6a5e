import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import Testing

@Suite("Signals to idle workers on a server", .enabled(if: PostgresServer.isInstalled))
struct JobSignalTests {
  private let store: PostgresPool
  private let other: PostgresPool
  private let events = Events()
  private let options: JobWorkerOptions

  init() throws {
    let address = try TestEngine.schema()
    (store, other) = (try PostgresPool(address), try PostgresPool(address))
    try Migrator(JobQueue.migrations).migrate(store)
    var options = JobWorkerOptions()
    // Without signals nothing would run in time.
    options.poll = .seconds(3_600)
    options.grace = .milliseconds(50)
    self.options = options
  }

  @Test("A job that is put in wakes an idle worker, and so does one that is tried again")
  func signals() async throws {
    try await JobQueue(store, [Note.self]).working(options) {
      for number in 1...20 {
        try await other.inTransaction { db in
          _ = try Note("\(number)", events).enqueue(db)
        }
        try await wait { events.noted.count == number }
      }
      try await other.inTransaction { db in
        _ = try (21...40).map { Note("\($0)", events) }.enqueue(db)
      }
      try await wait { events.noted.count == 40 }
      var final = Note("final", events)
      final.change.isFinal = true
      try await other.inTransaction { [final] db in _ = try final.enqueue(db) }
      try await wait(other, for: 1, of: StoredJob.filter { $0.state == .dead })
      try await other.inTransaction { db in
        _ = try JobQueue.retry(db, StoredJob.filter { $0.state == .dead })
      }
      try await wait { events.noted.count == 42 }
    }
  }

  @Test("A job that another worker's end lets in wakes an idle worker")
  func signalsOfEnds() async throws {
    var first = Note("first", events)
    (first.change.running, first.change.attempts) = (1, 1)
    (first.change.isEndless, first.change.timeLimit) = (true, 0.3)
    var second = Note("second", events)
    (second.change.running, second.change.isEndless) = (1, true)
    let worker = Task { [options] in
      try await JobQueue(store, [Note.self]).work(["mail"], options: options)
    }
    try await JobQueue(other, [Note.self]).working(options) { [first, second] in
      try await other.inTransaction { db in _ = try first.enqueue(db) }
      try await wait { events.noted == ["first"] }
      try await other.inTransaction { db in _ = try second.enqueue(db) { $0.queue = "mail" } }
      try await wait { events.noted == ["first", "second"] }
    }
    // Its worker ends, and another one of the queue has nothing to do until then.
    let last = Task { [options] in
      try await JobQueue(other, [Note.self]).work(["mail"], options: options)
    }
    worker.cancel()
    try await worker.value
    try await wait { events.noted == ["first", "second", "second"] }
    last.cancel()
    try await last.value
  }
}

import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import Testing

@Suite("What can't be stored holds no other jobs up")
struct JobFailureTests {
  @Test("A schedule whose job can't be put in is told, and other jobs run")
  func schedule() async throws {
    let (store, events) = (try jobStore(), Events())
    let schedule = try JobSchedule("0 0 1 1 *", Transfer(), name: "transfer")
    try await store.inTransaction { db in
      _ = try Note("mail", events).enqueue(db)
      _ = try db.executeUpdate(
        "INSERT INTO larder_job_schedule (name, last) VALUES ('transfer', 0)")
    }
    let failed = Lock<[String]>([])
    var options = JobWorkerOptions.prompt
    options.onWorkerError = { schedule, error in
      failed.withLock { $0.append("\(schedule ?? "-"): \(error is EncodingError)") }
    }
    try await JobQueue(store, [Note.self], schedules: [schedule]).working(options) {
      try await wait { events.noted == ["mail"] }
      try await wait { failed.withLock { $0 } == ["transfer: true"] }
      // It isn't due again before its next time.
      let last = try await store.read { db in
        try db.value("SELECT last FROM larder_job_schedule", as: Int64.self) ?? 0
      }
      #expect(last > 0)
    }
    #expect(failed.withLock { $0 } == ["transfer: true"])
  }

  @Test("A worker tells why it can't use the database, and goes on once it can")
  func database() async throws {
    let (store, events) = (try jobStore(), Events())
    let failed = Lock<[String]>([])
    var options = JobWorkerOptions.prompt
    options.onWorkerError = { schedule, error in
      failed.withLock { $0.append(schedule ?? "\(error)") }
    }
    try await JobQueue(store, [Note.self]).working(options) {
      try await store.inTransaction { db in _ = try Note("one", events).enqueue(db) }
      try await wait { events.noted == ["one"] }
      try await store.inDatabase { db in
        try db.executeStatements("ALTER TABLE larder_job RENAME TO larder_away")
      }
      try await wait { failed.withLock { $0.first }?.contains("larder_job") == true }
      try await store.inDatabase { db in
        try db.executeStatements("ALTER TABLE larder_away RENAME TO larder_job")
      }
      try await store.inTransaction { db in _ = try Note("two", events).enqueue(db) }
      try await wait { events.noted == ["one", "two"] }
    }
  }

  @Test(
    "An error whose text a server's encoding lacks is stored in ASCII",
    .enabled(if: PostgresServer.isInstalled, "PostgreSQL isn't installed"))
  func encoding() async throws {
    let server = try PostgresServer.shared
    try server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    let store = try PostgresPool("host=\(server.folder) user=larder dbname=latin")
    try Migrator(JobQueue.migrations).migrate(store)
    let events = Events()
    try await store.inTransaction { db in
      try Wordy().enqueue(db)
      try Note("mail", events).enqueue(db)
    }
    try await JobQueue(store, [Wordy.self, Note.self]).working {
      try await wait(store, for: 1, of: StoredJob.filter { $0.state == .dead })
      try await wait(store, for: 1)
    }
    #expect(events.noted == ["mail"])
    let job = try await store.read { db in try StoredJob.all.fetchOne(db) }
    #expect(job?.errors?.first?.hasSuffix("\\u{0001F600} caf\\u{00E9}") == true)
    try await store.close()
  }
}

/// A job that JSON can't hold.
struct Transfer: Job {
  var amount = Double.infinity
  func run(_ context: JobContext) async throws {}
}

struct Wordy: Job {
  func run(_ context: JobContext) async throws { throw JobError.final("😀 café") }
}

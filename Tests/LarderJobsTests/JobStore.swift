import Foundation
import Larder
import LarderJobs
import LarderPostgres
import PostgresSupport
import Synchronization

/// An empty database with the tables of jobs, of the engine under test.
func jobStore() throws -> any DatabaseAccess {
  let store: any DatabaseAccess =
    TestEngine.isPostgres ? try PostgresPool(TestEngine.schema()) : try DatabaseQueue()
  try Migrator(JobQueue.migrations).migrate(store)
  return store
}

/// The events of one test's jobs, which know it by its number.
final class Events: Sendable {
  private static let all = Mutex<[Int: Events]>([:])
  private let list = Mutex<[String]>([])
  let number: Int

  init() {
    number = Int.random(in: 1...Int(Int32.max))
    Self.all.withLock { $0[number] = self }
  }

  static func note(_ event: String, _ number: Int) {
    Self.all.withLock { $0[number] }?.list.withLock { $0.append(event) }
  }

  var noted: [String] { list.withLock { $0 } }

  static func has(_ event: String, _ number: Int) -> Bool {
    all.withLock { $0[number] }?.noted.contains(event) == true
  }
}

struct Refused: Error {}

/// A job that notes its runs, and fails as often as it is told.
struct Note: Job {
  var text: String
  var events: Int
  var failures = 0
  var change = JobChange()

  init(_ text: String, _ events: Events, failures: Int = 0) {
    self.text = text
    self.events = events.number
    self.failures = failures
  }

  var options: JobOptions {
    var options = JobOptions()
    options.backOff = { _ in .milliseconds(1) }
    options.attempts = change.attempts
    (options.due, options.unique) = (change.due, change.unique)
    if let seconds = change.timeLimit { options.timeLimit = .seconds(seconds) }
    if let running = change.running {
      options.limit = JobLimit(change.key ?? "account", running: running)
    }
    if let starts = change.starts {
      options.limit = JobLimit("account", starts: starts, per: .milliseconds(400))
    }
    return options
  }

  func run(_ context: JobContext) async throws {
    Events.note(text, events)
    if change.isFinal { throw JobError.final("the address doesn't exist") }
    if context.attempt <= failures { throw Refused() }
    if change.isEndless { try await Task.sleep(for: .seconds(3_600)) }
    for _ in 0..<change.yields { await Task.yield() }
    if change.yields > 0 { Events.note("end of \(text)", events) }
  }
}

/// The deviations of a note's options and behaviour.
struct JobChange: Codable {
  var attempts = 20
  var timeLimit: Double?
  var running: Int?
  var key: String?
  var starts: Int?
  var isFinal = false
  var isEndless = false
  var yields = 0
  var due: Date?
  var unique: String?
}

extension JobQueue {
  /// Works while a closure runs, and ends then.
  func working(
    _ options: JobWorkerOptions = .prompt, while body: () async throws -> Void
  ) async throws {
    let worker = Task { try await work(options: options) }
    do {
      try await body()
    } catch {
      worker.cancel()
      throw error
    }
    worker.cancel()
    try await worker.value
  }
}

extension JobWorkerOptions {
  static var prompt: JobWorkerOptions {
    var options = JobWorkerOptions()
    options.poll = .milliseconds(10)
    options.grace = .milliseconds(50)
    return options
  }
}

/// Returns once a query has as many rows as are wanted.
func wait(
  _ store: any DatabaseAccess, for count: Int, of jobs: Query<StoredJob> = StoredJob.all
) async throws {
  try await wait { try await store.read { db in try jobs.fetchCount(db) } == count }
}

/// Returns once a condition is met; throws after a minute.
func wait(_ condition: () async throws -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(60)
  while try await !condition() {
    guard ContinuousClock.now < end else { throw Late() }
    try await Task.sleep(for: .milliseconds(2))
  }
}

struct Late: Error {}

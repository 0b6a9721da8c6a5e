import Foundation
import Larder
import LarderJobs

/// The moments at which jobs begin and end, in a file that all processes append to, whatever becomes of them.
struct JobJournal: Sendable {
  let file: Int32

  init(_ path: String) { file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0o644) }

  /// Appends a line in one write, which the system doesn't mix with others.
  func write(_ event: String, _ number: Int, _ attempt: Int) {
    let line = Array("\(event) \(number) \(attempt) \(getpid()) \(Self.now)\n".utf8)
    _ = line.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
  }

  /// Microseconds since the machine was started.
  static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1000
  }

  /// The journal of this process.
  nonisolated(unsafe) static var own: JobJournal?
}

/// A job that notes when it begins and ends. Every tenth fails at first, and every fifth ends itself together with
/// its change in the database.
struct NotedJob: Job {
  var number: Int
  var unique = false
  var group: Int?

  struct Refused: Error {}

  var options: JobOptions {
    var options = JobOptions()
    options.priority = number % 3
    if unique { options.unique = "unique \(number)" }
    if let group { options.limit = JobLimit("group \(group)", running: 2) }
    options.backOff = { _ in .milliseconds(50) }
    options.attempts = 1_000
    return options
  }

  func run(_ context: JobContext) async throws {
    JobJournal.own?.write("begin", number, context.attempt)
    defer { JobJournal.own?.write("end", number, context.attempt) }
    if number % 7 == 0 { try await Task.sleep(for: .milliseconds(number % 40)) }
    if number % 10 == 3, context.attempt == 1 { throw Refused() }
    if number % 5 == 0 {
      let number = number
      try await context.complete { db in
        var done = DoneJob(id: nil, number: number)
        try done.insert(db)
      }
    }
    JobJournal.own?.write("done", number, context.attempt)
  }
}

/// A change that a job makes in the database: exactly once.
struct DoneJob: Record {
  var id: Int64?
  var number: Int

  struct Columns: Sendable {
    let id = Column("id", \DoneJob.id, .primaryKey)
    let number = Column("number", \DoneJob.number)
  }
  static let columns = Columns()
  static let table = Table("done", DoneJob.init, columns.id, columns.number)
}

/// A job that does nothing, for the rate.
struct EmptyJob: Job {
  var number: Int
  func run(_ context: JobContext) async throws {}
}

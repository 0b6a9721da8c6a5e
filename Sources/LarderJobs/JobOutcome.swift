import FoundationEssentials
import Larder

/// The end of a job's attempt.
struct JobOutcome: Sendable {
  let claimed: ClaimedJob
  /// Nil if it was done.
  let error: (any Error)?
  /// Whether the job has deleted its row itself.
  let isComplete: Bool
  /// Whether it was cancelled because the worker ends: then the attempt doesn't count.
  let isInterrupted: Bool

  var stored: StoredJob { claimed.stored }

  /// Whether this program has no such job, as an older one that runs beside a newer: then the attempt doesn't count.
  private var isUnknown: Bool {
    if case JobError.unknown? = error { true } else { false }
  }

  private var isLast: Bool {
    if isUnknown { return false }
    if case JobError.final? = error { return true }
    return stored.attempts >= stored.mostAttempts
  }

  /// The time of the next attempt.
  private func retry(after now: Date) -> Date {
    let backOff = (try? claimed.job.get().options.backOff) ?? JobOptions().backOff
    let pause = max(0, backOff(stored.attempts) / .seconds(1))
    // The least and the most of what a date of milliseconds can do.
    return now.addingTimeInterval(min(pause, 1e9) * Double.random(in: 0.75...1.25))
  }

  /// Writes down how the attempts of a worker's jobs have ended. Jobs that others have by now are left alone.
  static func write(_ outcomes: [JobOutcome], of worker: String, _ db: Database) throws {
    let done = outcomes.filter { $0.error == nil && !$0.isComplete }.map(\.stored.id)
    if !done.isEmpty {
      try StoredJob.filter {
        $0.id.in(done) && $0.state == .running && $0.worker == worker
      }.delete(db)
    }
    for outcome in outcomes where !outcome.isComplete && outcome.error != nil {
      try outcome.writeFailure(worker, db)
    }
    try release(outcomes, db)
    // A single writer sees the ends of all jobs. On a server that takes another transaction.
    if db.engine == nil { try endBatches(Set(outcomes.compactMap(\.stored.batch)), db) }
  }

  private func writeFailure(_ worker: String, _ db: Database) throws {
    guard let error else { return }
    let (now, text) = (Date(), "\(error)")
    if text.utf8.allSatisfy({ $0 < 128 }) {
      try writeFailure(text, now, worker, db)
    } else {
      do {
        try db.inSavepoint { db in try writeFailure(text, now, worker, db) }
      } catch let error where error.isOfValue {
        // A server's encoding may lack a character, and then no end of any job could be written.
        try writeFailure(Self.ascii(text), now, worker, db)
      }
    }
    guard isInterrupted else { return }
    var freed = stored
    freed.state = .ready
    try StoredJob.wakeWorkers(of: [freed], db)
  }

  /// A text with `\u{00E9}` in place of `é`.
  private static func ascii(_ text: String) -> String {
    text.unicodeScalars.prefix(2_000).map { $0.isASCII ? "\($0)" : $0.escaped(asASCII: true) }
      .joined()
  }

  private func writeFailure(
    _ error: String, _ now: Date, _ worker: String, _ db: Database
  ) throws {
    let errors = stored.errors(with: error, at: now)
    try StoredJob.filter {
      $0.id == stored.id && $0.state == .running && $0.worker == worker
    }.update(db) {
      $0.worker = .value(nil)
      if isInterrupted {
        $0.state = .ready
        $0.due = .value(now)
        $0.attempts -= 1
        return
      }
      if isUnknown { $0.attempts -= 1 }
      $0.state = .value(isLast ? .dead : .scheduled)
      $0.due = .value(isLast ? now : retry(after: now))
      $0.errors = .value(errors)
    }
  }

  /// Lets in one job for each that has ended, of the limits of jobs that run at a time.
  private static func release(_ outcomes: [JobOutcome], _ db: Database) throws {
    let ended = outcomes.map(\.claimed).filter { $0.limit?.running != nil }
    let limited = Dictionary(grouping: ended, by: \.limitBytes)
    for (_, jobs) in limited.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      guard let key = jobs.first?.stored.limit else { continue }
      try LimitState.unblock(key, jobs.count, db)
    }
  }

  /// Makes the last jobs of batches ready, none of whose other jobs is left.
  static func endBatches(_ batches: Set<Int64>, _ db: Database) throws {
    for batch in batches.sorted() {
      let isLeft = try StoredJob.filter { $0.batch == batch && $0.state != .dead }.exists(db)
      if isLeft { continue }
      let now = Date()
      let last = StoredJob.filter { $0.id == batch && $0.state == .waiting }
      // Its own time may be later than the end of the others. (A sweep gives it another one, and a worker's name.)
      let isLater = try last.filter { $0.worker == nil && $0.due > now }.update(db) {
        $0.state = .scheduled
      }
      guard isLater == 0 else { continue }
      try last.update(db) {
        $0.state = .ready
        $0.due = .value(now)
        $0.worker = .value(nil)
      }
    }
  }
}

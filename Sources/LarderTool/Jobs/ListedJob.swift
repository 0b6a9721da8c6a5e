import FoundationEssentials
import Larder
import LarderJobs
import LarderTerminal

extension StoredJob.State {
  /// All states, in the order of a job's life.
  static let shown: [Self] = [.scheduled, .ready, .running, .blocked, .waiting, .dead]
}

/// The figures of a queue, as they are printed.
struct ListedQueue: Encodable {
  let queue: String
  let counts: [String: Int]
  /// How long the first ready job has been ready; nil if none is.
  let secondsReady: Double?

  init(_ statistics: JobStatistics, _ now: Date) {
    queue = statistics.queue
    counts = Dictionary(uniqueKeysWithValues: statistics.counts.map { ("\($0)", $1) })
    secondsReady = statistics.oldest.map { max(0, now.timeIntervalSince($0)) }
  }
}

/// A job, as it is printed.
struct ListedJob: Encodable {
  let id: Int64
  let queue: String
  let state: String
  let name: String
  let priority: Int
  /// When it is due; the end of its lease while it runs; when it died.
  let due: String
  let created: String
  let attempts: Int
  let mostAttempts: Int
  let unique: String?
  let limit: String?
  let batch: Int64?
  let worker: String?
  let errors: [String]
  /// The job as JSON.
  let payload: String

  init(_ job: StoredJob) {
    id = job.id ?? 0
    queue = job.queue
    state = "\(job.state)"
    name = job.name
    priority = job.priority
    due = job.due.formatted(.iso8601)
    created = job.created.formatted(.iso8601)
    attempts = job.attempts
    mostAttempts = job.mostAttempts
    unique = job.unique
    limit = job.limit
    batch = job.batch
    worker = job.worker
    errors = job.errors ?? []
    payload = job.payload
  }

  var lines: [String] {
    let times = ["running": "lease until", "dead": "died"]
    var pairs = [
      ("job", "\(id), \(name)"), ("queue", "\(queue), priority \(priority)"), ("state", state),
      (times[state] ?? "due", due), ("put in", created),
      ("attempts", "\(attempts) of \(mostAttempts)"),
    ]
    if let unique { pairs.append(("unique", unique)) }
    if let limit { pairs.append(("limit", limit)) }
    if let batch { pairs.append(("batch", "of job \(batch)")) }
    if let worker { pairs.append(("worker", worker)) }
    pairs.append(("payload", payload))
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { "\($0.0.padded(to: width))  \($0.1.printable)" }
      + (errors.isEmpty ? [] : ["errors"]) + errors.map { "  \($0.printable)" }
  }
}

/// A length of time for people.
enum AgeText {
  static func text(_ seconds: Double) -> String {
    switch seconds {
    case ..<60: "\(Int(seconds)) s"
    case ..<3_600: "\(Int(seconds / 60)) min"
    case ..<172_800: "\(Int(seconds / 3_600)) h"
    default: Int(min(seconds / 86_400, 1e9)).counted("day")
    }
  }
}

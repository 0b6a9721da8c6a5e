import Foundation
import Larder
import LarderJobs
import TestSupport

/// How fast jobs are put in, claimed and done, without kills.
struct JobsFigures {
  let address: String
  let store: any DatabaseAccess
  let plan: JobsPlan
  /// How many jobs the proof has; nil for few.
  let count: Int?

  /// How many empty jobs are put in and done in a second, each claimed, run and deleted durably.
  func rates() throws -> [String] {
    let single = 1_000
    var start = ContinuousClock.now
    for number in 0..<single {
      try store.inTransaction { db in _ = try EmptyJob(number: number).enqueue(db) }
    }
    let singles = rate(single, since: start)
    let many = max(2_000, min(200_000, count ?? 2_000))
    start = .now
    try put(single..<single + many)
    let batches = rate(many, since: start)
    start = .now
    let children = try (0..<plan.processes).map { _ in try JobsProof.worker(address, plan) }
    while try store.read({ db in try StoredJob.all.exists(db) }) { usleep(5_000) }
    let done = rate(single + many, since: start)
    for child in children { child.kill() }
    return [
      "\(done) jobs a second by \(plan.workers) workers in \(plan.processes) processes",
      "\(singles) are put in a second in transactions of one, \(batches) in those of 1000",
    ]
  }

  private func rate(_ count: Int, since start: ContinuousClock.Instant) -> Int {
    Int(Double(count) / ((ContinuousClock.now - start) / .seconds(1)))
  }

  private func put(_ numbers: Range<Int>) throws {
    for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 1_000) {
      let part = start..<min(numbers.upperBound, start + 1_000)
      try store.inTransaction { db in _ = try part.map { EmptyJob(number: $0) }.enqueue(db) }
    }
  }

  /// The median time of a claim with a thousand waiting jobs, ten thousand and so on, and how it is found.
  func claims() throws -> [String] {
    var lines: [String] = []
    var put = 0
    var waiting = 1_000
    while waiting <= max(10_000, min(1_000_000, 10 * (count ?? 0))) {
      try self.put(put..<waiting)
      put = waiting
      let times = try (0..<201).map { _ in
        let start = ContinuousClock.now
        try store.inTransaction { db in
          try db.beginWork()
          db.setRollbackOnly()
          _ = try Self.ready.claim(db, limit: 16) {
            $0.state = .running
            $0.due = .value(Date())
            $0.attempts += 1
            $0.worker = .value("this one")
          }
        }
        return (ContinuousClock.now - start) / .microseconds(1)
      }
      let median = Int(times.sorted()[100])
      lines.append("a claim of 16 takes \(median) µs with \(waiting) waiting")
      waiting *= 10
    }
    try lines.append(scan())
    return lines
  }

  private static var ready: Query<StoredJob> {
    StoredJob.filter { $0.state == .ready && $0.queue == "default" }.order { ($0.priority, $0.id) }
  }

  /// The step of the claim's plan that finds the jobs.
  private func scan() throws -> String {
    try store.inTransaction { db in
      try db.beginWork()
      let query = Self.ready.limit(16).sql(for: db)
      let isServer = db.engine != nil
      let plan = try db.executeQuery(
        isServer ? "EXPLAIN \(query)" : "EXPLAIN QUERY PLAN \(query)"
      ).map { try $0.get(at: isServer ? 0 : 3, as: String.self) }
      let found = plan.first { $0.contains("larder_job") } ?? plan.joined(separator: "; ")
      return found.trimmingCharacters(in: .whitespaces)
    }
  }
}

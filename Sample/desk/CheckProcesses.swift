import Foundation
import LarderMacros

/// Several processes, that end well and that don't.
struct ProcessChecks {
  let store: Store
  let checks: Checks

  func all() async {
    await checks.part("kill -9", killed)
    await checks.part("SIGTERM", terminated)
  }

  /// Two processes write and two work, until they are killed: nothing that was acknowledged is lost,
  /// nothing is half there, each job is done once.
  func killed() async throws -> String {
    let access = store.access
    let seen = Notebook()
    let following = Task {
      try await Live.follow(access, Live.counts) { _ in seen.count("values", 1) }
    }
    let writers = try ["k1", "k2"].map { try Child(["load", store.address, $0]) }
    let workers = try (0..<2).map { _ in try Child(["serve", store.address, "3"]) }
    for worker in workers { checks.expect(worker.line("ready") != nil, "a worker didn't start") }
    for writer in writers { checks.expect(writer.line("ack") != nil, "a writer didn't start") }
    try await Task.sleep(for: .milliseconds(600))
    let outputs = writers.map { $0.end(SIGKILL).output }
    for worker in workers { _ = worker.end(SIGKILL) }

    following.cancel()
    _ = await following.result
    let values = Int(seen.figures["values"] ?? 0)
    checks.expect(values >= 3, "\(values) values while other processes wrote")

    let acknowledged = Set(
      outputs.flatMap {
        $0.split(separator: "\n").filter { $0.hasPrefix("ack ") }.map { String($0.dropFirst(4)) }
      })
    let there = Set(
      try await access.read { db in
        try Ticket.filter { $0.reference.hasPrefix("k") }.select { $0.reference }.fetchAll(db)
      })
    // The last line may be cut off.
    let lost = acknowledged.subtracting(there).filter { $0.split(separator: "-").count == 3 }
    checks.expect(
      lost.count <= 2 && lost.allSatisfy { name in outputs.contains { $0.hasSuffix(name) } },
      "lost \(lost)")
    let (tickets, jobs, comments) = try await access.read { db in
      (
        try Ticket.all.fetchCount(db), try Job.all.fetchCount(db), try Comment.all.fetchCount(db)
      )
    }
    checks.expect(
      jobs == tickets + comments, "\(jobs) jobs of \(tickets) tickets and \(comments) comments")

    let left = try await Jobs.left(access)
    let done = try await Workers.drain(access, workers: 4)
    checks.expect(try await Jobs.left(access) == 0, "jobs are left")
    let (finished, deliveries) = try await access.read { db in
      (
        try Job.filter { $0.state == .done }.order { $0.id }.select { $0.id }.fetchAll(db),
        try Delivery.all.order { $0.job }.select { $0.job }.fetchAll(db)
      )
    }
    checks.expect(
      finished.compactMap { $0 } == deliveries,
      "\(deliveries.count) deliveries of \(finished.count)")
    try await verify()
    return
      "\(acknowledged.count) acknowledged, \(there.count) there, \(left) jobs left, \(done) done after, "
      + "\(values) values seen from elsewhere"
  }

  /// A service that is told to end does so soon, with its jobs done and its database closed.
  func terminated() async throws -> String {
    let access = store.access
    let desk = Desk(access: access)
    let child = try Child(["serve", store.address, "2"])
    checks.expect(child.line("ready") != nil, "it didn't start")
    let start = ContinuousClock.now
    for number in 1...20 { _ = try await desk.open("term-\(number)", subject: "end") }
    let opened = (ContinuousClock.now - start) / .milliseconds(1)
    try await Task.sleep(for: .milliseconds(100))
    let clock = ContinuousClock.now
    let (status, output) = child.end(SIGTERM)
    let time = (ContinuousClock.now - clock) / .milliseconds(1)
    checks.expect(status == 0 && output.contains("closed after"), "status \(status): \(output)")
    checks.expect(time < 3_000, "took \(time) ms")
    let running = try await access.read { db in
      try Job.filter { $0.state == .running }.fetchCount(db)
    }
    checks.expect(running == 0, "\(running) jobs were left running")
    // This process has seen all of it.
    _ = try await Workers.drain(access, workers: 2)
    return
      "opened in \(Int(opened)) ms, ended after \(Int(time)) ms: \(output.split(separator: "\n").last ?? "")"
  }

  private func verify() async throws {
    try await store.access.inDatabase { db in
      try Ticket.words.verify(db)
      try Comment.words.verify(db)
    }
    guard store.pool != nil else { return }
    let problems = try await store.access.read { db in try FileChecks.problems(db) }
    checks.expect(problems.isEmpty, "\(problems)")
  }
}

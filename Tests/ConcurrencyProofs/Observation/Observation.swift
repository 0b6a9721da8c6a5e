import Foundation
import Larder
import ProofSupport
import Synchronization
import TestSupport

/// Random writers, on threads, in tasks and in another process, beside those who observe: each value is that of a
/// commit, the last one that of the last commit, the feed replayed on a copy gives the same database, and
/// nothing is left behind by observers that come and go. A feed in the company of restored copies, changesets and another
/// process that alters a table tells what fits these tables, and thousands of observers cost as good as nothing.
enum ObservationRow: ProofRow {
  static let name = "observation"
  static let number = 17
  static let unit = "commits"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 2, let count = Int(options.rest[1]) {
      try ObservedWriting.writeElsewhere(options.rest[0], count, options.seed)
      exit(0)
    }
    if options.rest.count == 3, options.rest[1] == "alter" {
      try FoundCompany.alterElsewhere(options.rest[0])
      exit(0)
    }
    var result = ProofResult()
    let count = options.count ?? 1000
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let (gone, late) = (scratch.file("gone.db"), scratch.file("late.db"))
    let many = scratch.file("many.db")
    let (altered, copied) = (scratch.file("altered.db"), scratch.file("copied.db"))
    // `-- TIMES` has observers come and go alone.
    if let times = options.rest.first.flatMap({ Int($0) }) {
      let ledger = Ledger()
      result.tried = times
      result.details = try Elsewhere.inTask {
        try await ComingAndGoing.run(gone, times: times, ledger)
      }
      result.failures = ledger.failures
      return result
    }
    let found = count / 4
    // The feed can't replay what another process writes, which the first part is without.
    for part in 0..<2 {
      let ledger = Ledger()
      let path = scratch.file("\(part).db")
      let (tried, details) = try Elsewhere.inTask { [seed = options.seed] in
        try await observe(
          path, commits: (count - found) / 2, withProcess: part == 1, seed, ledger)
      }
      result.tried += tried
      result.details += details
      result.failures += ledger.failures
    }
    let ledger = Ledger()
    result.tried += found
    result.details += try Elsewhere.inTask { [seed = options.seed] in
      try await FoundCompany.run(altered, copy: copied, commits: found, seed, ledger)
    }
    result.details += try Elsewhere.inTask {
      try await ManyObservers.measure(
        many, isStrict: count >= 100_000 && !ProcessUsage.isSanitized, ledger)
    }
    result.details += try Elsewhere.inTask {
      try await ComingAndGoing.run(gone, times: min(1000, max(20, count / 1000)), ledger)
    }
    result.details += try Elsewhere.inTask {
      try await ObservationDelay.measure(late, times: min(1000, max(100, count / 100)), ledger)
    }
    result.failures += ledger.failures
    return result
  }

  /// What has gone wrong, and how many transactions were committed.
  final class Ledger: Sendable {
    private let list = Recorder<String>()
    let commits = Atomic<Int>(0)
    var failures: [String] { list.elements }
    func fail(_ text: String) { if failures.count < 20 { list.add(text) } }
  }

  // MARK: Observing

  private static func observe(
    _ path: String, commits: Int, withProcess: Bool, _ seed: UInt64, _ ledger: Ledger
  ) async throws -> (Int, [String]) {
    let pool = try DatabasePool(path: path, configuration: ObservedWriting.configuration)
    try await pool.inTransaction(.immediate, ObservedWriting.createTables)
    let copy = try FeedCopy()
    let values = Recorder<Int>()
    let begun = Recorder<Bool>()
    let feed = Task {
      var number = 0
      for try await transaction in pool.changes(
        of: ObservedWriting.tables, limit: 10_000_000, byteLimit: 1 << 32,
        beginning: { _ in begun.add(true) })
      {
        if transaction.number <= number { ledger.fail("transaction \(transaction.number) twice") }
        number = transaction.number
        if withProcess {
          if transaction.isFromElsewhere, !transaction.changes.isEmpty { ledger.fail("changes") }
        } else {
          do { try copy.apply(transaction) } catch { ledger.fail("\(error)") }
        }
        if transaction.changes.last?.new?.contains("end") == true { break }
      }
    }
    let observer = Task {
      var last = -1
      for try await (count, items) in pool.values(of: { db in
        (
          try db.value("SELECT value FROM counter", as: Int.self) ?? -1,
          try db.executeQuery("SELECT id FROM item").map { try $0.get(at: 0, as: Int.self) }
        )
      }) {
        if count < last { ledger.fail("\(count) after \(last)") }
        last = count
        values.add(count)
        if items.contains(999_999) { break }
      }
      return last
    }
    while begun.elements.isEmpty || values.elements.isEmpty {
      try await Task.sleep(for: .milliseconds(1))
    }
    let child =
      withProcess
      ? try ChildProcess.again(name, "--seed", "\(seed)", "--", path, "\(commits / 4)") : nil
    if let child {
      guard child.line() == "ready" else { throw WrongAnswer(description: "no process") }
      child.say()
    }
    try await writeAll(pool, withProcess ? commits * 3 / 4 : commits, seed, ledger)
    if let child, child.line(before: .now + .seconds(3600)) != "done" {
      ledger.fail("the process failed")
    }
    try await pool.inTransaction { db in
      try db.executeStatements(
        "DELETE FROM part; INSERT OR REPLACE INTO item VALUES (999999, 'end', 0)")
    }
    let expected = try await pool.read {
      try $0.value("SELECT value FROM counter", as: Int.self) ?? -1
    }
    let seen = try await within(seconds: 60) { try await observer.value } ?? -1
    if seen != expected { ledger.fail("the last value is of \(seen), not of \(expected)") }
    if try await within(seconds: 600, { try await feed.value }) == nil {
      ledger.fail("the feed doesn't end")
    }
    if !withProcess {
      let state = try await pool.read { try FeedCopy.state(of: $0) }
      if try copy.state != state { ledger.fail("the copy isn't the same") }
    }
    try await pool.close()
    return (expected, ["values \(values.elements.count)"])
  }

  private static func writeAll(
    _ pool: DatabasePool, _ commits: Int, _ seed: UInt64, _ ledger: Ledger
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          let random = Lock(SeededGenerator(seed: seed &+ UInt64(writer)))
          for _ in 0..<(commits / 4) {
            if writer < 2 {
              _ = try? await pool.inTransaction { db in
                try random.withLock { try ObservedWriting.write(db, &$0) }
              }
            } else {
              _ = await onThread {
                try pool.inTransaction { db in
                  try random.withLock { try ObservedWriting.write(db, &$0) }
                }
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private static let threads = DispatchQueue(label: "writers", attributes: .concurrent)

  private static func onThread(_ body: @escaping @Sendable () throws -> Void) async -> Bool {
    await withCheckedContinuation { continuation in
      threads.async { continuation.resume(returning: (try? body()) != nil) }
    }
  }

  /// The result of a task, or nil where it takes longer.
  private static func within<T: Sendable>(
    seconds: Double, _ body: @escaping @Sendable () async throws -> T
  ) async throws -> T? {
    try await withThrowingTaskGroup(of: T?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try? await Task.sleep(for: .seconds(seconds))
        return nil
      }
      let first = try await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }
}

import Foundation
import Larder
import Synchronization
import TestSupport

/// Random writers, on threads, in tasks and in another process, beside those who observe: each value is that of a
/// commit, the last one that of the last commit, the feed replayed on a copy gives the same database, and
/// nothing is left behind by observers that come and go.
enum ObservationRow: ProofRow {
  static let name = "observation"
  static let number = 17
  static let unit = "commits"

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 2, let count = Int(options.rest[1]) {
      try writeElsewhere(options.rest[0], count, options.seed)
      exit(0)
    }
    var result = ProofResult()
    let count = options.count ?? 1000
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let (gone, late) = (scratch.file("gone.db"), scratch.file("late.db"))
    // The feed can't replay what another process writes, which the first part is without.
    for part in 0..<2 {
      let ledger = Ledger()
      let path = scratch.file("\(part).db")
      let (tried, details) = try Elsewhere.inTask { [seed = options.seed] in
        try await observe(
          path, commits: count / 2, withProcess: part == 1, seed, ledger)
      }
      result.tried += tried
      result.details += details
      result.failures += ledger.failures
    }
    let ledger = Ledger()
    result.details += try Elsewhere.inTask {
      try await comeAndGo(gone, times: min(1000, max(20, count / 1000)), ledger)
    }
    result.details += try Elsewhere.inTask {
      try await latency(late, times: min(1000, max(100, count / 100)), ledger)
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

  // MARK: Writing

  static let schema: SQL = """
    CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
    INSERT INTO counter VALUES (1, 0);
    CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, amount REAL);
    CREATE TABLE part (item REFERENCES item (id) ON DELETE CASCADE ON UPDATE CASCADE, n);
    CREATE TABLE word (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
    """

  struct Undone: Error {}

  /// One transaction: it counts itself, and does some things that can fail or are undone in part.
  static func write(_ db: Database, _ generator: inout SeededGenerator) throws {
    try db.executeUpdate("UPDATE counter SET value = value + 1")
    for _ in 0..<Int.random(in: 0...4, using: &generator) {
      switch Int.random(in: 0..<12, using: &generator) {
      case 0:
        try? db.inSavepoint { db in
          _ = try db.executeUpdate(SQL(raw: statement(&generator)))
          if Bool.random(using: &generator) { throw Undone() }
        }
      case 1: throw Undone()
      case 2:
        db.setRollbackOnly()
        return
      default: _ = try? db.executeUpdate(SQL(raw: statement(&generator)))
      }
    }
  }

  private static func statement(_ generator: inout SeededGenerator) -> String {
    let id = Int.random(in: 1...40, using: &generator)
    let other = Int.random(in: 1...40, using: &generator)
    let or =
      ["", "", "", "OR REPLACE", "OR FAIL", "OR IGNORE", "OR ROLLBACK"].randomElement(
        using: &generator) ?? ""
    return [
      "INSERT \(or) INTO item VALUES (\(id), 'a\(other)', \(other)), (\(other), 'b\(id)', 0.5)",
      "UPDATE \(or) item SET name = 'a\(other)', amount = \(id) WHERE id BETWEEN \(id) AND \(id + 2)",
      "UPDATE \(or) item SET id = \(other) WHERE id = \(id)",
      "DELETE FROM item WHERE id = \(id)", "DELETE FROM part",
      "INSERT INTO part VALUES (\(id), \(other))",
      "UPDATE part SET n = n + 1 WHERE rowid % 3 = 0",
      "INSERT \(or) INTO word VALUES ('\(id)', \(other))",
      "UPDATE \(or) word SET k = '\(other)' WHERE k = '\(id)'",
      "INSERT INTO word VALUES ('\(id)', 0) ON CONFLICT DO UPDATE SET v = v + 1",
      "DELETE FROM word WHERE k = '\(id)'",
    ].randomElement(using: &generator) ?? ""
  }

  private static func writeElsewhere(_ path: String, _ count: Int, _ seed: UInt64) throws {
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    var generator = SeededGenerator(seed: seed &+ 99)
    Parent.tell("ready")
    Parent.wait()
    for _ in 0..<count { try? queue.inTransaction { try write($0, &generator) } }
    Parent.tell("done")
  }

  static let configuration = {
    var configuration = Configuration(profile: .durable)
    configuration.busyTimeout = .seconds(60)
    return configuration
  }()

  // MARK: Observing

  private static func observe(
    _ path: String, commits: Int, withProcess: Bool, _ seed: UInt64, _ ledger: Ledger
  ) async throws -> (Int, [String]) {
    let pool = try DatabasePool(path: path, configuration: configuration)
    try await pool.inTransaction { try $0.executeStatements(schema) }
    let copy = try FeedCopy(schema)
    let values = Recorder<Int>()
    let begun = Recorder<Bool>()
    let feed = Task {
      var number = 0
      for try await transaction in pool.changes(
        of: FeedCopy.tables, limit: 10_000_000, beginning: { _ in begun.add(true) })
      {
        if transaction.number <= number { ledger.fail("transaction \(transaction.number) twice") }
        number = transaction.number
        if withProcess {
          if transaction.isFromElsewhere, !transaction.changes.isEmpty { ledger.fail("changes") }
        } else {
          try copy.apply(transaction, ledger)
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
    if !withProcess { try await copy.compare(with: pool, ledger) }
    try pool.close()
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
              _ = try? await pool.inTransaction { db in try random.withLock { try write(db, &$0) } }
            } else {
              _ = await onThread {
                try pool.inTransaction { db in try random.withLock { try write(db, &$0) } }
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

  // MARK: What is left

  private static func comeAndGo(_ path: String, times: Int, _ ledger: Ledger) async throws
    -> [String]
  {
    let pool = try DatabasePool(path: path, configuration: configuration)
    try await pool.inTransaction { try $0.executeStatements(schema) }
    func round(_ observers: Int) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<observers {
          group.addTask {
            if number % 8 == 0 {
              let feed = Task { for try await _ in pool.changes(of: ["item"]) {} }
              await Task.yield()
              feed.cancel()
              _ = try await feed.value
            }
            var values = pool.values { try $0.value("SELECT count(*) FROM item", as: Int.self) }
              .makeAsyncIterator()
            _ = try await values.next()
          }
        }
        try await group.waitForAll()
      }
      try await pool.inTransaction {
        _ = try $0.executeUpdate("UPDATE counter SET value = value + 1")
      }
    }
    let observers = times < 100 ? 100 : 1000
    for _ in 0..<3 { try await round(observers) }
    let before = Resources.now
    for _ in 0..<times { try await round(observers) }
    // The watcher closes its descriptor on a queue of its own.
    var after = Resources.now
    for _ in 0..<100 where after.descriptors > before.descriptors {
      try await Task.sleep(for: .milliseconds(10))
      after = Resources.now
    }
    if after.descriptors > before.descriptors {
      ledger.fail("\(before.descriptors) descriptors before, \(after.descriptors) after")
    }
    if after.memory > before.memory + 8 * 1_048_576 {
      ledger.fail("\(before.memory) bytes before, \(after.memory) after")
    }
    try pool.close()
    return [
      "\(observers) observers came and went \(times) times: \(after.memory - before.memory) bytes more"
    ]
  }

  private struct Resources {
    let descriptors: Int
    let memory: Int

    static var now: Resources {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
      let pages =
        (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?
        .split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return Resources(descriptors: files, memory: pages * 4096)
    }
  }

  // MARK: How soon

  private static func latency(_ path: String, times: Int, _ ledger: Ledger) async throws -> [String]
  {
    let pool = try DatabasePool(path: path)
    try await pool.inTransaction { try $0.executeStatements(schema) }
    let seen = Recorder<(value: Int, at: Int)>()
    let observer = Task {
      for try await value in pool.values(of: {
        try $0.value("SELECT value FROM counter", as: Int.self) ?? 0
      }) {
        seen.add((value, MonotonicClock.nanoseconds))
      }
    }
    defer { observer.cancel() }
    func wait(for value: Int) async throws -> Int {
      while true {
        if let last = seen.elements.last, last.value >= value { return last.at }
        try await Task.sleep(for: .microseconds(200))
      }
    }
    var own: [Int] = []
    for number in 1...times {
      try await pool.inTransaction {
        _ = try $0.executeUpdate("UPDATE counter SET value = value + 1")
      }
      let committed = MonotonicClock.nanoseconds
      own.append(try await wait(for: number) - committed)
      if number % 100 == 0 { seen.removeAll() }
    }
    // The shell's clock is this one's.
    var foreign: [Int] = []
    let other = try Database(path: path)
    for number in 1...min(times, 200) {
      try other.executeUpdate("UPDATE counter SET value = value + 1")
      let committed = MonotonicClock.nanoseconds
      foreign.append(try await wait(for: times + number) - committed)
    }
    let medians = [own, foreign].map { Double($0.sorted()[$0.count / 2]) / 1e6 }
    // Short forms run beside other tests.
    let isMeasured = times >= 1000
    if isMeasured, medians[0] > 1 {
      ledger.fail("a commit reaches an observer after \(medians[0]) ms")
    }
    if isMeasured, medians[1] > 20 { ledger.fail("another connection's after \(medians[1]) ms") }
    return [
      "seen after \(milliseconds(medians[0])) ms, of another connection after \(milliseconds(medians[1])) ms"
    ]
  }

  private static func milliseconds(_ number: Double) -> String {
    String(format: "%.2f", max(0, number))
  }
}

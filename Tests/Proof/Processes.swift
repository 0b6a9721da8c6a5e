import Foundation
import Larder
import ProofSupport
import TestSupport

/// Processes that add to one number, and SQLite's shell that holds the lock now and then: the sum is
/// exact, and nobody is told that the database is busy. In some of them one thread adds, in others
/// threads and tasks do, which share the syncs of a durable queue or pool.
enum Processes: ProofRow {
  static let name = "processes"
  static let number = 11
  static let unit = "transactions"

  private static let processes = 8

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 3, let number = Int(options.rest[1]) {
      try add(options.rest[0], number, Kind(rawValue: options.rest[2]) ?? .queue)
      exit(0)
    }
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    let path = folder + "/main.db"
    try DatabaseQueue(path: path).inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE counter (own INTEGER NOT NULL, foreigner INTEGER NOT NULL);
        INSERT INTO counter VALUES (0, 0);
        """)
    }
    let each = max(1, (options.count ?? processes * 200) / processes)
    let children = try (0..<processes).map { index in
      let kind = index % 2 == 0 ? Kind.queue : index % 4 == 1 ? .durableQueue : .durablePool
      return try ChildProcess.again(name, "--", path, String(each), kind.rawValue)
    }
    for child in children where child.line() != "ready" {
      throw WrongAnswer(description: "a process doesn't begin")
    }
    var result = ProofResult()
    let holds = try hold(path, while: children, options.seed)
    var waits: [Int] = []
    for child in children {
      for line in child.remainingLines(patience: .seconds(86_400)) {
        if let time = Int(line) { waits.append(time) } else { result.failures.append(line) }
      }
      if child.end() != 0 { result.failures.append("a process ended with \(child.end())") }
    }
    result.tried = waits.count
    let db = try Database(path: path)
    let own = try db.value("SELECT own FROM counter", as: Int.self)
    let foreigner = try db.value("SELECT foreigner FROM counter", as: Int.self)
    if own != each * processes || foreigner != holds {
      result.failures.append("the sums are \(own ?? -1) and \(foreigner ?? -1)")
    }
    waits.sort()
    result.details =
      ["holds of the shell: \(holds)"]
      + [("50", 0.5), ("99", 0.99), ("99.9", 0.999), ("100", 1)].map { label, part in
        let wait = waits.isEmpty ? 0 : waits[Int(Double(waits.count - 1) * part)]
        return "\(label) % within \(Double(wait) / 1000) ms"
      }
    return result
  }

  /// Has SQLite's shell write in transactions that last some milliseconds, until the others have
  /// ended: how many there were.
  private static func hold(
    _ path: String, while children: [ChildProcess], _ seed: UInt64
  ) throws -> Int {
    var random = SeededGenerator(seed: seed)
    let shell = try ChildProcess("sqlite3", ["-batch", path])
    shell.say(".timeout 60000")
    var holds = 0
    while children.contains(where: { $0.isRunning }) {
      shell.say("BEGIN IMMEDIATE; UPDATE counter SET foreigner = foreigner + 1; SELECT 'held';")
      guard shell.line() == "held" else {
        throw WrongAnswer(description: "SQLite's shell doesn't get the lock")
      }
      // All others begin while it is held, and longer than many attempts take.
      if holds == 0 { for child in children { child.say() } }
      usleep(holds == 0 ? 300_000 : UInt32.random(in: 0...8000, using: &random))
      shell.say("COMMIT; SELECT 'free';")
      guard shell.line() == "free" else {
        throw WrongAnswer(description: "SQLite's shell can't commit")
      }
      holds += 1
      usleep(UInt32.random(in: 0...10_000, using: &random))
    }
    return holds
  }

  /// What a process adds with.
  private enum Kind: String {
    /// One thread, and synchronous NORMAL.
    case queue
    /// Two threads and two tasks, and synchronous FULL.
    case durableQueue, durablePool

    func open(_ path: String) throws -> any DatabaseAccess {
      var configuration = Configuration(profile: self == .queue ? .service : .durable)
      configuration.busyTimeout = .seconds(60)
      configuration.scopeTimeout = .seconds(60)
      return self == .durablePool
        ? try DatabasePool(path: path, configuration: configuration)
        : try DatabaseQueue(path: path, configuration: configuration)
    }
  }

  /// Adds one that often, each in a transaction of its own, and tells how many microseconds each took.
  private static func add(_ path: String, _ number: Int, _ kind: Kind) throws {
    let access = try kind.open(path)
    Parent.tell("ready")
    _ = readLine()
    let lines = Lock<[String]>([])
    let callers = kind == .queue ? 1 : 4
    let adding = DispatchGroup()
    for caller in 0..<callers {
      let share = number * (caller + 1) / callers - number * caller / callers
      adding.enter()
      if caller < 2 {
        Thread.detachNewThread {
          for _ in 0..<share { time(lines) { try access.inTransaction { try add($0) } } }
          adding.leave()
        }
      } else {
        Task.detached {
          for _ in 0..<share {
            await time(lines) { try await access.inTransaction { try add($0) } }
          }
          adding.leave()
        }
      }
    }
    adding.wait()
    for line in lines.withLock({ $0 }) { Parent.tell(line) }
  }

  private static func add(_ db: Database) throws {
    // Read first: nobody else may have written in between.
    let sum = try db.value("SELECT own FROM counter", as: Int.self) ?? 0
    try db.executeUpdate("UPDATE counter SET own = ?", sum + 1)
  }

  private static func time(_ lines: Lock<[String]>, _ body: () throws -> Void) {
    let start = ContinuousClock.now
    take(Result { try body() }, since: start, lines)
  }

  private static func time(
    _ lines: Lock<[String]>, _ body: () async throws -> Void
  ) async {
    let start = ContinuousClock.now
    do {
      try await body()
      take(.success(()), since: start, lines)
    } catch {
      take(.failure(error), since: start, lines)
    }
  }

  private static func take(
    _ outcome: Result<Void, any Error>, since start: ContinuousClock.Instant,
    _ lines: Lock<[String]>
  ) {
    let time = ContinuousClock.now - start
    lines.withLock { lines in
      switch outcome {
      case .success: lines.append(String(Int(time / .microseconds(1))))
      case .failure(let error): lines.append("error: \(error)")
      }
    }
  }
}

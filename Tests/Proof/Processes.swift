import Foundation
import Larder

/// Processes that add to one number, and SQLite's shell that holds the lock now and then: the sum is
/// exact, and nobody is told that the database is busy.
enum Processes: ProofRow {
  static let name = "processes"
  static let number = 11
  static let unit = "transactions"

  private static let processes = 8

  static func run(_ options: ProofOptions) throws -> ProofResult {
    if options.rest.count == 2, let number = Int(options.rest[1]) {
      try add(options.rest[0], number)
      exit(0)
    }
    let folder = try ProofFolder.make()
    defer { ProofFolder.remove(folder) }
    let path = folder + "/main.db"
    try DatabaseQueue(path: path).inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE counter (own INTEGER NOT NULL, foreigner INTEGER NOT NULL);
        INSERT INTO counter VALUES (0, 0);
        """)
    }
    let each = max(1, (options.count ?? processes * 200) / processes)
    let children = try (0..<processes).map { _ in
      try ChildProcess(name, "--", path, String(each))
    }
    for child in children where child.line() != "ready" {
      throw WrongAnswer(description: "a process doesn't begin")
    }
    var result = ProofResult()
    let holds = try hold(path, while: children, options.seed)
    var waits: [Int] = []
    for child in children {
      for line in child.remainingLines() {
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
    var random = RandomNumbers(seed: seed)
    let shell = try ChildProcess(program: "sqlite3", arguments: ["sqlite3", "-batch", path])
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

  /// Adds one that often, each in a transaction of its own, and tells how many microseconds each took.
  private static func add(_ path: String, _ number: Int) throws {
    var configuration = Configuration()
    configuration.busyTimeout = .seconds(60)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    tellParent("ready")
    _ = readLine()
    var times: [Duration] = []
    do {
      for _ in 0..<number {
        times.append(
          try ContinuousClock().measure {
            try queue.inTransaction { db in
              // Read first: nobody else may have written in between.
              let sum = try db.value("SELECT own FROM counter", as: Int.self) ?? 0
              try db.executeUpdate("UPDATE counter SET own = ?", sum + 1)
            }
          })
      }
    } catch {
      tellParent("error: \(error)")
    }
    for time in times { tellParent(String(Int(time / .microseconds(1)))) }
  }
}

import Foundation
import Larder
import ProofSupport
import TestSupport

/// What is done to one database in a round: an import of many pages, single rows, and what makes checkpoints.
struct ResetWork {
  let path: String
  let shape: Shape
  let pause: Int32
  let seed: UInt64
  /// Whether the log is to begin anew more often than by default.
  let isShort: Bool

  /// Who works on the file.
  struct Shape: CustomStringConvertible {
    /// The accesses of this process.
    var accesses: [Access]
    /// Whether another process works on it too.
    var hasOther = false

    enum Access: String, CaseIterable { case queue, pool, durableQueue, durablePool, database }

    static func random(using random: inout SeededGenerator) -> Shape {
      let count = Bool.random(using: &random) ? 1 : 2
      let accesses = (0..<count).map { _ in Access.allCases.randomElement(using: &random) ?? .pool }
      return Shape(accesses: accesses, hasOther: Int.random(in: 0..<4, using: &random) == 0)
    }

    var description: String {
      accesses.map(\.rawValue).joined(separator: " + ") + (hasOther ? " + process" : "")
    }
  }

  init(path: String, _ shape: Shape, _ pause: Int32, seed: UInt64, isShort: Bool) {
    (self.path, self.shape, self.pause) = (path, shape, pause)
    (self.seed, self.isShort) = (seed, isShort)
  }

  /// Works until the import is done, then checks. Returns how many rows there are.
  func run() throws -> Int {
    let setUp = try Database(path: path)
    try setUp.executeStatements(
      """
      CREATE TABLE IF NOT EXISTS payment (id INTEGER PRIMARY KEY, note TEXT NOT NULL, body BLOB NOT NULL);
      CREATE INDEX IF NOT EXISTS payment_note ON payment (note);
      """)
    let before = try setUp.value("SELECT count(*) FROM payment", as: Int.self) ?? 0
    try setUp.close()
    let other = shape.hasOther ? try other() : nil
    let ledger = ResetLedger()
    let group = DispatchGroup()
    for (index, access) in shape.accesses.enumerated() {
      let worker = ResetWorker(
        path: path, access, ledger, random: SeededGenerator(seed: seed &+ UInt64(index)),
        isShort: isShort)
      group.enter()
      Thread.detachNewThread {
        worker.work(imports: index == 0)
        group.leave()
      }
    }
    group.wait()
    var acknowledged = ledger.rows
    if let other {
      other.say()
      acknowledged += other.remainingLines(patience: .seconds(120)).compactMap { Int($0) }.reduce(
        0, +)
      guard other.end() == 0 else { throw WrongAnswer(description: "the other process failed") }
    }
    if let failure = ledger.failure { throw failure }
    return try check(before + acknowledged)
  }

  private func check(_ expected: Int) throws -> Int {
    let db = try Database(path: path)
    let found = try db.value("PRAGMA integrity_check", as: String.self)
    try WrongAnswer.check(found, "ok", "the integrity check")
    let rows = try db.value("SELECT count(*) FROM payment", as: Int.self) ?? 0
    try WrongAnswer.check(rows, expected, "the number of rows")
    try db.close()
    return rows
  }

  private func other() throws -> ChildProcess {
    let other = try ChildProcess.again(
      WALReset.name, "--", path, String(pause), String(seed &+ 100))
    guard other.line() == "ready" else {
      throw WrongAnswer(description: "the other process doesn't begin")
    }
    return other
  }

  /// What the other process does until it is told to end.
  static func runBeside(path: String, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let access = Shape.Access.allCases.randomElement(using: &random) ?? .pool
    let ledger = ResetLedger()
    let isOver = Lock(false)
    Thread.detachNewThread {
      _ = readLine()
      isOver.withLock { $0 = true }
    }
    Parent.tell("ready")
    let worker = ResetWorker(path: path, access, ledger, random: random, isShort: true)
    worker.work(imports: false) { isOver.withLock { $0 } }
    if let failure = ledger.failure { throw failure }
    Parent.tell(String(ledger.rows))
  }
}

/// What was committed, and the first thing that went wrong.
final class ResetLedger: Sendable {
  private let state = Lock((rows: 0, failure: nil as (any Error)?, isImported: false))

  func add(_ rows: Int) { state.withLock { $0.rows += rows } }
  func fail(_ error: any Error) { state.withLock { $0.failure = $0.failure ?? error } }
  func hasImported() { state.withLock { $0.isImported = true } }

  var rows: Int { state.withLock { $0.rows } }
  var failure: (any Error)? { state.withLock { $0.failure } }
  var isOver: Bool { state.withLock { $0.isImported || $0.failure != nil } }
}

import CFaultInjection
import Foundation
import Larder
import ProofSupport
import TestSupport

/// Sixteen threads that write in a queue or a pool while others read: what they write adds up, and each
/// reader sees both tables as they were at one moment. Built with the thread sanitizer, it finds races.
enum Threads: ProofRow {
  static let name = "threads"
  static let number = 9
  static let unit = "transactions"

  private static let writers = 16
  private static let readers = 4
  /// How many each writer makes in a round. Of twenty, one is rolled back and one throws.
  private static let each = 200

  private struct Doubt: Error {}

  static func run(_ options: ProofOptions) throws -> ProofResult {
    let scratch = try ScratchFolder(inMemory: true)
    defer { scratch.remove() }
    let folder = scratch.path
    var alone = Configuration()
    alone.groupCommit = false
    let kinds: [(name: String, open: (String) throws -> any DatabaseAccess)] = [
      ("queue", { try DatabaseQueue(path: $0) }),
      ("queue without shared commits", { try DatabaseQueue(path: $0, configuration: alone) }),
      ("pool", { try DatabasePool(path: $0) }),
    ]
    var result = ProofResult()
    var round = 0
    while options.goesOn(after: result.tried) {
      let (name, open) = kinds[round % kinds.count]
      fault_watch("threads, round \(round), \(name)", 60)
      do {
        let access = try open(folder + "/\(round).db")
        try stress(access)
        try access.close()
      } catch {
        result.failures.append("round \(round), \(name): \(error)")
      }
      try ScratchFolder.empty(folder)
      result.tried += writers * each
      round += 1
      if options.count == nil, options.seconds == nil, round == kinds.count { break }
    }
    fault_watch("", 0)
    result.details = ["rounds: \(round)"]
    return result
  }

  private static func stress(_ access: any DatabaseAccess) throws {
    try access.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE account (balance INTEGER NOT NULL);
        CREATE TABLE entry (writer INTEGER NOT NULL, number INTEGER NOT NULL);
        INSERT INTO account VALUES (0);
        """)
    }
    let outcomes = Lock(Outcomes())
    let reading = DispatchGroup()
    let writing = DispatchGroup()
    for _ in 0..<readers {
      start(in: reading, outcomes) { while !outcomes.withLock(\.isDone) { try read(access) } }
    }
    for writer in 0..<writers {
      start(in: writing, outcomes) { try write(access, writer) }
    }
    writing.wait()
    outcomes.withLock { $0.isDone = true }
    reading.wait()
    if let error = outcomes.withLock(\.firstError) { throw error }
    try access.read { db in
      let expected = writers * each * 18 / 20
      let found = try moment(db)
      guard found.balance == expected, found.entries == expected else {
        throw WrongAnswer(description: "\(found) instead of \(expected)")
      }
      let uneven = try db.value(
        """
        SELECT count(*)
        FROM (SELECT count(DISTINCT number) AS n FROM entry GROUP BY writer) WHERE n <> ?
        """, expected / writers, as: Int.self)
      guard uneven == 0, try db.value("PRAGMA integrity_check", as: String.self) == "ok" else {
        throw WrongAnswer(description: "\(uneven ?? -1) writers have another number of rows")
      }
    }
  }

  private static func start(
    in group: DispatchGroup, _ outcomes: Lock<Outcomes>,
    _ body: @escaping @Sendable () throws -> Void
  ) {
    group.enter()
    Thread.detachNewThread {
      do { try body() } catch { outcomes.withLock { $0.firstError = $0.firstError ?? error } }
      group.leave()
    }
  }

  private static func write(_ access: any DatabaseAccess, _ writer: Int) throws {
    for number in 0..<each {
      do {
        try access.inTransaction { db in
          try db.executeUpdate("UPDATE account SET balance = balance + 1")
          try db.executeUpdate("INSERT INTO entry VALUES (?, ?)", writer, number)
          if number % 20 == 3 { db.setRollbackOnly() }
          if number % 20 == 7 { throw Doubt() }
        }
      } catch is Doubt {}
    }
  }

  private static func read(_ access: any DatabaseAccess) throws {
    let (first, second) = try access.read { (try moment($0), try moment($0)) }
    guard first.balance == first.entries, first == second else {
      throw WrongAnswer(description: "a reader sees \(first), then \(second)")
    }
  }

  private static func moment(_ db: Database) throws -> (balance: Int, entries: Int) {
    (
      try db.value("SELECT balance FROM account", as: Int.self) ?? -1,
      try db.value("SELECT count(*) FROM entry", as: Int.self) ?? -1
    )
  }

  /// What threads tell one another.
  private struct Outcomes {
    var firstError: (any Error)?
    var isDone = false
  }
}

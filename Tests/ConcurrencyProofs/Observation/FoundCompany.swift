import Foundation
import Larder
import LarderChangeset
import ProofSupport
import Synchronization
import TestSupport

/// A feed in the company of what replaces tables under it: another process that alters them, the restoring of copies, and
/// changesets. Whoever is told that something unknown was committed begins anew; whatever is told in between has to fit
/// the tables as they were read then, column by column and byte by byte.
enum FoundCompany {
  private static let altered = "wide"
  private static let tables = ObservedWriting.tables + [altered]

  static func run(
    _ path: String, copy: String, commits: Int, _ seed: UInt64, _ ledger: ObservationRow.Ledger
  ) async throws -> [String] {
    let pool = try DatabasePool(path: path, configuration: ObservedWriting.configuration)
    try await pool.inTransaction { db in
      try ObservedWriting.fill(db)
      try db.executeStatements("CREATE TABLE wide (c0, x); INSERT INTO wide VALUES (1, 1), (2, 2)")
    }
    try await pool.inDatabase { try $0.backup(to: copy) }
    let child = try ChildProcess.again(
      ObservationRow.name, "--seed", "\(seed)", "--", path, "alter", "\(commits)")
    guard child.line() == "ready" else { throw WrongAnswer(description: "no process") }
    let begun = Recorder<Bool>()
    let told = Count()
    let ended = Recorder<Bool>()
    let follower = Task {
      do {
        while try await !follow(pool, begun, told) {}
      } catch {
        ledger.fail("\(error)")
      }
      ended.add(true)
    }
    while begun.elements.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    child.say()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<2 {
        group.addTask {
          let random = Lock(SeededGenerator(seed: seed &+ 7 &+ UInt64(writer)))
          for number in 1...max(1, commits / 2) {
            try await write(pool, copy, number + writer * 150, random)
          }
        }
      }
      try await group.waitForAll()
    }
    child.say()
    if child.line(before: .now + .seconds(600)) != "done" { ledger.fail("the process failed") }
    // A feed that begins behind the last transaction isn't told of it.
    let start = ContinuousClock.now
    while ended.elements.isEmpty, .now - start < .seconds(120) {
      try await pool.inTransaction { try Followers.writeLast($0) }
      try await Task.sleep(for: .milliseconds(100))
    }
    if ended.elements.isEmpty { ledger.fail("the feed in company doesn't end") }
    follower.cancel()
    try await pool.close()
    return [
      "\(told.value) changes told in company, by a feed that began \(begun.elements.count) times"
    ]
  }

  /// One transaction, or now and then something that nobody can tell row by row.
  private static func write(
    _ pool: DatabasePool, _ copy: String, _ number: Int, _ random: Lock<SeededGenerator>
  ) async throws {
    if number % 997 == 0 {
      _ = try? await pool.inDatabase { db -> Void in try db.restore(from: copy) }
    } else if number % 311 == 0 {
      _ = try? await pool.inTransaction { db -> Void in
        let changeset = try db.record("item", "word") { db in
          try db.executeUpdate("UPDATE item SET amount = amount + 1 WHERE id < 9")
        }
        try changeset.inverted().apply(to: db) { _ in .omit }
      }
    } else {
      let isStatement = number % 3 == 0
      _ = try? await pool.inDatabase { db -> Void in
        if isStatement {
          try db.executeUpdate("UPDATE wide SET x = x + 1")
        } else {
          try db.inTransaction(number % 2 == 0 ? .immediate : .deferred) { db -> Void in
            try random.withLock { try ObservedWriting.write(db, &$0) }
            try db.executeUpdate("UPDATE wide SET x = -x WHERE rowid = 1")
          }
        }
      }
    }
  }

  /// Follows until something unknown is told, or the last transaction; true for that.
  private static func follow(
    _ pool: DatabasePool, _ begun: Recorder<Bool>, _ told: Count
  ) async throws -> Bool {
    let copy = Lock<TableCopy?>(nil)
    let feed = pool.changes(of: tables, limit: 10_000_000, byteLimit: 1 << 30) { db in
      let read = try TableCopy(of: tables, in: db)
      copy.withLock { $0 = read }
      begun.add(true)
    }
    var iterator = feed.makeAsyncIterator()
    while let transaction = try await iterator.next() {
      if transaction.isFromElsewhere { return false }
      let isLast = try copy.withLock { copy in
        for change in transaction.changes { try copy?.apply(change) }
        return transaction.changes.contains { $0.new?.contains("end") == true }
      }
      told.add(transaction.changes.count)
      guard isLast else { continue }
      let state = try await pool.read { try TableCopy(of: tables, in: $0).state }
      guard copy.withLock({ $0?.state == state }) else {
        throw WrongAnswer(description: "the copy in company isn't the same")
      }
      return true
    }
    return true
  }

  /// Alters a table from a process of its own, until its parent says that it is enough.
  static func alterElsewhere(_ path: String) throws {
    let queue = try DatabaseQueue(path: path, configuration: ObservedWriting.configuration)
    Parent.tell("ready")
    Parent.wait()
    let isOver = Count()
    Thread.detachNewThread {
      Parent.wait()
      isOver.add(1)
    }
    while isOver.value == 0 {
      // A copy that was restored has its first name again.
      try? queue.inTransaction { db in
        let name = try db.columns(of: altered)[0].name
        let number = (Int(name.dropFirst()) ?? 0) + 1
        try db.executeUpdate(SQL(raw: "ALTER TABLE wide RENAME COLUMN \(name) TO c\(number)"))
      }
      usleep(30_000)
    }
    Parent.tell("done")
  }

  /// A count that several threads add to.
  final class Count: Sendable {
    private let sum = Atomic<Int>(0)
    var value: Int { sum.load(ordering: .relaxed) }
    func add(_ number: Int) { sum.add(number, ordering: .relaxed) }
  }
}

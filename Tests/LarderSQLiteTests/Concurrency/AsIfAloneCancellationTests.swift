import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite(
  "As if alone: cancellation is prompt, and no thread of tasks is blocked", .serialized,
  .promptly)
struct AsIfAloneCancellationTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private static let tasksOnFiles = Company.tasks.filter { $0.storage != .memory }

  private static func wait(for semaphore: DispatchSemaphore) async throws {
    try await yieldUntil { semaphore.wait(timeout: .now()) == .success }
  }

  @Test("It ends the wait for another connection's lock at once", arguments: tasksOnFiles)
  func beginning(company: Company) async throws {
    let access = try company.open(in: folder) { $0.busyTimeout = .seconds(watchdogSeconds) }
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    for kind in [TransactionKind.immediate, .exclusive] {
      let task = Task {
        try await access.inTransaction(kind) { _ in _ = Issue.record("the closure ran") }
      }
      // In the line, before it, or, most likely, in the wait for the lock: it makes no difference.
      for _ in 0..<1000 { await Task.yield() }
      task.cancel()
      let start = ContinuousClock.now
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(ContinuousClock.now - start < .seconds(5))
    }
    try other.rollback()
    #expect(try await access.inTransaction { try $0.cityCount() } == 4)
  }

  @Test("It ends a statement's wait for a lock", arguments: tasksOnFiles)
  func writing(company: Company) async throws {
    let access = try company.open(in: folder) { $0.busyTimeout = .seconds(10) }
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    let isWaiting = DispatchSemaphore(value: 0)
    let task = Task {
      try await access.inDatabase { db in
        isWaiting.signal()
        try db.executeUpdate("DELETE FROM city")
      }
    }
    try await Self.wait(for: isWaiting)
    let start = ContinuousClock.now
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(ContinuousClock.now - start < .seconds(5))
    try other.rollback()
    #expect(try await access.read { try $0.cityCount() } == 4)
  }

  @Test("It ends a backup, which leaves no file", arguments: Company.tasks)
  func backup(company: Company) async throws {
    let access = try company.open(in: folder)
    try await access.inTransaction { db in
      try db.executeStatements(
        """
        CREATE TABLE photo (bytes BLOB);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO photo SELECT zeroblob(4000) FROM n;
        """)
    }
    let copy = folder.file("copy.db")
    let steps = Recorder<Int>()
    let isCopying = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let task = Task {
      try await access.read { db in
        try db.backup(to: copy, pagesPerStep: 1) { left, _ in
          steps.add(left)
          guard steps.elements.count == 3 else { return }
          isCopying.signal()
          try goOn.waitOrThrow()
        }
      }
    }
    try await Self.wait(for: isCopying)
    task.cancel()
    goOn.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(steps.elements.count <= 4)
    #expect(!folder.exists("copy.db"))
    #expect(try await access.read { try $0.cityCount() } == 4)
  }

  @Test(
    "It ends the wait for a reader that is being opened",
    arguments: Company.pools.filter(\.isAsynchronous))
  func openingReader(company: Company) async throws {
    let isOpening = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let pool = try company.open(in: folder) { configuration in
      configuration.prepareDatabase = { db in
        guard db.isReadOnly else { return }
        isOpening.signal()
        try goOn.waitOrThrow()
      }
    }
    let cancelled = Task {
      try await pool.read { _ in _ = Issue.record("the closure ran") }
    }
    let hasEnded = DispatchSemaphore(value: 0)
    let witness = Caller {
      defer { goOn.signal() }
      try isOpening.waitOrThrow()
      cancelled.cancel()
      #expect(hasEnded.wait(timeout: .now() + 20) == .success, "it waits until the reader is open")
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    hasEnded.signal()
    try await witness.end()
  }

  @Test(
    "Readers that take their time to open keep no task from running",
    arguments: Company.pools.filter(\.isAsynchronous))
  func openingBlocksNoThread(company: Company) async throws {
    let goOn = DispatchSemaphore(value: 0)
    let count = ProcessInfo.processInfo.activeProcessorCount + 2
    let pool = try company.open(in: folder) { configuration in
      configuration.maximumReaders = count
      configuration.prepareDatabase = { db in
        if db.isReadOnly { try goOn.waitOrThrow() }
      }
    }
    let readers = (0..<count).map { _ in
      Caller(task: { () async throws in #expect(try await pool.read { try $0.cityCount() } == 4) })
    }
    // A thread, so that letting go takes none of those that tasks need.
    let ran = DispatchSemaphore(value: 0)
    let witness = Caller {
      Task.detached(priority: .high) {
        for _ in 0..<100 { await Task.yield() }
        ran.signal()
      }
      defer { for _ in 0..<count { goOn.signal() } }
      #expect(ran.wait(timeout: .now() + 20) == .success, "a task didn't run meanwhile")
    }
    try await witness.end()
    for reader in readers { try await reader.end() }
  }

  @Test(
    "A task that is cancelled behind others leaves the line, however many wait",
    arguments: Company.tasks.filter(\.sharesSyncs))
  func many(company: Company) async throws {
    let access = try company.open(in: folder) { $0.scopeTimeout = .seconds(watchdogSeconds) }
    let holder = try Holder(access)
    let count = 40_000
    let ended = Recorder<Int>()
    let group = Caller(task: {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
          group.addTask(priority: .high) {
            do {
              try await access.inTransaction { _ in }
              Issue.record("the closure ran")
            } catch is CancellationError {
              if number % 1000 == 0 { ended.add(number) }
            } catch {
              Issue.record(error)
            }
          }
        }
        // All wait, since the writer is held.
        try? await yieldUntil { access.waitingCount == count }
        group.cancelAll()
      }
    })
    // While they leave, the writer is still held.
    try await group.end()
    #expect(access.waitingCount == 0)
    #expect(ended.elements.count == count / 1000)
    try holder.release()
    #expect(try await access.inTransaction { try $0.cityCount() } == 4)
  }

  @Test("Whoever is cancelled once it is committed is told that it is", arguments: Company.tasks)
  func afterCommit(company: Company) async throws {
    let access = try company.open(in: folder)
    let committed = Recorder<Int>()
    for number in 0..<200 {
      let task = Task {
        try await access.inTransaction { db in
          try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "city \(number)")
        }
      }
      for _ in 0..<(number % 20) { await Task.yield() }
      task.cancel()
      do {
        _ = try await task.value
        committed.add(number)
      } catch is CancellationError {}
    }
    let names = try await access.read {
      try $0.texts("SELECT name FROM city WHERE id > 4 ORDER BY id")
    }
    #expect(names == committed.elements.map { "city \($0)" })
  }
}

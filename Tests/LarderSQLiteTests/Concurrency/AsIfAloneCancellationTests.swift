import Dispatch
import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

@Suite(
  "As if alone: cancellation is prompt and blocks no thread of the cooperative pool", .serialized,
  .promptly)
struct AsIfAloneCancellationTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private static let tasksOnFiles = Company.tasks.filter { $0.storage != .memory }

  private static func wait(for semaphore: DispatchSemaphore) async throws {
    try await yieldUntil { semaphore.wait(timeout: .now()) == .success }
  }

  @Test(
    "Cancellation ends a transaction's wait for another connection's lock within five seconds",
    arguments: tasksOnFiles)
  func beginning(company: Company) async throws {
    let access = try company.open(in: folder) { $0.busyTimeout = .seconds(watchdogSeconds) }
    let other = try Database(path: folder.file("cities.db"))
    try other.begin()
    for kind in [TransactionKind.immediate, .exclusive] {
      let task = Task {
        try await access.inTransaction(kind) { _ in _ = Issue.record("the closure ran") }
      }
      // By now the task most likely waits for the lock. If it is still before that, the result is the same.
      for _ in 0..<1000 { await Task.yield() }
      task.cancel()
      let start = ContinuousClock.now
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(ContinuousClock.now - start < .seconds(5))
    }
    try other.rollback()
    #expect(try await access.inTransaction { try $0.cityCount() } == 4)
  }

  @Test(
    "Cancellation ends a statement's wait for another connection's lock", arguments: tasksOnFiles)
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

  @Test("Cancellation ends a backup, which leaves no file", arguments: Company.tasks)
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
    "Cancellation ends a read's wait for a reader that is being opened",
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
    "Readers that open slowly keep no other task from running",
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
    // This runs on its own thread, so that releasing the readers needs none of the task threads.
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
    "40,000 cancelled tasks leave the queue while another scope still holds the writer",
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
        // All tasks wait, since the writer is held.
        try? await yieldUntil { access.waitingCount == count }
        group.cancelAll()
      }
    })
    // The writer is still held while the tasks leave.
    try await group.end()
    #expect(access.waitingCount == 0)
    #expect(ended.elements.count == count / 1000)
    try holder.release()
    #expect(try await access.inTransaction { try $0.cityCount() } == 4)
  }

  @Test(
    "A transaction whose task is cancelled at any time either commits and returns or throws and is undone",
    arguments: Company.tasks)
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
      // Some aren't cancelled, so that some commit for certain.
      if number % 20 != 19 { task.cancel() }
      do {
        _ = try await task.value
        committed.add(number)
      } catch is CancellationError {}
    }
    let names = try await access.read {
      try $0.texts("SELECT name FROM city WHERE id > 4 ORDER BY id")
    }
    #expect(names == committed.elements.map { "city \($0)" })
    #expect(names.count >= 10)
  }
}

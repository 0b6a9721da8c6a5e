import Dispatch
import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Statistics of a queue or pool", .promptly)
struct StatisticsTests {
  private let folder: ScratchFolder

  init() throws { folder = try ScratchFolder() }

  private func open(
    isPool: Bool, configure: (inout Configuration) -> Void = { _ in }
  ) throws -> any DatabaseAccess {
    var configuration = Configuration.patient
    configure(&configuration)
    let path = folder.file("cities.db")
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: path, configuration: configuration)
      : try DatabaseQueue(path: path, configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  private static func rename(_ access: any DatabaseAccess) throws {
    _ = try access.inTransaction { try $0.executeUpdate("UPDATE city SET name = name || '!'") }
  }

  @Test(
    "`statistics.transactions` counts each scope that has the writer, also one that fails",
    arguments: [false, true])
  func transactions(isPool: Bool) throws {
    let access = try open(isPool: isPool)
    let before = access.statistics.transactions
    try Self.rename(access)
    try access.inDatabase { _ in }
    try access.inSavepoint { _ in }
    _ = try? access.inTransaction { _ in throw TookTooLong() }
    #expect(access.statistics.transactions == before + 4)
    // A pool's reads don't need the writer.
    try access.read { _ in }
    #expect(access.statistics.transactions == before + (isPool ? 4 : 5))
  }

  @Test("Without contention, the statistics of waits, retries and syncs are zero")
  func noWaits() throws {
    let access = try open(isPool: false)
    try Self.rename(access)
    let statistics = access.statistics
    #expect(statistics.waits == 0 && statistics.mostWaiting == 0 && statistics.waiting == 0)
    #expect(statistics.waited == .zero && statistics.longestWait == .zero)
    #expect(statistics.retries == 0 && statistics.syncs == 0 && statistics.largestGroup == 0)
    #expect(statistics.oldestReaderAge == nil && access.readerCounts.open == 0)
  }

  @Test(
    "`statistics.waiting` counts scopes that wait now, `waits` and `waited` those that have waited",
    arguments: [false, true])
  func waits(isPool: Bool) async throws {
    let access = try open(isPool: isPool)
    let holder = try Holder(access)
    let start = ContinuousClock.now
    let callers = [
      Caller { try Self.rename(access) },
      Caller(task: { try await access.inTransaction { _ in } }),
    ]
    try await yieldUntil { access.statistics.waiting == 2 }
    #expect(access.statistics.waits == 0)
    let waited = ContinuousClock.now
    try await yieldUntil { ContinuousClock.now - waited > .milliseconds(5) }
    try holder.release()
    for caller in callers { try await caller.end() }
    let statistics = access.statistics
    #expect(statistics.waiting == 0)
    #expect(statistics.mostWaiting == 2)
    #expect(statistics.waits == 2)
    #expect(statistics.longestWait >= .milliseconds(5))
    #expect(statistics.waited >= statistics.longestWait + .milliseconds(5))
    #expect(statistics.longestWait <= ContinuousClock.now - start)
  }

  @Test("Statistics count idle and busy readers and report the age of the oldest read scope")
  func readers() throws {
    let access = try open(isPool: true)
    #expect(access.statistics.oldestReaderAge == nil)
    try access.read { _ in
      let first = access.statistics
      #expect(first.busyReaders == 1)
      let start = ContinuousClock.now
      try waitUntil { ContinuousClock.now - start > .milliseconds(20) }
      let second = access.statistics
      let age = try #require(second.oldestReaderAge)
      #expect(age > .milliseconds(15))
      #expect(age > first.oldestReaderAge ?? .zero)
      // A younger read scope doesn't change the age.
      try access.inTransaction { _ in
        try Caller {
          try access.read { _ in
            let both = access.statistics
            #expect(both.busyReaders == 2)
            #expect(both.oldestReaderAge ?? .zero > .milliseconds(15))
          }
        }.join()
      }
    }
    #expect(access.statistics.idleReaders == 2)
    #expect(access.statistics.busyReaders == 0)
    #expect(access.statistics.oldestReaderAge == nil)
  }

  @Test("`statistics.logFrames` grows with commits and starts again after a TRUNCATE checkpoint")
  func logFrames() throws {
    let access = try open(isPool: true)
    let first = access.statistics.logFrames
    #expect(first > 0)
    for _ in 0..<5 { try Self.rename(access) }
    let grown = access.statistics.logFrames
    #expect(grown >= first + 5)
    #expect(try access.checkpoint(.truncate).logFrames == 0)
    try Self.rename(access)
    #expect((1..<first + 5).contains(access.statistics.logFrames))
  }

  @Test("`statistics.timeInCommit` grows with a commit but not with a rollback")
  func timeInCommit() throws {
    let access = try open(isPool: false)
    let before = access.statistics.timeInCommit
    try Self.rename(access)
    let after = access.statistics.timeInCommit
    #expect(after > before)
    _ = try? access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      throw TookTooLong()
    }
    #expect(access.statistics.timeInCommit == after)
  }

  @Test("`statistics.retries` counts each retry of a busy transaction")
  func retries() throws {
    let access = try open(isPool: false) { configuration in
      configuration.busyTimeout = .zero
      configuration.retryLimit = .seconds(600)
    }
    let other = try Database(path: folder.file("cities.db"))
    try other.executeUpdate("BEGIN IMMEDIATE")
    let caller = Caller { try Self.rename(access) }
    try waitUntil { access.statistics.retries >= 2 }
    #expect(!caller.hasReturned)
    try other.executeUpdate("COMMIT")
    try caller.join()
    let retries = access.statistics.retries
    try Self.rename(access)
    #expect(access.statistics.retries == retries)
    try other.close()
  }

  @Test("A trace event's `waited` is the time that its scope has waited for its turn")
  func waitedInTrace() throws {
    let waits = Recorder<(sql: String, waited: Duration)>()
    let access = try open(isPool: false) { configuration in
      configuration.trace = { waits.add(($0.sql, $0.waited)) }
    }
    #expect(waits.elements.allSatisfy { $0.waited == .zero })
    let holder = try Holder(access)
    let caller = Caller {
      _ = try access.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    try waitUntil { access.statistics.waiting == 1 }
    try holder.release()
    try caller.join()
    let events = waits.elements.filter { $0.sql.hasPrefix("DELETE") || $0.waited > .zero }
    // BEGIN, DELETE and COMMIT all have the wait of their scope.
    #expect(events.count == 3)
    #expect(Set(events.map(\.waited)).count == 1)
    #expect(events.allSatisfy { $0.waited > .zero })
    try access.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 2") }
    #expect(waits.elements.last?.waited == .zero)
  }

  @Test(
    "A scope that times out throws an error with the label and line of the scope that has the writer",
    arguments: [false, true])
  func label(isPool: Bool) async throws {
    let access = try open(isPool: isPool) { $0.scopeTimeout = .milliseconds(50) }
    let (holds, letGo) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let bodies: [(String, @Sendable () async throws -> Void)] = [
      (
        "nightly import",
        {
          try await access.inTransaction(label: "nightly import") { _ in
            holds.signal()
            try letGo.waitOrThrow()
          }
        }
      ),
      (
        "label(isPool:)",
        {
          try await access.inTransaction { _ in
            holds.signal()
            try letGo.waitOrThrow()
          }
        }
      ),
    ]
    for (name, body) in bodies {
      let caller = Caller(task: body)
      try await Task.detached { try Self.wait(for: holds) }.value
      let error = await #expect(throws: DatabaseError.self) {
        try await access.inDatabase { _ in }
      }
      #expect(error?.extendedCode == .busyTimeout)
      #expect(error?.description.contains("“\(name)” (line ") == true, "\(error as Any)")
      letGo.signal()
      try await caller.end()
    }
  }

  private static func wait(for semaphore: DispatchSemaphore) throws { try semaphore.waitOrThrow() }
}

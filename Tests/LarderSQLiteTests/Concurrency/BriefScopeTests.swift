import Dispatch
import Glibc
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Brief scopes of tasks run on the thread that their task is on", .promptly)
struct BriefScopeTests {
  private let folder: ScratchFolder
  private let queue: DatabaseQueue
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    var configuration = Configuration.patient
    // Other tests may keep the processors busy for longer than the default timeout.
    configuration.busyTimeout = .seconds(watchdogSeconds)
    queue = try DatabaseQueue(path: folder.file("queue.db"), configuration: configuration)
    try queue.inDatabase { try createCities(in: $0) }
    pool = try DatabasePool(path: folder.file("pool.db"), configuration: configuration)
    try pool.inTransaction { try createCities(in: $0) }
  }

  /// A kind of scope that is always opened by the same call, with the same label and line.
  private enum Scope: CaseIterable {
    case read, write

    private static let label: StaticString = "brief"

    func run<T: Sendable>(
      _ access: any DatabaseAccess, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
      switch self {
      case .read: try await access.read(label: Self.label, line: 1, body)
      case .write: try await access.inTransaction(.immediate, label: Self.label, line: 1, body)
      }
    }

    /// Whether a scope runs on the thread that the task was on before the call.
    func isAtOnce(
      _ access: any DatabaseAccess, _ body: @escaping @Sendable (Database) throws -> Void = { _ in }
    ) async throws -> Bool {
      let before = Self.thread()
      return try await run(access) { database in
        try body(database)
        return Self.thread() == before
      }
    }

    /// Records brief scopes of the call until one has run at once. Real ones are too slow under a sanitizer.
    func earnTrust(_ access: any DatabaseAccess) async throws {
      repeat {
        for _ in 0..<1000 {
          access.connections.tokenBuckets.note(ScopeCall(Self.label, 1), 1000)
        }
      } while try await !isAtOnce(access)
    }

    private static func thread() -> UInt { UInt(pthread_self()) }
  }

  private static func spin(for time: Duration) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {}
  }

  @Test(
    "A call runs on its task's thread after enough brief scopes, but no longer after a long one",
    .timeLimit(.minutes(10)), arguments: Scope.allCases)
  private func trust(scope: Scope) async throws {
    for access: any DatabaseAccess in [queue, pool] {
      #expect(try await !scope.isAtOnce(access))
      try await scope.earnTrust(access)
      _ = try await scope.isAtOnce(access) { _ in Self.spin(for: .milliseconds(30)) }
      for _ in 0..<40 { #expect(try await !scope.isAtOnce(access)) }
    }
  }

  @Test("A call is trusted after 16 brief scopes, but after one of a second not even after 99,999")
  private func tokens() async {
    let scopes = ScopeTokenBuckets()
    let call = ScopeCall("call", 1)
    for _ in 0..<15 { scopes.note(call, 99_000) }
    #expect(!scopes.begin(call))
    scopes.note(call, 99_000)
    #expect(!scopes.begin(ScopeCall("another call", 2)))
    // Another test's scope may hold the slot and need this thread to give it up.
    while !scopes.begin(call) { await Task.yield() }
    scopes.end()
    scopes.note(call, 1_000_000_000)
    for _ in 0..<99_999 { scopes.note(call, 1000) }
    #expect(!scopes.begin(call))
  }

  @Test(
    "Scopes that take 150 microseconds never run on their task's thread", arguments: Scope.allCases)
  private func long(scope: Scope) async throws {
    for access: any DatabaseAccess in [queue, pool] {
      for _ in 0..<40 {
        #expect(try await !scope.isAtOnce(access) { _ in Self.spin(for: .microseconds(150)) })
      }
    }
  }

  @Test(
    "A task of nothing but brief scopes lets other tasks run", .timeLimit(.minutes(10)),
    arguments: Scope.allCases)
  private func fairness(scope: Scope) async throws {
    let access = pool
    try await scope.earnTrust(access)
    // There are more tasks than threads, and each goes on until all have begun.
    let begun = Lock(0)
    let count = 4 * Int(sysconf(CInt(_SC_NPROCESSORS_ONLN)))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask {
          begun.withLock { $0 += 1 }
          while begun.withLock({ $0 < count }) { try await scope.run(access) { _ in } }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(
    "A trusted call that waits for another connection's lock keeps no other task from running",
    arguments: [false, true])
  private func otherConnection(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    try await Scope.write.earnTrust(access)
    let before = access.statistics.transactions
    let other = try Database(path: folder.file(isPool ? "pool.db" : "queue.db"))
    try other.begin(.immediate)
    let callers = (0..<4).map { _ in
      Caller(task: {
        try await Scope.write.run(access) { _ = try $0.executeUpdate("DELETE FROM city") }
      })
    }
    try await yieldUntil { access.statistics.waiting == 3 }
    // If all task threads slept in the wait, neither these tasks nor this test would run.
    for _ in 0..<100 { await Task.detached(priority: .high) {}.value }
    #expect(callers.allSatisfy { !$0.hasReturned })
    try other.rollback()
    for caller in callers { try await caller.end() }
    // A transaction whose attempt to run at once failed is counted once.
    #expect(access.statistics.transactions == before + callers.count)
  }

  private static func runForEver(_ db: Database) throws {
    _ = try db.value(
      """
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
      SELECT count(*) FROM number
      """, as: Int.self)
  }

  @Test("Trusted read scopes that never end leave a thread for other tasks")
  private func threadIsLeft() async throws {
    let access = pool
    try await Scope.read.earnTrust(access)
    let begun = Lock(0)
    let count = try #require(access.connections.pool).maximum
    let tasks = (0..<count).map { _ in
      Task {
        try await Scope.read.run(access) { db in
          begun.withLock { $0 += 1 }
          try Self.runForEver(db)
        }
      }
    }
    try await yieldUntil { begun.withLock { $0 == tasks.count } }
    await Task.detached(priority: .high) {}.value
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
  }

  @Test("A cancelled brief scope is interrupted and undone", arguments: Scope.allCases)
  private func cancelled(scope: Scope) async throws {
    for access: any DatabaseAccess in [queue, pool] {
      try await scope.earnTrust(access)
      let hasBegun = Lock(false)
      let task = Task {
        try await scope.run(access) { db in
          hasBegun.withLock { $0 = true }
          if scope == .write { try db.executeUpdate("DELETE FROM city") }
          try Self.runForEver(db)
        }
      }
      try await yieldUntil { hasBegun.withLock { $0 } }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let count = try await access.read { try $0.value("SELECT count(*) FROM city", as: Int.self) }
      #expect(try #require(count) > 0)
    }
  }

  @Test("A cancellation that coincides with the beginning of a statement interrupts it")
  private func cancelledAtBeginning() async throws {
    for access: any DatabaseAccess in [queue, pool] {
      for _ in 0..<500 {
        let hasBegun = Lock(false)
        let task = Task {
          try await access.read { db in
            hasBegun.withLock { $0 = true }
            try Self.runForEver(db)
          }
        }
        try await yieldUntil { hasBegun.withLock { $0 } }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
      }
    }
  }

  @Test(
    "A brief scope that throws passes its error to the caller and is undone",
    arguments: Scope.allCases)
  private func errors(scope: Scope) async throws {
    for access: any DatabaseAccess in [queue, pool] {
      try await scope.earnTrust(access)
      await #expect(throws: TookTooLong.self) {
        try await scope.run(access) { db in
          if scope == .write { try db.executeUpdate("DELETE FROM city") }
          throw TookTooLong()
        }
      }
      let count = try await access.read { try $0.value("SELECT count(*) FROM city", as: Int.self) }
      #expect(try #require(count) > 0)
    }
  }

  @Test("A scope call's description contains its label and line")
  private func line() throws {
    #expect(ScopeCall("import", 7).description == "“import” (line 7)")
  }
}

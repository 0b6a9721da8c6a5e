import Foundation
import TestSupport
import Testing

@testable import LarderSQLite

// The suite is serialized since some tests block a task thread for a second, as users may.
@Suite("Calling a queue or pool from inside of its own scope", .serialized, .promptly)
struct ReentryTests {
  /// The folder of the pool's file. Both databases contain four cities.
  private let folder: ScratchFolder
  private let queue: DatabaseQueue
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    queue = try DatabaseQueue()
    try queue.inDatabase { try createCities(in: $0) }
    pool = try DatabasePool(path: folder.file("cities.db"))
    try pool.inTransaction { try createCities(in: $0) }
  }

  /// The calls that need the writer, on this thread.
  private static func writing(_ access: any DatabaseAccess) -> [@Sendable () throws -> Void] {
    [
      { try access.inDatabase { _ in } }, { try access.inTransaction { _ in } },
      { try access.inTransaction(.deferred) { _ in } }, { try access.inSavepoint { _ in } },
      { _ = try access.checkpoint() },
    ]
  }

  /// All calls that enter a scope, on this thread.
  private static func calls(_ access: any DatabaseAccess) -> [@Sendable () throws -> Void] {
    writing(access) + [{ try access.read { _ in } }, { try access.close() }]
  }

  /// The calls that could never get their turn inside a scope that has the writer: for a pool, all but
  /// `read`.
  private static func refused(_ access: any DatabaseAccess) -> [@Sendable () throws -> Void] {
    writing(access) + [{ try access.close() }]
      + (access is DatabasePool ? [] : [{ try access.read { _ in } }])
  }

  /// Runs `body` in each kind of scope that has the writer.
  private static func scopes(
    _ access: any DatabaseAccess, _ body: @Sendable () throws -> Void
  ) throws {
    try access.inDatabase { _ in try body() }
    try access.inTransaction { _ in try body() }
    try access.inSavepoint { _ in try body() }
    if access is DatabaseQueue { try access.read { _ in try body() } }
  }

  private static func expectReentryError(_ body: () throws -> Void) {
    let error = #expect(throws: DatabaseError.self) { try body() }
    #expect(error?.code == .misuse)
    // The error says what to do instead.
    #expect(error?.message.contains("use the Database that the outer scope's closure") == true)
  }

  @Test(
    "A nested call that would wait for its own scope's writer throws, and the outer scope continues",
    arguments: [false, true])
  func sync(isPool: Bool) throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    try Self.scopes(access) {
      for call in Self.refused(access) { Self.expectReentryError(call) }
    }
    #expect(try access.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A nested call that would wait for its own async scope's writer throws",
    arguments: [false, true])
  func syncInsideAsync(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let body: @Sendable (Database) -> Void = { _ in
      for call in Self.refused(access) { Self.expectReentryError(call) }
    }
    try await access.inDatabase { body($0) }
    try await access.inTransaction { body($0) }
    try await access.inSavepoint { body($0) }
    if !isPool { try await access.read { body($0) } }
    #expect(try await access.read { try $0.cityCount() } == 4)
  }

  @Test("A pool's read inside a write scope sees the committed state only")
  func readInsideWriter() async throws {
    let pool = pool
    let body: @Sendable (Database) throws -> Void = { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      #expect(try pool.read { try $0.cityCount() } == 4)
      #expect(try db.cityCount() == 3)
      db.setRollbackOnly()
    }
    try pool.writeSync(body)
    try await pool.inTransaction(.immediate, body)
    try await pool.inTransaction { _ in
      let failure = try Self.waitInside { try await pool.read { _ in } }
      #expect(failure == nil)
    }
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test("A pool's write inside a read scope works, and the read scope keeps its snapshot")
  func writeInsideReader() async throws {
    let pool = pool
    let body: @Sendable (Database) throws -> Void = { db in
      #expect(try db.cityCount() == 4)
      for call in Self.writing(pool) { try call() }
      try pool.inTransaction { _ = try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
      #expect(try db.cityCount() == 4)
      try pool.inTransaction { db in
        try db.executeUpdate("INSERT INTO city VALUES (1, 'Bergen', 291940, 464.7)")
      }
      Self.expectReentryError { try pool.close() }
    }
    try pool.readSync(body)
    try await pool.read(body)
    try await pool.read { _ in
      let failure = try Self.waitInside { try await pool.inTransaction { _ in } }
      #expect(failure == nil)
    }
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test(
    "Nested reads of a pool work until all readers are used by the enclosing scopes, then throw")
  func readInsideReader() throws {
    let pool = pool
    try pool.read { outer in
      #expect(try outer.cityCount() == 4)
      try pool.inTransaction { _ = try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
      #expect(try pool.read { try $0.cityCount() } == 3)
      #expect(try outer.cityCount() == 4)
    }
    for readers in 1...3 {
      var configuration = Configuration()
      configuration.maximumReaders = readers
      let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
      try Self.nest(readers, pool) {
        Self.expectReentryError { try pool.read { _ in } }
        try pool.inTransaction { _ in }
      }
      #expect(try pool.read { try $0.cityCount() } == 3)
    }
  }

  private static func nest(_ depth: Int, _ pool: DatabasePool, _ body: () throws -> Void) throws {
    guard depth > 0 else { return try body() }
    try pool.read { _ in try nest(depth - 1, pool, body) }
  }

  @Test("A custom function that calls the queue whose scope it runs in throws")
  func insideFunction() throws {
    let queue = queue
    try queue.inDatabase { db in
      try db.createFunction("count_again", argumentCount: 0) { _ in
        try queue.read { try $0.cityCount() }
      }
      let error = #expect(throws: DatabaseError.self) {
        try db.value("SELECT count_again()", as: Int.self)
      }
      #expect(error?.message.contains("from inside of one") == true)
      // The function retains the queue, which retains the function.
      try db.removeFunction("count_again", argumentCount: 0)
    }
  }

  @Test("A nested call back to a queue through other queues' scopes throws")
  func across() throws {
    let queue = queue
    let pool = pool
    let other = try DatabaseQueue()
    try queue.inTransaction { _ in
      try other.inTransaction { _ in
        try pool.inDatabase { _ in
          for call in Self.refused(queue) { Self.expectReentryError(call) }
          for call in Self.refused(other) { Self.expectReentryError(call) }
          for call in Self.refused(pool) { Self.expectReentryError(call) }
        }
      }
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("A nested call back to a queue through another queue that had to be waited for throws")
  func acrossInLine() throws {
    let first = queue
    let second = try DatabaseQueue()
    let failures = try second.lineUp([
      { try second.inTransaction { _ in } },
      {
        try first.inDatabase { _ in
          try second.inTransaction { _ in
            for call in Self.refused(first) { Self.expectReentryError(call) }
          }
        }
      },
    ])
    #expect(failures.allSatisfy { $0 == nil })
  }

  @Test(
    "A thread can call a queue although another thread that waits beside it is in that queue's scope"
  )
  func othersAreFree() throws {
    let first = queue
    let second = try DatabaseQueue()
    let count = Recorder<Int?>()
    let failures = try second.lineUp([
      {
        try second.inTransaction { _ in }
        count.add(try first.read { try $0.cityCount() })
      },
      { try first.inDatabase { _ in try second.inTransaction { _ in } } },
    ])
    #expect(failures.allSatisfy { $0 == nil })
    #expect(count.elements == [4])
  }

  @Test("Scopes of two different queues can be nested in either order")
  func nested() throws {
    let other = try DatabaseQueue()
    try queue.inTransaction { _ in
      for _ in 0..<2 { try other.inTransaction { try $0.validate("SELECT 1") } }
    }
    try other.inTransaction { _ in try queue.inTransaction { _ in } }
  }

  @Test("A queue or pool can be called again after a scope that threw")
  func afterwards() throws {
    #expect(throws: TookTooLong.self) { try queue.inDatabase { _ in throw TookTooLong() } }
    #expect(throws: TookTooLong.self) { try pool.read { _ in throw TookTooLong() } }
    for call in Self.calls(queue) { try call() }
    for call in Self.calls(pool) { try call() }
  }

  /// Calls for a task that is created in a scope of `access` which waits for the task.
  private static func tasks(_ access: any DatabaseAccess) -> [@Sendable () async throws -> Void] {
    let other = try? DatabaseQueue()
    let across: @Sendable () throws -> Void = {
      _ = try other?.inDatabase { _ in try access.inDatabase { _ in } }
    }
    return [
      { try await access.inDatabase { _ in } }, { try await access.inTransaction { _ in } },
      { try await access.inSavepoint { _ in } },
      // These synchronous calls block the task's thread.
      calls(access)[1], across,
      { try await other?.inDatabase { _ in try access.inDatabase { _ in } } },
    ]
  }

  /// Creates a task, blocks the thread until it ends, and returns its error.
  private static func waitInside(
    _ task: @escaping @Sendable () async throws -> Void
  ) throws -> (any Error)? {
    let failure = Recorder<any Error>()
    let hasEnded = DispatchSemaphore(value: 0)
    Task {
      do { try await task() } catch { failure.add(error) }
      hasEnded.signal()
    }
    guard hasEnded.wait(timeout: .now() + 60) == .success else { throw TookTooLong() }
    return failure.elements.first
  }

  /// Expects a timeout or misuse error: a closure that blocks its thread until a task ends can't be recognized. Only
  /// `scopeTimeout` ends the deadlock.
  private static func expectEnd(_ error: (any Error)?) {
    let code = (error as? DatabaseError)?.code
    #expect(code == .busy || code == .misuse, "\(error as Any)")
  }

  private func impatient(isPool: Bool) throws -> any DatabaseAccess {
    var configuration = Configuration()
    configuration.scopeTimeout = .milliseconds(300)
    let access: any DatabaseAccess =
      isPool
      ? try DatabasePool(path: folder.file("other.db"), configuration: configuration)
      : try DatabaseQueue(configuration: configuration)
    try access.inTransaction { try createCities(in: $0) }
    return access
  }

  @Test(
    "A task that a synchronous transaction creates and blocks for throws after `scopeTimeout`",
    arguments: 0..<6)
  func taskInsideSync(index: Int) async throws {
    let queue = try impatient(isPool: false)
    let caller = Caller {
      try queue.inTransaction { _ in
        Self.expectEnd(try Self.waitInside(Self.tasks(queue)[index]))
      }
    }
    try await caller.end()
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A task that a pool's async transaction creates and blocks for throws after `scopeTimeout`",
    arguments: 0..<6)
  func taskInsideAsync(index: Int) async throws {
    let pool = try impatient(isPool: true)
    let error = try await pool.inTransaction { _ in
      try Self.waitInside(Self.tasks(pool)[index])
    }
    Self.expectEnd(error)
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A task that a scope creates without waiting for it gets its turn after the scope",
    arguments: [false, true])
  func taskOutlivesScope(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let task = try await access.inDatabase { _ in
      Task { try await access.inTransaction { try $0.cityCount() } }
    }
    #expect(try await task.value == 4)
  }

  @Test(
    "A task gets its turn after the scope that created it even if that takes two seconds",
    arguments: [false, true])
  func taskWaitsForLong(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let tasks = Recorder<Task<Int?, any Error>>()
    let caller = Caller {
      try access.inDatabase { _ in
        tasks.add(Task { try await access.inTransaction { try $0.cityCount() } })
        // This is longer than any heuristic would wait before it assumes a deadlock.
        Thread.sleep(forTimeInterval: 2)
      }
    }
    try await caller.end()
    #expect(try await tasks.elements.first?.value == 4)
  }
}

extension DatabasePool {
  /// The synchronous variant of `inTransaction`, for async tests.
  fileprivate func writeSync(_ body: (Database) throws -> Void) throws {
    try inTransaction(.immediate, body)
  }

  fileprivate func readSync(_ body: (Database) throws -> Void) throws { try read(body) }
}

import Foundation
import Testing

@testable import LarderSQLite

// Serialized: some of the tests block a thread that tasks need for a second, as users may.
@Suite("Calling a queue or pool from inside of its own scope", .serialized, .promptly)
struct ReentryTests {
  /// Both hold four cities.
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

  /// The calls that enter a scope, on this thread.
  private static func calls(_ access: any DatabaseAccess) -> [@Sendable () throws -> Void] {
    [
      { try access.inDatabase { _ in } }, { try access.inTransaction { _ in } },
      { try access.inTransaction(.deferred) { _ in } }, { try access.inSavepoint { _ in } },
      { try access.read { _ in } }, { _ = try access.checkpoint() }, { try access.close() },
    ]
  }

  /// The scopes that such a call can come from.
  private static func scopes(
    _ access: any DatabaseAccess, _ body: @Sendable () throws -> Void
  ) throws {
    try access.inDatabase { _ in try body() }
    try access.inTransaction { _ in try body() }
    try access.inSavepoint { _ in try body() }
    try access.read { _ in try body() }
  }

  private static func expectReentryError(_ body: () throws -> Void) {
    let error = #expect(throws: DatabaseError.self) { try body() }
    #expect(error?.code == .misuse)
    // It says what to do instead.
    #expect(error?.message.contains("use the Database that the outer scope's closure") == true)
  }

  @Test("Every call throws from every scope, and the scope goes on", arguments: [false, true])
  func sync(isPool: Bool) throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    try Self.scopes(access) {
      for call in Self.calls(access) { Self.expectReentryError(call) }
    }
    #expect(try access.read { try $0.cityCount() } == 4)
  }

  @Test("It throws from a closure that runs for a task, too", arguments: [false, true])
  func syncInsideAsync(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let body: @Sendable (Database) -> Void = { _ in
      for call in Self.calls(access) { Self.expectReentryError(call) }
    }
    try await access.inDatabase { body($0) }
    try await access.inTransaction { body($0) }
    try await access.inSavepoint { body($0) }
    try await access.read { body($0) }
    #expect(try await access.read { try $0.cityCount() } == 4)
  }

  @Test("It throws in a function that SQLite calls, deep inside")
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
      // It holds the queue, which holds it.
      try db.removeFunction("count_again", argumentCount: 0)
    }
  }

  @Test("It throws across another queue: A, B, A")
  func across() throws {
    let queue = queue
    let pool = pool
    let other = try DatabaseQueue()
    try queue.inTransaction { _ in
      try other.inTransaction { _ in
        try pool.read { _ in
          for call in Self.calls(queue) { Self.expectReentryError(call) }
          for call in Self.calls(other) { Self.expectReentryError(call) }
          for call in Self.calls(pool) { Self.expectReentryError(call) }
        }
      }
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("It throws across another queue whose thread runs the closure for the caller")
  func acrossOnAnotherThread() throws {
    let first = queue
    let second = try DatabaseQueue()
    let threads = Recorder<UInt>()
    let failures = try second.lineUp([
      // This one leads, and runs the closure of the one behind.
      { try second.inTransaction { _ in threads.add(UInt(pthread_self())) } },
      {
        try first.inDatabase { _ in
          try second.inTransaction { _ in
            threads.add(UInt(pthread_self()))
            for call in Self.calls(first) { Self.expectReentryError(call) }
          }
        }
      },
    ])
    #expect(failures.allSatisfy { $0 == nil })
    #expect(threads.elements.count == 2)
    #expect(threads.elements.first == threads.elements.last)
  }

  @Test("The leader is in its own scopes only, not in those of whom it works for")
  func leaderIsFree() throws {
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

  @Test("Two queues, one inside the other, are no misuse")
  func nested() throws {
    let other = try DatabaseQueue()
    try queue.inTransaction { _ in
      for _ in 0..<2 { try other.inTransaction { try $0.validate("SELECT 1") } }
    }
    try other.inTransaction { _ in try queue.inTransaction { _ in } }
  }

  @Test("Once a closure has ended, by an error too, the queue can be called again")
  func afterwards() throws {
    #expect(throws: TookTooLong.self) { try queue.inDatabase { _ in throw TookTooLong() } }
    #expect(throws: TookTooLong.self) { try pool.read { _ in throw TookTooLong() } }
    for call in Self.calls(queue) { try call() }
    for call in Self.calls(pool) { try call() }
  }

  /// What a task does that was created in a scope which waits for it.
  private static func tasks(_ access: any DatabaseAccess) -> [@Sendable () async throws -> Void] {
    let other = try? DatabaseQueue()
    let across: @Sendable () throws -> Void = {
      _ = try other?.inDatabase { _ in try access.inDatabase { _ in } }
    }
    return [
      { try await access.inDatabase { _ in } }, { try await access.inTransaction { _ in } },
      { try await access.inSavepoint { _ in } },
      // Calls that block the task's thread, as functions do that aren't asynchronous.
      calls(access)[1], across,
      { try await other?.inDatabase { _ in try access.inDatabase { _ in } } },
    ]
  }

  /// Creates a task in a scope, waits for it there, and returns what it has thrown.
  private static func waitInside(
    _ task: @escaping @Sendable () async throws -> Void
  ) throws -> (any Error)? {
    let failure = Recorder<any Error>()
    let hasEnded = DispatchSemaphore(value: 0)
    Task {
      do { try await task() } catch { failure.add(error) }
      hasEnded.signal()
    }
    guard hasEnded.wait(timeout: .now() + 10) == .success else { throw TookTooLong() }
    return failure.elements.first
  }

  @Test("A task that a closure creates and waits for throws within seconds", arguments: 0..<6)
  func taskInsideSync(index: Int) async throws {
    let queue = queue
    let caller = Caller {
      let error = try queue.inTransaction { _ in
        try Self.waitInside(Self.tasks(queue)[index])
      }
      #expect((error as? DatabaseError)?.code == .misuse)
    }
    try await yieldUntil { caller.hasReturned }
    try caller.join()
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test("So does one that a closure creates which runs for a task", arguments: 0..<6)
  func taskInsideAsync(index: Int) async throws {
    let pool = pool
    let error = try await pool.inTransaction { _ in
      try Self.waitInside(Self.tasks(pool)[index])
    }
    #expect((error as? DatabaseError)?.code == .misuse)
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test("A task that a closure creates and doesn't wait for has its turn afterwards")
  func taskOutlivesScope() async throws {
    let queue = queue
    let task = try await queue.inDatabase { _ in
      Task { try await queue.inTransaction { try $0.cityCount() } }
    }
    #expect(try await task.value == 4)
  }
}

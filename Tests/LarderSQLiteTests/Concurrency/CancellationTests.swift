import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Cancelled tasks", .promptly)
struct CancellationTests {
  private struct Doubt: Error {}

  private let folder: ScratchFolder
  private let queue: DatabaseQueue
  private let pool: DatabasePool

  init() throws {
    folder = try ScratchFolder()
    queue = try DatabaseQueue(configuration: .patient)
    try queue.inDatabase { try createCities(in: $0) }
    pool = try DatabasePool(path: folder.file("cities.db"), configuration: .patient)
    try pool.inTransaction { try createCities(in: $0) }
  }

  /// Runs a query that would take years, if `deletes` after deleting all cities.
  private static func runForYears(
    _ db: Database, hasBegun: DispatchSemaphore, deletes: Bool
  ) throws {
    if deletes { try db.executeUpdate("DELETE FROM city") }
    try db.createFunction("begin_now", argumentCount: 0, deterministic: false) { _ in
      hasBegun.signal()
      return 1
    }
    _ = try db.value(
      """
      WITH RECURSIVE number(n) AS (SELECT begin_now() UNION ALL SELECT n + 1 FROM number)
      SELECT count(*) FROM number
      """, as: Int.self)
  }

  /// Waits for a semaphore without blocking a task thread.
  private static func wait(for semaphore: DispatchSemaphore) async throws {
    try await yieldUntil { semaphore.wait(timeout: .now()) == .success }
  }

  @Test(
    "A scope whose task is already cancelled throws without running its closure",
    arguments: [false, true])
  func before(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await access.inTransaction { _ in _ = Issue.record("the closure ran") }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let reading = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await access.read { _ in _ = Issue.record("the closure ran") }
    }
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test("A cancelled scope leaves the queue at once, and the others keep their order")
  func waiting() async throws {
    let queue = queue
    let holder = try Holder(queue)
    let order = Recorder<Int>()
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<5 {
      tasks.append(Task { try await queue.inTransaction { _ in order.add(number) } })
      try await yieldUntil { queue.waitingCount == number + 1 }
    }
    for number in [1, 0, 4] {
      tasks[number].cancel()
      // The writer is still held.
      await #expect(throws: CancellationError.self) { try await tasks[number].value }
    }
    #expect(queue.waitingCount == 2)
    try holder.release()
    for number in [2, 3] { try await tasks[number].value }
    #expect(order.elements == [2, 3])
  }

  @Test("A cancelled read stops waiting for a reader at once")
  func waitingForReader() async throws {
    var configuration = Configuration.patient
    configuration.maximumReaders = 1
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    let holds = DispatchSemaphore(value: 0)
    let letGo = DispatchSemaphore(value: 0)
    let holder = Caller {
      try pool.read { _ in
        holds.signal()
        try letGo.waitOrThrow()
      }
    }
    try await Self.wait(for: holds)
    let task = Task { try await pool.read { _ in _ = Issue.record("the closure ran") } }
    try await yieldUntil { pool.waitingReaderCount == 1 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(pool.waitingReaderCount == 0)
    letGo.signal()
    try holder.join()
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A running transaction whose task is cancelled is interrupted and rolled back",
    arguments: [false, true])
  func running(isPool: Bool) async throws {
    let access: any DatabaseAccess = isPool ? pool : queue
    let hasBegun = DispatchSemaphore(value: 0)
    let task = Task {
      try await access.inTransaction {
        try Self.runForYears($0, hasBegun: hasBegun, deletes: true)
      }
    }
    try await Self.wait(for: hasBegun)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await access.read { try $0.cityCount() } == 4)
    #expect(try await access.inTransaction { try $0.executeUpdate("DELETE FROM city") } == 4)
  }

  @Test(
    "Running `inDatabase`, `inSavepoint` and `read` scopes are interrupted when their task is cancelled"
  )
  func runningWithoutTransaction() async throws {
    let queue = queue
    let pool = pool
    let hasBegun = DispatchSemaphore(value: 0)
    let calls: [@Sendable () async throws -> Void] = [
      {
        try await queue.inDatabase { try Self.runForYears($0, hasBegun: hasBegun, deletes: false) }
      },
      {
        try await queue.inSavepoint { try Self.runForYears($0, hasBegun: hasBegun, deletes: true) }
      },
      { try await queue.read { try Self.runForYears($0, hasBegun: hasBegun, deletes: false) } },
      { try await pool.read { try Self.runForYears($0, hasBegun: hasBegun, deletes: false) } },
    ]
    for call in calls {
      let task = Task { try await call() }
      try await Self.wait(for: hasBegun)
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(try await queue.read { try $0.cityCount() } == 4)
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test("A running transaction that is cancelled undoes no transaction queued before or after it")
  func betweenOthers() async throws {
    let queue = queue
    let hasBegun = DispatchSemaphore(value: 0)
    let holder = try Holder(queue)
    let first = Task {
      try await queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    try await yieldUntil { queue.waitingCount == 1 }
    let cancelled = Task {
      try await queue.inTransaction {
        try Self.runForYears($0, hasBegun: hasBegun, deletes: true)
      }
    }
    try await yieldUntil { queue.waitingCount == 2 }
    let last = Caller {
      _ = try queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 2") }
    }
    try await yieldUntil { queue.waitingCount == 3 }
    try holder.release()
    try await Self.wait(for: hasBegun)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(try await first.value == 1)
    try last.join()
    let names = try await queue.read { try $0.texts("SELECT name FROM city ORDER BY id") }
    #expect(names == ["Lagos", "北京市"])
  }

  @Test("A transaction that is cancelled during an UPDATE doesn't undo the one before")
  func writing() async throws {
    let queue = queue
    let isWriting = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let holder = try Holder(queue)
    let first = Task {
      try await queue.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    try await yieldUntil { queue.waitingCount == 1 }
    let cancelled = Task {
      try await queue.inTransaction { db in
        try db.createFunction("pause", argumentCount: 0, deterministic: false) { _ in
          isWriting.signal()
          try goOn.waitOrThrow()
          return "Nowhere"
        }
        try db.executeUpdate("UPDATE city SET name = pause()")
        _ = try db.cityCount()
        Issue.record("it goes on")
      }
    }
    try await yieldUntil { queue.waitingCount == 2 }
    try holder.release()
    try await Self.wait(for: isWriting)
    cancelled.cancel()
    for _ in 0..<3 { goOn.signal() }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(try await first.value == 1)
    let names = try await queue.read { try $0.texts("SELECT name FROM city ORDER BY id") }
    #expect(names == ["Oslo", "Lagos", "北京市"])
  }

  /// Starts a transaction that deletes all cities, cancels its task before the closure continues,
  /// and returns the call's error.
  private func cancelInside(
    _ goOn: @escaping @Sendable (Database) throws -> Void
  ) async throws -> (any Error)? {
    let queue = queue
    let hasBegun = DispatchSemaphore(value: 0)
    let isCancelled = DispatchSemaphore(value: 0)
    let task = Task {
      try await queue.inTransaction { db in
        try db.executeUpdate("DELETE FROM city")
        hasBegun.signal()
        try isCancelled.waitOrThrow()
        try goOn(db)
      }
    }
    try await Self.wait(for: hasBegun)
    task.cancel()
    isCancelled.signal()
    do {
      try await task.value
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "A transaction whose closure throws after its task was cancelled throws `CancellationError`")
  func throwing() async throws {
    #expect(try await cancelInside { _ in throw Doubt() } is CancellationError)
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test("A transaction whose closure returns after its task was cancelled is undone")
  func returning() async throws {
    #expect(try await cancelInside { _ in } is CancellationError)
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test("Statements of a cancelled task throw, and a closure that ignores this commits nothing")
  func hiding() async throws {
    let error = try await cancelInside { db in
      let error = #expect(throws: DatabaseError.self) { try db.cityCount() }
      #expect(error?.code == .interrupt)
      _ = try? db.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')")
    }
    #expect(error is CancellationError)
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test("Cancelling a task after its transaction has ended doesn't affect the scope that runs then")
  func after() async throws {
    let queue = queue
    let task = Task { try await queue.inTransaction { try $0.cityCount() } }
    #expect(try await task.value == 4)
    try await queue.inTransaction { db in
      task.cancel()
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(try await queue.read { try $0.cityCount() } == 3)
  }

  @Test(
    "Of 400 transactions, most cancelled at some moment, exactly those that return have committed")
  func anyMoment() async throws {
    let queue = queue
    let done = Recorder<Int>()
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<400 {
        group.addTask {
          let task = Task {
            try await queue.inTransaction { db in
              try db.executeUpdate("UPDATE city SET population = population + 1 WHERE id = 2")
            }
          }
          for _ in 0..<(number % 7) { await Task.yield() }
          // Some aren't cancelled, so that some commit for certain.
          if number % 40 != 39 { task.cancel() }
          do {
            _ = try await task.value
            done.add(number)
          } catch is CancellationError {
          } catch {
            Issue.record(error)
          }
        }
      }
    }
    let population = try await queue.read { db in
      try db.value("SELECT population FROM city WHERE id = 2", as: Int.self)
    }
    #expect(population == 709_037 + done.elements.count)
    #expect(done.elements.count >= 10)
  }
}

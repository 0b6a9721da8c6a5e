import Dispatch
import Glibc
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("Readers of a pool", .promptly)
struct PoolReaderTests {
  private struct Doubt: Error {}

  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    try DatabaseQueue(path: path, configuration: .patient).inTransaction {
      try createCities(in: $0)
    }
  }

  private func pool(
    readers: Int = 2, timeout: Duration = .seconds(watchdogSeconds),
    prepare: (@Sendable (Database) throws -> Void)? = nil
  ) throws -> DatabasePool {
    var configuration = Configuration.patient
    configuration.maximumReaders = readers
    configuration.scopeTimeout = timeout
    configuration.prepareDatabase = prepare
    return try DatabasePool(path: path, configuration: configuration)
  }

  /// Read scopes that hold readers until they are released.
  private final class ReaderHolder: Sendable {
    private let callers: [Caller]
    private let letGo = DispatchSemaphore(value: 0)

    init(_ pool: DatabasePool, count: Int) throws {
      let holds = DispatchSemaphore(value: 0)
      callers = (0..<count).map { [letGo] _ in
        Caller {
          try pool.read { _ in
            holds.signal()
            try letGo.waitOrThrow()
          }
        }
      }
      for _ in 0..<count { try holds.waitOrThrow() }
    }

    func release() throws {
      for _ in callers { letGo.signal() }
      for caller in callers { try caller.join() }
    }
  }

  @Test("Closing a pool while another thread releases its idle readers leaves no log")
  func closedByTwo() throws {
    for _ in 0..<300 {
      let pool = try pool()
      try ReaderHolder(pool, count: 2).release()
      try pool.inTransaction { _ = try $0.executeUpdate("UPDATE city SET area = area + 1") }
      let isClosed = Lock(false)
      let other = Caller {
        while !isClosed.withLock({ $0 }) { pool.releaseIdleConnections() }
      }
      try pool.close()
      isClosed.withLock { $0 = true }
      try other.join()
      #expect(access(path + "-wal", F_OK) != 0)
    }
  }

  @Test(
    "A pool's readers are opened on demand, counted, kept, and released by `releaseIdleConnections()`"
  )
  func counts() throws {
    let pool = try pool()
    #expect(pool.readerCounts == ReaderCounts(idle: 0, busy: 0))
    try pool.read { _ in #expect(pool.readerCounts == ReaderCounts(idle: 0, busy: 1)) }
    #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
    let holder = try ReaderHolder(pool, count: 2)
    #expect(pool.readerCounts == ReaderCounts(idle: 0, busy: 2))
    #expect(pool.readerCounts.open == 2)
    try holder.release()
    #expect(pool.readerCounts == ReaderCounts(idle: 2, busy: 0))
    pool.releaseIdleConnections()
    #expect(pool.readerCounts.open == 0)
    #expect(try pool.read { try $0.cityCount() } == 4)
    #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
  }

  @Test("`releaseIdleConnections()` doesn't release a busy reader, which is kept after its scope")
  func releaseWhileBusy() throws {
    let pool = try pool()
    let holder = try ReaderHolder(pool, count: 1)
    pool.releaseIdleConnections()
    #expect(pool.readerCounts == ReaderCounts(idle: 0, busy: 1))
    try holder.release()
    #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
  }

  @Test("Read scopes run in parallel, up to `maximumReaders`")
  func parallel() throws {
    let pool = try pool(readers: 3)
    // This returns only if all three scopes have run at the same time.
    try ReaderHolder(pool, count: 3).release()
    #expect(pool.readerCounts == ReaderCounts(idle: 3, busy: 0))
  }

  @Test(
    "A read scope throws `.busy` after `scopeTimeout` when all readers are busy; writes still work")
  func timeout() async throws {
    let pool = try pool(timeout: .milliseconds(300))
    let holder = try ReaderHolder(pool, count: 2)
    let start = ContinuousClock.now
    let caller = Caller { try pool.read { _ in _ = Issue.record("the closure ran") } }
    let error = try #require(try caller.failure() as? DatabaseError)
    #expect(error.code == .busy)
    #expect(error.message.contains("a reader to become free"))
    #expect(ContinuousClock.now - start >= .milliseconds(300))
    let other = await #expect(throws: DatabaseError.self) {
      try await pool.read { _ in _ = Issue.record("the closure ran") }
    }
    #expect(other?.code == .busy)
    // The writer is another connection.
    #expect(try await pool.inTransaction { try $0.cityCount() } == 4)
    #expect(pool.waitingReaderCount == 0)
    try holder.release()
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test("Threads and tasks that wait for a reader are served first come, first served")
  func order() async throws {
    let pool = try pool(readers: 1)
    let holder = try ReaderHolder(pool, count: 1)
    let order = Recorder<Int>()
    var callers: [Caller] = []
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<20 {
      if number % 2 == 0 {
        callers.append(Caller { try pool.read { _ in order.add(number) } })
      } else {
        tasks.append(Task { try await pool.read { _ in order.add(number) } })
      }
      try await yieldUntil { pool.waitingReaderCount == number + 1 }
    }
    #expect(pool.readerCounts.open == 1)
    try holder.release()
    for caller in callers { try caller.join() }
    for task in tasks { try await task.value }
    #expect(order.elements == Array(0..<20))
    #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
  }

  @Test("`prepareDatabase` runs once for each new connection of a pool, including the writer")
  func prepared() throws {
    let prepared = Recorder<Bool>()
    let pool = try pool { db in
      prepared.add(db.isReadOnly)
      try db.createFunction("greeting", argumentCount: 0) { _ in "Good day" }
    }
    #expect(prepared.elements == [false])
    for _ in 0..<3 {
      let greeting = try pool.read { try $0.value("SELECT greeting()", as: String.self) }
      #expect(greeting == "Good day")
    }
    #expect(prepared.elements == [false, true])
    try ReaderHolder(pool, count: 2).release()
    #expect(prepared.elements == [false, true, true])
    pool.releaseIdleConnections()
    try pool.read { _ in }
    #expect(prepared.elements == [false, true, true, true])
  }

  @Test(
    "A reader whose `prepareDatabase` throws isn't counted as open, and the next read tries again")
  func preparingFails() async throws {
    let attempts = Recorder<Bool>()
    let pool = try pool(readers: 1) { db in
      guard db.isReadOnly else { return }
      attempts.add(true)
      if attempts.elements.count < 3 { throw Doubt() }
    }
    #expect(throws: Doubt.self) { try pool.readSync { _ in _ = Issue.record("the closure ran") } }
    #expect(pool.readerCounts.open == 0)
    await #expect(throws: Doubt.self) {
      try await pool.read { _ in _ = Issue.record("the closure ran") }
    }
    #expect(pool.readerCounts.open == 0)
    #expect(try await pool.read { try $0.cityCount() } == 4)
  }

  @Test("A read that waits while another one's reader fails to open gets its turn")
  func openingFailsWhileOthersWait() throws {
    let isFirst = Recorder<Bool>()
    let isOpening = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)
    let pool = try pool(readers: 1, timeout: .seconds(10)) { db in
      guard db.isReadOnly, isFirst.elements.isEmpty else { return }
      isFirst.add(true)
      isOpening.signal()
      try goOn.waitOrThrow()
      throw Doubt()
    }
    let first = Caller { try pool.read { _ in } }
    try isOpening.waitOrThrow()
    let second = Caller { () throws in #expect(try pool.read { try $0.cityCount() } == 4) }
    try waitUntil { pool.waitingReaderCount == 1 }
    goOn.signal()
    #expect(try first.failure() is Doubt)
    try second.join()
  }

  @Test(
    "Closing a pool lets waiting reads finish, refuses later scopes and can be repeated"
  )
  func closing() throws {
    let pool = try pool(readers: 1)
    let holder = try ReaderHolder(pool, count: 1)
    let waiting = Caller { () throws in #expect(try pool.read { try $0.cityCount() } == 4) }
    try waitUntil { pool.waitingReaderCount == 1 }
    let hasClosed = Recorder<Bool>()
    let closing = Caller {
      try pool.close()
      hasClosed.add(true)
    }
    try waitUntil { pool.connections.isClosed }
    // New reads are refused, and closing waits for those that were called before.
    #expect(hasClosed.elements.isEmpty)
    try holder.release()
    // A read that was called before closing isn't refused.
    try waiting.join()
    try closing.join()
    #expect(hasClosed.elements == [true])
    try pool.close()
    let error = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("closed") == true)
    #expect(throws: DatabaseError.self) { try pool.inTransaction { _ in } }
    #expect(pool.readerCounts.open == 0)
    // All connections are closed: the last one has removed the log.
    #expect(!folder.exists("cities.db-wal"))
  }

  @Test(
    "Closing a pool throws `.busy` if a scope doesn't end before the timeout, and leaves the pool open"
  )
  func closingTakesTooLong() throws {
    var configuration = Configuration.patient
    configuration.scopeTimeout = .milliseconds(100)
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    let scopes: [(() throws -> Void) throws -> Void] = [
      { body in try pool.read { _ in try body() } },
      { body in try pool.inTransaction { _ in try body() } },
    ]
    for scope in scopes {
      try scope {
        // The scope waits for a thread that closes the pool.
        let error = try Caller { try pool.close() }.failure() as? DatabaseError
        #expect(error?.code == .busy)
      }
      #expect(try pool.read { try $0.value("SELECT 7", as: Int.self) } == 7)
      try pool.inTransaction { _ in }
    }
    try pool.close()
  }

  @Test("A checkpoint that blocked new reads admits none after the pool was closed")
  func closedDuringCheckpoint() throws {
    let pool = try pool(readers: 1)
    let readers = try #require(pool.connections.pool)
    #expect(readers.keepOut(within: .zero))
    try pool.close()
    readers.letIn()
    #expect(throws: DatabaseError.self) { try pool.read { _ in } }
  }

  @Test(
    "A FULL, RESTART or TRUNCATE checkpoint completes while three readers never pause",
    arguments: [
      CheckpointMode.full, .restart, .truncate,
    ])
  func checkpointBesideReaders(mode: CheckpointMode) throws {
    let pool = try pool(readers: 3)
    let isDone = Recorder<Bool>()
    let readers = (0..<3).map { _ in
      Caller {
        while isDone.elements.isEmpty {
          try pool.read { db in
            _ = try db.cityCount()
            usleep(5000)
          }
        }
      }
    }
    for _ in 0..<3 {
      try pool.inTransaction { _ = try $0.executeUpdate("UPDATE city SET area = area + 1") }
      let (frames, moved) = try pool.checkpoint(mode)
      #expect(frames == moved)
    }
    isDone.add(true)
    for reader in readers { try reader.join() }
  }
}

extension DatabaseAccess {
  /// The synchronous variant of `read`, for async functions, where the compiler prefers the async one.
  fileprivate func readSync<T>(_ body: (Database) throws -> T) throws -> T { try read(body) }
}

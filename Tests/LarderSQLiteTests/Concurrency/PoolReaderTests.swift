import Dispatch
import Glibc
import TestSupport
import Testing

@testable import LarderSQLite

@Suite("The readers of a pool", .promptly)
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

  /// Calls that hold readers until they are let go.
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

  @Test("Who closes the pool waits for readers that somebody else is closing, and leaves no log")
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

  @Test("They are opened when they are needed, counted, kept and released")
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

  @Test("Those that are busy aren't released, and are kept when they come back")
  func releaseWhileBusy() throws {
    let pool = try pool()
    let holder = try ReaderHolder(pool, count: 1)
    pool.releaseIdleConnections()
    #expect(pool.readerCounts == ReaderCounts(idle: 0, busy: 1))
    try holder.release()
    #expect(pool.readerCounts == ReaderCounts(idle: 1, busy: 0))
  }

  @Test("They run in parallel, up to as many as are allowed")
  func parallel() throws {
    let pool = try pool(readers: 3)
    // All three are inside at once, or this doesn't return.
    try ReaderHolder(pool, count: 3).release()
    #expect(pool.readerCounts == ReaderCounts(idle: 3, busy: 0))
  }

  @Test("When all are busy, the next call waits, and throws when that takes too long")
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

  @Test("Who waits for a reader is served first come, first served")
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

  @Test("Each new connection is prepared once, the writer too")
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

  @Test("A reader that can't be prepared throws, takes no place, and the next call tries again")
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

  @Test("A reader that can't be opened doesn't leave those waiting who come behind it")
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
    "Closing waits for those who had called before, refuses those who come later, and can be repeated"
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
    #expect(hasClosed.elements.isEmpty)
    try holder.release()
    // Who had called before isn't refused.
    try waiting.join()
    try closing.join()
    try pool.close()
    let error = #expect(throws: DatabaseError.self) { try pool.read { _ in } }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("closed") == true)
    #expect(throws: DatabaseError.self) { try pool.inTransaction { _ in } }
    #expect(pool.readerCounts.open == 0)
    // Nothing keeps the file: the last connection has taken the log away.
    #expect(!folder.exists("cities.db-wal"))
  }

  @Test("Closing throws where a scope doesn't end in time, and leaves the pool open")
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

  @Test("A checkpoint that had kept readers waiting lets nobody in after the pool was closed")
  func closedDuringCheckpoint() throws {
    let pool = try pool(readers: 1)
    let readers = try #require(pool.connections.readers)
    #expect(readers.keepOut(within: .zero))
    try pool.close()
    readers.letIn()
    #expect(throws: DatabaseError.self) { try pool.read { _ in } }
  }

  @Test(
    "A checkpoint for a caller ends beside readers that never pause",
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
  /// The form that isn't asynchronous, in a place that prefers the other.
  fileprivate func readSync<T>(_ body: (Database) throws -> T) throws -> T { try read(body) }
}

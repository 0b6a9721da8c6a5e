import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Order of a queue's scopes", .promptly)
struct QueueOrderTests {
  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue(configuration: .patient)
    try queue.inDatabase { try createCities(in: $0) }
  }

  @Test("A queue serves scopes of all kinds first come, first served")
  func order() throws {
    let order = Recorder<Int>()
    let bodies = (0..<40).map { number -> @Sendable () throws -> Void in
      { [queue] in
        switch number % 4 {
        case 0: try queue.inTransaction { _ in order.add(number) }
        case 1: try queue.inDatabase { _ in order.add(number) }
        case 2: try queue.read { _ in order.add(number) }
        default: try queue.inSavepoint { _ in order.add(number) }
        }
      }
    }
    #expect(try queue.lineUp(bodies).allSatisfy { $0 == nil })
    #expect(order.elements == Array(0..<40))
  }

  @Test("A queue serves threads and tasks in their common order of arrival")
  func mixed() async throws {
    let order = Recorder<Int>()
    let queue = queue
    let holder = try Holder(queue)
    var callers: [Caller] = []
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<40 {
      if number % 3 == 0 {
        tasks.append(Task { try await queue.inTransaction { _ in order.add(number) } })
      } else {
        callers.append(Caller { try queue.inTransaction { _ in order.add(number) } })
      }
      try await yieldUntil { queue.waitingCount == number + 1 }
    }
    try holder.release()
    for task in tasks { try await task.value }
    for caller in callers { try caller.join() }
    #expect(order.elements == Array(0..<40))
  }

  @Test("A queue without group commit serves transactions first come, first served")
  func alone() throws {
    var configuration = Configuration.patient
    configuration.groupCommit = false
    let queue = try DatabaseQueue(configuration: configuration)
    let order = Recorder<Int>()
    let bodies = (0..<20).map { number -> @Sendable () throws -> Void in
      { try queue.inTransaction { _ in order.add(number) } }
    }
    #expect(try queue.lineUp(bodies).allSatisfy { $0 == nil })
    #expect(order.elements == Array(0..<20))
  }

  @Test("Closing a queue waits for earlier scopes and refuses later ones")
  func closing() throws {
    let order = Recorder<String>()
    let queue = queue
    let failures = try queue.lineUp([
      { try queue.inTransaction { _ in order.add("first") } },
      { try queue.inDatabase { _ in order.add("second") } },
      { try queue.close() },
      { try queue.inTransaction { _ in order.add("late") } },
      { try queue.close() },
      { try queue.read { _ in order.add("late") } },
    ])
    #expect(order.elements == ["first", "second"])
    #expect(
      failures.map { ($0 as? DatabaseError)?.code } == [nil, nil, nil, .misuse, nil, .misuse])
  }

  @Test("Every scope of a closed queue throws an error that says it is closed, and no log is left")
  func closed() async throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: .patient)
    try await queue.inTransaction { try createCities(in: $0) }
    try await queue.close()
    try await queue.close()
    let error = await #expect(throws: DatabaseError.self) {
      try await queue.inDatabase { _ in _ = Issue.record("the closure ran") }
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("closed") == true)
    await #expect(throws: DatabaseError.self) { try await queue.inTransaction { _ in } }
    await #expect(throws: DatabaseError.self) { try await queue.read { _ in } }
    #expect(throws: DatabaseError.self) { try queue.checkpoint() }
    queue.interrupt()
    // All connections are closed: the last one has removed the log.
    #expect(!folder.exists("cities.db-wal"))
    #expect(try Database(path: folder.file("cities.db")).cityCount() == 4)
  }

  @Test("`interrupt()` on a queue stops the running statement and rolls its transaction back")
  func interrupting() throws {
    let queue = queue
    let hasBegun = DispatchSemaphore(value: 0)
    try queue.inDatabase { db in
      try db.createFunction("begin_now", argumentCount: 0, deterministic: false) { _ in
        hasBegun.signal()
        return 1
      }
    }
    let caller = Caller {
      try queue.inTransaction { db in
        try db.executeUpdate("DELETE FROM city")
        _ = try db.value(
          """
          WITH RECURSIVE number(n) AS (SELECT begin_now() UNION ALL SELECT n + 1 FROM number)
          SELECT count(*) FROM number
          """, as: Int.self)
      }
    }
    try hasBegun.waitOrThrow()
    queue.interrupt()
    let error = try #require(try caller.failure() as? DatabaseError)
    #expect(error.code == .interrupt)
    #expect(try queue.read { try $0.cityCount() } == 4)
  }
}

import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Queues used by tasks", .promptly)
struct QueueAsyncTests {
  private struct Doubt: Error {}

  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue(configuration: .patient)
    try queue.inDatabase { try createCities(in: $0) }
  }

  @Test("A queue's async scopes return their closure's value and throw its error")
  func results() async throws {
    #expect(try await queue.inDatabase { try $0.cityCount() } == 4)
    #expect(try await queue.read { try $0.texts("SELECT name FROM city WHERE id = 2") } == ["Oslo"])
    let changes = try await queue.inTransaction { db in
      #expect(db.isInTransaction)
      return try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(changes == 1)
    try await queue.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id = 2") }
    await #expect(throws: Doubt.self) { try await queue.inDatabase { _ in throw Doubt() } }
    await #expect(throws: Doubt.self) { try await queue.inSavepoint { _ in throw Doubt() } }
    await #expect(throws: Doubt.self) { try await queue.read { _ in throw Doubt() } }
    await #expect(throws: Doubt.self) {
      try await queue.inTransaction { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    #expect(try await queue.read { try $0.cityCount() } == 2)
  }

  @Test(
    "A queue's async read scope refuses to write, and `setRollbackOnly()` undoes an async transaction"
  )
  func rules() async throws {
    let error = await #expect(throws: DatabaseError.self) {
      try await queue.read { try $0.executeUpdate("DELETE FROM city") }
    }
    #expect(error?.code == .readOnly)
    try await queue.inTransaction { db in
      try db.executeUpdate("DELETE FROM city")
      db.setRollbackOnly()
    }
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A queue's async scope that leaves a transaction open, commits or closes the database throws")
  func leftOpen() async throws {
    let error = await #expect(throws: DatabaseError.self) {
      try await queue.inDatabase { db in
        try db.begin()
        try db.executeUpdate("DELETE FROM city")
      }
    }
    #expect(error?.code == .misuse)
    await #expect(throws: DatabaseError.self) { try await queue.inTransaction { try $0.commit() } }
    await #expect(throws: DatabaseError.self) { try await queue.inDatabase { try $0.close() } }
    #expect(try await queue.read { try $0.cityCount() } == 4)
  }

  @Test("64 tasks that wait for a queue keep no other task from running")
  func doesNotBlock() async throws {
    let queue = queue
    let holder = try Holder(queue)
    let tasks = (0..<64).map { _ in
      Task {
        try await queue.inTransaction { try $0.executeUpdate("UPDATE city SET area = area + 1") }
      }
    }
    try await yieldUntil { queue.waitingCount == 64 }
    // The cooperative pool has far fewer than 64 threads: if the waiting tasks blocked theirs, these would never run.
    let others = await withTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(others == 63 * 32)
    #expect(queue.waitingCount == 64)
    try holder.release()
    for task in tasks { #expect(try await task.value == 4) }
    let area = try await queue.read { db in
      try db.value("SELECT area FROM city WHERE id = 2", as: Double.self)
    }
    #expect(area == 454.1 + 64 || abs((area ?? 0) - 518.1) < 1e-9)
  }

  @Test("Eight queues' async scopes can block at the same time without blocking task threads")
  func longBody() async throws {
    let goOn = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      let others = try (0..<8).map { _ in try DatabaseQueue(configuration: .patient) }
      let running = Recorder<Int>()
      for (number, other) in others.enumerated() {
        group.addTask {
          try await other.inDatabase { _ in
            running.add(number)
            try goOn.waitOrThrow()
          }
        }
      }
      try await yieldUntil { running.elements.count == 8 }
      for _ in others { goOn.signal() }
      try await group.waitForAll()
    }
  }

  @Test("Tasks that wait for a queue are served first come, first served")
  func order() async throws {
    let queue = queue
    let order = Recorder<Int>()
    let holder = try Holder(queue)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<40 {
      tasks.append(
        Task {
          if number % 2 == 0 {
            try await queue.inTransaction { _ in order.add(number) }
          } else {
            try await queue.read { _ in order.add(number) }
          }
        })
      try await yieldUntil { queue.waitingCount == number + 1 }
    }
    try holder.release()
    for task in tasks { try await task.value }
    #expect(order.elements == Array(0..<40))
  }

  @Test(
    "Increments of 64 concurrent tasks add up exactly when every fifth transaction is rolled back")
  func totals() async throws {
    let queue = queue
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<64 {
        group.addTask {
          for round in 0..<10 {
            do {
              try await queue.inTransaction { db in
                try db.executeUpdate("UPDATE city SET population = population + 1 WHERE id = 2")
                if (task + round) % 5 == 0 { throw Doubt() }
              }
            } catch is Doubt {}
          }
        }
      }
      try await group.waitForAll()
    }
    let population = try await queue.read { db in
      try db.value("SELECT population FROM city WHERE id = 2", as: Int.self)
    }
    #expect(population == 709_037 + 64 * 8)
  }

  @Test("A `Database` that is kept after its async scope throws `.misuse`")
  func leak() async throws {
    final class Leak: @unchecked Sendable { var db: Database? }
    let leak = Leak()
    try await queue.inDatabase { leak.db = $0 }
    let error = #expect(throws: DatabaseError.self) { try leak.db?.cityCount() }
    #expect(error?.code == .misuse)
  }
}

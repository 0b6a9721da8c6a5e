import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Closing in a task", .promptly)
struct AsyncClosingTests {
  @Test(
    "Async `close()` waits for earlier scopes, removes the log and makes later scopes throw",
    arguments: Company.threads)
  func waits(company: Company) async throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let holder = try Holder(access)
    let waiting = Task {
      try await access.inTransaction { try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
    }
    try await yieldUntil { access.waitingCount == 1 }
    let closing = Task { try await access.close() }
    try await yieldUntil { access.waitingCount == 2 }
    try holder.release()
    #expect(try await waiting.value == 1)
    try await closing.value
    try await access.close()
    let error = await #expect(throws: DatabaseError.self) { try await access.read { _ in } }
    #expect(error?.code == .misuse)
    #expect(!folder.exists("cities.db-wal"))
  }

  @Test("32 tasks that wait in `close()` keep no other task from running")
  func doesNotBlock() async throws {
    let queue = try DatabaseQueue(configuration: .patient)
    let holder = try Holder(queue)
    let tasks = (0..<32).map { _ in Task { try await queue.close() } }
    try await yieldUntil { queue.waitingCount == 32 }
    // The cooperative pool has far fewer than 32 threads: if the closing tasks blocked theirs, these wouldn't run.
    let others = await withTaskGroup(of: Int.self) { group in
      for number in 0..<32 {
        group.addTask {
          await Task.yield()
          return number
        }
      }
      return await group.reduce(0, +)
    }
    #expect(others == 31 * 16)
    #expect(queue.waitingCount == 32)
    try holder.release()
    for task in tasks { try await task.value }
    await #expect(throws: DatabaseError.self) { try await queue.read { _ in } }
  }

  @Test("`close()` closes the pool even if its task is cancelled while it waits")
  func cancelled() async throws {
    let folder = try ScratchFolder()
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: .patient)
    try await pool.inTransaction { try createCities(in: $0) }
    let holder = try Holder(pool)
    let closing = Task { try await pool.close() }
    try await yieldUntil { pool.waitingCount == 1 }
    closing.cancel()
    try holder.release()
    try await closing.value
    #expect(!folder.exists("cities.db-wal"))
    await #expect(throws: DatabaseError.self) { try await pool.read { _ in } }
  }

  @Test("`close()` throws and leaves the pool open if a scope doesn't end before the timeout")
  func tooLong() async throws {
    let folder = try ScratchFolder()
    var configuration = Configuration.patient
    // The read below has to begin within it, however busy the machine is.
    configuration.scopeTimeout = .seconds(2)
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    let holder = try Holder(pool)
    let error = await #expect(throws: DatabaseError.self) { try await pool.close() }
    #expect(error?.extendedCode == .busyTimeout)
    try holder.release()
    #expect(try await pool.read { try $0.value("SELECT 7", as: Int.self) } == 7)
    try await pool.close()
  }
}

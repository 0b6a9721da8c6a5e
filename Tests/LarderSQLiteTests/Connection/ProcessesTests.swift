import LarderSQLite
import TestSupport
import Testing

@Suite("Several processes on one file")
struct ProcessesTests {
  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    try DatabaseQueue(path: path).inTransaction { db in
      try createCities(in: db)
      try db.executeStatements("CREATE TABLE counter (value); INSERT INTO counter VALUES (0)")
    }
  }

  private func queue(busyTimeout: Duration, retryLimit: Duration? = nil) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyTimeout = busyTimeout
    configuration.retryLimit = retryLimit
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  @Test(
    "A wait for another process's lock exceeds the busy timeout by at most a fifth plus 200 ms",
    arguments: [250, 1000])
  func timeout(milliseconds: Int) throws {
    let timeout = Duration.milliseconds(milliseconds)
    let queue = try queue(busyTimeout: timeout)
    let other = try ChildProcess.role("hold", path)
    #expect(other.line() == "held")
    let time = ContinuousClock().measure {
      let error = #expect(throws: DatabaseError.self) {
        try queue.inTransaction { _ in _ = Issue.record("the closure ran") }
      }
      #expect(error?.code == .busy)
    }
    #expect(time >= timeout)
    #expect(time < timeout * 1.2 + .milliseconds(200))
    other.say()
    #expect(other.end() == 0)
    #expect(try queue.inTransaction { try $0.cityCount() } == 4)
  }

  @Test("A transaction waits until another process releases its lock")
  func letGo() throws {
    let queue = try queue(busyTimeout: .seconds(60))
    let other = try ChildProcess.role("hold", path)
    #expect(other.line() == "held")
    try queue.read { try $0.validate("SELECT 1") }
    other.say()
    #expect(try queue.inTransaction { try $0.executeUpdate("DELETE FROM city") } == 4)
  }

  @Test("The lock of a killed process is released at once")
  func killed() throws {
    let queue = try queue(busyTimeout: .zero)
    let other = try ChildProcess.role("hold", path)
    #expect(other.line() == "held")
    #expect(throws: DatabaseError.self) { try queue.inTransaction { _ in } }
    other.kill()
    #expect(try queue.inTransaction { try $0.executeUpdate("DELETE FROM city") } == 4)
  }

  @Test(
    "With a `retryLimit`, a busy transaction is retried until the limit and then throws `.busy`")
  func retryEnds() throws {
    let queue = try queue(busyTimeout: .milliseconds(20), retryLimit: .milliseconds(300))
    let other = try ChildProcess.role("hold", path)
    #expect(other.line() == "held")
    var error: DatabaseError?
    let time = ContinuousClock().measure {
      error = #expect(throws: DatabaseError.self) { try queue.inTransaction { _ in } }
    }
    #expect(error?.code == .busy)
    #expect(time >= .milliseconds(200))
    #expect(time < .seconds(10))
    other.say()
    #expect(other.end() == 0)
  }

  @Test(
    "Four processes that increment one counter lose no increment, and none waits over 20 seconds")
  func fairness() throws {
    let processes = try (0..<4).map { _ in try ChildProcess.role("count", path, "200") }
    for process in processes { #expect(process.line() == "ready") }
    for process in processes { process.say() }
    for process in processes {
      let longest = try #require(process.line().flatMap { Int($0) })
      #expect(longest < 20_000)
      #expect(process.end() == 0)
    }
    let total = try Database(path: path).value("SELECT value FROM counter", as: Int.self)
    #expect(total == 800)
  }
}

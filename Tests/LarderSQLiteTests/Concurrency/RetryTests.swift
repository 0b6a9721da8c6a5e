import LarderSQLite
import TestSupport
import Testing

@Suite("Trying again when another connection is in the way", .promptly)
struct RetryTests {
  private let folder: ScratchFolder
  private let path: String
  private let other: Database

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    other = try Database(path: path)
    try createCities(in: other)
  }

  private func queue(retryLimit: Duration?) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    configuration.retryLimit = retryLimit
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  @Test("It is off unless it is asked for")
  func off() throws {
    #expect(Configuration().retryLimit == nil)
    let queue = try queue(retryLimit: nil)
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction(.deferred) { db in
        attempts += 1
        _ = try db.cityCount()
        try other.executeUpdate("UPDATE city SET area = 0")
        try db.executeUpdate("DELETE FROM city")
      }
    }
    #expect(error?.extendedCode == .busySnapshot)
    #expect(attempts == 1)
  }

  @Test("A transaction whose snapshot is out of date runs anew on a new one")
  func busySnapshot() throws {
    let queue = try queue(retryLimit: .seconds(60))
    var counts: [Int?] = []
    try queue.inTransaction(.deferred) { db in
      counts.append(try db.cityCount())
      if counts.count < 3 {
        try other.executeUpdate("INSERT INTO city (name) VALUES (?)", counts.count)
      }
      try db.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')")
    }
    #expect(counts == [4, 5, 6])
    #expect(try other.cityCount() == 7)
  }

  @Test("A savepoint without a transaction around it runs anew, too")
  func savepoint() throws {
    let queue = try queue(retryLimit: .seconds(60))
    var attempts = 0
    try queue.inSavepoint { db in
      attempts += 1
      _ = try db.cityCount()
      if attempts == 1 { try other.executeUpdate("UPDATE city SET area = 0") }
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(attempts == 2)
    #expect(try other.cityCount() == 3)
  }

  @Test("A scope without a transaction isn't run again: what it did before would be done twice")
  func plain() throws {
    let queue = try queue(retryLimit: .seconds(60))
    var attempts = 0
    let error = #expect(throws: DatabaseError.self) {
      try queue.inDatabase { db in
        attempts += 1
        guard attempts == 1 else { return }
        try db.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')")
        try other.begin()
        defer { try? other.rollback() }
        try db.executeUpdate("INSERT INTO city (name) VALUES ('Bodø')")
      }
    }
    #expect(error?.code == .busy)
    #expect(attempts == 1)
    #expect(try other.cityCount() == 5)
  }

  @Test("The deadline is kept, and the last error thrown")
  func deadline() throws {
    let queue = try queue(retryLimit: .milliseconds(200))
    try other.begin()
    var error: DatabaseError?
    let time = ContinuousClock().measure {
      error = #expect(throws: DatabaseError.self) {
        try queue.inTransaction { _ in _ = Issue.record("the closure ran") }
      }
    }
    #expect(error?.code == .busy)
    #expect(time >= .milliseconds(150))
    #expect(time < .seconds(10))
    try other.rollback()
    try queue.inTransaction { try $0.executeUpdate("DELETE FROM city") }
  }

  @Test("Other errors are thrown at once")
  func otherErrors() throws {
    struct Doubt: Error {}
    let queue = try queue(retryLimit: .seconds(60))
    var attempts = 0
    #expect(throws: Doubt.self) {
      try queue.inTransaction { _ in
        attempts += 1
        throw Doubt()
      }
    }
    #expect(throws: DatabaseError.self) {
      try queue.inTransaction { db in
        attempts += 1
        try db.executeUpdate("INSERT INTO city (name) VALUES ('Oslo')")
      }
    }
    #expect(attempts == 2)
  }

  @Test("The line's own timeout isn't another process's lock, and isn't waited for again")
  func ownTimeout() throws {
    var configuration = Configuration()
    configuration.retryLimit = .seconds(600)
    configuration.scopeTimeout = .milliseconds(100)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let holder = try Holder(queue)
    let caller = Caller { try queue.inTransaction { _ in } }
    #expect((try caller.failure() as? DatabaseError)?.code == .busy)
    try holder.release()
  }

  @Test("Tasks try again without blocking their thread, and stop when they are cancelled")
  func tasks() async throws {
    let queue = try queue(retryLimit: .seconds(600))
    let holder = try ChildProcess.role("hold", path)
    #expect(holder.line() == "held")
    let patient = Task { try await queue.inTransaction { try $0.cityCount() } }
    let cancelled = Task { try await queue.inTransaction { try $0.cityCount() } }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    holder.say()
    #expect(try await patient.value == 4)
  }

  @Test("What the first refusal took doesn't count: a limit as long as the busy timeout is one")
  func limitFromFirstRefusal() throws {
    var configuration = Configuration()
    configuration.busyTimeout = .milliseconds(50)
    configuration.retryLimit = .milliseconds(50)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try other.begin(.immediate)
    let error = #expect(throws: DatabaseError.self) { try queue.inTransaction { _ in } }
    #expect(error?.isBusy == true)
    #expect(queue.statistics.retries > 0)
    try other.rollback()
  }
}

import LarderSQLite
import TestSupport
import Testing

@Suite("Retries of transactions that meet another connection's lock", .promptly)
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

  @Test(
    "Without a `retryLimit`, a deferred transaction with an outdated snapshot throws `.busySnapshot`"
  )
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

  @Test("With a `retryLimit`, a transaction with an outdated snapshot is run again on a new one")
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

  @Test("With a `retryLimit`, an outermost savepoint with an outdated snapshot is run again")
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

  @Test("A busy `inDatabase` scope isn't retried, since its earlier statements would run twice")
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

  @Test("A transaction that can't begin before the `retryLimit` throws `.busy`")
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

  @Test("Errors other than busy ones aren't retried")
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

  @Test("A timeout of the queue itself isn't retried, whatever the `retryLimit`")
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

  @Test(
    "An async transaction is retried until another process's lock is released or its task is cancelled"
  )
  func tasks() async throws {
    let queue = try queue(retryLimit: .seconds(600))
    let holder = try ChildProcess.role("hold", path)
    #expect(holder.line() == "held")
    let cancelled = Task { try await queue.inTransaction { try $0.cityCount() } }
    try await yieldUntil { queue.statistics.retries > 0 }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let retries = queue.statistics.retries
    let patient = Task { try await queue.inTransaction { try $0.cityCount() } }
    try await yieldUntil { queue.statistics.retries > retries }
    holder.say()
    #expect(try await patient.value == 4)
  }

  @Test(
    "The `retryLimit` begins after the first busy error, so one as long as the busy timeout still retries"
  )
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

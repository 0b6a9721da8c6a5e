import Dispatch
import LarderSQLite
import TestSupport
import Testing

@Suite("Misuse of a scope by its closure", .promptly)
struct ScopeMisuseTests {
  private struct Doubt: Error {}

  /// Objects that a closure keeps beyond its scope or passes to another thread.
  private final class Leak: @unchecked Sendable {
    var db: Database?
    var rows: ResultSet?
    var statement: Statement?
    var row: Row?
  }

  private let queue: DatabaseQueue

  init() throws {
    queue = try DatabaseQueue()
    try queue.inDatabase { try createCities(in: $0) }
  }

  @Test("`inDatabase` rolls back a transaction that its closure leaves open, and throws")
  func leftOpen() throws {
    let beginnings: [(Database) throws -> Void] = [
      { try $0.begin() }, { try $0.executeUpdate("BEGIN") }, { try $0.savepoint("harvest") },
      { try $0.executeStatements("BEGIN EXCLUSIVE; DELETE FROM city WHERE id = 1") },
    ]
    for begin in beginnings {
      let error = #expect(throws: DatabaseError.self) {
        try queue.inDatabase { db in
          try begin(db)
          try db.executeUpdate("DELETE FROM city")
        }
      }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("inTransaction") == true)
      try queue.inDatabase { (db) throws in
        #expect(!db.isInTransaction)
        #expect(try db.cityCount() == 4)
      }
    }
  }

  @Test(
    "`inDatabase` rolls back a transaction that its closure leaves open by throwing, and throws that error"
  )
  func leftOpenByError() throws {
    #expect(throws: Doubt.self) {
      try queue.inDatabase { db in
        try db.begin()
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    #expect(try queue.inDatabase { $0.isInTransaction } == false)
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("`begin()`, `commit()` and `rollback()` work in an `inDatabase` scope")
  func byHand() throws {
    try queue.inDatabase { db in
      try db.begin()
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      try db.commit()
      try db.begin()
      try db.executeUpdate("DELETE FROM city")
      try db.rollback()
    }
    #expect(try queue.read { try $0.cityCount() } == 3)
  }

  @Test("A closure that tries to end or begin its queue's transaction by any call gets `.misuse`")
  func commitsByHand() throws {
    let endings: [(Database) throws -> Void] = [
      { try $0.commit() }, { try $0.rollback() }, { try $0.begin() },
      { try $0.executeUpdate("COMMIT") }, { try $0.executeUpdate("end transaction") },
      { try $0.executeUpdate("/* done */ ROLLBACK") }, { try $0.executeUpdate("BEGIN") },
      { try $0.executeStatements("DELETE FROM city; COMMIT") },
      { try $0.prepare("COMMIT").execute() },
    ]
    for end in endings {
      let error = #expect(throws: DatabaseError.self) {
        try queue.inTransaction { db in
          try db.executeUpdate("DELETE FROM city")
          try end(db)
        }
      }
      #expect(error?.code == .misuse)
      #expect(try queue.read { try $0.cityCount() } == 4)
    }
    // After the error is caught, the transaction continues.
    try queue.inTransaction { db in
      #expect(throws: DatabaseError.self) { try db.commit() }
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
    }
    #expect(try queue.read { try $0.cityCount() } == 3)
  }

  @Test("Closing the database in a queue's scope throws, and the queue stays usable")
  func closesInside() throws {
    let error = #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.close() } }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("close the queue") == true)
    #expect(throws: DatabaseError.self) { try queue.inTransaction { try $0.close() } }
    #expect(throws: DatabaseError.self) { try queue.read { try $0.close() } }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test(
    "A database, result set or statement that is kept after its scope throws, also in a later scope"
  )
  func leaks() throws {
    let leak = Leak()
    let scopes: [((Database) throws -> Void) throws -> Void] = [
      { body in try queue.inDatabase { try body($0) } },
      { body in try queue.inTransaction { try body($0) } },
      { body in try queue.inSavepoint { try body($0) } },
      { body in try queue.read { try body($0) } },
    ]
    for scope in scopes {
      try scope { db in
        leak.db = db
        leak.rows = try db.executeQuery("SELECT name FROM city")
        #expect(try leak.rows?.next() == true)
        leak.statement = try db.prepare("SELECT count(*) FROM city")
      }
      let error = #expect(throws: DatabaseError.self) { try leak.db?.cityCount() }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("scope") == true)
      #expect(throws: DatabaseError.self) { try leak.rows?.next() }
      #expect(throws: (any Error).self) { try leak.rows?.get(at: 0, as: String.self) }
      #expect(throws: DatabaseError.self) { try leak.statement?.step() }
      #expect(throws: DatabaseError.self) { try leak.db?.executeUpdate("DELETE FROM city") }
      #expect(throws: DatabaseError.self) { try leak.db?.begin() }
      #expect(throws: DatabaseError.self) { try leak.db?.close() }
      #expect(leak.db?.isInTransaction == false)
      // They also throw inside a later scope.
      try queue.inDatabase { db in
        #expect(!db.hasOpenStatements)
        #expect(throws: DatabaseError.self) { try leak.rows?.next() }
        #expect(throws: DatabaseError.self) { try leak.statement?.step() }
      }
      leak.rows?.close()
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("A result set that is kept after its scope holds no lock or snapshot")
  func leakedSnapshot() throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue(path: folder.file("cities.db"))
    try queue.inTransaction { try createCities(in: $0) }
    let leak = Leak()
    try queue.inDatabase { db in
      leak.rows = try db.executeQuery("SELECT name FROM city")
      #expect(try leak.rows?.next() == true)
    }
    let other = try Database(path: folder.file("cities.db"))
    other.busyTimeout = .zero
    try other.executeUpdate("DELETE FROM city")
    #expect(try other.checkpoint(.truncate).logFrames == 0)
    #expect(try queue.read { try $0.cityCount() } == 0)
  }

  @Test(
    "A scope's database, result set and statement throw on another thread, and the scope continues")
  func otherThread() throws {
    let leak = Leak()
    try queue.inTransaction { db in
      leak.db = db
      leak.rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
      leak.statement = try db.prepare("DELETE FROM city")
      #expect(try leak.rows?.next() == true)
      let other = Caller {
        let calls: [() throws -> Void] = [
          { _ = try leak.db?.cityCount() }, { try leak.db?.executeUpdate("DELETE FROM city") },
          { _ = try leak.rows?.next() }, { _ = try leak.rows?.get(at: 0, as: String.self) },
          { _ = try leak.statement?.step() }, { try leak.db?.close() },
        ]
        for (index, call) in calls.enumerated() {
          let error = #expect(throws: DatabaseError.self, "call \(index)") { try call() }
          #expect(error?.code == .misuse)
        }
        #expect(leak.db?.isInTransaction == false)
      }
      try other.join()
      #expect(try leak.rows?.get(at: 0, as: String.self) == "Bergen")
      #expect(try db.cityCount() == 4)
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("A closure whose transaction SQLite rolled back can't commit later statements")
  func lostTransaction() throws {
    let error = #expect(throws: DatabaseError.self) {
      try queue.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
        try db.executeUpdate("DELETE FROM city WHERE id = 3")
      }
    }
    #expect(error?.code == .abort)
    #expect(throws: DatabaseError.self) {
      try queue.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
      }
    }
    #expect(try queue.read { try $0.cityCount() } == 4)
  }

  @Test("Scopes that wait for one that blocks throw `.busy` after `scopeTimeout`")
  func blocksForEver() async throws {
    var configuration = Configuration()
    configuration.scopeTimeout = .milliseconds(300)
    let queue = try DatabaseQueue(configuration: configuration)
    let holder = try Holder(queue)
    let caller = Caller { try queue.inTransaction { _ in _ = Issue.record("the closure ran") } }
    let task = Task {
      try await queue.inTransaction { _ in _ = Issue.record("the closure ran") }
    }
    let error = try #require(try caller.failure() as? DatabaseError)
    #expect(error.code == .busy)
    #expect(error.message.contains("0.3 seconds"))
    let other = await #expect(throws: DatabaseError.self) { try await task.value }
    #expect(other?.code == .busy)
    #expect(queue.waitingCount == 0)
    try holder.release()
    #expect(try await queue.inTransaction { try $0.value("SELECT 7", as: Int.self) } == 7)
  }
}

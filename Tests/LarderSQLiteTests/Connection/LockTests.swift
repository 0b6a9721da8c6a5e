import LarderSQLite
import TestSupport
import Testing

@Suite("Locked databases")
struct LockTests {
  let folder: ScratchFolder
  let path: String
  let holder: Database

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    holder = try Database(path: path)
    try holder.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen')")
  }

  private func other(_ timeout: Duration) throws -> Database {
    var configuration = Configuration()
    configuration.busyTimeout = timeout
    return try Database(path: path, configuration: configuration)
  }

  private func elapsed(_ body: () throws -> Void) rethrows -> Duration {
    try ContinuousClock().measure(body)
  }

  @Test("With a busy timeout of zero, `begin()` on a locked file throws `.busy` at once")
  func zero() throws {
    let db = try other(.zero)
    try holder.begin()
    let time = elapsed {
      let error = #expect(throws: DatabaseError.self) { try db.begin() }
      #expect(error?.code == .busy)
      #expect(error?.isBusy == true)
    }
    #expect(time < .milliseconds(500))
    #expect(!db.isInTransaction)
  }

  @Test("The wait for a lock isn't much shorter or longer than the busy timeout")
  func kept() throws {
    let db = try other(.milliseconds(200))
    try holder.begin()
    let time = elapsed {
      #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    }
    #expect(time >= .milliseconds(195))
    #expect(time < .seconds(2))
  }

  @Test("A busy timeout that is changed on an open connection applies to the next call")
  func setLater() throws {
    let db = try other(.seconds(60))
    try holder.begin()
    db.busyTimeout = .zero
    let time = elapsed { #expect(throws: DatabaseError.self) { try db.begin() } }
    #expect(time < .seconds(2))
    #expect(db.busyTimeout == .zero)
  }

  @Test("A negative busy timeout doesn't wait")
  func negative() throws {
    let db = try other(.seconds(-5))
    try holder.begin()
    #expect(throws: DatabaseError.self) { try db.begin() }
  }

  @Test("A connection with a busy timeout of `Int64.max` seconds can write")
  func largest() throws {
    let db = try other(.seconds(Int64.max))
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("A transaction that can't begin never runs its closure")
  func bodyNeverRuns() throws {
    let db = try other(.zero)
    try holder.begin()
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { _ in _ = Issue.record("the closure ran") }
    }
    #expect(error?.code == .busy)
    #expect(!db.isInTransaction)
    try holder.rollback()
    try db.inTransaction { _ = try $0.executeUpdate("DELETE FROM city") }
    #expect(try holder.value("SELECT count(*) FROM city", as: Int.self) == 0)
  }

  @Test("A query on a locked file throws `.busy`, and reading on throws instead of ending the rows")
  func queries() throws {
    try holder.executeUpdate("PRAGMA journal_mode = DELETE")
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let rows = try db.executeQuery("SELECT name FROM city")
    try holder.begin(.exclusive)
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .busy)
    try holder.commit()
    #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
  }

  @Test("A `commit()` that fails because of a lock can be repeated and commits once")
  func commitAgain() throws {
    try holder.executeUpdate("PRAGMA journal_mode = DELETE")
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let rows = try holder.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    try db.begin()
    try db.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) { try db.commit() }
      #expect(error?.code == .busy)
      #expect(db.isInTransaction)
    }
    rows.close()
    try db.commit()
    #expect(!db.isInTransaction)
    #expect(try holder.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("A transaction scope whose commit fails because of a lock is rolled back")
  func failedCommitOfAScope() throws {
    try holder.executeUpdate("PRAGMA journal_mode = DELETE")
    var configuration = Configuration()
    configuration.busyTimeout = .zero
    configuration.journalMode = nil
    let db = try Database(path: path, configuration: configuration)
    let rows = try holder.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('Bodø')") }
    }
    #expect(error?.code == .busy)
    #expect(!db.isInTransaction)
    rows.close()
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
  }

  @Test(
    "A write to a snapshot that another connection has outdated throws `.busySnapshot`"
  )
  func staleSnapshot() throws {
    let db = try other(.seconds(60))
    try db.begin(.deferred)
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 2)
    try holder.executeUpdate("INSERT INTO city VALUES ('Bodø')")
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    #expect(error?.extendedCode == .busySnapshot)
    try db.rollback()
  }
}

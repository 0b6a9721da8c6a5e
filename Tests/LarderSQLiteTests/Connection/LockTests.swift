import LarderSQLite
import TestSupport
import Testing

@Suite("Locks of other connections")
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

  @Test("Without a timeout a lock fails the call at once")
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

  @Test("A timeout is kept: not much shorter, not much longer")
  func kept() throws {
    let db = try other(.milliseconds(200))
    try holder.begin()
    let time = elapsed {
      #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    }
    #expect(time >= .milliseconds(195))
    #expect(time < .seconds(2))
  }

  @Test("A timeout that is set later counts from the next call on")
  func setLater() throws {
    let db = try other(.seconds(60))
    try holder.begin()
    db.busyTimeout = .zero
    let time = elapsed { #expect(throws: DatabaseError.self) { try db.begin() } }
    #expect(time < .seconds(2))
    #expect(db.busyTimeout == .zero)
  }

  @Test("A negative timeout is none")
  func negative() throws {
    let db = try other(.seconds(-5))
    try holder.begin()
    #expect(throws: DatabaseError.self) { try db.begin() }
  }

  @Test("The largest timeout is one, too")
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

  @Test("A query that meets a lock throws and doesn't look like an empty one")
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

  @Test("A commit that meets a lock can be tried again, and commits once")
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

  @Test("A transaction whose commit meets a lock is rolled back and leaves the connection clean")
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
    "A snapshot that another connection has written past can't be written to, however long one waits"
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

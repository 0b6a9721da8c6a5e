import LarderSQLite
import Synchronization
import TestSupport
import Testing

@Suite("Steps after a failed step")
struct FailedStepTests {
  @Test("After a failed `next()`, the next one throws an error that says the rows ended early")
  func resultSet() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.journalMode = .delete
    configuration.busyTimeout = .zero
    let holder = try Database(path: folder.file("cities.db"), configuration: configuration)
    try createCities(in: holder)
    let db = try Database(path: folder.file("cities.db"), configuration: configuration)
    try holder.begin(.exclusive)
    let rows = try db.executeQuery("SELECT name FROM city")
    let first = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(first?.isBusy == true)
    let second = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(second?.code == .misuse)
    #expect(second?.message == "the result set ended with an error before its last row")
    rows.close()
    let closed = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(closed?.message == "the result set is closed")
    try holder.rollback()
  }

  @Test("A statement whose step failed throws until it is reset, and then runs again")
  func statement() throws {
    let db = try Database()
    let fails = Atomic(true)
    try db.createFunction("sometimes", argumentCount: 0, deterministic: false) { _ in
      if fails.load(ordering: .relaxed) { throw DatabaseError(code: .full, message: "no") }
      return 1
    }
    let statement = try db.prepare("SELECT sometimes()")
    #expect(throws: DatabaseError.self) { try statement.step() }
    let error = #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(error?.message == "the statement's last step failed: bind or reset it first")
    fails.store(false, ordering: .relaxed)
    try statement.reset()
    #expect(try statement.step())
  }
}

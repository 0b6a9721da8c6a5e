import Foundation
import LarderSQLite
import TestSupport
import Testing

/// Functions, traces, logs and destructors that use or close the database that is calling them.
@Suite("Callbacks that use or close their database", .serialized)
struct CallbackTests {
  /// Makes values that aren't Sendable available to a closure that must be Sendable.
  private final class Loan: @unchecked Sendable {
    var db: Database?
    var rows: ResultSet?
    var statement: Statement?
  }

  @Test("A query whose function closes its own result set throws, and its row can't be read")
  func closingRows() throws {
    let db = try Database()
    let loan = Loan()
    loan.db = db
    try db.createFunction("meddle", argumentCount: 0, deterministic: false) { _ in
      loan.rows?.close()
      try loan.db?.executeUpdate("SELECT ?1 || 'x', ?1", "somebody else's")
      return 1
    }
    let rows = try db.executeQuery("SELECT meddle(), ?", "one's own")
    loan.rows = rows
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) { try rows[1] }
    loan.rows = nil
    loan.db = nil
    #expect(!db.hasOpenStatements)
    #expect(try db.value("SELECT ?", "Oslo", as: String.self) == "Oslo")
  }

  @Test("A statement that is closed by a function it calls throws in that step and stays closed")
  func closingStatement() throws {
    let db = try Database()
    let loan = Loan()
    try db.createFunction("shut", argumentCount: 0, deterministic: false) { _ in
      loan.statement?.close()
      return 1
    }
    let statement = try db.prepare("SELECT shut()")
    loan.statement = statement
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(throws: DatabaseError.self) { try statement[0] }
    #expect(!db.hasOpenStatements)
    loan.statement = nil
    try db.close()
  }

  @Test(
    "A trace or log callback can run SQL, which isn't traced or logged, but can't close the database"
  )
  func reporting() throws {
    let loan = Loan()
    let events = Recorder<String>()
    var configuration = Configuration()
    configuration.trace = { event in
      events.add(event.sql)
      _ = try? loan.db?.executeUpdate("INSERT INTO seen VALUES (?)", event.sql)
      try? loan.db?.close()
    }
    configuration.log = { error in
      events.add("error \(error.code.rawValue)")
      _ = try? loan.db?.executeUpdate("nonsense")
      try? loan.db?.close()
    }
    let db = try Database(configuration: configuration)
    try db.executeUpdate("CREATE TABLE seen (sql TEXT)")
    loan.db = db
    let before = events.elements.count
    try db.executeUpdate("DELETE FROM seen")
    #expect(throws: DatabaseError.self) { try db.executeUpdate("rubbish") }
    #expect(Array(events.elements.dropFirst(before)) == ["DELETE FROM seen", "error 1"])
    #expect(db.isOpen)
    loan.db = nil
    #expect(try db.value("SELECT count(*) FROM seen", as: Int.self) == 1)
  }

  @Test(
    "A trace callback that closes the statement it reports doesn't interrupt that statement's step")
  func traceClosesStatement() throws {
    let loan = Loan()
    var configuration = Configuration()
    configuration.trace = { _ in loan.statement?.close() }
    let db = try Database(configuration: configuration)
    let statement = try db.prepare("SELECT 1 UNION SELECT 2")
    loan.statement = statement
    #expect(try statement.step())
    statement.close()
    #expect(throws: DatabaseError.self) { try statement.step() }
    loan.statement = nil
    try db.close()
  }

  private final class Closer: @unchecked Sendable {
    let loan: Loan
    init(_ loan: Loan) { self.loan = loan }
    deinit { try? loan.db?.close() }
  }

  @Test("The deinit of a replaced function's or collation's captures can't close the database")
  func destruction() throws {
    let loan = Loan()
    let db = try Database()
    loan.db = db
    func register() throws {
      let closer = Closer(loan)
      try db.createFunction("keep", argumentCount: 0) { _ in closer.loan.db == nil ? 1 : 2 }
      try db.createCollation("kept") { _, _ in
        closer.loan.db == nil ? .orderedSame : .orderedAscending
      }
    }
    try register()
    try register()
    #expect(db.isOpen)
    #expect(try db.value("SELECT keep()", as: Int.self) == 2)
    loan.db = nil
  }

  @Test(
    "SQLite's own collations can't be replaced or removed",
    arguments: ["BINARY", "nocase", "RTrim"])
  func ownCollations(name: String) throws {
    let db = try Database()
    #expect(throws: DatabaseError.self) { try db.createCollation(name) { _, _ in .orderedSame } }
    #expect(throws: DatabaseError.self) { try db.removeCollation(name) }
    #expect(try db.tableExists("CITY") == false)
  }
}

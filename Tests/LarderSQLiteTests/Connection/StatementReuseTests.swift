import LarderSQLite
import Synchronization
import Testing

@Suite("Statements and result sets that are used out of turn")
struct StatementReuseTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen'), ('Tromsø')")
  }

  /// Lets a function, which has to be Sendable, use the database that calls it and keeps it.
  private final class Loan: @unchecked Sendable {
    weak var db: Database?
    init(db: Database) { self.db = db }
  }

  private func count() throws -> Int? { try db.value("SELECT count(*) FROM city", as: Int.self) }

  @Test("Stepping on after the end isn't a second execution")
  func stepAfterTheEnd() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (?)")
    try insert.bind("Bodø")
    #expect(try !insert.step())
    #expect(throws: DatabaseError.self) { try insert.step() }
    #expect(try count() == 4)
    try insert.reset()
    #expect(try !insert.step())
    #expect(try count() == 5)
  }

  @Test("Nor is it after execute, which has run the statement to its end")
  func stepAfterExecute() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (?)")
    try insert.execute("Bodø")
    #expect(throws: DatabaseError.self) { try insert.step() }
    #expect(try count() == 4)
  }

  @Test("A statement made of interpolated values runs with them")
  func interpolatedValues() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (\("Bodø"))")
    #expect(try insert.execute() == 1)
    #expect(try count() == 4)
  }

  @Test("A result set of a statement ends when the statement is bound, executed or queried again")
  func resultSetEnds() throws {
    let statement = try db.prepare("SELECT name FROM city WHERE name <> ?")
    let uses: [() throws -> Void] = [
      { try statement.bind("Bergen") }, { try statement.execute("Bergen") },
      { _ = try statement.query("Bergen") }, { try statement.reset() }, { statement.close() },
    ]
    for use in uses {
      let rows = try statement.query("Oslo")
      #expect(try rows.next())
      try use()
      #expect(throws: DatabaseError.self) { try rows["name"] }
      #expect(throws: DatabaseError.self) { try rows.next() }
      #expect(throws: DatabaseError.self) { try rows.columnIndex(named: "name") }
      #expect(rows.columnNames.isEmpty)
    }
  }

  @Test("The statement itself can't be stepped meanwhile: no row is skipped unseen")
  func steppingBesideAResultSet() throws {
    let statement = try db.prepare("SELECT rowid FROM city ORDER BY rowid")
    let rows = try statement.query()
    #expect(try rows.next())
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(try rows.next())
    #expect(try rows[0] == 2)
  }

  @Test("A row is good until its result set goes on")
  func rows() throws {
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let row = rows.row
    #expect(try row["name"] == "Oslo")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try row["name"] }
    #expect(error?.message == "the row is used after its result set has gone on")
  }

  @Test("A table may be written while it is read on the same connection")
  func writingWhileReading() throws {
    let rows = try db.executeQuery("SELECT rowid, name FROM city ORDER BY rowid")
    var names: [String] = []
    while try rows.next() {
      names.append(try rows.get("name"))
      try db.executeUpdate("UPDATE city SET name = upper(name) WHERE rowid = ?", try rows[0])
    }
    #expect(names == ["Oslo", "Bergen", "Tromsø"])
  }

  @Test(
    "A function may run statements, the one that calls it too, but not to the bottom of the stack")
  func recursion() throws {
    let loan = Loan(db: db)
    let depth = Mutex(0)
    try db.createFunction("below", argumentCount: 0, deterministic: false) { _ in
      let level = depth.withLock { depth in
        depth += 1
        return depth
      }
      return level < 5 ? try loan.db?.value("SELECT below() + 1", as: Int.self) : 0
    }
    #expect(try db.value("SELECT below() + 1", as: Int.self) == 5)
    #expect(!db.hasOpenStatements)
  }

  @Test("A function can't close the database, or the statement, that calls it")
  func closingFromAFunction() throws {
    let loan = Loan(db: db)
    try db.createFunction("shut", argumentCount: 0, deterministic: false) { _ in
      try loan.db?.close()
      return 1
    }
    let error = #expect(throws: DatabaseError.self) { try db.value("SELECT shut()", as: Int.self) }
    #expect(error?.code == .misuse)
    #expect(db.isOpen)
    #expect(try count() == 3)
  }

  @Test("Closing all open statements from inside of one leaves its values as they are")
  func closingOpenStatementsFromAFunction() throws {
    let loan = Loan(db: db)
    let sql: SQL = "SELECT meddle() || ?"
    try db.createFunction("meddle", argumentCount: 0, deterministic: false) { arguments in
      loan.db?.closeOpenStatements()
      _ = try? loan.db?.executeQuery(sql, "Bergen")
      return ""
    }
    let rows = try db.executeQuery(sql, "Tromsø")
    do {
      if try rows.next() { #expect(try rows[0] == "Tromsø") }
    } catch is DatabaseError {
      // Refusing is as good.
    }
    rows.close()
    try db.removeFunction("meddle", argumentCount: 0)
    #expect(try count() == 3)
  }
}

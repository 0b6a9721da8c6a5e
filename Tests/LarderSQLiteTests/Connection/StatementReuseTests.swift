import LarderSQLite
import Synchronization
import Testing

@Suite("Statements and result sets that are used out of order")
struct StatementReuseTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen'), ('Tromsø')")
  }

  /// Gives a function, which must be Sendable, a weak reference to the database that owns and calls it.
  private final class Loan: @unchecked Sendable {
    weak var db: Database?
    init(db: Database) { self.db = db }
  }

  private func count() throws -> Int? { try db.value("SELECT count(*) FROM city", as: Int.self) }

  @Test("`step()` after the end throws, and runs the statement again only after `reset()`")
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

  @Test("`step()` after `execute()` throws and doesn't run the statement again")
  func stepAfterExecute() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (?)")
    try insert.execute("Bodø")
    #expect(throws: DatabaseError.self) { try insert.step() }
    #expect(try count() == 4)
  }

  @Test("A prepared INSERT with interpolated values can be executed without arguments")
  func interpolatedValues() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (\("Bodø"))")
    #expect(try insert.execute() == 1)
    #expect(try count() == 4)
  }

  @Test("A result set ends when its statement is bound, executed, queried, reset or closed")
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

  @Test("`step()` on a statement throws while its result set is open, so that no row is skipped")
  func steppingBesideAResultSet() throws {
    let statement = try db.prepare("SELECT rowid FROM city ORDER BY rowid")
    let rows = try statement.query()
    #expect(try rows.next())
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(try rows.next())
    #expect(try rows[0] == 2)
  }

  @Test("A row throws an error that says why after its result set has advanced")
  func rows() throws {
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let row = rows.row
    #expect(try row["name"] == "Oslo")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try row["name"] }
    #expect(error?.message == "the row was used after its result set had moved on")
  }

  @Test("A table's rows can be updated while a result set of the same connection reads them")
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
    "A custom function can run statements, including recursively the one that calls it")
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

  @Test("A custom function can't close the database that calls it")
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

  @Test(
    "A function that closes all open statements makes the one calling it throw, not read other values"
  )
  func closingOpenStatementsFromAFunction() throws {
    let loan = Loan(db: db)
    let sql: SQL = "SELECT meddle() || ?"
    let calls = Mutex(0)
    try db.createFunction("meddle", argumentCount: 0, deterministic: false) { _ in
      loan.db?.closeOpenStatements()
      _ = try loan.db?.executeQuery(sql, "Bergen")
      calls.withLock { $0 += 1 }
      return ""
    }
    let rows = try db.executeQuery(sql, "Tromsø")
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.message == "the statement was closed by a function that it called")
    #expect(calls.withLock { $0 } == 1)
    #expect(throws: DatabaseError.self) { try rows[0] }
    rows.close()
    try db.removeFunction("meddle", argumentCount: 0)
    #expect(try count() == 3)
  }
}

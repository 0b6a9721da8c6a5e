import LarderSQLite
import TestSupport
import Testing

@Suite("Closing a database")
struct ClosingTests {
  private func mustNotRun() { Issue.record("the body ran") }

  @Test("`isOpen` and `isGoodConnection` are true for an open database and false for a closed one")
  func goodConnection() throws {
    let db = try makeCities()
    #expect(db.isOpen)
    #expect(db.isGoodConnection)
    try db.close()
    #expect(!db.isOpen)
    #expect(!db.isGoodConnection)
  }

  @Test("Closing a closed database again does nothing")
  func twice() throws {
    let db = try makeCities()
    try db.close()
    try db.close()
    #expect(!db.isOpen)
  }

  @Test("Every call on a closed database throws an error that says it is closed")
  func calls() throws {
    let db = try makeCities()
    try db.close()
    let calls: [(Database) throws -> Void] = [
      { try $0.executeUpdate("DELETE FROM city") },
      { _ = try $0.executeQuery("SELECT * FROM city") },
      { try $0.executeStatements("DELETE FROM city; DELETE FROM city") },
      { _ = try $0.value("SELECT count(*) FROM city", as: Int.self) },
      { _ = try $0.prepare("SELECT * FROM city") },
      { try $0.validate("SELECT * FROM city") },
      { try $0.begin() },
      { try $0.commit() },
      { try $0.rollback() },
      { try $0.inTransaction { _ in mustNotRun() } },
      { try $0.inSavepoint { _ in mustNotRun() } },
      { try $0.savepoint("draft") },
      { try $0.setLimit(.length, 1000) },
    ]
    for (index, call) in calls.enumerated() {
      let error = #expect(throws: DatabaseError.self, "call \(index)") { try call(db) }
      #expect(error?.code == .misuse, "call \(index)")
      #expect(error?.message == "database is closed", "call \(index)")
    }
  }

  @Test("Closing a database in a transaction resets its properties to neutral values")
  func properties() throws {
    let db = try makeCities()
    try db.begin()
    try db.executeUpdate("INSERT INTO city (name) VALUES ('Tromsø')")
    #expect(db.lastInsertRowID == 5)
    #expect(db.changes == 1)
    try db.close()
    #expect(db.lastInsertRowID == 0)
    #expect(db.changes == 0)
    #expect(db.totalChanges == 0)
    #expect(!db.isInTransaction)
    #expect(!db.isReadOnly)
    #expect(!db.hasOpenStatements)
    #expect(db.limit(.length) == 0)
    db.interrupt()
  }

  @Test("A result set throws after its database is closed, and has no columns")
  func resultSet() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
    #expect(try rows.next())
    #expect(db.hasOpenStatements)
    try db.close()
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.message == "database is closed")
    #expect(throws: DatabaseError.self) { try rows.get("name", as: String.self) }
    #expect(rows.columnNames.isEmpty)
    rows.close()
  }

  @Test("A statement throws after its database is closed")
  func statement() throws {
    let db = try makeCities()
    let statement = try db.prepare("SELECT name FROM city")
    #expect(try statement.step())
    try db.close()
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(throws: DatabaseError.self) { try statement.get(at: 0, as: String.self) }
    statement.close()
  }

  @Test("`closeOpenStatements()` ends result sets and leaves the database open")
  func openStatements() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    db.closeOpenStatements()
    #expect(!db.hasOpenStatements)
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .misuse)
    #expect(try db.cityCount() == 4)
  }

  @Test("Closing a database in the middle of a transaction rolls it back")
  func transaction() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      try createCities(in: db)
      try db.begin()
      try db.executeUpdate("DELETE FROM city")
      try db.close()
      #expect(try Database(path: folder + "/cities.db").cityCount() == 4)
    }
  }
}

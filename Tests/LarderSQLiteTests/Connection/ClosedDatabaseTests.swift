import LarderSQLite
import TestSupport
import Testing

@Suite("Calls on a closed database")
struct ClosedDatabaseTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate("CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT)")
    try db.executeUpdate("INSERT INTO city (name) VALUES ('Oslo'), ('Bergen'), ('Tromsø')")
  }

  private func expectClosed(
    _ what: String = "database is closed", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try body() }
    #expect(error?.code == .misuse, sourceLocation: sourceLocation)
    #expect(error?.message == what, sourceLocation: sourceLocation)
  }

  @Test("Every call that runs SQL on a closed database throws")
  func runningSQL() throws {
    try db.close()
    expectClosed { try db.executeUpdate("DELETE FROM city") }
    expectClosed { try db.executeUpdate("DELETE FROM city WHERE id = ?", 1) }
    expectClosed { try db.executeUpdate("DELETE FROM city WHERE id = :id", arguments: ["id": 1]) }
    expectClosed { _ = try db.executeQuery("SELECT name FROM city") }
    expectClosed { _ = try db.executeQuery("SELECT name FROM city", arguments: []) }
    expectClosed { try db.executeStatements("DELETE FROM city; DELETE FROM city") }
    expectClosed { try db.executeStatements("SELECT 1") { _ in .next } }
    expectClosed { _ = try db.value("SELECT 1", as: Int.self) }
    expectClosed { _ = try db.value("SELECT 1", arguments: [], as: Int.self) }
    expectClosed { try db.validate("SELECT 1") }
    expectClosed { _ = try db.prepare("SELECT 1") }
  }

  @Test("A batch without statements throws on a closed database")
  func emptyBatch() throws {
    try db.close()
    expectClosed { try db.executeStatements("") }
    expectClosed { try db.executeStatements("-- nothing to do") }
  }

  @Test("Every transaction call on a closed database throws, and no closure runs")
  func transactions() throws {
    try db.close()
    expectClosed { try db.begin() }
    expectClosed { try db.begin(.deferred) }
    expectClosed { try db.commit() }
    expectClosed { try db.rollback() }
    expectClosed { try db.savepoint("harvest") }
    expectClosed { try db.release("harvest") }
    expectClosed { try db.rollback(to: "harvest") }
    expectClosed { try db.inTransaction { _ in _ = Issue.record("the closure ran") } }
    expectClosed { try db.inSavepoint { _ in _ = Issue.record("the closure ran") } }
  }

  @Test("Properties of a closed database have neutral values, and setting a limit throws")
  func properties() throws {
    try db.close()
    #expect(!db.isOpen)
    #expect(!db.isGoodConnection)
    #expect(db.lastInsertRowID == 0)
    #expect(db.changes == 0)
    #expect(db.totalChanges == 0)
    #expect(!db.isInTransaction)
    #expect(!db.isReadOnly)
    #expect(!db.hasOpenStatements)
    #expect(db.limit(.variables) == 0)
    #expect(db.path == nil)
    #expect(db.statementCacheStatistics.count == 0)
    expectClosed { try db.setLimit(.variables, 10) }
  }

  @Test("Calls that need no connection, such as `interrupt()`, do nothing on a closed database")
  func harmlessCalls() throws {
    let handle = db.interruptHandle
    try db.close()
    try db.close()
    db.interrupt()
    handle.interrupt()
    db.clearStatementCache()
    db.closeOpenStatements()
    db.setRollbackOnly()
    db.busyTimeout = .seconds(1)
    db.statementCacheCapacity = 0
    #expect(!db.isOpen)
  }

  @Test("Every call on a result set throws if the database is closed in the middle of its rows")
  func resultSets() throws {
    let rows = try db.executeQuery("SELECT id, name FROM city")
    #expect(try rows.next())
    let row = rows.row
    try db.close()
    expectClosed { _ = try rows.next() }
    expectClosed { _ = try rows.get(at: 0, as: Int.self) }
    expectClosed { _ = try rows.get("name", as: String.self) }
    expectClosed { _ = try rows["name"] }
    expectClosed { _ = try rows[0] }
    expectClosed { _ = try rows.isNull(at: 0) }
    expectClosed { _ = try rows.isNull("name") }
    expectClosed { _ = try rows.storageClass(at: 0) }
    expectClosed { _ = try rows.columnIndex(named: "name") }
    expectClosed { try rows.withUnsafeBytes(at: 1) { _ in } }
    expectClosed { _ = try rows.dictionary }
    expectClosed { _ = try row.dictionary }
    expectClosed { try rows.forEach { _ in } }
    expectClosed { _ = try rows.map { _ in 0 } }
    #expect(throws: DatabaseError.self) { try row[0] }
    #expect(rows.columnNames.isEmpty)
    #expect(rows.columnCount == 0)
    rows.close()
    rows.close()
  }

  @Test(
    "A result set whose columns were already looked up by name throws after the database is closed")
  func resultSetsByName() throws {
    let rows = try db.executeQuery("SELECT id, name FROM city")
    #expect(try rows.next())
    #expect(try rows["id"] == 1)
    try db.close()
    expectClosed { _ = try rows.columnIndex(named: "name") }
    expectClosed { _ = try rows["name"] }
    expectClosed { _ = try rows.next() }
  }

  @Test("The rows of an INSERT with RETURNING can't be read after the database is closed")
  func bufferedRows() throws {
    let rows = try db.executeQuery("INSERT INTO city (name) VALUES ('Bodø') RETURNING id, name")
    #expect(try rows.next())
    try db.close()
    expectClosed { _ = try rows.get(at: 0, as: Int.self) }
    expectClosed { _ = try rows.next() }
  }

  @Test("Every call on a statement throws after its database is closed")
  func statements() throws {
    let statement = try db.prepare("SELECT name FROM city WHERE id = ?")
    try statement.bind(1)
    #expect(try statement.step())
    try db.close()
    expectClosed { try statement.bind(2) }
    expectClosed { try statement.bind(arguments: [2]) }
    expectClosed { _ = try statement.step() }
    expectClosed { try statement.reset() }
    expectClosed { try statement.execute(2) }
    expectClosed { _ = try statement.query(2) }
    expectClosed { _ = try statement.get(at: 0, as: String.self) }
    expectClosed { _ = try statement.columnIndex(named: "name") }
    #expect(statement.columnNames.isEmpty)
    #expect(statement.sql == "SELECT name FROM city WHERE id = ?")
    #expect(statement.parameterCount == 1)
    statement.close()
  }

  @Test("Every call on a closed result set throws an error that says it is closed")
  func closedResultSet() throws {
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    rows.close()
    expectClosed("the result set is closed") { _ = try rows.next() }
    expectClosed("the result set is closed") { _ = try rows.get(at: 0, as: String.self) }
    expectClosed("the result set is closed") { _ = try rows.columnIndex(named: "name") }
    #expect(rows.columnNames.isEmpty)
    #expect(!db.hasOpenStatements)
  }

  @Test("Every call on a closed statement throws an error that says it is closed")
  func closedStatement() throws {
    let statement = try db.prepare("DELETE FROM city")
    statement.close()
    statement.close()
    expectClosed("the statement is closed") { try statement.execute() }
    expectClosed("the statement is closed") { _ = try statement.step() }
    expectClosed("the statement is closed") { try statement.reset() }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("Closing a database rolls back a transaction that `begin()` started")
  func openTransaction() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let first = try Database(path: path)
    try first.executeUpdate("CREATE TABLE city (name)")
    try first.begin()
    try first.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    try first.close()
    let count = try Database(path: path).value("SELECT count(*) FROM city", as: Int.self)
    #expect(count == 0)
    #expect(folder.exists("cities.db"))
  }

  @Test("A transaction whose closure closes the database throws")
  func closingInsideOfAScope() throws {
    expectClosed { try db.inTransaction { try $0.close() } }
    #expect(!db.isOpen)
  }

  @Test("A batch whose row closure closes the database throws")
  func closingInsideOfABatch() throws {
    expectClosed {
      try db.executeStatements("SELECT id FROM city; DELETE FROM city") { _ in
        try db.close()
        return .next
      }
    }
  }
}

import LarderSQLite
import TestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
  private struct Doubt: Error {}

  @Test("A committed transaction stays, one that is rolled back is undone")
  func commitAndRollback() throws {
    let db = try makeCities()
    #expect(!db.isInTransaction)
    try db.begin()
    #expect(db.isInTransaction)
    try db.executeUpdate("DELETE FROM city WHERE id = 1")
    try db.commit()
    #expect(!db.isInTransaction)
    try db.begin(.deferred)
    try db.executeUpdate("DELETE FROM city")
    #expect(try db.cityCount() == 0)
    try db.rollback()
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 3)
  }

  @Test(
    "A transaction can't begin inside another",
    arguments: [
      TransactionKind.deferred, .immediate, .exclusive,
    ])
  func beginTwice(kind: TransactionKind) throws {
    let db = try makeCities()
    try db.begin(kind)
    let error = #expect(throws: DatabaseError.self) { try db.begin(kind) }
    #expect(error?.message == "cannot start a transaction within a transaction")
    #expect(db.isInTransaction)
    try db.commit()
  }

  @Test("Without a transaction there is nothing to commit or roll back")
  func nothingOpen() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) { try db.commit() }
    #expect(throws: DatabaseError.self) { try db.rollback() }
  }

  @Test("Whether a transaction is open is SQLite's answer, however it was begun or ended")
  func rawSQL() throws {
    let db = try makeCities()
    try db.executeUpdate("BEGIN")
    #expect(db.isInTransaction)
    try db.executeUpdate("END")
    #expect(!db.isInTransaction)
    try db.begin()
    // ROLLBACK as the conflict clause ends the transaction without being asked.
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
    }
    #expect(!db.isInTransaction)
  }

  @Test("A closure's transaction commits when it returns, and its result is returned")
  func closureReturns() throws {
    let db = try makeCities()
    let count = try db.inTransaction { db in
      #expect(db.isInTransaction)
      return try db.executeUpdate("DELETE FROM city WHERE id > 1")
    }
    #expect(count == 3)
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 1)
  }

  @Test("A closure's transaction is rolled back when it throws, and its error is thrown")
  func closureThrows() throws {
    let db = try makeCities()
    #expect(throws: Doubt.self) {
      try db.inTransaction { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 4)
  }

  @Test("A closure can ask for a rollback and return normally")
  func rollbackOnly() throws {
    let db = try makeCities()
    let count = try db.inTransaction { db in
      let count = try db.executeUpdate("DELETE FROM city")
      db.setRollbackOnly()
      return count
    }
    #expect(count == 4)
    #expect(try db.cityCount() == 4)
    // The wish ends with its transaction.
    #expect(try db.inTransaction { try $0.executeUpdate("DELETE FROM city") } == 4)
    #expect(try db.cityCount() == 0)
  }

  @Test("The closure never runs unless its transaction has begun")
  func beginFails() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.busyTimeout = .zero
      let path = folder + "/cities.db"
      let first = try Database(path: path, configuration: configuration)
      try createCities(in: first)
      let second = try Database(path: path, configuration: configuration)
      try first.begin()
      var hasRun = false
      let error = #expect(throws: DatabaseError.self) {
        try second.inTransaction { _ in hasRun = true }
      }
      #expect(error?.code == .busy)
      #expect(!hasRun)
      #expect(!second.isInTransaction)
    }
  }

  @Test("A failed commit rolls back, throws its error and leaves no transaction")
  func commitFails() throws {
    let db = try makeCities()
    try db.executeUpdate(
      """
      CREATE TABLE bridge (
        city INTEGER REFERENCES city (id) DEFERRABLE INITIALLY DEFERRED, name TEXT)
      """)
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { try $0.executeUpdate("INSERT INTO bridge VALUES (99, 'Nowhere')") }
    }
    #expect(error?.constraint?.kind == .foreignKey)
    #expect(!db.isInTransaction)
    #expect(try db.value("SELECT count(*) FROM bridge", as: Int.self) == 0)
    #expect(
      try db.inTransaction { try $0.executeUpdate("INSERT INTO bridge VALUES (2, 'Grim')") } == 1)
    #expect(try db.value("SELECT count(*) FROM bridge", as: Int.self) == 1)
  }

  @Test("A transaction that ends inside its closure is an error")
  func endsInside() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        try db.commit()
      }
    }
    #expect(!db.isInTransaction)
  }

  @Test("A transaction inside another is undone by itself")
  func nested() throws {
    let db = try makeCities()
    try db.inTransaction { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      #expect(throws: Doubt.self) {
        try db.inTransaction { db in
          try db.executeUpdate("DELETE FROM city WHERE id = 2")
          throw Doubt()
        }
      }
      try db.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 3")
        db.setRollbackOnly()
      }
      #expect(db.isInTransaction)
    }
    #expect(try db.texts("SELECT name FROM city ORDER BY id") == ["Oslo", "Lagos", "北京市"])
  }

  @Test("Rolling back the outer transaction undoes the inner one, which had ended well")
  func outerRollback() throws {
    let db = try makeCities()
    try db.inTransaction { db in
      let count = try db.inTransaction { try $0.executeUpdate("DELETE FROM city") }
      #expect(count == 4)
      db.setRollbackOnly()
    }
    #expect(try db.cityCount() == 4)
  }

  @Test("An immediate transaction keeps other writers away, a deferred one only once it writes")
  func kinds() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.busyTimeout = .zero
      let path = folder + "/cities.db"
      let first = try Database(path: path, configuration: configuration)
      try createCities(in: first)
      let second = try Database(path: path, configuration: configuration)

      try first.begin(.immediate)
      #expect(throws: DatabaseError.self) { try second.begin(.immediate) }
      try first.rollback()

      try first.begin(.deferred)
      try second.begin(.immediate)
      #expect(throws: DatabaseError.self) { try first.executeUpdate("DELETE FROM city") }
      try second.rollback()
      try first.executeUpdate("DELETE FROM city")
      #expect(throws: DatabaseError.self) { try second.begin(.immediate) }
      try first.rollback()
    }
  }
}

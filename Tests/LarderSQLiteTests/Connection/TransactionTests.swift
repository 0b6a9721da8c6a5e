import LarderSQLite
import TestSupport
import Testing

@Suite("Transactions")
struct TransactionTests {
  private struct Doubt: Error {}

  @Test("`commit()` keeps a transaction's changes and `rollback()` undoes them")
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
    "`begin()` throws inside a transaction and leaves it open",
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

  @Test("`commit()` and `rollback()` throw outside a transaction")
  func nothingOpen() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) { try db.commit() }
    #expect(throws: DatabaseError.self) { try db.rollback() }
  }

  @Test("`isInTransaction` is right however the transaction was begun or ended")
  func rawSQL() throws {
    let db = try makeCities()
    try db.executeUpdate("BEGIN")
    #expect(db.isInTransaction)
    try db.executeUpdate("END")
    #expect(!db.isInTransaction)
    try db.begin()
    // A conflict with the clause OR ROLLBACK ends the transaction.
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
    }
    #expect(!db.isInTransaction)
  }

  @Test("`inTransaction` commits when its closure returns, and returns the closure's result")
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

  @Test("`inTransaction` rolls back when its closure throws, and throws the closure's error")
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

  @Test(
    "`setRollbackOnly()` undoes its transaction, whose closure's result is returned, and not the next"
  )
  func rollbackOnly() throws {
    let db = try makeCities()
    let count = try db.inTransaction { db in
      let count = try db.executeUpdate("DELETE FROM city")
      db.setRollbackOnly()
      return count
    }
    #expect(count == 4)
    #expect(try db.cityCount() == 4)
    // The next transaction isn't affected.
    #expect(try db.inTransaction { try $0.executeUpdate("DELETE FROM city") } == 4)
    #expect(try db.cityCount() == 0)
  }

  @Test("`inTransaction` doesn't run its closure when BEGIN fails because of a lock")
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

  @Test("`inTransaction` rolls back and throws when its COMMIT violates a deferred foreign key")
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

  @Test("`inTransaction` throws when its closure ends the transaction")
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

  @Test("A nested `inTransaction` that throws or is rollback-only is undone alone")
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

  @Test("Rolling back an outer `inTransaction` also undoes a nested one that succeeded")
  func outerRollback() throws {
    let db = try makeCities()
    try db.inTransaction { db in
      let count = try db.inTransaction { try $0.executeUpdate("DELETE FROM city") }
      #expect(count == 4)
      db.setRollbackOnly()
    }
    #expect(try db.cityCount() == 4)
  }

  @Test(
    "An immediate transaction locks out other writers at once, a deferred one when it first writes")
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

import LarderSQLite
import Testing

@Suite("Savepoints")
struct SavepointTests {
  private struct Doubt: Error {}

  @Test(
    "A savepoint of any name can be rolled back to and released",
    arguments: [
      "draft", "O'Brien's", #"the "old" one"#, "select", "草稿 ; --", "",
    ])
  func named(name: String) throws {
    let db = try makeCities()
    try db.begin()
    try db.savepoint(name)
    try db.executeUpdate("DELETE FROM city WHERE id = 1")
    try db.rollback(to: name)
    #expect(try db.cityCount() == 4)
    try db.executeUpdate("DELETE FROM city WHERE id = 2")
    try db.release(name)
    try db.commit()
    #expect(try db.texts("SELECT name FROM city ORDER BY id") == ["Bergen", "Lagos", "北京市"])
  }

  @Test("With two savepoints of the same name, the inner one is rolled back and released first")
  func sameName() throws {
    let db = try makeCities()
    try db.savepoint("draft")
    try db.executeUpdate("DELETE FROM city WHERE id = 1")
    try db.savepoint("draft")
    try db.executeUpdate("DELETE FROM city WHERE id = 2")
    try db.rollback(to: "draft")
    #expect(try db.cityCount() == 3)
    try db.release("draft")
    #expect(db.isInTransaction)
    try db.rollback(to: "draft")
    #expect(try db.cityCount() == 4)
    try db.release("draft")
    #expect(!db.isInTransaction)
  }

  @Test("Releasing or rolling back to a missing savepoint throws")
  func missing() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) { try db.release("draft") }
    #expect(error?.message.contains("draft") == true)
    try db.begin()
    #expect(throws: DatabaseError.self) { try db.rollback(to: "draft") }
    #expect(db.isInTransaction)
  }

  @Test("`inSavepoint` keeps the changes when its closure returns")
  func closureReturns() throws {
    let db = try makeCities()
    let count = try db.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id > 2") }
    #expect(count == 2)
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 2)
  }

  @Test("`inSavepoint` undoes the changes when its closure throws")
  func closureThrows() throws {
    let db = try makeCities()
    #expect(throws: Doubt.self) {
      try db.inSavepoint { db in
        try db.executeUpdate("DELETE FROM city")
        throw Doubt()
      }
    }
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 4)
  }

  @Test("`setRollbackOnly()` in a savepoint undoes that savepoint only")
  func rollbackOnly() throws {
    let db = try makeCities()
    try db.inTransaction { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      try db.inSavepoint { db in
        try db.executeUpdate("DELETE FROM city")
        db.setRollbackOnly()
      }
      #expect(try db.cityCount() == 3)
    }
    #expect(try db.cityCount() == 3)
  }

  @Test("An error in a nested savepoint undoes that one and those inside it, but not the outer one")
  func nested() throws {
    let db = try makeCities()
    try db.inSavepoint { db in
      try db.executeUpdate("DELETE FROM city WHERE id = 1")
      #expect(throws: Doubt.self) {
        try db.inSavepoint { db in
          let count = try db.inSavepoint { try $0.executeUpdate("DELETE FROM city WHERE id = 2") }
          #expect(count == 1)
          #expect(try db.cityCount() == 2)
          throw Doubt()
        }
      }
      #expect(try db.cityCount() == 3)
    }
    #expect(try db.texts("SELECT name FROM city ORDER BY id") == ["Oslo", "Lagos", "北京市"])
  }

  @Test(
    "A transaction that SQLite rolled back inside a savepoint throws, even if the error was ignored"
  )
  func endedByError() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        try db.executeUpdate("DELETE FROM city WHERE id = 1")
        try db.inSavepoint { db in
          _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city (name) VALUES ('Oslo')")
        }
      }
    }
    #expect(!db.isInTransaction)
    #expect(try db.cityCount() == 4)
  }
}

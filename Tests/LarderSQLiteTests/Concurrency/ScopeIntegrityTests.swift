import LarderSQLite
import Testing

@Suite("Scopes whose transaction ends unexpectedly")
struct ScopeIntegrityTests {
  private func makeTable() throws -> Database {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE city (name TEXT PRIMARY KEY) WITHOUT ROWID")
    return db
  }

  private func cities(_ db: Database) throws -> [String] {
    try db.executeQuery("SELECT name FROM city ORDER BY name").map { try $0.get(at: 0) }
  }

  @Test(
    "After SQLite's automatic rollback in a transaction scope, its later statements throw `.abort`")
  func automaticRollback() throws {
    let db = try makeTable()
    var late: DatabaseError?
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
        _ = try? db.inSavepoint {
          try $0.executeUpdate("INSERT OR ROLLBACK INTO city VALUES ('Oslo')")
        }
        do {
          try db.executeUpdate("INSERT INTO city VALUES ('Bergen')")
        } catch {
          late = error as? DatabaseError
        }
        _ = try? db.inTransaction { try $0.executeUpdate("INSERT INTO city VALUES ('Bodø')") }
        _ = try? db.inSavepoint { try $0.executeUpdate("INSERT INTO city VALUES ('Molde')") }
      }
    }
    #expect(late?.code == .abort)
    #expect(error?.code == .abort)
    #expect(try cities(db).isEmpty)
    #expect(!db.isInTransaction)
  }

  @Test(
    "SQL and methods that begin or end a transaction are refused in a transaction scope",
    arguments: [
      "COMMIT", "END TRANSACTION", "ROLLBACK", "BEGIN", " /* now */ commit -- it",
      "begin immediate",
    ])
  func control(sql: String) throws {
    let db = try makeTable()
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: sql)) }
      #expect(error?.code == .misuse)
      #expect(throws: DatabaseError.self) { try db.commit() }
      #expect(throws: DatabaseError.self) { try db.rollback() }
      #expect(throws: DatabaseError.self) { try db.begin() }
      try db.executeUpdate("SAVEPOINT harbour")
      try db.executeUpdate("ROLLBACK TRANSACTION TO SAVEPOINT harbour")
      try db.executeUpdate("RELEASE harbour")
    }
    #expect(try cities(db) == ["Oslo"])
    try db.begin()
    try db.rollback()
  }

  @Test("Savepoint methods refuse the name `larder scope`, which scopes use themselves")
  func reservedName() throws {
    let db = try makeTable()
    try db.inSavepoint { db in
      #expect(throws: DatabaseError.self) { try db.savepoint("Larder Scope") }
      #expect(throws: DatabaseError.self) { try db.release("larder scope") }
      #expect(throws: DatabaseError.self) { try db.rollback(to: "larder scope") }
    }
    #expect(!db.isInTransaction)
  }

  @Test(
    "A savepoint scope that runs SQL on the internal savepoint throws and leaves no transaction open"
  )
  func releasedByHand() throws {
    let db = try makeTable()
    #expect(throws: DatabaseError.self) {
      try db.inSavepoint { db in
        try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
        try db.executeUpdate(#"RELEASE "larder scope""#)
      }
    }
    #expect(!db.isInTransaction)
    #expect(throws: DatabaseError.self) {
      try db.inSavepoint { try $0.executeUpdate(#"SAVEPOINT "larder scope""#) }
    }
    #expect(!db.isInTransaction)
  }

  @Test("A transaction commits even if its closure sets a SQL length limit too short for COMMIT")
  func limitInScope() throws {
    let db = try makeTable()
    try db.inTransaction { db in
      try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
      try db.setLimit(.sqlLength, 5)
    }
    try db.setLimit(.sqlLength, 1000)
    #expect(!db.isInTransaction)
    #expect(try cities(db) == ["Oslo"])
  }

  @Test("A batch of 20,000 statements runs in one transaction")
  func longBatch() throws {
    let db = try makeTable()
    let rows = (1...20_000).map { "INSERT INTO city VALUES ('city number \($0)');" }
    try db.inTransaction { try $0.executeStatements(SQL(raw: rows.joined(separator: "\n"))) }
    #expect(try cities(db).count == 20_000)
  }
}

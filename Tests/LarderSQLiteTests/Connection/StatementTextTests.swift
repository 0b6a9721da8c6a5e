import LarderSQLite
import Testing

@Suite("Recognition of transaction statements in SQL text")
struct StatementTextTests {
  @Test(
    "COMMIT, END and ROLLBACK are refused in a transaction scope, whatever spaces and comments precede",
    arguments: [
      "-- x\r\nCOMMIT", "--\u{301}\nCOMMIT", "/*\u{301}*/COMMIT", "/**/\u{FEFF}END",
      " \u{0B}COMMIT",
      ";;\r\n;COMMIT", "/* *\u{301}/ COMMIT */ ROLLBACK", "ROLLBACK TRANSACTION 'TO'", "cOmMiT;",
      "--\r COMMIT\nCOMMIT",
    ])
  func transactionControl(text: String) throws {
    let db = try makeCities()
    try db.inTransaction { db in
      for sql in [SQL(raw: text), SQL(raw: text + " -- x")] {
        let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
        #expect(error?.code == .misuse)
        #expect(throws: DatabaseError.self) { try db.executeStatements(sql) }
      }
      #expect(db.isInTransaction)
      db.setRollbackOnly()
    }
  }

  @Test(
    "SQL that only mentions COMMIT, or rolls back to a savepoint, runs in a transaction scope",
    arguments: [
      "-- COMMIT\rCOMMIT", "EXPLAIN COMMIT", "SELECT 1 AS 'COMMIT'",
      "SAVEPOINT \"COMMIT\"; ROLLBACK TRANSACTION TO \"COMMIT\"; RELEASE \"COMMIT\"",
    ])
  func others(text: String) throws {
    let db = try makeCities()
    try db.inTransaction { try $0.executeStatements(SQL(raw: text)) }
    #expect(try db.cityCount() == 4)
  }

  @Test(
    "SQL that uses the internal savepoint `larder scope` is refused in any notation",
    arguments: [
      #"SAVEPOINT "larder scope""#, "savepoint 'Larder Scope'", "RELEASE [larder scope]",
      "-- x\r\nROLLBACK TRANSACTION TO SAVEPOINT `LARDER SCOPE`", ";RELEASE/**/\"larder scope\";",
    ])
  func scopeSavepoint(text: String) throws {
    struct Doubt: Error {}
    let db = try makeCities()
    try db.inTransaction { db in
      do {
        try db.inSavepoint { db in
          try db.executeUpdate("DELETE FROM city WHERE id = 1")
          let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: text)) }
          #expect(error?.code == .misuse)
          #expect(throws: DatabaseError.self) { try db.executeStatements(SQL(raw: text)) }
          throw Doubt()
        }
      } catch is Doubt {}
    }
    #expect(try db.cityCount() == 4)
  }

  @Test("A statement may be followed by spaces, comments and semicolons only")
  func tails() throws {
    let db = try makeCities()
    for tail in [";", ";;\n", "; -- done", ";/* done", ";\u{FEFF}\r\n"] {
      #expect(try db.value(SQL(raw: "SELECT 1" + tail), as: Int.self) == 1)
    }
    for tail in ["; SELECT 2", ";;x", "; --\nx", "; '", ";\u{0B}"] {
      let error = #expect(throws: DatabaseError.self) {
        try db.value(SQL(raw: "SELECT 1" + tail), as: Int.self)
      }
      #expect(error?.code == .misuse)
    }
  }
}

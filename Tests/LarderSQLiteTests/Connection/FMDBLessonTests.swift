import Foundation
import LarderSQLite
import TestSupport
import Testing

/// FMDB's known defects, numbered as in the list of its traps. Those of its queue and pool (8, 9, 14)
/// are tested with Larder's queue and pool.
@Suite("Defects of FMDB that Larder avoids")
struct FMDBLessonTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY);
      CREATE TABLE city (
        name TEXT, country TEXT REFERENCES country (code) DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO country VALUES ('no');
      INSERT INTO city VALUES ('Oslo', 'no'), ('Bergen', 'no'), ('Tromsø', 'no');
      """)
  }

  private func count() throws -> Int? { try db.value("SELECT count(*) FROM city", as: Int.self) }

  @Test("1: A transaction whose BEGIN fails doesn't run its closure and throws the error")
  func failedBegin() throws {
    // Every BEGIN statement is longer than this limit.
    try db.setLimit(.sqlLength, 10)
    db.clearStatementCache()
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { _ in _ = Issue.record("the closure ran") }
    }
    #expect(error?.code == .tooBig)
    #expect(!db.isInTransaction)
  }

  @Test(
    "2: A transaction whose COMMIT fails is rolled back and throws; the connection stays usable")
  func failedCommit() throws {
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction {
        _ = try $0.executeUpdate("INSERT INTO city VALUES ('Atlantis', 'xx')")
      }
    }
    #expect(error?.extendedCode == .constraintForeignKey)
    #expect(!db.isInTransaction)
    #expect(try count() == 3)
    try db.inTransaction { _ = try $0.executeUpdate("INSERT INTO city VALUES ('Bodø', 'no')") }
    #expect(try count() == 4)
  }

  @Test("2: An outermost savepoint whose RELEASE fails is rolled back and throws")
  func failedRelease() throws {
    let error = #expect(throws: DatabaseError.self) {
      try db.inSavepoint { _ = try $0.executeUpdate("INSERT INTO city VALUES ('Atlantis', 'xx')") }
    }
    #expect(error?.extendedCode == .constraintForeignKey)
    #expect(!db.isInTransaction)
    #expect(try count() == 3)
  }

  @Test("3: A cached statement whose binding failed can be run again")
  func failedBinding() throws {
    let sql: SQL = "INSERT INTO city (name) VALUES (?)"
    for _ in 0..<3 {
      #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
      #expect(throws: ConversionError.self) { try db.executeUpdate(sql, UInt64.max) }
      #expect(try db.executeUpdate(sql, "Bodø") == 1)
    }
    #expect(try count() == 6)
  }

  @Test("4: Two result sets of the same SQL don't share a statement")
  func sameSQL() throws {
    let sql: SQL = "SELECT name FROM city WHERE name <> ? ORDER BY name"
    let first = try db.executeQuery(sql, "Oslo")
    #expect(try first.next())
    let second = try db.executeQuery(sql, "Bergen")
    #expect(try second.next())
    #expect(try first["name"] == "Bergen")
    #expect(try second["name"] == "Oslo")
    #expect(try first.next())
    #expect(try first["name"] == "Tromsø")
    first.close()
    #expect(try second.next())
    #expect(try second["name"] == "Tromsø")
    #expect(try !second.next())
  }

  @Test("5: An error in the middle of the rows is thrown instead of ending them")
  func errorWhileStepping() throws {
    try db.createFunction("picky", argumentCount: 1) { arguments in
      if arguments[0] == "Bergen" {
        throw DatabaseError(code: .mismatch, message: "not that one")
      }
      return arguments[0]
    }
    let rows = try db.executeQuery("SELECT picky(name) FROM city ORDER BY rowid")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .mismatch)
    #expect(error?.message == "not that one")
    #expect(!db.hasOpenStatements)
  }

  @Test("6: A wrong number of arguments throws an error with both counts and the missing names")
  func argumentCounts() {
    let sql: SQL = "INSERT INTO city VALUES (:name, :country)"
    let few = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql, "Bodø") }
    #expect(few?.message == "the statement has 2 parameters, but 1 were given; missing: :country")
    let many = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql, "Bodø", "no", 3) }
    #expect(many?.message == "the statement has 2 parameters, but 3 were given")
  }

  @Test("7: Calls that need an open connection throw once the database is closed")
  func closed() throws {
    try db.close()
    #expect(db.lastInsertRowID == 0 && db.changes == 0 && !db.isInTransaction)
    #expect(throws: DatabaseError.self) { try db.checkpoint() }
    #expect(throws: DatabaseError.self) { try db.createFunction("f") { _ in 1 } }
    #expect(throws: DatabaseError.self) { try db.removeFunction("f") }
    #expect(throws: DatabaseError.self) { try db.createCollation("c") { _, _ in .orderedSame } }
    #expect(throws: DatabaseError.self) { try db.removeCollation("c") }
    #expect(throws: DatabaseError.self) {
      try db.createAggregate("a", initial: 0, step: { _, _ in }, final: { $0 })
    }
    #expect(throws: DatabaseError.self) { try db.tableExists("city") }
    #expect(throws: DatabaseError.self) { try db.columnExists("name", in: "city") }
    #expect(throws: DatabaseError.self) { try db.columns(of: "city") }
    #expect(throws: DatabaseError.self) { try db.indexes(of: "city") }
    #expect(throws: DatabaseError.self) { try db.foreignKeys(of: "city") }
    #expect(throws: DatabaseError.self) { try db.schema() }
    #expect(throws: DatabaseError.self) { try db.userVersion }
    #expect(throws: DatabaseError.self) { try db.setUserVersion(1) }
    #expect(throws: DatabaseError.self) { try db.applicationID }
    #expect(throws: DatabaseError.self) { try db.setApplicationID(1) }
    #expect(throws: DatabaseError.self) { try db.effectiveSettings }
    let other = try Database()
    #expect(throws: DatabaseError.self) { try db.backup(to: other) }
    #expect(throws: DatabaseError.self) { try other.backup(to: db) }
    #expect(throws: DatabaseError.self) { try other.restore(from: db) }
    #expect(throws: DatabaseError.self) { try db.restore(from: other) }
  }

  @Test("10: Empty blobs, text with NUL and Booleans from 64-bit integers are read exactly")
  func exactValues() throws {
    #expect(try db.value("SELECT x''", as: [UInt8].self) == [])
    #expect(try db.value("SELECT \(Data())", as: Data?.self) == .some(Data()))
    #expect(try db.value("SELECT \("Os\0lo")", as: String.self)?.utf8.count == 5)
    #expect(try db.value("SELECT 4294967296", as: Bool.self) == true)
    #expect(throws: ConversionError.self) { try db.value("SELECT 0.5", as: Bool.self) }
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    #expect(throws: DatabaseError.self) { try rows.get("nmae", as: Int.self) }
  }

  @Test("11: `executeQuery` runs an INSERT at once, even if no row is read")
  func queryThatWrites() throws {
    _ = try db.executeQuery("INSERT INTO city VALUES ('Bodø', 'no')")
    #expect(try count() == 4)
    let rows = try db.executeQuery("INSERT INTO city VALUES ('Molde', 'no') RETURNING name")
    #expect(try count() == 5)
    #expect(try rows.map { try $0.get("name", as: String.self) } == ["Molde"])
  }

  @Test("11: `executeUpdate` accepts statements that return rows")
  func updateWithRows() throws {
    #expect(try db.executeUpdate("PRAGMA user_version = 7") == 0)
    #expect(try db.executeUpdate("PRAGMA user_version") == 0)
    #expect(try db.executeUpdate("DELETE FROM city WHERE name <> 'Oslo' RETURNING name") == 2)
    #expect(try db.executeUpdate("SELECT name FROM city") == 0)
    #expect(try db.userVersion == 7)
  }

  @Test("12: `isInTransaction` follows SQLite's state, also after its automatic rollback")
  func isInTransaction() throws {
    try db.executeUpdate("BEGIN")
    #expect(db.isInTransaction)
    try db.executeUpdate("CREATE TABLE unique_city (name UNIQUE ON CONFLICT ROLLBACK)")
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO unique_city VALUES ('Oslo'), ('Oslo')")
    }
    #expect(!db.isInTransaction)
    try db.savepoint("harvest")
    #expect(db.isInTransaction)
    try db.release("harvest")
    #expect(!db.isInTransaction)
  }

  @Test("13: Column names are current before and after the first step when a table was altered")
  func columnNames() throws {
    let sql: SQL = "SELECT * FROM country"
    #expect(try db.value(sql, as: String.self) == "no")
    let statement = try db.prepare(sql)
    #expect(statement.columnNames == ["code"])
    try db.executeUpdate("ALTER TABLE country RENAME COLUMN code TO iso")
    try db.executeUpdate("ALTER TABLE country ADD COLUMN name TEXT")
    let rows = try db.executeQuery(sql)
    #expect(rows.columnNames == ["iso", "name"])
    #expect(rows.columnCount == 2)
    #expect(try rows.next())
    #expect(rows.columnNames == ["iso", "name"])
    #expect(try rows["iso"] == "no")
    #expect(try rows.dictionary == ["iso": "no", "name": nil])
    #expect(statement.columnNames == ["iso", "name"])
    #expect(try statement.step())
    #expect(try statement["iso"] == "no")
    #expect(statement.columnNames == ["iso", "name"])
  }

  @Test("15: Reading a column by an ambiguous name throws; `dictionary` has the first one's value")
  func duplicateNames() throws {
    let rows = try db.executeQuery(
      "SELECT a.name, b.name FROM city a JOIN city b ON b.name = 'Oslo' WHERE a.name = 'Bergen'")
    #expect(try rows.next())
    #expect(throws: DatabaseError.self) { try rows["name"] }
    #expect(try rows[0] == "Bergen")
    #expect(try rows[1] == "Oslo")
    #expect(try rows.dictionary == ["name": "Bergen"])
  }

  @Test("16: Reading text as a date throws a conversion error")
  func dates() throws {
    let error = #expect(throws: ConversionError.self) {
      try db.value("SELECT '2013'", as: Date.self)
    }
    #expect(error?.kind == .storageClass(.text))
  }

  @Test("17: A number beyond SQLite's integers throws instead of being stored as another one")
  func largeNumbers() throws {
    #expect(throws: ConversionError.self) {
      try db.executeUpdate("INSERT INTO city (name) VALUES (?)", UInt64.max)
    }
    #expect(try count() == 3)
  }

  @Test("18: The configuration's `log` gets each error of a statement")
  func log() throws {
    let errors = Recorder<DatabaseError>()
    var configuration = Configuration()
    configuration.log = { errors.add($0) }
    let db = try Database(configuration: configuration)
    try db.executeUpdate("CREATE TABLE city (name UNIQUE)")
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city VALUES ('Oslo'), ('Oslo')")
    }
    #expect(errors.elements.map(\.extendedCode) == [.constraintUnique])
  }
}

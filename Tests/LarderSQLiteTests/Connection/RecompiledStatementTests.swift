import LarderSQLite
import TestSupport
import Testing

/// SQLite recompiles a statement when the schema has changed, and may then rely on the values that are bound at
/// that moment: for `WHERE status = ?` it uses an index `WHERE status = 'open'` if 'open' is bound. When other values
/// are bound later, it doesn't recompile if the statement didn't depend on values when it was first compiled.
@Suite("Statements that SQLite has recompiled")
struct RecompiledStatementTests {
  private let folder: ScratchFolder
  private let path: String
  private let queue: DatabaseQueue

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("jobs.db")
    queue = try DatabaseQueue(path: path)
    try queue.inDatabase { db in
      try db.executeStatements(
        """
        CREATE TABLE job (id INTEGER PRIMARY KEY, status TEXT, tries INTEGER NOT NULL CHECK (tries < 9));
        INSERT INTO job (status, tries) VALUES ('open', 1), ('done', 2), ('open', 3), ('done', 4), ('done', 5)
        """)
    }
  }

  private static let index = "CREATE INDEX open_job ON job (status) WHERE status = 'open'"

  /// Creates a partial index for one value, on this connection or on another one.
  private func createIndex(byAnother: Bool, _ db: Database) throws {
    if byAnother {
      try Database(path: path).executeUpdate(SQL(raw: Self.index))
    } else {
      try db.executeUpdate(SQL(raw: Self.index))
    }
  }

  private func ids(_ status: String, _ db: Database) throws -> [Int] {
    let rows = try db.executeQuery("SELECT id FROM job WHERE status = ? ORDER BY id", status)
    var ids: [Int] = []
    while try rows.next() { ids.append(try rows.get(at: 0)) }
    return ids
  }

  @Test(
    "A cached query finds the rows of every value after a partial index for one value was created",
    arguments: [false, true])
  func query(byAnother: Bool) throws {
    try queue.inDatabase { db in
      #expect(try ids("open", db) == [1, 3])
      try createIndex(byAnother: byAnother, db)
      #expect(try ids("open", db) == [1, 3])
      #expect(try ids("done", db) == [2, 4, 5])
      #expect(try ids("open", db) == [1, 3])
    }
  }

  @Test(
    "A cached UPDATE or DELETE finds the rows of every value after a partial index was created",
    arguments: [false, true])
  func changes(byAnother: Bool) throws {
    let update = "UPDATE job SET tries = tries + 1 WHERE status = ?"
    let delete = "DELETE FROM job WHERE status = ?"
    try queue.inDatabase { db in
      #expect(try db.executeUpdate(SQL(raw: update), "none") == 0)
      #expect(try db.executeUpdate(SQL(raw: delete), "none") == 0)
      try createIndex(byAnother: byAnother, db)
      #expect(try db.executeUpdate(SQL(raw: update), "open") == 2)
      #expect(try db.executeUpdate(SQL(raw: update), "done") == 3)
      #expect(try db.executeUpdate(SQL(raw: delete), "open") == 2)
      #expect(try db.executeUpdate(SQL(raw: delete), "done") == 3)
    }
  }

  @Test(
    "A cached UPDATE whose first run after the new partial index failed finds another value's rows")
  func failed() throws {
    let update = "UPDATE job SET tries = tries + ? WHERE status = ?"
    try queue.inDatabase { db in
      #expect(try db.executeUpdate(SQL(raw: update), 0, "none") == 0)
      try createIndex(byAnother: true, db)
      #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: update), 100, "open") }
      #expect(try db.executeUpdate(SQL(raw: update), 1, "done") == 3)
    }
  }

  @Test(
    "A prepared statement finds the rows of every value after a new partial index or table",
    arguments: [false, true])
  func kept(byAnother: Bool) throws {
    try queue.inDatabase { db in
      let select = try db.prepare("SELECT count(*) FROM job WHERE status = :status")
      let update = try db.prepare("UPDATE job SET tries = tries + 1 WHERE status = ?")
      func count(_ status: String) throws -> Int? {
        let rows = try select.query(arguments: ["status": status])
        return try rows.next() ? rows.get(at: 0) : nil
      }
      #expect(try count("open") == 2)
      #expect(try update.execute("none") == 0)
      try createIndex(byAnother: byAnother, db)
      #expect(try count("open") == 2)
      #expect(try update.execute("open") == 2)
      #expect(try count("done") == 3)
      #expect(try update.execute("done") == 3)
      try db.executeUpdate("DROP TABLE job")
      #expect(throws: DatabaseError.self) { try count("open") }
      #expect(throws: DatabaseError.self) { try update.execute("open") }
      try db.executeStatements(
        "CREATE TABLE job (status, tries); INSERT INTO job VALUES ('open', 1)")
      #expect(try count("open") == 1)
      #expect(try update.execute("open") == 1)
    }
  }

  @Test(
    "A pool reader's statement with named values finds every value's rows after a new partial index"
  )
  func named() throws {
    let pool = try DatabasePool(path: path)
    func count(_ status: String) throws -> Int? {
      try pool.read { db in
        try db.value(
          "SELECT count(*) FROM job WHERE status = :status", arguments: ["status": status],
          as: Int.self)
      }
    }
    #expect(try count("open") == 2)
    try queue.inDatabase { try createIndex(byAnother: false, $0) }
    #expect(try count("open") == 2)
    #expect(try count("done") == 3)
  }

  @Test(
    "A query finds the rows of every value after a partial index was rolled back and created again")
  func rolledBack() throws {
    try queue.inDatabase { db in
      #expect(try ids("none", db) == [])
      try db.executeUpdate("BEGIN")
      try createIndex(byAnother: false, db)
      #expect(try ids("open", db) == [1, 3])
      #expect(try ids("done", db) == [2, 4, 5])
      try db.executeUpdate("ROLLBACK")
      #expect(try ids("done", db) == [2, 4, 5])
      try createIndex(byAnother: true, db)
      #expect(try ids("open", db) == [1, 3])
      #expect(try ids("done", db) == [2, 4, 5])
    }
  }
}

import LarderSQLite
import Testing

/// Misuse that must throw or do nothing, but never end the process.
@Suite("Misuse never crashes", .serialized)
struct MisuseTests {
  /// A value that runs an action, for example on its database, while it is bound.
  private final class Meddler: DatabaseValueConvertible, @unchecked Sendable {
    private let action: () -> Void

    init(_ action: @escaping () -> Void) { self.action = action }

    required init(databaseValue: DatabaseValue) throws {
      throw ConversionError(.malformed, Meddler.self)
    }

    var databaseValue: DatabaseValue {
      action()
      return "Oslo"
    }
  }

  /// Binds a value whose conversion runs `action`, in each way. Errors don't matter as long as the database
  /// works afterwards. A crash would end the tests.
  private func use(_ action: @escaping (Database) -> Void) throws {
    let uses: [(Database, Meddler) throws -> Void] = [
      { db, value in try db.executeUpdate("SELECT ?, ?", value, "Bergen") },
      { db, value in _ = try db.executeQuery("SELECT ?, ?", value, "Bergen").next() },
      { db, value in
        let statement = try db.prepare("SELECT ?, ?")
        try statement.bind(value, "Bergen")
        _ = try statement.step()
      },
      { db, value in try db.prepare("SELECT :a, :b").execute(arguments: ["a": value, "b": 1]) },
    ]
    for use in uses {
      let db = try Database()
      var isCalled = false
      let meddler = Meddler {
        isCalled = true
        action(db)
      }
      try? use(db, meddler)
      #expect(isCalled)
      #expect(try db.value("SELECT ? || ?", "Ber", "gen", as: String.self) == "Bergen")
    }
  }

  @Test("A value that closes the database while it is bound doesn't make the database unusable")
  func closingWhileBinding() throws {
    try use { db in
      let error = #expect(throws: DatabaseError.self) { try db.close() }
      #expect(error?.code == .misuse)
    }
  }

  @Test(
    "A value that closes all open statements while it is bound doesn't make the database unusable")
  func closingStatementsWhileBinding() throws {
    try use { $0.closeOpenStatements() }
  }

  @Test(
    "A value that clears the cache or runs a statement while it is bound leaves the database usable"
  )
  func usingWhileBinding() throws {
    try use { $0.clearStatementCache() }
    try use { _ = try? $0.executeUpdate("SELECT ?, ?", "Tromsø", 1) }
  }

  private func filled() throws -> Database {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE city (name)")
    try db.executeUpdate(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO city SELECT 'city ' || i FROM n
      """)
    return db
  }

  @Test("Using the destination of a running backup doesn't crash or close it")
  func destinationOfABackup() throws {
    let uses: [(Database) throws -> Void] = [
      { try $0.executeUpdate("CREATE TABLE IF NOT EXISTS town (name)") },
      { _ = try $0.value("SELECT count(*) FROM sqlite_schema", as: Int.self) },
      { try $0.begin() }, { try $0.close() }, { $0.closeOpenStatements() },
    ]
    for use in uses {
      let source = try filled()
      let destination = try Database()
      var isUsed = false
      try? source.backup(to: destination, pagesPerStep: 1) { _, _ in
        isUsed = true
        try? use(destination)
      }
      #expect(isUsed)
      #expect(destination.isOpen && destination.isGoodConnection)
    }
  }

  @Test("Closing, writing or rolling back the source of a running backup doesn't crash or close it")
  func sourceOfABackup() throws {
    let uses: [(Database) throws -> Void] = [
      { try $0.close() }, { try $0.executeUpdate("DELETE FROM city") },
      { try $0.inTransaction { _ in throw CancellationError() } },
    ]
    for use in uses {
      let source = try filled()
      let destination = try Database()
      // The source is used once only: SQLite restarts the backup each time its source is rolled back.
      var isUsed = false
      try? source.backup(to: destination, pagesPerStep: 1) { _, _ in
        if !isUsed { try? use(source) }
        isUsed = true
      }
      #expect(isUsed)
      #expect(source.isOpen && destination.isGoodConnection)
    }
  }

  @Test("`withUnsafeBytes` of two columns can be nested, and stepping or closing inside is safe")
  func twoColumnsOfBytes() throws {
    let db = try Database()
    let rows = try db.executeQuery(
      "SELECT x'0102' AS left, x'03' AS right UNION ALL SELECT x'', x''")
    #expect(try rows.next())
    let all = try rows.withUnsafeBytes("left") { left in
      try rows.withUnsafeBytes("right") { right in
        #expect(throws: DatabaseError.self) { try rows.next() }
        return Array(left) + Array(right)
      }
    }
    #expect(all == [1, 2, 3])
    #expect(try rows.next())
    try rows.withUnsafeBytes("left") { _ in try rows.withUnsafeBytes("right") { _ in rows.close() }
    }
    #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(!db.hasOpenStatements)
  }

  @Test(
    "Inside `withUnsafeBytes`, the bytes survive attempts to close the rows, statements and database"
  )
  func closingWhileLookingAtBytes() throws {
    let db = try filled()
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let expected = try rows[0]
    try rows.withUnsafeBytes(at: 0) { bytes in
      #expect(throws: DatabaseError.self) { try db.close() }
      rows.close()
      db.closeOpenStatements()
      #expect(throws: DatabaseError.self) { try rows.next() }
      #expect(.text(String(decoding: bytes, as: UTF8.self)) == expected)
    }
    #expect(db.isOpen)
  }

  @Test(
    "Closing the database in the closure of a row, batch or savepoint throws from the enclosing call"
  )
  func closingInside() throws {
    let uses: [(Database) throws -> Void] = [
      { db in try db.executeQuery("SELECT name FROM city").forEach { _ in try db.close() } },
      { db in
        try db.executeStatements("SELECT 1; SELECT 2") { row in
          try db.close()
          _ = try row[0]
          return .next
        }
      },
      { db in try db.inSavepoint { try $0.close() } },
    ]
    for use in uses {
      let db = try filled()
      #expect(throws: DatabaseError.self) { try use(db) }
      #expect(!db.isOpen)
    }
  }
}

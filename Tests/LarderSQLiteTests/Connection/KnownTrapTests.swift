import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Known traps of SQLite's interface")
struct KnownTrapTests {
  let folder: ScratchFolder
  let db: Database

  init() throws {
    folder = try ScratchFolder()
    db = try Database(path: folder.file("cities.db"))
    try db.executeStatements(
      """
      CREATE TABLE city (name TEXT UNIQUE, size INTEGER);
      INSERT INTO city VALUES ('Oslo', 709037), ('Bergen', 291940), ('Tromsø', 78745);
      """)
  }

  /// An object whose release is checked with a weak reference.
  private final class Witness: Sendable {}

  @Test("Column names and count are current after SQLite has recompiled a statement")
  func recompilation() throws {
    let statement = try db.prepare("SELECT * FROM city WHERE name = ?")
    for column in ["country", "founded", "mayor"] {
      try db.executeUpdate("ALTER TABLE city ADD COLUMN \(identifier: column) DEFAULT 'none'")
      let rows = try statement.query("Oslo")
      #expect(try rows.next())
      #expect(rows.columnNames.last == column)
      #expect(try rows.get(column, as: String.self) == "none")
      #expect(try rows.get(at: rows.columnCount - 1, as: String.self) == "none")
    }
    try db.executeUpdate("ALTER TABLE city DROP COLUMN mayor")
    let rows = try statement.query("Oslo")
    #expect(try rows.next())
    #expect(rows.columnCount == 4)
    #expect(throws: DatabaseError.self) { try rows.get(at: 4, as: String.self) }
    #expect(throws: DatabaseError.self) { try rows["mayor"] }
  }

  @Test("A custom function's captures are kept until it is replaced, and then released")
  func lifetimeOfFunctions() throws {
    weak var witness: Witness?
    do {
      let captured = Witness()
      witness = captured
      try db.createFunction("f", argumentCount: 0) { _ in withExtendedLifetime(captured) { 1 } }
    }
    #expect(witness != nil)
    #expect(try db.value("SELECT f()", as: Int.self) == 1)
    try db.createFunction("f", argumentCount: 0) { _ in 2 }
    #expect(witness == nil)
    #expect(try db.value("SELECT f()", as: Int.self) == 2)
  }

  @Test(
    "Captures of collations and aggregates are kept until the database is closed, and then released"
  )
  func lifetimeOfCollations() throws {
    weak var first: Witness?
    weak var second: Witness?
    do {
      let (one, other) = (Witness(), Witness())
      (first, second) = (one, other)
      try db.createCollation("backwards") { left, right in
        withExtendedLifetime(one) {
          left < right ? .orderedDescending : left > right ? .orderedAscending : .orderedSame
        }
      }
      try db.createAggregate(
        "longest", argumentCount: 1, initial: 0,
        step: { longest, arguments in
          longest = max(longest, try String(databaseValue: arguments[0]).count)
        }, final: { longest in withExtendedLifetime(other) { longest } })
    }
    #expect(
      try db.value("SELECT name FROM city ORDER BY name COLLATE backwards", as: String.self)
        == "Tromsø")
    #expect(try db.value("SELECT longest(name) FROM city", as: Int.self) == 6)
    #expect(first != nil && second != nil)
    try db.close()
    #expect(first == nil && second == nil)
  }

  @Test("A failed function registration releases the new closure and keeps the old one in use")
  func failedRegistration() throws {
    try db.createFunction("f", argumentCount: 1) { _ in 1 }
    weak var witness: Witness?
    let rows = try db.executeQuery("SELECT f(name) FROM city")
    #expect(try rows.next())
    do {
      let captured = Witness()
      witness = captured
      #expect(throws: DatabaseError.self) {
        try db.createFunction("f", argumentCount: 1) { _ in withExtendedLifetime(captured) { 2 } }
      }
    }
    #expect(witness == nil)
    #expect(try rows.next())
    #expect(try rows[0] == 1)
  }

  @Test("A value longer than the length limit throws `.tooBig`")
  func tooBig() throws {
    try db.setLimit(.length, 1_000)
    let text = String(repeating: "x", count: 1_001)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name) VALUES (\(text))")
    }
    #expect(error?.code == .tooBig)
    #expect(throws: DatabaseError.self) { try db.value("SELECT zeroblob(1001)", as: [UInt8].self) }
    #expect(try db.executeUpdate("INSERT INTO city (name) VALUES (\("Bodø"))") == 1)
  }

  @Test("The error of a failed step isn't hidden by the reset after it")
  func errorOfStep() throws {
    let insert = try db.prepare("INSERT INTO city VALUES (?, ?)")
    for _ in 0..<2 {
      let error = #expect(throws: DatabaseError.self) { try insert.execute("Oslo", 1) }
      #expect(error?.extendedCode == .constraintUnique)
    }
    try insert.bind("Oslo", 1)
    #expect(throws: DatabaseError.self) { try insert.step() }
    try insert.reset()
    let again = #expect(throws: DatabaseError.self) { try insert.step() }
    #expect(again?.extendedCode == .constraintUnique)
    #expect(try insert.execute("Bodø", 53_259) == 1)
  }

  @Test("Values bound for an earlier run aren't used by the next one")
  func staleBindings() throws {
    let sql: SQL = "INSERT INTO city VALUES (?, ?)"
    try db.executeUpdate(sql, String(repeating: "Å", count: 10_000), 1)
    try db.executeUpdate(sql, nil, nil)
    #expect(
      try db.value("SELECT count(*) FROM city WHERE name IS NULL AND size IS NULL", as: Int.self)
        == 1)
    let statement = try db.prepare(sql)
    try statement.bind("Bodø", 1)
    #expect(throws: DatabaseError.self) { try statement.bind("Molde") }
    #expect(throws: DatabaseError.self) { try statement.step() }
    #expect(
      try db.value("SELECT count(*) FROM city WHERE name IN ('Bodø', 'Molde')", as: Int.self) == 0)
  }

  @Test("A cached statement doesn't keep a large value in memory after its run")
  func memoryOfBindings() throws {
    let before = SQLiteLibrary.memoryUsed
    try #require(before > 0)
    let sql: SQL = "SELECT length(?)"
    let size = 100 << 20
    #expect(try db.value(sql, [UInt8](repeating: 1, count: size), as: Int.self) == size)
    #expect(SQLiteLibrary.memoryUsed - before < size / 2)
  }

  @Test("A query that isn't read to its end doesn't keep the log from being truncated")
  func pinnedLog() throws {
    let other = try Database(path: folder.file("cities.db"))
    other.busyTimeout = .zero
    #expect(try db.value("SELECT name FROM city", as: String.self) != nil)
    try db.executeQuery("SELECT name FROM city").forEach { _ in }
    #expect(throws: CancellationError.self) {
      try db.executeQuery("SELECT name FROM city").forEach { _ in throw CancellationError() }
    }
    do {
      let rows = try db.executeQuery("SELECT name FROM city")
      #expect(try rows.next())
    }
    try db.executeStatements("SELECT name FROM city") { _ in .stop }
    try other.executeUpdate("INSERT INTO city VALUES ('Bodø', 53259)")
    #expect(try other.checkpoint(.truncate) == (0, 0))
  }

  @Test("A scope that SQLite rolls back automatically throws the error that caused the rollback")
  func automaticRollback() throws {
    let scopes: [((Database) throws -> Void) throws -> Void] = [
      { body in try db.inTransaction { try body($0) } }, { body in try db.inSavepoint(body) },
    ]
    for scope in scopes {
      let error = #expect(throws: DatabaseError.self) {
        try scope { db in
          try db.executeUpdate("INSERT INTO city VALUES ('Bodø', 1)")
          try db.inSavepoint {
            _ = try $0.executeUpdate("INSERT OR ROLLBACK INTO city VALUES ('Oslo', 1)")
          }
        }
      }
      #expect(error?.extendedCode == .constraintUnique)
      #expect(!db.isInTransaction)
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test(
    "A transaction that SQLite rolled back inside its closure throws even if the closure ignores the error"
  )
  func endedInside() throws {
    let error = #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        _ = try? db.executeUpdate("INSERT OR ROLLBACK INTO city VALUES ('Oslo', 1)")
      }
    }
    #expect(error?.code == .abort)
    #expect(!db.isInTransaction)
  }

  @Test("A TEXT PRIMARY KEY without NOT NULL accepts NULL, and `isNotNull` is false")
  func nullInKeys() throws {
    try db.executeUpdate("CREATE TABLE country (code TEXT PRIMARY KEY)")
    #expect(try db.executeUpdate("INSERT INTO country VALUES (NULL)") == 1)
    #expect(try db.columns(of: "country").map(\.isNotNull) == [false])
  }

  @Test("The bytes of text from a UTF-16 database are complete UTF-8")
  func textBeforeBytes() throws {
    let db = try Database()
    try db.executeStatements("PRAGMA encoding = 'UTF-16'; CREATE TABLE city (name TEXT)")
    try db.executeUpdate("INSERT INTO city VALUES (?)", "Tromsø 𝄞\0!")
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    let bytes = try rows.withUnsafeBytes(at: 0) { Array($0) }
    #expect(bytes == Array("Tromsø 𝄞\0!".utf8))
    #expect(try rows.get(at: 0, as: String.self) == "Tromsø 𝄞\0!")
  }

  @Test("A value with a length beyond 32 bits throws `.tooBig` instead of being truncated")
  func lengthBeyond32Bits() throws {
    // Mapped pages that are never written take no memory.
    for count in [1 << 31, 1 << 32 + 5] {
      let pages = try #require(
        mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
      try #require(pages != MAP_FAILED)
      defer { munmap(pages, count) }
      let data = Data(bytesNoCopy: pages, count: count, deallocator: .none)
      let calls: [() throws -> Void] = [
        { try db.executeUpdate("INSERT INTO city (name) VALUES (?)", data) },
        { try db.prepare("SELECT ?").bind(data) },
        { try db.executeUpdate("INSERT INTO city (name) VALUES (\(data))") },
      ]
      for call in calls {
        let error = #expect(throws: DatabaseError.self) { try call() }
        #expect(error?.code == .tooBig)
      }
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test(
    "Captures of a trace and log callback are kept by the open database and released with it")
  func lifetimeOfHooks() throws {
    weak var witness: Witness?
    let handle: InterruptHandle
    do {
      var configuration = Configuration()
      let captured = Witness()
      witness = captured
      configuration.trace = { _ in withExtendedLifetime(captured) {} }
      configuration.log = { _ in withExtendedLifetime(captured) {} }
      let db = try Database(configuration: configuration)
      db.authorizer = .tables(["city"])
      handle = db.interruptHandle
      configuration = Configuration()
      #expect(try db.value("SELECT 7", as: Int.self) == 7)
      #expect(throws: DatabaseError.self) { try db.validate("SELECT * FROM country") }
      #expect(witness != nil)
      try db.close()
    }
    #expect(witness == nil)
    handle.interrupt()
  }

  @Test("A prepared COMMIT that was busy can be repeated until it commits, once")
  func busyCommit() throws {
    let path = folder.file("journal.db")
    var configuration = Configuration()
    configuration.journalMode = .delete
    configuration.busyTimeout = .zero
    let writer = try Database(path: path, configuration: configuration)
    try writer.executeStatements("CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo')")
    let reader = try Database(path: path, configuration: configuration)
    let rows = try reader.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    try writer.begin()
    try writer.executeUpdate("INSERT INTO city VALUES ('Bergen')")
    let commit = try writer.prepare("COMMIT")
    for _ in 0..<3 {
      let error = #expect(throws: DatabaseError.self) { try commit.step() }
      #expect(error?.code == .busy)
      #expect(writer.isInTransaction)
      try commit.reset()
    }
    rows.close()
    #expect(try commit.step() == false)
    #expect(!writer.isInTransaction)
    #expect(try reader.value("SELECT count(*) FROM city", as: Int.self) == 2)
  }

  @Test("A TEXT PRIMARY KEY with NOT NULL refuses NULL")
  func nullInTextKeys() throws {
    try db.executeUpdate("CREATE TABLE country (code TEXT NOT NULL PRIMARY KEY)")
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO country VALUES (NULL)")
    }
    #expect(error?.constraint?.kind == .notNull)
  }
}

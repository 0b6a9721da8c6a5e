import LarderSQLite
import Testing

@Suite("Eviction from the statement cache")
struct CacheEvictionTests {
  private func database(capacity: Int) throws -> Database {
    var configuration = Configuration()
    configuration.statementCacheCapacity = capacity
    return try Database(configuration: configuration)
  }

  private func expectWork(
    _ db: Database, hits: Int, misses: Int, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) throws {
    let before = db.statementCacheStatistics
    try body()
    let after = db.statementCacheStatistics
    #expect(after.hits - before.hits == hits, sourceLocation: sourceLocation)
    #expect(after.misses - before.misses == misses, sourceLocation: sourceLocation)
  }

  private func run(_ db: Database, _ number: Int) throws {
    let found = try db.value(SQL(raw: "SELECT \(number)"), as: Int.self)
    #expect(found == number)
  }

  @Test("A statement that is run with different values is compiled once")
  func hits() throws {
    let db = try database(capacity: 8)
    try expectWork(db, hits: 9, misses: 1) {
      for size in 1...10 {
        let found = try db.value("SELECT \(size)", as: Int.self)
        #expect(found == size)
      }
    }
    #expect(db.statementCacheStatistics.count == 1)
  }

  @Test("A new connection's statement cache is empty")
  func beginsEmpty() throws {
    #expect(try database(capacity: 8).statementCacheStatistics.count == 0)
  }

  @Test("A full statement cache evicts the least recently used statement")
  func eviction() throws {
    let db = try database(capacity: 2)
    let before = db.statementCacheStatistics.evictions
    for number in [1, 2, 1, 3, 3] { try run(db, number) }
    #expect(db.statementCacheStatistics.evictions - before == 1)
    try expectWork(db, hits: 1, misses: 0) { try run(db, 1) }
    try expectWork(db, hits: 1, misses: 0) { try run(db, 3) }
    try expectWork(db, hits: 0, misses: 1) { try run(db, 2) }
    #expect(db.statementCacheStatistics.count == 2)
  }

  @Test("The statement cache never grows beyond its capacity")
  func bounded() throws {
    let db = try database(capacity: 16)
    let before = db.statementCacheStatistics.evictions
    for number in 0..<500 { try run(db, number) }
    #expect(db.statementCacheStatistics.count == 16)
    // A statement that runs only once evicts no other.
    #expect(db.statementCacheStatistics.evictions == before)
    for number in 100..<200 {
      for _ in 1...2 { try run(db, number) }
    }
    #expect(db.statementCacheStatistics.count == 16)
    #expect(db.statementCacheStatistics.evictions - before == 100)
  }

  @Test("SQL that runs only once evicts no repeated statement from the cache")
  func uniqueTexts() throws {
    let db = try database(capacity: 4)
    for number in 1...4 { try run(db, number) }
    for number in 1000..<2000 { try run(db, number) }
    try expectWork(db, hits: 4, misses: 0) {
      for number in 1...4 { try run(db, number) }
    }
  }

  @Test("A full statement cache keeps a new statement once it runs for the second time")
  func secondUse() throws {
    let db = try database(capacity: 1)
    try run(db, 1)
    try expectWork(db, hits: 0, misses: 2) { for _ in 1...2 { try run(db, 2) } }
    try expectWork(db, hits: 3, misses: 0) { for _ in 1...3 { try run(db, 2) } }
    #expect(db.statementCacheStatistics.count == 1)
  }

  @Test("A statement with an interpolated list isn't cached and counts as a cache miss each time")
  func uncachedLists() throws {
    let db = try database(capacity: 8)
    try expectWork(db, hits: 0, misses: 3) {
      for _ in 1...3 {
        let found = try db.value("SELECT 7 IN \(Array(1...30))", as: Int.self)
        #expect(found == 1)
      }
    }
    #expect(db.statementCacheStatistics.count == 0)
  }

  @Test("With a cache capacity of zero, every statement is compiled again and none is kept")
  func zeroCapacity() throws {
    let db = try database(capacity: 0)
    try expectWork(db, hits: 0, misses: 3) { for _ in 0..<3 { try run(db, 1) } }
    #expect(db.statementCacheStatistics.count == 0)
    #expect(!db.hasOpenStatements)
  }

  @Test("Reducing the statement cache's capacity evicts the surplus statements at once")
  func shrinking() throws {
    let db = try database(capacity: 8)
    for number in 1...8 { try run(db, number) }
    db.statementCacheCapacity = 3
    #expect(db.statementCacheStatistics.count == 3)
    try expectWork(db, hits: 1, misses: 0) { try run(db, 8) }
    try expectWork(db, hits: 0, misses: 1) { try run(db, 5) }
  }

  @Test(
    "A statement in use isn't cached on release if the capacity was reduced to zero meanwhile")
  func shrinkingWhileInUse() throws {
    let db = try database(capacity: 8)
    let rows = try db.executeQuery("SELECT 1")
    #expect(try rows.next())
    db.statementCacheCapacity = 0
    #expect(try rows[0] == 1)
    rows.close()
    #expect(db.statementCacheStatistics.count == 0)
  }

  @Test("A cached statement in use is neither evicted nor handed out a second time")
  func inUse() throws {
    let db = try database(capacity: 1)
    let first = try db.executeQuery("SELECT \("Oslo") AS name")
    #expect(try first.next())
    let second = try db.executeQuery("SELECT \("Bergen") AS name")
    #expect(try second.next())
    try run(db, 7)
    #expect(try first["name"] == "Oslo")
    #expect(try second["name"] == "Bergen")
    #expect(try !first.next())
    #expect(try !second.next())
    try expectWork(db, hits: 1, misses: 0) {
      let name = try db.value("SELECT \("Tromsø") AS name", as: String.self)
      #expect(name == "Tromsø")
    }
  }

  @Test("`clearStatementCache()` leaves result sets that are in use readable")
  func clearing() throws {
    let db = try database(capacity: 8)
    try run(db, 1)
    let rows = try db.executeQuery("SELECT 2 UNION ALL SELECT 3")
    #expect(try rows.next())
    db.clearStatementCache()
    #expect(db.statementCacheStatistics.count == 0)
    #expect(try rows.next())
    #expect(try rows[0] == 3)
    rows.close()
    try expectWork(db, hits: 0, misses: 1) { try run(db, 1) }
  }

  @Test("SQL texts that are canonically equivalent but differ in bytes are different statements")
  func canonicallyEquivalentTexts() throws {
    let db = try database(capacity: 8)
    for text in ["\u{E9}", "e\u{301}", "\u{E9}"] {
      let found = try db.value(SQL(raw: "SELECT '\(text)'"), as: String.self)
      #expect(found.map { Array($0.utf8) } == Array(text.utf8))
    }
  }

  @Test("Table names that are canonically equivalent but differ in bytes are different tables")
  func canonicallyEquivalentNames() throws {
    let db = try database(capacity: 8)
    try db.executeUpdate("CREATE TABLE \(identifier: "caf\u{E9}") (name)")
    try db.executeUpdate("CREATE TABLE \(identifier: "cafe\u{301}") (name)")
    try db.executeUpdate("INSERT INTO \(identifier: "caf\u{E9}") VALUES (\("composed"))")
    try db.executeUpdate("INSERT INTO \(identifier: "cafe\u{301}") VALUES (\("decomposed"))")
    let rows = try db.executeQuery("SELECT name FROM \(identifier: "cafe\u{301}")")
    #expect(try rows.map { try $0.get(at: 0, as: String.self) } == ["decomposed"])
  }

  @Test("A cached statement has the new columns after its table was dropped and created again")
  func schemaChanges() throws {
    let db = try database(capacity: 8)
    try db.executeStatements("CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo')")
    #expect(try db.value("SELECT * FROM city", as: String.self) == "Oslo")
    try db.executeStatements(
      "DROP TABLE city; CREATE TABLE city (size); INSERT INTO city VALUES (7)")
    let rows = try db.executeQuery("SELECT * FROM city")
    #expect(rows.columnNames == ["size"])
    #expect(try rows.next())
    #expect(try rows["size"] == 7)
  }
}

import LarderSQLite
import Testing

@Suite("The statement cache")
struct StatementCacheTests {
  private func makeDatabase(capacity: Int) throws -> Database {
    var configuration = Configuration()
    configuration.statementCacheCapacity = capacity
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    return db
  }

  @Test("SQL that is run several times is compiled once and counts as a cache hit afterwards")
  func hits() throws {
    let db = try makeCities()
    let before = db.statementCacheStatistics
    for id in 1...4 {
      #expect(try db.value("SELECT id FROM city WHERE id = ?", id, as: Int.self) == id)
    }
    #expect(db.statementCacheStatistics.misses == before.misses + 1)
    #expect(db.statementCacheStatistics.hits == before.hits + 3)
  }

  @Test("Three result sets of the same SQL don't share a cached statement")
  func inUse() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT name FROM city ORDER BY id"
    let first = try db.executeQuery(sql)
    let second = try db.executeQuery(sql)
    let third = try db.executeQuery(sql)
    for rows in [first, second, third] {
      #expect(try rows.next())
      #expect(try rows.get(at: 0, as: String.self) == "Bergen")
    }
    #expect(try first.next())
    #expect(try first.get(at: 0, as: String.self) == "Oslo")
    #expect(try third.get(at: 0, as: String.self) == "Bergen")
  }

  @Test("The statement cache's statistics count the eviction of the least recently used statement")
  func eviction() throws {
    let db = try makeDatabase(capacity: 2)
    db.clearStatementCache()
    let before = db.statementCacheStatistics
    #expect(before.count == 0)
    for number in [1, 2, 1, 3, 3, 1, 2, 2] {
      _ = try db.value(SQL(raw: "SELECT \(number)"), as: Int.self)
    }
    let statistics = db.statementCacheStatistics
    #expect(statistics.count == 2)
    #expect(statistics.hits == before.hits + 2)
    #expect(statistics.misses == before.misses + 6)
    #expect(statistics.evictions == before.evictions + 2)
  }

  @Test("With a cache capacity of zero, statements work and no cache hit is counted")
  func none() throws {
    let db = try makeDatabase(capacity: 0)
    for _ in 1...3 { #expect(try db.cityCount() == 4) }
    #expect(db.statementCacheStatistics.count == 0)
    #expect(db.statementCacheStatistics.hits == 0)
  }

  @Test("Reducing the statement cache's capacity reduces its count at once")
  func resize() throws {
    let db = try makeDatabase(capacity: 10)
    for number in 1...5 { _ = try db.value(SQL(raw: "SELECT \(number)"), as: Int.self) }
    #expect(db.statementCacheStatistics.count >= 5)
    db.statementCacheCapacity = 2
    #expect(db.statementCacheStatistics.count == 2)
    #expect(db.statementCacheCapacity == 2)
  }

  @Test("A result set can be read on after `clearStatementCache()`")
  func clear() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
    #expect(try rows.next())
    db.clearStatementCache()
    #expect(db.statementCacheStatistics.count == 0)
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "Oslo")
  }

  @Test("A cached statement has the new columns after ALTER TABLE and throws after DROP TABLE")
  func schemaChange() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT * FROM city WHERE id = 1"
    #expect(try db.executeQuery(sql).map { $0.columnCount } == [4])
    try db.executeUpdate("ALTER TABLE city DROP COLUMN area")
    #expect(try db.executeQuery(sql).map { $0.columnNames } == [["id", "name", "population"]])
    try db.executeUpdate("DROP TABLE city")
    #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
  }

  @Test("Queries with long interpolated lists aren't added to the statement cache")
  func longLists() throws {
    let db = try makeCities()
    let before = db.statementCacheStatistics.count
    for count in 20...30 {
      _ = try db.value("SELECT count(*) FROM city WHERE id IN \(Array(1...count))", as: Int.self)
    }
    #expect(db.statementCacheStatistics.count == before)
  }
}

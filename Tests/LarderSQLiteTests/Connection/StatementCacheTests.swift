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

  @Test("The same SQL is compiled once")
  func hits() throws {
    let db = try makeCities()
    let before = db.statementCacheStatistics
    for id in 1...4 {
      #expect(try db.value("SELECT id FROM city WHERE id = ?", id, as: Int.self) == id)
    }
    #expect(db.statementCacheStatistics.misses == before.misses + 1)
    #expect(db.statementCacheStatistics.hits == before.hits + 3)
  }

  @Test("A statement in use isn't handed out again")
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

  @Test("When the cache is full, the statement unused for longest makes room")
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

  @Test("A cache without room keeps nothing, and everything works")
  func none() throws {
    let db = try makeDatabase(capacity: 0)
    for _ in 1...3 { #expect(try db.cityCount() == 4) }
    #expect(db.statementCacheStatistics.count == 0)
    #expect(db.statementCacheStatistics.hits == 0)
  }

  @Test("Making the cache smaller drops what has no room")
  func resize() throws {
    let db = try makeDatabase(capacity: 10)
    for number in 1...5 { _ = try db.value(SQL(raw: "SELECT \(number)"), as: Int.self) }
    #expect(db.statementCacheStatistics.count >= 5)
    db.statementCacheCapacity = 2
    #expect(db.statementCacheStatistics.count == 2)
    #expect(db.statementCacheCapacity == 2)
  }

  @Test("Clearing the cache spares statements that are in use")
  func clear() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
    #expect(try rows.next())
    db.clearStatementCache()
    #expect(db.statementCacheStatistics.count == 0)
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "Oslo")
  }

  @Test("A cached statement follows a change of the schema")
  func schemaChange() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT * FROM city WHERE id = 1"
    #expect(try db.executeQuery(sql).map { $0.columnCount } == [4])
    try db.executeUpdate("ALTER TABLE city DROP COLUMN area")
    #expect(try db.executeQuery(sql).map { $0.columnNames } == [["id", "name", "population"]])
    try db.executeUpdate("DROP TABLE city")
    #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
  }

  @Test("A list of many values doesn't drive other statements from the cache")
  func longLists() throws {
    let db = try makeCities()
    let before = db.statementCacheStatistics.count
    for count in 20...30 {
      _ = try db.value("SELECT count(*) FROM city WHERE id IN \(Array(1...count))", as: Int.self)
    }
    #expect(db.statementCacheStatistics.count == before)
  }
}

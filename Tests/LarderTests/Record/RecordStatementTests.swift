import Larder
import PostgresSupport
import Testing

/// A record whose table is made anew each time it is asked for.
private struct DeclaredAgain: Record {
  var id: Int64?
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \DeclaredAgain.id, .primaryKey)
    let name = Column("name", \DeclaredAgain.name)
  }
  static let columns = Columns()
  static var table: Table<Self> { Table("city", Self.init, columns.id, columns.name) }
}

@Suite("Statements of records")
struct RecordStatementTests {
  let db: Database

  init() throws { db = try City.norway() }

  /// Runs every record operation twice.
  private func everyOperation(_ first: Int64) throws {
    for id in [first, first + 1] {
      var city = City(id: id, name: "City \(id)", population: 1)
      try city.insert(db)
      city.population = 2
      try city.update(db)
      try city.upsert(db)
      try city.save(db)
      #expect(try City.find(db, id) == city)
      #expect(try City.fetchAll(db, keys: [id]) == [city])
      #expect(try City.fetchAll(db).last == city)
      #expect(try City.fetchAll(db, sql: "SELECT * FROM city WHERE id = \(id)") == [city])
      #expect(try city.updated(db) == city)
      try city.update(db, City.columns.name)
      try city.delete(db)
      city = try city.inserted(db)
      try city.delete(db)
      try City.insert(
        db, contentsOf: (0..<7).map { City(id: id * 100 + $0, name: "\(id) \($0)", population: 0) })
      try db.executeUpdate("DELETE FROM city WHERE id > 99")
    }
  }

  @Test("Statements of record operations are compiled once", .onlySQLite(.limits))
  func compiledOnce() throws {
    try everyOperation(10)
    // No statement of more than ten bytes can be compiled from here on.
    try db.setLimit(.sqlLength, 10)
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city WHERE id = 1") }
    try everyOperation(20)
  }

  @Test(
    "Statements of record operations count in the statement cache and obey its capacity",
    .onlySQLite(.limits)
  )
  func cacheFigures() throws {
    db.clearStatementCache()
    var before = db.statementCacheStatistics
    for _ in 1...3 { #expect(try City.find(db, 1).name == "Oslo") }
    #expect(db.statementCacheStatistics.misses == before.misses + 1)
    #expect(db.statementCacheStatistics.hits == before.hits + 2)
    #expect(db.statementCacheStatistics.count == 1)
    db.statementCacheCapacity = 3
    try everyOperation(10)
    #expect(db.statementCacheStatistics.count == 3)
    #expect(db.statementCacheStatistics.evictions > before.evictions)
    before = db.statementCacheStatistics
    db.statementCacheCapacity = 0
    try everyOperation(20)
    #expect(db.statementCacheStatistics.count == 0)
    #expect(db.statementCacheStatistics.hits == before.hits)
  }

  @Test(
    "A record whose table is computed anew each time compiles its statement once",
    .onlySQLite(.limits)
  )
  func declaredAgain() throws {
    db.clearStatementCache()
    let before = db.statementCacheStatistics
    for key in 1...600 {
      #expect(try DeclaredAgain.fetchOne(db, Int64(key % 3 + 1)) != nil)
    }
    #expect(db.statementCacheStatistics.misses == before.misses + 1)
    #expect(db.statementCacheStatistics.count == 1)
  }

  @Test("Record operations work after the statement cache was cleared, also during forEach")
  func clearedCache() throws {
    try everyOperation(10)
    db.clearStatementCache()
    try everyOperation(20)
    try City.forEach(db) { _ in db.clearStatementCache() }
    try everyOperation(30)
  }

  @Test(
    "Record operations work if the cache is cleared while their statement binds, steps or reads",
    .onlySQLite(.functions), arguments: [16, 0])
  func clearedInUse(capacity: Int) throws {
    db.statementCacheCapacity = capacity
    let cache = Cache(of: db)
    try db.createFunction("cleared", argumentCount: 0, deterministic: false) { _ in
      cache.clear()
      return 1
    }
    try db.executeStatements(
      """
      CREATE TEMP TRIGGER inserting AFTER INSERT ON city BEGIN SELECT cleared(); END;
      CREATE TEMP TRIGGER updating AFTER UPDATE ON city BEGIN SELECT cleared(); END;
      CREATE TEMP TRIGGER deleting AFTER DELETE ON city BEGIN SELECT cleared(); END
      """)
    for round in 1...3 { try everyOperation(Int64(round * 10)) }
    for _ in 1...3 { #expect(try City.fetchOne(db, ClearingKey(1, cache))?.name == "Oslo") }
    db.clearStatementCache()
    #expect(db.statementCacheStatistics.count == 0)
    // No execution is left open, or dropping the table that it reads would fail.
    try db.executeUpdate("DROP TABLE city")
  }

  /// The statement cache of a connection that one thread uses.
  private final class Cache: @unchecked Sendable {
    private unowned let db: Database
    init(of db: Database) { self.db = db }
    func clear() { db.clearStatementCache() }
  }

  /// A key that clears the statement cache when it is bound.
  private struct ClearingKey: DatabaseValueConvertible {
    private let key: Int64
    private let cache: Cache?

    static var columnType: ColumnType { .integer }

    init(_ key: Int64, _ cache: Cache) { (self.key, self.cache) = (key, cache) }

    init(databaseValue: DatabaseValue) throws {
      (key, cache) = (try Int64(databaseValue: databaseValue), nil)
    }

    var databaseValue: DatabaseValue {
      cache?.clear()
      return .integer(key)
    }
  }

  @Test("Record operations work after a column was added or dropped")
  func addedColumn() throws {
    try everyOperation(10)
    try db.executeUpdate("ALTER TABLE city ADD COLUMN mayor TEXT")
    try everyOperation(20)
    let all: SQL = "SELECT * FROM city"
    #expect(try City.fetchAll(db, sql: all) == City.norwegian)
    try db.executeStatements("ALTER TABLE city DROP COLUMN mayor")
    #expect(try City.fetchAll(db, sql: all) == City.norwegian)
  }

  @Test("Record operations work after the table was recreated with another column order")
  func recreated() throws {
    let all: SQL = "SELECT * FROM city"
    #expect(try City.fetchAll(db, sql: all) == City.norwegian)
    try everyOperation(10)
    try db.executeUpdate("DROP TABLE city")
    #expect(failure(DatabaseError.self) { try City.fetchAll(db) }?.message.contains("city") == true)
    try db.define(
      "CREATE TABLE city (more TEXT, population INTEGER, name TEXT UNIQUE, id INTEGER PRIMARY KEY)")
    try City.insert(db, contentsOf: City.norwegian)
    #expect(try City.fetchAll(db) == City.norwegian)
    #expect(try City.fetchAll(db, sql: all) == City.norwegian)
    try everyOperation(10)
  }

  @Test("Record operations throw while a column is missing, and work once it is back")
  func missingColumn() throws {
    #expect(try City.fetchAll(db).count == 3)
    try db.executeUpdate("ALTER TABLE city RENAME COLUMN population TO people")
    let error = failure(DatabaseError.self) { try City.fetchAll(db) }
    #expect(error?.message.contains("population") == true)
    #expect(error?.sql == City.table.selectSQL)
    try db.executeUpdate("ALTER TABLE city RENAME COLUMN people TO population")
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("Record operations can be nested in forEach of the same record")
  func recursion() throws {
    var pairs = 0
    try City.forEach(db) { outer in
      try City.forEach(db) { inner in
        let found = try City.find(db, inner.id)
        #expect(found == inner)
        pairs += 1
      }
      #expect(try City.find(db, outer.id) == outer)
      #expect(try City.fetchAll(db, sql: "SELECT * FROM city").count == 3)
    }
    #expect(pairs == 9)
  }

  @Test("Records can be inserted and deleted during forEach")
  func writingWhileReading() throws {
    var seen: [Int64?] = []
    try City.forEach(db, sql: "SELECT * FROM city ORDER BY name || ''") { city in
      seen.append(city.id)
      var copy = City(id: nil, name: city.name + " II", population: 0)
      try copy.insert(db)
      try city.delete(db)
    }
    #expect(seen == [2, 1, 3])
    #expect(
      try City.order { $0.id }.fetchAll(db).map(\.name) == ["Bergen II", "Oslo II", "Trondheim II"])
  }

  @Test("forEach ends when its closure throws, and can be called again")
  func throwing() throws {
    struct Enough: Error {}
    for _ in 0..<3 {
      var seen = 0
      #expect(throws: Enough.self) {
        try City.forEach(db) { _ in
          seen += 1
          if seen == 2 { throw Enough() }
        }
      }
      #expect(seen == 2)
    }
    try db.executeUpdate("DROP TABLE city")
  }

  @Test("Closing the database during forEach throws, and record operations after closing too")
  func closing() throws {
    #expect(throws: DatabaseError.self) { try City.forEach(db) { _ in try db.close() } }
    #expect(throws: DatabaseError.self) {
      try City.forEach(db, sql: "SELECT * FROM city") { _ in try db.close() }
    }
    #expect(try City.fetchAll(db) == City.norwegian)
    try db.close()
    var oslo = City.norwegian[0]
    #expect(failure(DatabaseError.self) { try oslo.update(db) }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try oslo.insert(db) }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try City.fetchAll(db) }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try City.find(db, 1) }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try City.insert(db, contentsOf: [oslo]) } != nil)
  }

  @Test(
    "Dropping a table during forEach over it throws",
    .onlySQLite(.locking)
  )
  func droppingMeanwhile() throws {
    try City.forEach(db) { _ in
      let error = failure(DatabaseError.self) { try db.executeUpdate("DROP TABLE city") }
      #expect(error?.code == .locked)
    }
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("Statements of two record types of one table don't interfere")
  func twoTypes() throws {
    struct Name: Record {
      var id: Int64?
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Name.id, .primaryKey)
        let name = Column("name", \Name.name)
      }
      static let columns = Columns()
      static let table = Table("city", Name.init, columns.id, columns.name)
    }
    try City.forEach(db) { city in
      var name = try Name.find(db, city.id)
      name.name += "!"
      try name.update(db)
      #expect(try City.find(db, city.id).population == city.population)
    }
    #expect(try City.fetchAll(db).map(\.name) == ["Oslo!", "Bergen!", "Trondheim!"])
  }
}

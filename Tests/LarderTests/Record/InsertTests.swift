import Larder
import PostgresSupport
import Testing

@Suite("Inserting records")
struct InsertTests {
  let db: Database

  init() throws { db = try City.database() }

  @Test("Inserting a nil key sets the key that the database chose")
  func fillsKey() throws {
    var oslo = City(id: nil, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    #expect(oslo.id == 1)
    #expect(try City.find(db, 1) == oslo)
  }

  @Test("Inserting a record with a key keeps the key")
  func keepsKey() throws {
    var oslo = City(id: 47, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    #expect(oslo.id == 47)
    #expect(try City.find(db, 47) == oslo)
  }

  @Test("`inserted` returns the stored record, and leaves the original unchanged")
  func inserted() throws {
    let oslo = City(id: nil, name: "Oslo", population: 709_037)
    let stored = try oslo.inserted(db)
    #expect(stored == City(id: 1, name: "Oslo", population: 709_037))
    #expect(oslo.id == nil)
    #expect(try City.fetchAll(db) == [stored])
  }

  @Test("Inserting a key that exists throws a primary key violation with table and column")
  func sameKey() throws {
    var oslo = City(id: 1, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    var bergen = City(id: 1, name: "Bergen", population: 291_940)
    let error = failure(DatabaseError.self) { try bergen.insert(db) }
    #expect(error?.constraint?.kind == .primaryKey)
    #expect(error?.constraint?.table == "city")
    #expect(error?.constraint?.columns == ["id"])
    #expect(error?.sql?.hasPrefix("INSERT INTO \"city\" (") == true)
  }

  @Test(
    "Inserting throws if a trigger ignores the row, unless no key has to be returned",
    .onlySQLite(.triggers))
  func ignoredByTrigger() throws {
    var oslo = City(id: nil, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    try db.executeStatements(
      """
      CREATE TRIGGER small BEFORE INSERT ON city WHEN new.population < 1000
      BEGIN SELECT RAISE(IGNORE); END
      """)
    var village = City(id: nil, name: "Undredal", population: 80)
    #expect(failure(DatabaseError.self) { try village.insert(db) }?.code == .abort)
    #expect(village.id == nil)
    #expect(failure(DatabaseError.self) { try village.inserted(db) }?.code == .abort)
    #expect(BatchFailure { try City.inserted(db, contentsOf: [village]) }?.index == 0)
    try City.insert(db, contentsOf: [village])
    #expect(try village.insert(db, or: .ignore) == false)
    #expect(try City.fetchAll(db) == [oslo])
  }

  @Test(
    "The error of a row that isn't inserted names the causes that SQLite doesn't tell apart",
    .onlySQLite(.triggers))
  func ignoredByClause() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE city (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE ON CONFLICT IGNORE,
        population INTEGER NOT NULL);
      INSERT INTO city VALUES (1, 'Oslo', 709037);
      """)
    var oslo = City(id: nil, name: "Oslo", population: 1)
    let message = "a trigger or an ON CONFLICT IGNORE clause kept the row from being inserted"
    #expect(failure(DatabaseError.self) { try oslo.insert(db) }?.message == message)
    #expect(failure(DatabaseError.self) { try oslo.inserted(db) }?.message == message)
    #expect(oslo.id == nil)
    #expect(try City.fetchAll(db) == [City.norwegian[0]])
  }

  @Test(
    "A trigger that inserts elsewhere doesn't affect the inserted record's key",
    .onlySQLite(.triggers)
  )
  func triggerInsertsElsewhere() throws {
    try db.define(
      """
      CREATE TABLE log (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO log VALUES (99, 'the first');
      CREATE TRIGGER logged AFTER INSERT ON city BEGIN INSERT INTO log (name) VALUES (new.name); END
      """)
    var oslo = City(id: nil, name: "Oslo", population: 709_037)
    try oslo.insert(db)
    #expect(oslo.id == 1)
  }
}

@Suite("Inserting with a conflict policy")
struct ConflictPolicyTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("A constant record is inserted, and the result has the key")
  func constant() throws {
    let hamar = City(id: nil, name: "Hamar", population: 28_535)
    #expect(try hamar.insert(db) == City(id: 4, name: "Hamar", population: 28_535))
    try City(id: nil, name: "Moss", population: 50_290).insert(db)
    let isThere = bergen()
    #expect(try isThere.insert(db, or: .ignore) as City? == nil)
    let ski = City(id: 70, name: "Ski", population: 20_000)
    #expect(try ski.insert(db, or: .ignore) as City? == ski)
    #expect(
      try City.filter { $0.id > 3 }.order { $0.id }.select { $0.name }.fetchAll(db)
        == ["Hamar", "Moss", "Ski"])
  }

  private func bergen(population: Int = 300_000) -> City {
    City(id: nil, name: "Bergen", population: population)
  }

  @Test("Inserting with .ignore returns false on a conflict, and leaves the key nil")
  func ignore() throws {
    var bergen = bergen()
    #expect(try bergen.insert(db, or: .ignore) == false)
    #expect(bergen.id == nil)
    #expect(try City.fetchAll(db) == City.norwegian)
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    #expect(try hamar.insert(db, or: .ignore))
    // PostgreSQL's sequence also advances for the ignored row.
    #expect(hamar.id == (TestEngine.isPostgres ? 5 : 4))
  }

  @Test(
    "Inserting with .replace deletes the conflicting row, and sets the key", .refused(.replacing)
  )
  func replace() throws {
    var bergen = bergen()
    #expect(try bergen.insert(db, or: .replace))
    #expect(bergen.id == 4)
    #expect(try City.fetchAll(db).map(\.id) == [1, 3, 4])
    #expect(try City.find(db, 4).population == 300_000)
  }

  @Test("Inserting with .fail throws, and the transaction goes on", .onlySQLite(.replacing))
  func fail() throws {
    try db.inTransaction { db in
      var hamar = City(id: nil, name: "Hamar", population: 28_535)
      try hamar.insert(db)
      var bergen = bergen()
      let error = failure(DatabaseError.self) { try bergen.insert(db, or: .fail) }
      #expect(error?.constraint?.columns == ["name"])
    }
    #expect(try City.fetchAll(db).count == 4)
  }

  @Test(
    "Inserting with .rollback throws, and undoes the whole transaction", .onlySQLite(.replacing)
  )
  func rollback() throws {
    #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        var hamar = City(id: nil, name: "Hamar", population: 28_535)
        try hamar.insert(db)
        var bergen = bergen()
        try bergen.insert(db, or: .rollback)
      }
    }
    #expect(!db.isInTransaction)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test(
    "A CHECK violation throws under every policy but .ignore", .onlySQLite(.replacing),
    arguments: ConflictPolicy.allCases)
  func otherConstraints(policy: ConflictPolicy) throws {
    var city = City(id: nil, name: "Atlantis", population: -1)
    if policy == .ignore {
      #expect(try city.insert(db, or: policy) == false)
    } else {
      let error = failure(DatabaseError.self) { try city.insert(db, or: policy) }
      #expect(error?.constraint?.kind == .check)
      #expect(error?.constraint?.name == "population >= 0")
    }
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}

import Larder
import PostgresSupport
import Testing

@Suite("Saving records")
struct SaveTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("`save` updates the row with the record's key")
  func updates() throws {
    var oslo = City(id: 1, name: "Oslo", population: 1)
    try oslo.save(db)
    #expect(try City.order { $0.id }.fetchAll(db) == [oslo] + City.norwegian[1...])
  }

  @Test("`save` inserts a record with a nil key, and sets the key")
  func insertsNew() throws {
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    try hamar.save(db)
    #expect(hamar.id == 4)
    #expect(try City.find(db, 4) == hamar)
  }

  @Test("`save` inserts a record whose key has no row")
  func insertsMissing() throws {
    var hamar = City(id: 77, name: "Hamar", population: 28_535)
    try hamar.save(db)
    #expect(try City.find(db, 77) == hamar)
  }

  @Test("`save` of a constant returns the record with its key")
  func constants() throws {
    let hamar = City(id: nil, name: "Hamar", population: 28_535)
    let saved = try hamar.save(db)
    #expect(saved.id == 4)
  }

  @Test("`save` that violates a constraint throws, and changes nothing")
  func constraint() throws {
    var oslo = City(id: 77, name: "Oslo", population: 1)
    #expect(failure(DatabaseError.self) { try oslo.save(db) }?.constraint?.columns == ["name"])
    #expect(!db.isInTransaction)
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}

@Suite("Upserting records")
struct UpsertTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("`upsert` inserts or updates by the primary key")
  func byKey() throws {
    var oslo = City(id: 1, name: "Christiania", population: 1)
    try oslo.upsert(db)
    var hamar = City(id: 50, name: "Hamar", population: 28_535)
    try hamar.upsert(db)
    #expect(
      try City.order { $0.id }.fetchAll(db) == [oslo] + City.norwegian[1...] + [hamar])
  }

  @Test("`upsert` inserts a record with a nil key, and sets the key")
  func nilKey() throws {
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    try hamar.upsert(db)
    #expect(hamar.id == 4)
    let error = failure(DatabaseError.self) {
      var oslo = City(id: nil, name: "Oslo", population: 1)
      try oslo.upsert(db)
    }
    #expect(error?.constraint?.columns == ["name"])
  }

  @Test("`upsert` with a conflict target updates the named columns, and takes the row's key")
  func target() throws {
    try db.define(
      "CREATE TABLE other (id INTEGER PRIMARY KEY); INSERT INTO other VALUES (99)")
    var bergen = City(id: nil, name: "Bergen", population: 1)
    try bergen.upsert(
      db, onConflict: City.columns.name, updating: City.columns.population)
    #expect(bergen.id == 2)
    #expect(try City.find(db, 2) == bergen)
    bergen.id = 600
    bergen.population = 2
    try bergen.upsert(db, onConflict: City.columns.name)
    #expect(bergen.id == 2)
    #expect(try City.find(db, 2) == bergen)
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    try hamar.upsert(db, onConflict: City.columns.name)
    // PostgreSQL's sequence also advances for the rows that already existed.
    #expect(hamar.id == (TestEngine.isPostgres ? 5 : 4))
    #expect(try City.fetchAll(db).count == 4)
  }

  @Test("`upsert` sets a non-optional key to the existing row's key")
  func keyThatIsNotOptional() throws {
    struct Town: Record, Equatable {
      var id: Int
      var name: String
      var population: Int

      struct Columns: Sendable {
        let id = Column("id", \Town.id, .primaryKey)
        let name = Column("name", \Town.name, .unique)
        let population = Column("population", \Town.population)
      }
      static let columns = Columns()
      static let table = Table("city", Town.init, columns.id, columns.name, columns.population)
    }
    var bergen = Town(id: 800, name: "Bergen", population: 1)
    try bergen.upsert(db, onConflict: Town.columns.name)
    #expect(bergen == Town(id: 2, name: "Bergen", population: 1))
    #expect(try Town.find(db, 2) == bergen)
    var hamar = Town(id: 900, name: "Hamar", population: 1)
    try hamar.upsert(db, onConflict: Town.columns.name)
    #expect(hamar.id == 900)
  }

  @Test("`upsert` sets a computed key to the existing row's key")
  func computedKey() throws {
    struct Town: Record {
      private var number: Int
      var id: Int {
        get { number }
        set { number = newValue }
      }
      var name: String
      var population: Int

      init(id: Int, name: String, population: Int) {
        (number, self.name, self.population) = (id, name, population)
      }

      struct Columns: Sendable {
        let id = Column("id", \Town.id, .primaryKey)
        let name = Column("name", \Town.name, .unique)
        let population = Column("population", \Town.population)
      }
      static let columns = Columns()
      static let table = Table("city", Town.init, columns.id, columns.name, columns.population)
    }
    var bergen = Town(id: 800, name: "Bergen", population: 1)
    try bergen.upsert(db, onConflict: Town.columns.name)
    #expect(bergen.id == 2)
    #expect(try City.find(db, 2).population == 1)
  }

  @Test("`upsert` by the key only updates the named columns")
  func chosen() throws {
    var oslo = City(id: 1, name: "Christiania", population: 5)
    try oslo.upsert(db, updating: City.columns.population)
    #expect(try City.find(db, 1) == City(id: 1, name: "Oslo", population: 5))
  }

  @Test("`upsert` sets the key even if there is no column to update")
  func nothingToUpdate() throws {
    struct Name: Record {
      var id: Int64?
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Name.id, .primaryKey)
        let name = Column("name", \Name.name, .unique)
      }
      static let columns = Columns()
      static let table = Table("name", Name.init, columns.id, columns.name)
    }
    try db.define(
      """
      CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
      INSERT INTO name VALUES (5, 'Oslo'), (6, 'Bergen');
      """)
    var oslo = Name(id: nil, name: "Oslo")
    try oslo.upsert(db, onConflict: Name.columns.name)
    #expect(oslo.id == 5)
    try oslo.upsert(db)
    #expect(try Name.fetchAll(db).count == 2)
  }

  @Test("`upsert` of a constant returns the record with its key")
  func constants() throws {
    let bergen = City(id: nil, name: "Bergen", population: 1)
    #expect(try bergen.upsert(db, onConflict: City.columns.name).id == 2)
  }

  @Test("`upsert` throws if its conflict target has no unique index")
  func noIndex() throws {
    var oslo = City.norwegian[0]
    let error = failure(DatabaseError.self) {
      try oslo.upsert(db, onConflict: City.columns.population)
    }
    #expect(error?.message.contains("ON CONFLICT") == true)
  }

  @Test("`upsert` increments the existing row's version, and sets it in the record")
  func version() throws {
    let db = try Budget.database()
    var oslo = Budget(city: "Oslo", amount: 1, version: 10)
    try oslo.upsert(db)
    #expect(oslo.version == 10)
    var other = Budget(city: "Oslo", amount: 2, version: 0)
    try other.upsert(db)
    #expect(other.version == 11)
    #expect(try Budget.fetchAll(db) == [other])
  }
}

@Suite("Deleting records")
struct DeleteTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("`delete` removes the row, and returns whether it existed")
  func deletes() throws {
    #expect(try City.norwegian[0].delete(db))
    #expect(try City.norwegian[0].delete(db) == false)
    #expect(try City(id: nil, name: "Bergen", population: 1).delete(db) == false)
    #expect(try City.fetchAll(db).map(\.id) == [2, 3])
  }

  @Test("`delete` throws if a foreign key refers to the row")
  func foreignKey() throws {
    try db.define(
      "CREATE TABLE street (city INTEGER REFERENCES city (id)); INSERT INTO street VALUES (1)")
    let error = failure(DatabaseError.self) { try City.norwegian[0].delete(db) }
    #expect(error?.constraint?.kind == .foreignKey)
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}

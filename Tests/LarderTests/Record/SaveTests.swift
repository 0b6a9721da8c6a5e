import Larder
import PostgresSupport
import Testing

@Suite("Saving records")
struct SaveTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("updates the row that is there")
  func updates() throws {
    var oslo = City(id: 1, name: "Oslo", population: 1)
    try oslo.save(db)
    #expect(try City.order { $0.id }.fetchAll(db) == [oslo] + City.norwegian[1...])
  }

  @Test("inserts where the key is nil, and fills it")
  func insertsNew() throws {
    var hamar = City(id: nil, name: "Hamar", population: 28_535)
    try hamar.save(db)
    #expect(hamar.id == 4)
    #expect(try City.find(db, 4) == hamar)
  }

  @Test("inserts where there is no row with the key")
  func insertsMissing() throws {
    var hamar = City(id: 77, name: "Hamar", population: 28_535)
    try hamar.save(db)
    #expect(try City.find(db, 77) == hamar)
  }

  @Test("returns the record with its key if it isn't a variable")
  func constants() throws {
    let hamar = City(id: nil, name: "Hamar", population: 28_535)
    let saved = try hamar.save(db)
    #expect(saved.id == 4)
  }

  @Test("leaves nothing where a constraint is in the way")
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

  @Test("inserts or updates by the primary key")
  func byKey() throws {
    var oslo = City(id: 1, name: "Christiania", population: 1)
    try oslo.upsert(db)
    var hamar = City(id: 50, name: "Hamar", population: 28_535)
    try hamar.upsert(db)
    #expect(
      try City.order { $0.id }.fetchAll(db) == [oslo] + City.norwegian[1...] + [hamar])
  }

  @Test("inserts where the key is nil, and fills it")
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

  @Test("finds the row by the target, updates the columns that are named, and takes its key over")
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
    // A server has counted the row that was there, too.
    #expect(hamar.id == (TestEngine.isPostgres ? 5 : 4))
    #expect(try City.fetchAll(db).count == 4)
  }

  @Test("takes the row's key over where the record's isn't optional, too")
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

  @Test("takes the row's key over where the record computes it, too")
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

  @Test("updates the columns that are named by the key")
  func chosen() throws {
    var oslo = City(id: 1, name: "Christiania", population: 5)
    try oslo.upsert(db, updating: City.columns.population)
    #expect(try City.find(db, 1) == City(id: 1, name: "Oslo", population: 5))
  }

  @Test("fills the key where nothing but key and target is there")
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

  @Test("returns the record with its key if it isn't a variable")
  func constants() throws {
    let bergen = City(id: nil, name: "Bergen", population: 1)
    #expect(try bergen.upsert(db, onConflict: City.columns.name).id == 2)
  }

  @Test("needs a unique index on the target")
  func noIndex() throws {
    var oslo = City.norwegian[0]
    let error = failure(DatabaseError.self) {
      try oslo.upsert(db, onConflict: City.columns.population)
    }
    #expect(error?.message.contains("ON CONFLICT") == true)
  }

  @Test("raises the version of a row that is there, whatever it was, and tells it")
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

  @Test("removes the row, and returns whether it was there")
  func deletes() throws {
    #expect(try City.norwegian[0].delete(db))
    #expect(try City.norwegian[0].delete(db) == false)
    #expect(try City(id: nil, name: "Bergen", population: 1).delete(db) == false)
    #expect(try City.fetchAll(db).map(\.id) == [2, 3])
  }

  @Test("is refused where a foreign key is in the way")
  func foreignKey() throws {
    try db.define(
      "CREATE TABLE street (city INTEGER REFERENCES city (id)); INSERT INTO street VALUES (1)")
    let error = failure(DatabaseError.self) { try City.norwegian[0].delete(db) }
    #expect(error?.constraint?.kind == .foreignKey)
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}

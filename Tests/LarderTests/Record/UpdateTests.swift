import Larder
import PostgresSupport
import Testing

@Suite("Updating records")
struct UpdateTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("`update` writes all columns of the row with the record's key")
  func whole() throws {
    var oslo = City(id: 1, name: "Christiania", population: 10)
    try oslo.update(db)
    #expect(try City.order { $0.id }.fetchAll(db) == [oslo] + City.norwegian[1...])
  }

  @Test("`update` of named columns writes only these")
  func chosen() throws {
    var oslo = City(id: 1, name: "Christiania", population: 10)
    try oslo.update(db, City.columns.population)
    #expect(try City.find(db, 1) == City(id: 1, name: "Oslo", population: 10))
    oslo.population = 20
    try oslo.update(db, City.columns.population, City.columns.name)
    #expect(try City.find(db, 1) == oslo)
  }

  @Test("`update` throws if the key is named or has changed")
  func key() throws {
    var oslo = City(id: 1, name: "Christiania", population: 10)
    #expect(failure(DatabaseError.self) { try oslo.update(db, City.columns.id) }?.code == .misuse)
    let copy = oslo
    oslo.id = 2
    #expect(
      failure(DatabaseError.self) { try oslo.update(db, changedSince: copy) }?.code == .misuse)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("update(changedSince:) writes the changed columns only, and nothing if there is none")
  func changedSince() throws {
    var oslo = try City.find(db, 1)
    let copy = oslo
    #expect(try oslo.update(db, changedSince: copy) == false)
    oslo.population += 1
    try db.executeUpdate("UPDATE city SET name = 'Christiania' WHERE id = 1")
    #expect(try oslo.update(db, changedSince: copy))
    #expect(try City.find(db, 1) == City(id: 1, name: "Christiania", population: 709_038))
  }

  @Test("update(changedSince:) compares texts byte by byte: composed and decomposed “é” differ")
  func canonicalEquivalence() throws {
    let composed = City(id: 2, name: "Troms\u{F8} caf\u{E9}", population: 0)
    try composed.update(db)
    var decomposed = composed
    decomposed.name = "Troms\u{F8} cafe\u{301}"
    #expect(decomposed == composed)
    #expect(try decomposed.update(db, changedSince: composed))
    #expect(try db.value("SELECT length(name) FROM city WHERE id = 2", as: Int.self) == 12)
  }

  @Test("`updated` returns the row as stored")
  func updated() throws {
    let oslo = City(id: 1, name: "Christiania", population: 10)
    #expect(try oslo.updated(db) == oslo)
    #expect(try City.find(db, 1) == oslo)
  }

  @Test("`update` throws if there is no row with the record's key")
  func notFound() throws {
    var atlantis = City(id: 7, name: "Atlantis", population: 0)
    let text = "there is no row in “city” with the key 7"
    #expect(recordFailure { try atlantis.update(db) } == text)
    #expect(recordFailure { try atlantis.update(db, City.columns.name) } == text)
    #expect(recordFailure { try atlantis.updated(db) } == text)
    #expect(
      recordFailure {
        try atlantis.update(db, changedSince: City(id: 7, name: "Oslo", population: 1))
      } == text)
    atlantis.id = nil
    guard case .notFound("city", [.null])? = failure(RecordError.self, { try atlantis.update(db) })
    else { return #expect(Bool(false), "a key that is nil is that of no row") }
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("`update` of a constant returns the record")
  func constants() throws {
    for city in City.norwegian { try city.update(db) }
    let bergen = City(id: 2, name: "Bjørgvin", population: 1)
    #expect(try bergen.update(db) == bergen)
    #expect(try bergen.update(db, City.columns.name) == bergen)
  }

  @Test("`update` that violates a constraint reports its kind and columns")
  func constraints() throws {
    var oslo = City(id: 1, name: "Bergen", population: 1)
    var error = failure(DatabaseError.self) { try oslo.update(db) }
    #expect(error?.constraint?.kind == .unique)
    #expect(error?.constraint?.columns == ["name"])
    #expect(error?.sql?.hasPrefix("UPDATE \"city\" SET ") == true)
    oslo.population = -1
    error = failure(DatabaseError.self) { try oslo.update(db, City.columns.population) }
    #expect(error?.constraint?.kind == .check)
    #expect(error?.sql?.hasPrefix(#"UPDATE "city" SET "population" = "#) == true)
  }
}

@Suite("Versions of records")
struct VersionTests {
  let db: Database

  init() throws {
    db = try Budget.database()
    var oslo = Budget(city: "Oslo", amount: 100, version: 1)
    try oslo.insert(db)
  }

  private let stale = "the row in “budget” with the key \"Oslo\" has changed since it was read"

  @Test("Every kind of update increments the version in the row and in the record")
  func variables() throws {
    var oslo = try Budget.find(db, "Oslo")
    oslo.amount = 110
    try oslo.update(db)
    #expect(oslo.version == 2)
    oslo.amount = 120
    try oslo.update(db, Budget.columns.amount)
    #expect(oslo.version == 3)
    let copy = oslo
    oslo.amount = 130
    try oslo.update(db, changedSince: copy)
    #expect(oslo.version == 4)
    oslo = try oslo.updated(db)
    #expect(oslo.version == 5)
    try oslo.save(db)
    #expect(oslo.version == 6)
    try oslo.upsert(db)
    #expect(oslo.version == 7)
    #expect(try Budget.fetchAll(db) == [oslo])
    try oslo.update(db)
    #expect(oslo.version == 8)
  }

  @Test("Updating a constant returns the record with the new version")
  func constants() throws {
    let oslo = try Budget.find(db, "Oslo")
    let second = try oslo.update(db)
    #expect((oslo.version, second.version) == (1, 2))
    let third = try second.update(db, Budget.columns.amount)
    #expect(third.version == 3)
    let fourth = try third.save(db)
    #expect(fourth.version == 4)
    let fifth = try fourth.upsert(db)
    #expect(try Budget.find(db, "Oslo") == fifth)
    #expect(fifth.version == 5)
  }

  @Test("Writing a record whose row has another version throws")
  func lostRace() throws {
    let first = try Budget.find(db, "Oslo")
    var second = first
    second.amount = 200
    try second.update(db)
    var late = first
    late.amount = 300
    #expect(recordFailure { try late.update(db) } == stale)
    #expect(recordFailure { try late.update(db, Budget.columns.amount) } == stale)
    #expect(recordFailure { try late.update(db, changedSince: first) } == stale)
    #expect(recordFailure { try late.updated(db) } == stale)
    #expect(recordFailure { try late.save(db) } == stale)
    #expect(recordFailure { try late.delete(db) } == stale)
    #expect(late.version == 1)
    #expect(try Budget.fetchAll(db) == [second])
  }

  @Test("Updating a deleted row throws, deleting it returns false, and saving inserts it again")
  func gone() throws {
    var oslo = try Budget.find(db, "Oslo")
    #expect(try oslo.delete(db))
    #expect(
      recordFailure { try oslo.update(db) } == "there is no row in “budget” with the key \"Oslo\"")
    #expect(try oslo.delete(db) == false)
    try oslo.save(db)
    #expect(try Budget.fetchAll(db) == [Budget(city: "Oslo", amount: 100, version: 1)])
  }

  @Test("A failed update leaves the record's version unchanged", .onlySQLite(.triggers))
  func failing() throws {
    try db.executeStatements(
      """
      CREATE TRIGGER limited BEFORE UPDATE ON budget WHEN new.amount > 1000
      BEGIN SELECT RAISE(ABORT, 'too much'); END
      """)
    var oslo = try Budget.find(db, "Oslo")
    oslo.amount = 2000
    let error = failure(DatabaseError.self) { try oslo.update(db) }
    #expect(error?.constraint?.kind == .trigger)
    #expect(error?.message == "too much")
    #expect(oslo.version == 1)
  }

  @Test("A version can have any integer type, and incrementing the greatest value throws")
  func narrow() throws {
    struct Note: Record {
      var id: Int
      var version: UInt8

      struct Columns: Sendable {
        let id = Column("id", \Note.id, .primaryKey)
        let version = Column("version", \Note.version, .version)
      }
      static let columns = Columns()
      static let table = Table("note", Note.init, columns.id, columns.version)
    }
    try db.define("CREATE TABLE note (id INTEGER PRIMARY KEY, version INTEGER)")
    var note = Note(id: 1, version: 254)
    try note.insert(db)
    try note.update(db)
    #expect(note.version == 255)
    let error = conversionFailure {
      try db.inTransaction { db in try note.update(db) }
    }
    #expect(error?.column == "version")
    #expect(error?.kind == .notExact)
  }

  @Test("An update by a query increments the version, unless it assigns it")
  func queries() throws {
    var bergen = Budget(city: "Bergen", amount: 50, version: 7)
    try bergen.insert(db)
    #expect(try Budget.all.update(db) { $0.amount += 1 } == 2)
    #expect(
      try Budget.order { $0.city }.fetchAll(db) == [
        Budget(city: "Bergen", amount: 51, version: 8),
        Budget(city: "Oslo", amount: 101, version: 2),
      ])
    let poorest = try Budget.order { $0.amount }.limit(1).updated(db) { $0.amount = 60 }
    #expect(poorest == [Budget(city: "Bergen", amount: 60, version: 9)])
    #expect(
      recordFailure { try bergen.update(db) }?.hasSuffix("has changed since it was read") == true)
    try Budget.all.update(db) { $0.version = 20 }
    #expect(try Budget.fetchAll(db).map(\.version) == [20, 20])
  }
}

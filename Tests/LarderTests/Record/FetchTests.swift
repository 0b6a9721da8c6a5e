import Larder
import PostgresSupport
import Testing

@Suite("Finding records")
struct FindTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("fetchOne without a key returns the first record, and nil of an empty table")
  func first() throws {
    let first = try City.fetchOne(db)
    #expect(try first == City.all.fetchOne(db) && first != nil)
    try db.executeUpdate("DELETE FROM city")
    #expect(try City.fetchOne(db) == nil)
  }

  @Test("`find` throws for a missing key, and `fetchOne` returns nil")
  func missing() throws {
    #expect(try City.find(db, 2) == City.norwegian[1])
    #expect(try City.fetchOne(db, 2) == City.norwegian[1])
    #expect(try City.fetchOne(db, 7) == nil)
    #expect(recordFailure { try City.find(db, 7) } == "there is no row in “city” with the key 7")
  }

  @Test("The error of a missing blob key shows the key in hexadecimal")
  func blobKey() throws {
    struct Chip: Record {
      var id: [UInt8]
      static let table = Table("chip", Chip.init, columns[0])
      static let columns = [Column("id", \Chip.id, .primaryKey)]
    }
    try Chip.table.create(db)
    #expect(
      recordFailure { try Chip.find(db, [0, 0x0A, 0xFF] as [UInt8]) }
        == "there is no row in “chip” with the key x'000aff'")
  }

  @Test("A key can be found by another integer type, or by an Optional")
  func keyTypes() throws {
    let id: Int64? = 3
    #expect(try City.find(db, id) == City.norwegian[2])
    #expect(try City.find(db, UInt8(3)) == City.norwegian[2])
    #expect(try City.fetchOne(db, Int?.none) == nil)
  }

  @Test("Finding a key that can't be stored throws")
  func unstorableKey() throws {
    let error = failure(ConversionError.self) { try City.find(db, UInt64.max) }
    #expect(error?.kind == .notExact)
    #expect(error?.sql == City.table.findSQL)
    #expect(failure(ConversionError.self) { try City.find(db, Double.nan) }?.kind == .notANumber)
  }

  @Test(
    "fetchAll(keys:) finds any number of keys", arguments: [0, 1, 2, 3, 255, 256, 257, 300, 1000]
  )
  func severalKeys(count: Int) throws {
    try City.insert(
      db, contentsOf: (4...1000).map { City(id: $0, name: $0.description, population: 0) })
    let found = try City.fetchAll(db, keys: 1..<(count + 1))
    #expect(Set(found.map(\.id)).count == count)
    #expect(found.count == count)
  }

  @Test("fetchAll(keys:) finds duplicate keys once, and omits missing ones")
  func duplicateKeys() throws {
    #expect(try City.fetchAll(db, keys: [3, 1, 3, 3, 1]).count == 2)
    #expect(try City.fetchAll(db, keys: [7, 1, 8]) == [City.norwegian[0]])
    #expect(try City.fetchAll(db, keys: Array(repeating: 2, count: 1000)) == [City.norwegian[1]])
    #expect(try City.fetchAll(db, keys: [Int64?.none, 2]) == [City.norwegian[1]])
    #expect(try City.fetchAll(db, keys: [Int64]()) == [])
  }

  @Test("fetchAll(keys:) compares text keys byte by byte: composed and decomposed “é” differ")
  func canonicalEquivalence() throws {
    struct Name: Record {
      var text: String

      struct Columns: Sendable {
        let text = Column("text", \Name.text, .primaryKey)
      }
      static let columns = Columns()
      static let table = Table("name", Name.init, columns.text)
    }
    try db.define("CREATE TABLE name (text TEXT PRIMARY KEY)")
    let names = ["caf\u{E9}", "cafe\u{301}"]
    try Name.insert(db, contentsOf: names.map { Name(text: $0) })
    let found = try Name.fetchAll(db, keys: names)
    #expect(found.map { Array($0.text.utf8).count }.sorted() == [5, 6])
  }

  @Test(
    "fetchAll(keys:) works on a connection with a low limit of parameters", .onlySQLite(.limits)
  )
  func fewParameters() throws {
    try db.setLimit(.variables, 5)
    try City.insert(
      db, contentsOf: (4...100).map { City(id: $0, name: $0.description, population: 0) })
    #expect(try City.fetchAll(db, keys: 1...90).count == 90)
  }
}

@Suite("Reading records")
struct FetchTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("fetchAll returns all rows, and forEach visits them one by one")
  func all() throws {
    #expect(try City.fetchAll(db) == City.norwegian)
    var names: [String] = []
    try City.forEach(db) { names.append($0.name) }
    #expect(names == ["Oslo", "Bergen", "Trondheim"])
    try db.executeUpdate("DELETE FROM city")
    #expect(try City.fetchAll(db) == [])
    try City.forEach(db) { _ in Issue.record("there are no rows") }
  }

  @Test("fetchAll(sql:) finds a record's columns by name, in any order and case, among others")
  func anyOrder() throws {
    let expected = City.norwegian
    let queries: [SQL] = [
      "SELECT * FROM city", "SELECT population, name, id FROM city",
      "SELECT 1 AS one, name, 2 AS two, population, id, 3 AS one FROM city",
      "SELECT ID, NAME, Population FROM city",
      "SELECT c.id, c.name, o.population FROM city c JOIN city o USING (id) ORDER BY c.id",
    ]
    for query in queries { #expect(try City.fetchAll(db, sql: query) == expected) }
    var count = 0
    try City.forEach(db, sql: queries[1]) { city in
      #expect(city == expected[count])
      count += 1
    }
    #expect(count == 3)
  }

  @Test("Values interpolated into fetchAll(sql:) are bound")
  func arguments() throws {
    let name = "Oslo'; DROP TABLE city; --"
    #expect(try City.fetchAll(db, sql: "SELECT * FROM city WHERE name = \(name)").isEmpty)
    #expect(
      try City.fetchAll(db, sql: "SELECT * FROM city WHERE population < \(300_000) ORDER BY name")
        .map(\.name) == ["Bergen", "Trondheim"])
  }

  @Test("fetchAll(sql:) throws if a column is missing or ambiguous, and the error names it")
  func wrongColumns() throws {
    var error = failure(DatabaseError.self) {
      try City.fetchAll(db, sql: "SELECT id, name FROM city")
    }
    #expect(error?.message == "no column “population”: the columns are id, name")
    #expect(error?.sql == "SELECT id, name FROM city")
    error = failure(DatabaseError.self) {
      try City.fetchAll(db, sql: "SELECT c.*, o.name FROM city c, city o")
    }
    #expect(error?.message == "2 columns are named “name”; use positions or AS")
    #expect(try City.fetchAll(db, sql: "SELECT id FROM city WHERE id > 7").isEmpty)
  }

  @Test("Two record types can be read from the same SQL by turns")
  func twoTypes() throws {
    struct Name: Record {
      var name: String

      struct Columns: Sendable {
        let name = Column("name", \Name.name, .primaryKey)
      }
      static let columns = Columns()
      static let table = Table("city", Name.init, columns.name)
    }
    for _ in 0..<3 {
      #expect(try City.fetchAll(db, sql: "SELECT * FROM city") == City.norwegian)
      #expect(try Name.fetchAll(db, sql: "SELECT * FROM city").map(\.name).first == "Oslo")
    }
  }

  @Test("fetchAll(sql:) returns the records of UPDATE … RETURNING")
  func returning() throws {
    let cities = try City.fetchAll(
      db, sql: "UPDATE city SET population = population + 1 WHERE id < 3 RETURNING *")
    #expect(cities.map(\.population) == [709_038, 291_941])
    #expect(try City.order { $0.id }.fetchAll(db).map(\.population) == [709_038, 291_941, 214_565])
  }
}

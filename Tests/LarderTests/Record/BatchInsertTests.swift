import Larder
import PostgresSupport
import Testing

@Suite("Inserting many records")
struct BatchInsertTests {
  let db: Database

  init() throws { db = try City.database() }

  private func cities(_ count: Int) -> [City] {
    (0..<count).map { City(id: Int64($0 + 1), name: "City \($0)", population: $0) }
  }

  @Test(
    "A batch may have any number of records",
    arguments: [0, 1, 2, 127, 128, 129, 255, 1000, 33_000])
  func counts(count: Int) throws {
    let cities = cities(count)
    try City.insert(db, contentsOf: cities)
    #expect(try City.fetchAll(db) == cities)
  }

  @Test("Slices, lazy sequences, empty sequences and single elements can be inserted as batches")
  func sequences() throws {
    let cities = cities(2000)
    try City.insert(db, contentsOf: cities[..<1500].lazy.map { $0 })
    #expect(try City.fetchAll(db).map(\.id) == cities[..<1500].map(\.id))
    try City.insert(db, contentsOf: cities[1500..<1700])
    try City.insert(db, contentsOf: Dictionary(grouping: cities[1700...], by: \.id).values.joined())
    try City.insert(db, contentsOf: CollectionOfOne(City(id: 4000, name: "x", population: 0)))
    try City.insert(db, contentsOf: AnySequence([]))
    #expect(try City.fetchAll(db).count == 2001)
  }

  @Test("A batch iterates its sequence only once")
  func onePass() throws {
    var next: Int64 = 0
    let once = AnyIterator<City> {
      next += 1
      return next > 2500 ? nil : City(id: next, name: "City \(next)", population: 0)
    }
    try City.insert(db, contentsOf: once)
    #expect(next == 2501)
    #expect(try City.fetchAll(db).count == 2500)
  }

  @Test("`inserted` returns a batch's records with the keys that the database chose")
  func keys() throws {
    let nameless = cities(3).map { City(id: nil, name: $0.name, population: 0) }
    let inserted = try City.inserted(db, contentsOf: nameless)
    #expect(inserted.map(\.id) == [1, 2, 3])
    #expect(try City.fetchAll(db) == inserted)
    let more = (4...9).map { City(id: nil, name: "City No. \($0)", population: 0) }
    try City.insert(db, contentsOf: more)
    #expect(try City.fetchAll(db).map(\.id) == [1, 2, 3, 4, 5, 6, 7, 8, 9])
  }

  @Test(
    "A batch works on a connection with a low limit of parameters",
    .onlySQLite(.limits), arguments: [3, 7, 100, 383]
  )
  func fewParameters(limit: Int) throws {
    try db.setLimit(.variables, limit)
    let cities = cities(300)
    try City.insert(db, contentsOf: cities)
    #expect(try City.fetchAll(db) == cities)
  }

  @Test(
    "A batch throws if the limit of parameters is below the record's number of columns",
    .onlySQLite(.limits)
  )
  func tooFewParameters() throws {
    try db.setLimit(.variables, 2)
    let error = BatchFailure { try City.insert(db, contentsOf: cities(3)) }
    #expect(error?.index == 0)
    #expect((error?.error as? DatabaseError)?.message.contains("too many SQL variables") == true)
  }

  @Test("A batch inside of a transaction is rolled back with it")
  func insideTransaction() throws {
    try db.inTransaction { db in
      try City.insert(db, contentsOf: cities(300))
      db.setRollbackOnly()
    }
    #expect(try City.fetchAll(db).isEmpty)
  }

  @Test("A conflict policy applies to each record of a batch")
  func policies() throws {
    try City.insert(db, contentsOf: cities(10))
    let again = (5..<200).map { City(id: Int64($0 + 1), name: "New \($0)", population: 1) }
    try City.insert(db, contentsOf: again, or: .ignore)
    #expect(try City.fetchAll(db).filter { $0.name.hasPrefix("New") }.count == 190)
    if TestEngine.isPostgres { return }
    try City.insert(db, contentsOf: again, or: .replace)
    #expect(try City.fetchAll(db).filter { $0.name.hasPrefix("New") } == again)
  }

  @Test("A batch stores texts of any length unchanged")
  func longTexts() throws {
    let cities = (0..<300).map {
      City(id: Int64($0 + 1), name: String(repeating: "é", count: $0 * 50) + "\($0)", population: 0)
    }
    try City.insert(db, contentsOf: cities)
    #expect(try City.order { $0.id }.fetchAll(db) == cities)
  }

  @Test("Records without a column to write are inserted one by one")
  func defaultsOnly() throws {
    struct Ticket: Record {
      var id: Int64?

      struct Columns: Sendable {
        let id = Column("id", \Ticket.id, .primaryKey, .readOnly)
      }
      static let columns = Columns()
      static let table = Table("ticket", Ticket.init, columns.id)
    }
    try db.define("CREATE TABLE ticket (id INTEGER PRIMARY KEY)")
    try Ticket.insert(db, contentsOf: Array(repeating: Ticket(id: nil), count: 200))
    #expect(try Ticket.fetchAll(db).count == 200)
    var ticket = Ticket(id: nil)
    try ticket.insert(db)
    #expect(ticket.id == 201)
  }
}

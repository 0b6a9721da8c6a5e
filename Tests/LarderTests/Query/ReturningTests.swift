import Larder
import Testing

@Suite("Returned rows, and rows one by one")
struct ReturningTests {
  let db: Database

  init() throws { db = try City.norway() }

  @Test("`updated` returns the updated rows with their new values, and no others")
  func updated() throws {
    let cities = try City.filter { $0.population < 300_000 }.updated(db) { $0.population += 1 }
    #expect(Set(cities.map(\.population)) == [291_941, 214_566])
    #expect(try City.find(db, 1).population == 709_037)
    #expect(try City.all.updated(db) { _ in }.isEmpty)
    #expect(try City.filter { $0.id > 7 }.updated(db) { $0.population = .value(1) }.isEmpty)
  }

  @Test("`deleted` returns the deleted rows")
  func deleted() throws {
    #expect(try City.filter { $0.name == "Oslo" }.deleted(db) == [City.norwegian[0]])
    #expect(try City.fetchAll(db) == Array(City.norwegian.dropFirst()))
    #expect(try City.filter { $0.name == "Oslo" }.deleted(db).isEmpty)
  }

  /// A river. SQLite's RETURNING takes all columns for real numbers, because the first one is.
  private struct River: Record, Equatable {
    var length: Double
    var id: Int64
    var bridges: Int64?
    var name: String

    struct Columns: Sendable {
      let length = Column("length", \River.length)
      let id = Column("id", \River.id, .primaryKey)
      let bridges = Column("bridges", \River.bridges)
      let name = Column("name", \River.name)
    }
    static let columns = Columns()
    static let table = Table(
      "river", River.init, columns.length, columns.id, columns.bridges, columns.name)
  }

  @Test("`updated` and `deleted` return exact values if the table's first column is real")
  func realColumnFirst() throws {
    try River.table.create(db)
    let large: Int64 = 1 << 53 + 1
    let glomma = River(length: 621, id: large, bridges: large, name: "Glomma")
    let new = River(length: 1, id: 2, bridges: nil, name: "2")
    try River.insert(db, contentsOf: [glomma, new])
    var longer = glomma
    longer.bridges = large + 2
    #expect(try River.filter { $0.name == "Glomma" }.updated(db) { $0.bridges += 2 } == [longer])
    let returned = try River.filter { $0.id == large }.updated(
      db, returning: { ($0.id, $0.bridges, $0.length, $0.id - 1) }
    ) { $0.length = 3 }
    #expect(returned.count == 1)
    #expect(try #require(returned.first) == (large, large + 2, 3, large - 1))
    #expect(try River.filter { $0.id == 2 }.deleted(db) == [new])
    #expect(try River.all.deleted(db, returning: { $0.bridges }) == [large + 2])
  }

  @Test("forEach visits a query's rows one by one until its closure throws")
  func forEach() throws {
    var names: [String] = []
    try City.order { $0.name }.forEach(db) { names.append($0.name) }
    #expect(names == ["Bergen", "Oslo", "Trondheim"])
    #expect(throws: CancellationError.self) {
      try City.order { $0.name }.forEach(db) { city in
        names.append(city.name)
        throw CancellationError()
      }
    }
    #expect(names == ["Bergen", "Oslo", "Trondheim", "Bergen"])
    #expect(!db.hasOpenStatements)
  }

  @Test("A query can begin with limit and offset")
  func limit() throws {
    #expect(try City.limit(1, offset: 1).fetchAll(db) == [City.norwegian[1]])
  }

  @Test("Rows of a grouped or distinct query can't be changed")
  func grouped() throws {
    let queries = [
      City.all.group { $0.name }, City.all.distinct(),
      City.all.group { $0.name }.having { _ in count() > 1 },
    ]
    for query in queries {
      for error in [
        failure(DatabaseError.self) { try query.update(db) { $0.population = 1 } },
        failure(DatabaseError.self) { try query.delete(db) },
      ] {
        #expect(error?.code == .misuse)
        #expect(error?.message == "rows of a grouped or distinct query can't be changed")
      }
    }
    #expect(try City.fetchAll(db) == City.norwegian)
  }
}

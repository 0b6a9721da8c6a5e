import Larder
import Testing

@Suite("Errors of selections and common tables", .onlySQLite(.anyTyped))
struct SelectionErrorTests {
  let db: Database

  init() throws {
    db = try .world()
    try db.executeUpdate("UPDATE place SET population = 'many' WHERE id = 3")
  }

  private let places = Place.order { $0.id }.select { ($0.name, $0.population) }

  @Test("A selected value of the wrong type throws an error with its column and statement")
  func conversion() throws {
    let error = failure(ConversionError.self) { try places.fetchAll(db) }
    #expect(
      error.map { "\($0)" } == """
        text can't be read as Int — column “population” at index 1 of “\(places.sql.text)”
        """)
    #expect(error?.kind == .storageClass(.text))
    #expect(failure(ConversionError.self) { try places.compound.fetchAll(db) }?.index == 1)
    #expect(!db.hasOpenStatements)
    #expect(try places.limit(2).fetchAll(db).map(\.0) == ["北京市", "上海市"])
  }

  @Test("The error of a selected expression names the expression's SQL")
  func expression() throws {
    let most = Place.filter { $0.id == 3 }.select { $0.population.max() }
    let error = failure(ConversionError.self) { try most.fetchAll(db) }
    #expect(error?.column == #"max("place"."population")"#)
  }

  @Test("An error thrown by a type's own conversion is passed on unchanged")
  func ownError() throws {
    struct Refusal: Error {}
    struct Picky: DatabaseValueConvertible {
      var databaseValue: DatabaseValue { .null }
      init(databaseValue: DatabaseValue) throws { throw Refusal() }
    }
    #expect(throws: Refusal.self) {
      try Place.all.select { $0.name.cast(to: Picky.self) }.fetchAll(db)
    }
    #expect(!db.hasOpenStatements)
  }

  @Test("The error of a common table's value has the column's position in the whole row")
  func commonTable() throws {
    let table = CommonTable("inhabitants", places)
    let alone = table.all
    let error = failure(ConversionError.self) { try alone.fetchAll(db) }
    #expect(error?.column == "c2" && error?.index == 1 && error?.sql == alone.snapshot)
    let joined = Place.filter { $0.id < 3 }.join(common: table) { $0.name == $1.columns.0 }
    #expect(try joined.fetchAll(db).count == 2)
    // The country's three columns come first.
    let others = Nation.all.join(common: table) { $0.capital == $1.columns.0 }
    let other = failure(ConversionError.self) { try others.fetchAll(db) }
    #expect(other?.column == "c2" && other?.index == 4 && other?.sql == others.snapshot)
    #expect(!db.hasOpenStatements)
  }

  @Test("A value that can't be bound throws, and leaves no statement open and no value bound")
  func binding() throws {
    func places(below elevation: Double, in country: String) -> Compound<String> {
      Place.filter { $0.country == country && $0.elevation < elevation }.select { $0.name }
        .union(Nation.filter { $0.capital == country }.select { $0.name })
    }
    for _ in 1...3 {
      let error = failure(ConversionError.self) {
        try places(below: .nan, in: "CN").fetchAll(db)
      }
      #expect(error?.kind == .notANumber)
      #expect(!db.hasOpenStatements)
      #expect(try places(below: 30, in: "NO").fetchAll(db) == ["Oslo"])
    }
    // All queries used the same compiled statement.
    let before = db.statementCacheStatistics.misses
    #expect(try places(below: 10, in: "CN").fetchAll(db) == ["上海市"])
    #expect(db.statementCacheStatistics.misses == before)
  }
}

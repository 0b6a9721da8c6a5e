import Larder
import PostgresSupport
import Testing

/// A row of a view of large cities, with a key.
private struct LargeCity: Record, Equatable {
  var id: Int64
  var name: String

  struct Columns: Sendable {
    let id = Column("id", \LargeCity.id, .primaryKey)
    let name = Column("name", \LargeCity.name)
  }
  static let columns = Columns()
  static let table = Table("large", LargeCity.init, columns.id, columns.name, options: .view)
}

/// A row of a view without a key.
private struct Total: Record, Equatable {
  var people: Int?

  struct Columns: Sendable {
    let people = Column("people", \Total.people)
  }
  static let columns = Columns()
  static let table = Table("total", Total.init, columns.people, options: .view)
}

@Suite("Records of views")
struct ViewRecordTests {
  private let db: Database
  private let largeText =
    "“large” is declared as a view, whose records are read-only; SchemaEntry.view creates a view"

  init() throws {
    db = try City.norway()
    try SchemaEntry.view(
      "large", as: "SELECT id, name, population FROM city WHERE population > 300000"
    ).create(db)
    try SchemaEntry.view(
      "total", as: "SELECT CAST(sum(population) AS INTEGER) AS people FROM city"
    ).create(db)
  }

  @Test("Records of a view can be found, fetched, filtered and joined")
  func reading() throws {
    let oslo = City.norwegian[0]
    let large = LargeCity(id: oslo.id ?? 0, name: oslo.name)
    #expect(try LargeCity.find(db, oslo.id) == large)
    #expect(try LargeCity.fetchAll(db) == [large])
    #expect(try LargeCity.filter { $0.name == "Oslo" }.fetchOne(db) == large)
    #expect(
      try City.join(LargeCity.self) { $0.id == $1.id }.select { $1.name }.fetchAll(db) == ["Oslo"])
    #expect(
      try Total.fetchAll(db).first?.people == City.norwegian.map(\.population).reduce(0, +))
  }

  @Test("Writing a record of a view throws, and changes nothing")
  func writing() throws {
    var large = LargeCity(id: 1, name: "Oslo")
    let copy = LargeCity(id: 1, name: "Kristiania")
    #expect(recordFailure { try large.insert(db) } == largeText)
    #expect(recordFailure { try large.insert(db, or: .ignore) } == largeText)
    #expect(recordFailure { try large.inserted(db) } == largeText)
    #expect(recordFailure { try LargeCity.insert(db, contentsOf: []) } == largeText)
    #expect(recordFailure { try LargeCity.insert(db, contentsOf: [large]) } == largeText)
    #expect(recordFailure { try large.update(db) as Void } == largeText)
    #expect(recordFailure { try large.update(db, LargeCity.columns.name) as Void } == largeText)
    #expect(recordFailure { try large.update(db, changedSince: copy) } == largeText)
    #expect(recordFailure { try large.updated(db) } == largeText)
    #expect(recordFailure { try large.save(db) as Void } == largeText)
    #expect(recordFailure { try large.upsert(db) as Void } == largeText)
    #expect(recordFailure { try LargeCity.upsert(db, contentsOf: [large]) } == largeText)
    #expect(recordFailure { try large.delete(db) } == largeText)
    #expect(recordFailure { try LargeCity.all.update(db) { $0.name = "x" } } == largeText)
    #expect(recordFailure { try LargeCity.all.updated(db) { $0.name = "x" } } == largeText)
    #expect(recordFailure { try LargeCity.all.delete(db) } == largeText)
    #expect(recordFailure { try LargeCity.all.deleted(db) } == largeText)
    #expect(
      recordFailure {
        try LargeCity.insert(db, LargeCity.columns.name, from: City.select { $0.name })
      } == largeText)
    var total = Total(people: 1)
    #expect(recordFailure { try total.insert(db) } != nil)
    #expect(recordFailure { try total.update(db) as Void }?.contains("as a view") == true)
    #expect(recordFailure { try total.delete(db) }?.contains("as a view") == true)
    #expect(try City.fetchAll(db) == City.norwegian)
  }

  @Test("Creating, dropping or altering a view record's table throws")
  func definitions() throws {
    #expect(recordFailure { try LargeCity.table.schema() } == largeText)
    #expect(recordFailure { try LargeCity.table.create(db) } == largeText)
    #expect(recordFailure { try LargeCity.table.create(db, ifNotExists: true) } == largeText)
    #expect(recordFailure { try LargeCity.table.drop(db, ifExists: true) } == largeText)
    #expect(recordFailure { try LargeCity.table.addMissingColumns(db) } == largeText)
    #expect(recordFailure { try LargeCity.table.rebuild(db) } == largeText)
  }

  @Test("Differences report a view that is missing, lacks a column or is a table")
  func differences() throws {
    #expect(try LargeCity.table.differences(db) == [])
    #expect(
      try LargeCity.table.differences(db, strictly: true).map(\.description)
        == ["“large”.“population”: declared nothing, found \"population\""])
    try db.executeStatements("DROP VIEW large")
    #expect(
      try LargeCity.table.differences(db).map(\.description)
        == ["“large”, view: declared a view, found nothing"])
    try SchemaEntry.view("large", as: "SELECT id FROM city").create(db)
    #expect(
      try LargeCity.table.differences(db).map(\.description)
        == ["“large”.“name”: declared \"name\", found nothing"])
    try db.executeStatements("DROP VIEW large")
    try db.executeStatements("CREATE TABLE large (id INTEGER, name TEXT)")
    let difference = try LargeCity.table.differences(db).first
    #expect(difference?.kind == .view && difference?.found?.hasPrefix("CREATE TABLE") == true)
  }

  @Test(
    "A schema of records contains its views, and its steps don't drop them",
    .onlySQLite(.definitions)
  )
  func schemas() throws {
    try db.executeStatements("DROP TABLE city")
    try City.table.create(db)
    let declared = try Schema(City.self, LargeCity.self, in: db)
    let found = try Schema(db)
    #expect(
      declared.differences(from: found).map(\.description).map { $0.prefix(14) }
        == ["“total”, view:"])
    #expect(declared.steps(from: found).map(\.detail) == ["drop the view “total”"])
    let all = try Schema(City.self, LargeCity.self, Total.self, in: db)
    #expect(all.differences(from: found) == [] && all.steps(from: found) == [])
    try db.executeStatements("DROP VIEW large")
    #expect(
      try all.differences(from: Schema(db)).map(\.description)
        == ["“large”, view: declared a view, found nothing"])
    #expect(try all.steps(from: Schema(db)) == [])
    // A view's definition is declared by a schema entry.
    var whole = all
    whole.others = [try .view("large", as: "SELECT id, name FROM city")]
    #expect(try whole.steps(from: Schema(db)).map(\.detail) == ["create the view “large”"])
    try db.executeStatements("CREATE TABLE large (id INTEGER, name TEXT)")
    #expect(try all.steps(from: Schema(db)) == [])
  }

  @Test("A view with an index makes the declaration wrong")
  func wrong() throws {
    struct Indexed: Record {
      var id: Int64
      static let columns = Column("id", \Indexed.id, .indexed)
      static let table = Table("large", Indexed.init, columns, options: .view)
    }
    #expect(try problem(of: Indexed.self) == "a view can't have indexes or constraints")
  }
}

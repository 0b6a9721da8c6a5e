import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Lists, prefixes and common tables")
struct ListTests {
  let db: Database

  init() throws { db = try .world() }

  @Test("`in` and its negation skip NULL rows, and the negation of an empty list is true")
  func nullInLists() throws {
    func ids(_ condition: (RecordFields<Place>) -> SQLExpression<Bool>) throws -> [Int64?] {
      try Place.filter(condition).order { $0.id }.fetchAll(db).map(\.id)
    }
    #expect(try ids { $0.elevation.in([4, 23]) } == [2, 3])
    #expect(try ids { !$0.elevation.in([4, 23]) } == [1])
    #expect(try ids { !$0.elevation.in([4, 23, nil]) } == [1])
    #expect(try ids { !$0.elevation.in([nil]) } == [1, 2, 3])
    #expect(try ids { !$0.elevation.in([]) } == [1, 2, 3, 4])
    #expect(
      try ids { !$0.elevation.in(Place.filter { $0.id == 2 }.select { $0.elevation }) } == [1, 3])
  }

  @Test("A list may have more elements than a statement may have parameters")
  func longLists() throws {
    if !TestEngine.isPostgres { _ = try db.setLimit(.variables, 32_766) }
    let reals = (0..<40_000).map { Double($0) + 0.1 } + [4, 43.5]
    #expect(try Place.filter { $0.elevation.in(reals) }.fetchCount(db) == 2)
    #expect(try Place.filter { $0.elevation.in(reals + [nil, .infinity]) }.fetchCount(db) == 3)
    let texts = (0..<40_000).map { "it's \($0)\u{1}" } + ["Oslo"]
    #expect(try Place.filter { $0.name.in(texts) }.fetchAll(db).map(\.id) == [3])
    try Picture.table.create(db)
    try Picture.insert(
      db,
      contentsOf: [
        Picture(id: 1, data: [0, 255], at: Date(timeIntervalSince1970: 5)),
        Picture(id: 2, data: [], at: nil),
      ])
    let blobs = (0..<40_000).map { [UInt8(truncatingIfNeeded: $0), 1, 2] } + [[0, 255]]
    #expect(try Picture.filter { $0.data.in(blobs) }.fetchAll(db).map(\.id) == [1])
    // Dates are bound as parameters: only the connection knows their format.
    let dates = (0..<(TestEngine.isPostgres ? 5_000 : 20_000)).map {
      Date(timeIntervalSince1970: Double($0))
    }
    #expect(try Picture.filter { $0.at.in(dates) }.fetchAll(db).map(\.id) == [1])
  }

  @Test("Rows can be grouped by whether a value is in a list")
  func groups() throws {
    let groups = Place.all.group { $0.country.in(["CN", "NO"]) }.select {
      ($0.country.in(["CN", "NO"]), count())
    }.order { $1 }
    #expect(try groups.fetchAll(db).map(\.1).reduce(0, +) == 4)
    let none: [String] = []
    #expect(try Place.filter { !$0.country.in(none) }.fetchCount(db) == 4)
  }

  @Test("NULL has no prefix or suffix and contains no text, not even the empty one")
  func emptyParts() throws {
    #expect(try Nation.filter { $0.capital.hasPrefix("") }.fetchCount(db) == 2)
    #expect(try Nation.filter { !$0.capital.hasPrefix("") }.fetchCount(db) == 0)
    #expect(try Nation.filter { $0.capital.hasSuffix("") }.fetchCount(db) == 2)
    #expect(try Nation.filter { !$0.capital.hasSuffix("") }.fetchCount(db) == 0)
    #expect(try Nation.filter { !$0.capital.contains("") }.fetchCount(db) == 0)
  }

  @Test("hasPrefix and hasSuffix compare by the collation that was given")
  func collatedParts() throws {
    #expect(try Place.filter { $0.name.collate("NOCASE").hasPrefix("oS") }.fetchCount(db) == 1)
    #expect(try Place.filter { $0.name.collate("NOCASE").hasSuffix("LO") }.fetchCount(db) == 1)
    #expect(try Place.filter { $0.name.collate("BINARY").hasPrefix("oS") }.fetchCount(db) == 0)
    #expect(try Place.filter { $0.name.collate("NOCASE").hasPrefix("") }.fetchCount(db) == 4)
    #expect(try Place.filter { $0.name.collate("NOCASE").contains("OS") }.fetchCount(db) == 0)
  }

  @Test("`in` takes a compound of several queries")
  func compounds() throws {
    let names = Nation.filter { $0.code == "NO" }.select { $0.name }
      .union(Place.filter { $0.id == 3 }.select { $0.name })
    let query = Place.filter { $0.name.in(names) }
    #expect(query.snapshot.contains(#"WHERE "place"."name" IN (SELECT "country"."name" FROM"#))
    #expect(try query.fetchAll(db).map(\.id) == [3])
    let capitals = Nation.all.select { $0.capital }.except(
      Nation.filter { $0.code == "NO" }.select { $0.capital })
    #expect(try Place.filter { $0.name.in(capitals) }.fetchAll(db).map(\.id) == [1])
    let limited = names.order(byColumn: 1).limit(1)
    #expect(try Nation.filter { $0.name.in(limited) }.fetchAll(db).map(\.code) == ["NO"])
  }

  @Test("A common table can be joined as the third or fourth table, and to another common table")
  func commonTables() throws {
    let sizes = CommonTable(
      "size", Place.all.group { $0.country }.select { ($0.country, $0.population.sum()) })
    let names = CommonTable("name", Nation.all.select { ($0.code, $0.name) })
    let three = Place.join(Nation.self) { $0.country == $1.code }
      .join(common: sizes) { $1.code == $2.columns.0 }.order { $0.0.id }
    #expect(
      three.snapshot.contains(
        #"JOIN (WITH "size"("c1", "c2") AS (SELECT "place"."country", sum("place"."population")"#))
    let rows = try three.fetchAll(db)
    #expect(rows.map(\.2.columns.1) == [46_883_990, 46_883_990, 709_037, 46_883_990])
    let four = Place.join(Nation.self) { $0.country == $1.code }
      .join(common: sizes) { $1.code == $2.columns.0 }
      .join(common: sizes) { $2.columns.1 == $3.columns.1 }
      .filter { $3.columns.0 == "NO" }
    #expect(four.snapshot.contains(#") AS "size_2" ON "size"."c2" IS "size_2"."c2""#))
    #expect(try four.fetchAll(db).map(\.0.id) == [3])
    let both = sizes.all.join(common: names) { $0.columns.0 == $1.columns.0 }
      .order { $0.0.columns.0 }.select { ($1.columns.1, $0.columns.1) }
    let totals = try both.fetchAll(db)
    #expect(totals.map(\.0) == ["China", "Norway"] && totals.map(\.1) == [46_883_990, 709_037])
  }

  struct Picture: Record {
    var id: Int
    var data: [UInt8]
    var at: Date?

    struct Columns: Sendable {
      let id = Column("id", \Picture.id, .primaryKey)
      let data = Column("data", \Picture.data)
      let at = Column("at", \Picture.at)
    }
    static let columns = Columns()
    static let table = Table("picture", Picture.init, columns.id, columns.data, columns.at)
  }
}

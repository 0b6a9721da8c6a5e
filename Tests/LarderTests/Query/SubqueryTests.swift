import Larder
import LarderTesting
import Testing

@Suite("Subqueries, nil in lists, and prefixes")
struct SubqueryTests {
  let db: Database

  init() throws { db = try .world() }

  @Test("first(of:) makes the first value of a subquery an expression")
  func firstValue() throws {
    let query = Nation.order { $0.code }.select { country in
      let places = Place.filter { $0.country == country.code }
      return (
        country.name, first(of: places.select { $0.population.max() }),
        first(of: places.order { $0.population.desc }.select { $0.name }).coalesce("none")
      )
    }
    #expect(
      query.snapshot == """
        SELECT "country"."name", (SELECT max("place"."population") FROM "place" \
        WHERE "place"."country" = "country"."code" LIMIT ?), \
        coalesce((SELECT "place"."name" FROM "place" WHERE "place"."country" = "country"."code" \
        ORDER BY "place"."population" DESC LIMIT ?), ?) FROM "country" ORDER BY "country"."code"
        """)
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.1) == [nil, 24_870_895, 709_037])
    #expect(rows.map(\.2) == ["none", "上海市", "Oslo"])
    let empty = Nation.order { $0.code }.filter { country in
      !Place.filter { $0.country == country.code && $0.population > 1_000_000 }.exists
    }
    #expect(try empty.fetchAll(db).map(\.code) == ["AQ", "NO"])
  }

  @Test("fetchCount of a selected aggregate counts its rows")
  func countOfAggregates() throws {
    #expect(try Place.all.select { _ in count() }.fetchCount(db) == 1)
    #expect(try Place.all.select { $0.country }.distinct().fetchCount(db) == 2)
    #expect(try Place.all.select { $0.country }.fetchCount(db) == 4)
  }

  @Test("A query's closure can be a named function")
  func functions() throws {
    func double(_ place: RecordFields<Place>) -> SQLExpression<Int> { place.population * 2 }
    #expect(try Place.filter { $0.id == 4 }.select(double).fetchOne(db) == 240_000)
    #expect(try Place.select(double).fetchCount(db) == 4)
  }

  @Test("nil in a list matches NULL")
  func nilInLists() throws {
    let query = Place.filter { $0.elevation.in([nil, 4]) && $0.id > 0 }
    #expect(
      query.snapshot.hasSuffix(
        #"WHERE ("place"."elevation" IN (?) OR "place"."elevation" IS NULL) AND "place"."id" > ?"#))
    #expect(try query.order { $0.id }.fetchAll(db).map(\.id) == [2, 4])
    #expect(try Place.filter { $0.elevation.in([nil]) }.fetchAll(db).map(\.id) == [4])
    #expect(try Place.filter { $0.elevation.in([]) }.fetchCount(db) == 0)
  }

  @Test(
    "hasPrefix distinguishes case in a NOCASE column, and uses an index in others",
    .onlySQLite(.catalog))
  func prefixes() throws {
    try db.executeUpdate("CREATE INDEX place_name ON place (name)")
    let query = Place.filter { $0.name.hasPrefix("O") }
    #expect(
      query.snapshot.hasSuffix(
        #"WHERE "place"."name" >= ? COLLATE BINARY AND "place"."name" < ? COLLATE BINARY"#))
    #expect(try query.explain(db).usesIndex("place_name"))
    #expect(try query.fetchAll(db).map(\.id) == [3])
    try db.executeStatements(
      """
      DROP TABLE country;
      CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT COLLATE NOCASE, capital TEXT);
      INSERT INTO country VALUES ('ZM', 'Zambia', NULL), ('AL', 'albania', NULL);
      """)
    #expect(try Nation.filter { $0.name.hasPrefix("Z") }.fetchAll(db).map(\.code) == ["ZM"])
    #expect(try Nation.filter { $0.name.hasPrefix("A") }.fetchCount(db) == 0)
  }

  @Test("Query steps can be called on the record type as on `all`")
  func beginnings() throws {
    #expect(
      Nation.join(Place.self) { $0.capital == $1.name }.snapshot
        == Nation.all.join(Place.self) { $0.capital == $1.name }.snapshot)
    #expect(try Nation.leftJoin(Place.self) { $0.capital == $1.name }.fetchCount(db) == 3)
    #expect(try Nation.select { ($0.code, $0.name) }.fetchCount(db) == 3)
    #expect(try Place.select { $0.population.max() }.fetchAll(db).count == 1)
    #expect(try Place.order { [$0.country.asc, $0.id.desc] }.fetchOne(db)?.id == 4)
  }
}

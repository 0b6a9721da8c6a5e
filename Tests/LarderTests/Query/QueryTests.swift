import Larder
import PostgresSupport
import Testing

/// A country, which queries join with places.
struct Nation: Record, Equatable {
  var code: String
  var name: String
  var capital: String?

  struct Columns: Sendable {
    let code = Column("code", \Nation.code, .primaryKey)
    let name = Column("name", \Nation.name)
    let capital = Column("capital", \Nation.capital)
  }
  static let columns = Columns()
  static let table = Table("country", Nation.init, columns.code, columns.name, columns.capital)
}

/// A place in a country, with columns of all kinds.
struct Place: Record, Equatable {
  enum Level: String, DatabaseValueConvertible { case province, city, district }

  var id: Int64?
  var name: String
  var population: Int
  var country: String
  var level: Level
  var elevation: Double?

  struct Columns: Sendable {
    let id = Column("id", \Place.id, .primaryKey)
    let name = Column("name", \Place.name)
    let population = Column("population", \Place.population)
    let country = Column("country", \Place.country)
    let level = Column("level", \Place.level)
    let elevation = Column("elevation", \Place.elevation)
  }
  static let columns = Columns()
  static let table = Table(
    "place", Place.init, columns.id, columns.name, columns.population, columns.country,
    columns.level, columns.elevation)
}

@Suite("Queries")
struct QueryTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, capital TEXT);
      CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
        country TEXT NOT NULL, level TEXT NOT NULL, elevation REAL);
      INSERT INTO country VALUES ('CN', 'China', '北京市'), ('NO', 'Norway', 'Oslo'),
        ('AQ', 'Antarctica', NULL);
      INSERT INTO place VALUES (1, '北京市', 21893095, 'CN', 'city', 43.5),
        (2, '上海市', 24870895, 'CN', 'city', 4), (3, 'Oslo', 709037, 'NO', 'city', 23),
        (4, '北戴河区', 120000, 'CN', 'district', NULL);
      """)
  }

  @Test("A filtered, ordered and limited query has its rows in order")
  func filterAndOrder() throws {
    let query = Place.filter { $0.population > 500_000 && $0.level == .city }
      .order { [$0.country.asc, $0.population.desc] }
      .limit(2)
    #expect(
      query.snapshot == """
        SELECT "place"."id", "place"."name", "place"."population", "place"."country", \
        "place"."level", "place"."elevation" FROM "place" \
        WHERE "place"."population" > ? AND "place"."level" = ? \
        ORDER BY "place"."country", "place"."population" DESC LIMIT ?
        """)
    #expect(query.sql.arguments == [500_000, "city", 2])
    #expect(try query.fetchAll(db).map(\.name) == ["上海市", "北京市"])
    #expect(try query.fetchOne(db)?.id == 2)
    #expect(try query.fetchCount(db) == 2)
    #expect(try query.exists(db))
  }

  @Test("Comparing with nil finds NULL, and NULL differs from every value")
  func nilEquality() throws {
    #expect(try Place.filter { $0.elevation == nil }.fetchAll(db).map(\.id) == [4])
    #expect(try Place.filter { $0.elevation != 43.5 }.fetchCount(db) == 3)
    #expect(try Place.filter { $0.elevation > 10 }.fetchCount(db) == 2)
  }

  @Test("hasPrefix, hasSuffix and contains take % literally, and `like` as a wildcard")
  func texts() throws {
    #expect(try Place.filter { $0.name.hasPrefix("北") }.fetchCount(db) == 2)
    #expect(try Place.filter { $0.name.hasSuffix("市") }.fetchCount(db) == 2)
    #expect(try Place.filter { $0.name.contains("%") }.fetchCount(db) == 0)
    #expect(try Place.filter { $0.name.like("%北%") }.fetchCount(db) == 2)
  }

  @Test("An inner join gives pairs, and a left join an Optional second record")
  func joins() throws {
    let pairs = try Place.all.join(Nation.self) { $0.country == $1.code && $0.name == $1.capital }
      .order { place, _ in place.id }
      .fetchAll(db)
    #expect(pairs.map { "\($0.0.name) \($0.1.name)" } == ["北京市 China", "Oslo Norway"])
    let countries = try Nation.all.leftJoin(Place.self) { $0.capital == $1.name }
      .order { $0.0.code }
      .fetchAll(db)
    #expect(countries.map(\.1?.name) == [nil, "北京市", "Oslo"])
    let names = try Nation.all.leftJoin(Place.self) { $0.capital == $1.name }
      .select { ($0.code, $1.population) }.fetchAll(db)
    #expect(names.contains { $0.0 == "AQ" && $0.1 == nil })
  }

  @Test("Groups can be counted, summed and filtered by having")
  func groups() throws {
    let query = Place.all.group { $0.country }
      .having { _ in count() > 1 }
      .select { ($0.country, count(), $0.population.sum()) }
    #expect(
      query.snapshot == """
        SELECT "place"."country", count(*), sum("place"."population") FROM "place" \
        GROUP BY "place"."country" HAVING count(*) > ?
        """)
    let rows = try query.fetchAll(db)
    #expect(rows.count == 1)
    #expect(rows.first?.0 == "CN" && rows.first?.1 == 3 && rows.first?.2 == 46_883_990)
  }

  @Test("An update writes the assigned values and expressions, and a limited delete one row")
  func update() throws {
    let name = "Kristiania"
    let count = try Place.filter { $0.id == 3 }.update(db) {
      $0.population += 1
      $0.name = .value(name)
      $0.level = .value(.province)
      $0.elevation = .value(nil)
    }
    #expect(count == 1)
    #expect(
      try Place.find(db, 3)
        == Place(
          id: 3, name: name, population: 709_038, country: "NO", level: .province, elevation: nil))
    #expect(try Place.filter { $0.country == "CN" }.order { $0.id }.limit(1).delete(db) == 1)
    #expect(try Place.all.fetchCount(db) == 3)
  }

  @Test("An assignment in an update reads the values assigned before it")
  func assignedTwice() throws {
    let query = Place.filter { $0.id == 3 }
    try query.update(db) {
      $0.population *= 2
      $0.population -= 1
      $0.name = $0.name + "!"
      $0.name = $0.name + "?"
    }
    #expect(try Place.find(db, 3).population == 709_037 * 2 - 1)
    #expect(try Place.find(db, 3).name == "Oslo!?")
    try query.update(db) {
      $0.population = -3
      $0.elevation = 2
    }
    #expect(try Place.find(db, 3).population == -3 && Place.find(db, 3).elevation == 2)
    try query.update(db) { $0.elevation = -2.5 }
    #expect(try Place.find(db, 3).elevation == -2.5)
    #expect(try Place.filter { 3 > $0.population && true }.fetchCount(db) == 1)
    // The sum is computed before the multiplication.
    try query.update(db) {
      $0.population = 3
      $0.population += 4
      $0.population *= 5
      let name = $0.name
      $0.name = $0.country
      $0.country = name
    }
    let oslo = try Place.find(db, 3)
    #expect(oslo.population == 35 && oslo.name == "NO" && oslo.country == "Oslo!?")
  }

  @Test("In a subquery of an update, a column of the updated table refers to the outer row")
  func correlatedUpdate() throws {
    // Both tables have a column `name`.
    try Nation.all.update(db) { nation in
      nation.capital = first(of: Place.filter { $0.name == nation.name }.select { $0.name })
    }
    #expect(try Nation.filter { $0.capital != nil }.fetchCount(db) == 0)
    try Nation.aliased("n").filter { $0.code == "NO" }.update(db) { nation in
      nation.capital = first(of: Nation.filter { $0.name == nation.name }.select { $0.name })
    }
    #expect(try Nation.filter { $0.capital == "Norway" }.fetchCount(db) == 1)
  }

  @Test("A nullable column can be compared with non-null ranges and subqueries")
  func nullableOperands() throws {
    let ids = { (condition: (RecordFields<Place>) -> SQLExpression<Bool>) in
      try Place.filter(condition).order { $0.id }.fetchAll(db).map(\.id)
    }
    let known = try Place.filter { $0.elevation != nil }.fetchCount(db)
    #expect(try ids { $0.elevation.between(-500...9_000) }.count == known)
    #expect(try ids { $0.elevation.between(8_999...9_000) }.isEmpty)
    let names = Nation.all.select { $0.name }
    #expect(try Nation.filter { $0.capital.in(names) }.fetchCount(db) == 0)
    #expect(try Nation.all.update(db) { $0.capital = $0.name.cast(to: String?.self) } > 0)
    #expect(try Nation.filter { $0.capital.in(names) }.fetchCount(db) == Nation.all.fetchCount(db))
  }

  @Test("An empty list matches nothing, and a list of texts is bound as one argument")
  func lists() throws {
    #expect(try Place.filter { $0.id.in([]) }.fetchCount(db) == 0)
    let query = Place.filter { $0.country.in(["NO", "AQ", "it's \"quoted\""]) }
    #expect(query.snapshot.hasSuffix(#"IN (SELECT value FROM json_each(?))"#))
    #expect(try query.fetchAll(db).map(\.id) == [3])
    #expect(try Place.filter { $0.elevation.in([43.5, 4, 23]) }.fetchCount(db) == 3)
    let capitals = Nation.all.select { $0.capital }
    #expect(try Place.filter { $0.name.in(capitals) }.fetchCount(db) == 2)
  }

  @Test("A fourth table can be joined on the three before it")
  func fourTables() throws {
    let query = Place.all.join(Nation.self) { $0.country == $1.code }
      .join(Place.self) { $1.capital == $2.name }
      .join(Nation.self) { $3.code == $2.country && $3.name == $1.name && $0.country == $3.code }
      .order { $0.0.id }
    let selection = query.select { ($0.name, $2.name, $3.name) }
    #expect(
      selection.snapshot == """
        SELECT "place"."name", "place_2"."name", "country_2"."name" FROM "place" \
        JOIN "country" ON "place"."country" = "country"."code" \
        JOIN "place" AS "place_2" ON "country"."capital" IS "place_2"."name" \
        JOIN "country" AS "country_2" ON "country_2"."code" = "place_2"."country" \
        AND "country_2"."name" = "country"."name" AND "place"."country" = "country_2"."code" \
        ORDER BY "place"."id"
        """)
    #expect(
      try selection.fetchAll(db).map { [$0.0, $0.1, $0.2] } == [
        ["北京市", "北京市", "China"], ["上海市", "北京市", "China"], ["Oslo", "Oslo", "Norway"],
        ["北戴河区", "北京市", "China"],
      ])
    #expect(try query.fetchAll(db).count == 4)
  }

  @Test("An expression can be subtracted from a column in an update")
  func subtraction() throws {
    try Place.all.update(db) { $0.population -= $0.name.length * 10 }
    #expect(
      try Place.order { $0.id }.fetchAll(db).map(\.population)
        == [21_893_065, 24_870_865, 708_997, 119_960])
  }
}

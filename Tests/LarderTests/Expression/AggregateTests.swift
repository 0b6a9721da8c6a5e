import Larder
import Testing

@Suite("Aggregates and windows")
struct AggregateTests {
  let db: Database

  init() throws { db = try .world() }

  @Test("An aggregate takes a filter, and counts or sums distinct values only")
  func filterAndDistinct() throws {
    let query = Place.all.select {
      (
        count().filter(where: $0.population > 1_000_000), $0.country.count(distinct: true),
        $0.population.sum(distinct: true), $0.elevation.sum(),
        $0.elevation.average(distinct: true).filter(where: $0.country == "CN")
      )
    }
    #expect(
      query.snapshot == """
        SELECT count(*) FILTER (WHERE "place"."population" > ?), \
        count(DISTINCT "place"."country"), sum(DISTINCT "place"."population"), \
        sum("place"."elevation"), \
        avg(DISTINCT "place"."elevation") FILTER (WHERE "place"."country" = ?) FROM "place"
        """)
    let row = try #require(try query.fetchOne(db))
    #expect(row.0 == 2 && row.1 == 2 && row.2 == 47_593_027 && row.3 == 70.5 && row.4 == 23.75)
  }

  @Test("min and max of a nullable column are Optional, not doubly Optional")
  func extremes() throws {
    let elevations: [(Double?, Double?)] = try Place.all
      .select { ($0.elevation.min(), $0.elevation.max()) }.fetchAll(db)
    #expect(elevations.first?.0 == 4 && elevations.first?.1 == 43.5)
  }

  @Test("groupConcat joins the values of a column into one text")
  func groupConcat() throws {
    let query = Nation.select { $0.code.groupConcat(separator: " | ") }
    #expect(query.snapshot.hasPrefix(#"SELECT group_concat("country"."code", ?) FROM"#))
    let codes = try #require(try query.fetchAll(db).first ?? nil)
    #expect(codes.split(separator: " | ").sorted() == ["AQ", "CN", "NO"])
  }

  @Test("A filter on an expression of several aggregates throws")
  func misplacedFilter() throws {
    #expect(throws: DatabaseError.self) {
      try Place.all.select { ($0.population.sum().coalesce(0) + count()).filter(where: $0.id == 1) }
        .fetchAll(db)
    }
  }

  @Test("rank, rowNumber, lag and lead are computed over windows")
  func windows() throws {
    let query = Place.order { $0.id }.select {
      (
        rank().over(partitionBy: $0.country, orderBy: $0.population.desc),
        rowNumber().over(orderBy: $0.country.asc, $0.population.desc),
        $0.name.lag().over(orderBy: $0.id.asc),
        $0.elevation.lead(2).over(orderBy: $0.id.asc)
      )
    }
    #expect(
      query.snapshot == """
        SELECT rank() OVER (PARTITION BY "place"."country" ORDER BY "place"."population" DESC), \
        row_number() OVER (ORDER BY "place"."country", "place"."population" DESC), \
        lag("place"."name", ?) OVER (ORDER BY "place"."id"), \
        lead("place"."elevation", ?) OVER (ORDER BY "place"."id") \
        FROM "place" ORDER BY "place"."id"
        """)
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [2, 1, 1, 3])
    #expect(rows.map(\.1) == [2, 1, 4, 3])
    #expect(rows.map(\.2) == [nil, "北京市", "上海市", "Oslo"])
    let later: [Double?] = rows.map(\.3)
    #expect(later == [23, nil, nil, nil])
  }

  @Test("A window's frame limits which rows an aggregate sees")
  func frames() throws {
    let query = Place.order { $0.id }.select {
      (
        $0.population.sum().over(orderBy: $0.id.asc),
        $0.id.count().over(orderBy: $0.id.asc, rows: -1...1),
        count().over(rows: .min ... .max), denseRank().over(orderBy: $0.country.asc)
      )
    }
    #expect(query.snapshot.contains("ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"))
    #expect(
      query.snapshot.contains(
        "count(*) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"))
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0) == [21_893_095, 46_763_990, 47_473_027, 47_593_027])
    #expect(rows.map(\.1) == [2, 3, 3, 2])
    #expect(rows.map(\.2) == [4, 4, 4, 4] && rows.map(\.3) == [1, 1, 2, 1])
  }

  @Test(
    "Over no rows, min of a non-null column is nil and total is 0")
  func noRows() throws {
    let query = Place.all.select { ($0.population.min(), $0.population.total()) }
    #expect(
      query.snapshot
        == #"SELECT min("place"."population"), total("place"."population") FROM "place""#)
    let row = try #require(try query.fetchOne(db))
    #expect(row.0 == 120_000 && row.1 == 47_593_027)
    let none = try #require(
      try Place.filter { $0.id > 9 }.select { ($0.population.min(), $0.population.total()) }
        .fetchOne(db))
    #expect(none.0 == nil && none.1 == 0)
  }

  @Test(
    "lag and lead are Optional, and not doubly Optional for a nullable column")
  func neighbours() throws {
    let rows: [(Double?, String?)] = try Place.order { $0.id }.select {
      ($0.elevation.lag().over(orderBy: $0.id.asc), $0.name.lead().over(orderBy: $0.id.asc))
    }.fetchAll(db)
    #expect(rows.map(\.0) == [nil, 43.5, 4, 23])
    #expect(rows.map(\.1) == ["上海市", "Oslo", "北戴河区", nil])
  }
}

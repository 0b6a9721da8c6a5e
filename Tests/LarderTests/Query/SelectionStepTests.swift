import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Steps after a selection")
struct SelectionStepTests {
  private struct Total: Equatable {
    var country: String
    var population: Int?
  }

  private let db: Database

  init() throws { db = try .world() }

  private func run<Row>(_ selection: Selection<Row>) throws -> [Row] {
    _ = selection.snapshot
    return try selection.fetchAll(db)
  }

  @Test("Rows can be grouped by several expressions")
  func groups() throws {
    let query = Place.all.group { ($0.country, $0.level) }.select {
      ($0.country, $0.level, count())
    }.order { $2.desc }.order { country, _, _ in country }
    #expect(query.snapshot.contains(#" GROUP BY "place"."country", "place"."level" ORDER BY "#))
    #expect(try run(query).map { "\($0)\($1)\($2)" } == ["CNcity2", "CNdistrict1", "NOcity1"])
  }

  @Test("A selection can be grouped, filtered by having, and ordered by its own expressions")
  func terms() throws {
    let query = Place.all.select { ($0.country, count()) }.group { country, _ in country }
      .having { $1 > 1 }.order { $1.desc }
    #expect(
      query.snapshot == """
        SELECT "place"."country", count(*) FROM "place" GROUP BY "place"."country" \
        HAVING count(*) > ? ORDER BY count(*) DESC
        """)
    #expect(try run(query).map { "\($0)\($1)" } == ["CN3"])
    #expect(try run(Place.select { $0.name }.order { $0.desc }.limit(1)) == ["北戴河区"])
  }

  @Test("A condition of groups after a selection needs no parameter, like that of a query")
  func groupCondition() throws {
    let query = Place.select { ($0.country, count()) }.group { country, _ in country }
      .having { count() > 1 }
    #expect(
      query.snapshot == """
        SELECT "place"."country", count(*) FROM "place" GROUP BY "place"."country" \
        HAVING count(*) > ?
        """)
    #expect(try run(query).map { "\($0)\($1)" } == ["CN3"])
  }

  @Test("A filter after a selection applies to its rows, also of windows, groups and limits")
  func filter() throws {
    let largest = Place.all.select {
      ($0.name, rowNumber().over(partitionBy: $0.country, orderBy: $0.population.desc))
    }.order { $1 }.order { name, _ in name.desc }.filter { $1 <= 1 }
    #expect(
      largest.snapshot.hasPrefix(
        #"SELECT "selection"."c1", "selection"."c2" FROM (SELECT "place"."#))
    #expect(try run(largest).map(\.0) == ["上海市", "Oslo"])
    let groups = Place.all.group { $0.country }.select { ($0.country, $0.population.sum()) }
      .filter { $1 < 1_000_000 }
    #expect(try run(groups).map(\.0) == ["NO"])
    let limited = Place.order { $0.id }.limit(2).select { $0.id }.filter { $0 > 1 }
    #expect(try run(limited) == [2])
    let kept = Place.select { $0.name }.order { $0.desc }.filter { $0 != "Oslo" }
    #expect(try run(kept) == ["北戴河区", "北京市", "上海市"])
    #expect(throws: DatabaseError.self) {
      try Place.select { $0.level }.distinct().order { $0 }.filter { $0 == .city }.fetchAll(db)
    }
    #expect(try run(Place.select { $0.level }.distinct().filter { $0 == .city }) == [.city])
  }

  @Test("A filter after a selection in a subquery keeps the aliases apart")
  func filterInside() throws {
    let query = Nation.filter { nation in
      nation.name.in(
        Nation.select { ($0.name) }.filter { $0 == nation.name }.filter { $0 != "Norway" })
    }.order { $0.code }
    #expect(try query.fetchAll(db).map(\.code) == ["AQ", "CN"])
  }

  @Test("select with a function maps rows to values of another type")
  func values() throws {
    let query = Place.order { $0.country }.group { $0.country }
      .select(Total.init) { ($0.country, $0.population.sum()) }
    let totals = [
      Total(country: "CN", population: 46_883_990), Total(country: "NO", population: 709_037),
    ]
    #expect(query.limit(2).snapshot().contains(#" GROUP BY "place"."country" ORDER BY "#))
    #expect(try query.limit(2).fetchAll(db) == totals)
    #expect(try query.fetchOne(db) == totals[0])
    #expect(try query.fetchCount(db) == 2)
    var last: Total?
    try query.forEach(db) { last = $0 }
    #expect(last == totals[1])
    let pairs = Place.order { $0.id }.select({ ($1, $0) }) { ($0.country, $0.level) }
    if TestEngine.isPostgres {
      // PostgreSQL requires that the ORDER BY expressions of SELECT DISTINCT are selected.
      #expect(throws: DatabaseError.self) { try pairs.distinct().fetchAll(db) }
    } else {
      #expect(try pairs.distinct().fetchAll(db).map(\.1) == ["CN", "NO", "CN"])
    }
    #expect(try Place.select({ -$0 }) { $0.population }.fetchAll(db).max() == -120_000)
  }

  @Test("Windows have ntile, first, last and nth value, and frames of rows, groups and ranges")
  func windows() throws {
    let query = Place.all.order { $0.id }.select {
      (
        ntile(2).over(orderBy: $0.id.asc),
        $0.name.firstValue().over(orderBy: $0.id.asc),
        $0.name.lastValue().over(orderBy: $0.id.asc, rows: .min ... .max),
        $0.elevation.nthValue(2).over(orderBy: $0.id.asc),
        count().over(orderBy: $0.country.asc, groups: -1...0),
        $0.population.sum().over(orderBy: $0.id.asc, range: -1...1)
      )
    }
    let rows = try run(query)
    #expect(rows.map(\.0) == [1, 1, 2, 2])
    #expect(rows.map(\.1) == Array(repeating: "北京市", count: 4))
    #expect(rows.map(\.2) == Array(repeating: "北戴河区", count: 4))
    #expect(rows.map(\.3) == [nil, 4, 4, 4])
    #expect(rows.map(\.4) == [3, 3, 4, 3])
    #expect(rows.map(\.5) == [46_763_990, 47_473_027, 25_699_932, 829_037])
  }

  @Test("A raw SQL call takes a window and a filter, and other raw SQL throws")
  func rawCalls() throws {
    let parts = Place.order { $0.id }.select { place in
      SQLExpression<Int>(sql: "ntile(4)").over(orderBy: place.id.asc)
    }
    #expect(try run(parts) == [1, 2, 3, 4])
    let large = Place.select {
      SQLExpression<Int>(sql: "count( /* all */ \($0.id.sql))").filter(
        where: $0.population > 1_000_000)
    }
    #expect(try run(large) == [2])
    for sql: SQL in ["1 + count(*)", "count(*) + 1", "(count(*))", "count(*) || max(id)"] {
      #expect(throws: DatabaseError.self, "\(sql)") {
        try Place.select { _ in SQLExpression<Int>(sql: sql).over() }.fetchAll(db)
      }
    }
  }

  @Test("`real` and `integer` convert numbers so that different types can be combined")
  func conversions() throws {
    let query = Place.filter { $0.id == 3 }.select {
      (
        $0.population.real * 0.5, $0.elevation.integer, $0.elevation + $0.population.real,
        $0.population.integer + 1
      )
    }
    let row = try #require(try run(query).first)
    #expect(row.0 == 354_518.5)
    #expect(row.1 == 23)
    #expect(row.2 == 709_060)
    #expect(row.3 == 709_038)
  }

  @Test(
    "Comparing with nil is written IS NULL, with which SQLite uses a partial index",
    .onlySQLite(.catalog)
  )
  func partialIndex() throws {
    try db.executeUpdate("CREATE INDEX high ON place (elevation) WHERE elevation IS NOT NULL")
    let missing: Double? = nil
    let query = Place.filter { $0.elevation != missing && $0.elevation > 5 }
    #expect(query.snapshot.contains(#""place"."elevation" IS NOT NULL AND"#))
    #expect(try query.explain(db).description.contains("high"))
    #expect(try Place.filter { $0.elevation == nil }.fetchAll(db).map(\.id) == [4])
    #expect(Place.filter { $0.elevation == missing }.snapshot.hasSuffix(#""elevation" IS NULL"#))
    #expect(Place.filter { $0.elevation == 4 }.snapshot.hasSuffix(#""elevation" IS ?"#))
  }

  @Test("Columns and tables are interpolated into SQL under their quoted names")
  func columnsInSQL() throws {
    let sql: SQL =
      "SELECT \(Place.columns.name) FROM \(Place.table) WHERE \(Place.columns.id) = \(3)"
    #expect(sql.text == #"SELECT "place"."name" FROM "place" WHERE "place"."id" = ?"#)
    #expect(try db.value(sql, as: String.self) == "Oslo")
  }

  @Test("A rebuild takes expressions for columns by their key paths", .onlySQLite(.catalog))
  func rebuild() throws {
    try db.executeUpdate("ALTER TABLE place RENAME COLUMN population TO inhabitants")
    try Place.table.rebuild(db, copying: [\.population: "inhabitants + 1"])
    #expect(try Place.find(db, 3).population == 709_038)
  }

  @Test("`updated` and `deleted` can return selected expressions of their rows")
  func returning() throws {
    let changed = try Place.filter { $0.country == "CN" }.updated(
      db, returning: { ($0.id, $0.population, $0.name + "!") }
    ) { $0.population += 1 }
    #expect(
      changed.sorted { $0.0 ?? 0 < $1.0 ?? 0 }.map { "\($0.0 ?? 0) \($0.1) \($0.2 as String)" }
        == ["1 21893096 北京市!", "2 24870896 上海市!", "4 120001 北戴河区!"])
    #expect(
      try Place.filter { $0.id == 3 }.updated(db, returning: { $0.name }) { $0.name += "2" } == [
        "Oslo2"
      ])
    #expect(
      try Place.filter { $0.id == 3 }.deleted(db, returning: { ($0.name, $0.level) }).map(\.0) == [
        "Oslo2"
      ])
    #expect(try Place.filter { $0.id == 4 }.deleted(db, returning: { $0.population }) == [120_001])
    #expect(try Place.all.fetchCount(db) == 2)
  }

  @Test("HAVING takes a condition without columns, and windows are ordered by bare expressions")
  func withoutColumns() throws {
    let counts = Place.all.group { $0.country }.having { count() > 1 }.select {
      ($0.country, count())
    }
    #expect(try run(counts).map { "\($0)\($1)" } == ["CN3"])
    let numbers = Place.all.select { ($0.name, rowNumber().over(orderBy: $0.level, $0.id.desc)) }
      .order { $1 }
    #expect(numbers.snapshot.contains(#"OVER (ORDER BY "place"."level", "place"."id" DESC)"#))
    #expect(try run(numbers).map(\.1) == [1, 2, 3, 4])
  }

  @Test("Swift's if and switch choose conditions, orders and groups while the query is made")
  func choices() throws {
    func names(_ byName: Bool) throws -> [String] {
      try Place.filter { if byName { $0.level == .city } else { $0.population > 1_000_000 } }
        .order { if byName { ($0.country.desc, $0.name) } else { $0.population } }
        .fetchAll(db).map(\.name)
    }
    #expect(try names(true) == ["Oslo", "上海市", "北京市"])
    #expect(try names(false) == ["北京市", "上海市"])
    for number in 0..<2 {
      let groups = Place.all.group {
        switch number {
        case 0: $0.country
        default: ($0.country, $0.level)
        }
      }
      #expect(try groups.select { _ in count() }.fetchAll(db).count == number + 2)
    }
  }

  @Test("An array of terms orders rows, and an empty one doesn't")
  func arrays() throws {
    #expect(try Place.order { _ in [] }.fetchAll(db).count == 4)
    #expect(!Place.order { _ in [OrderingTerm]() }.sql.text.contains("ORDER BY"))
    let terms = Place.order { place in
      var terms = [place.country.desc]
      terms.append(place.id.desc)
      return terms
    }
    #expect(try terms.fetchAll(db).map(\.id) == [3, 4, 2, 1])
  }
}

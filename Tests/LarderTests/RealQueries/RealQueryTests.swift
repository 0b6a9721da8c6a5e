import Larder
import Testing

/// The expected answers were computed from the same files with Python's csv module, dictionaries
/// and sorted(), without any SQL.
@Suite("Queries of real data")
struct RealQueryTests {
  let queue: DatabaseQueue

  init() throws { queue = try RealWorld.queue.get() }

  /// max(int(c["population"])) by c["country_code"]
  @Test("The largest city of each country is found by grouping, by a window and by a subquery")
  func largestCities() throws {
    try queue.read { db in
      let largest = try RealCity.all.group { $0.country }
        .select { ($0.country, $0.population.max()) }.fetchAll(db)
      #expect(largest.count == 244)
      #expect(largest.reduce(0) { $0 + ($1.1 ?? 0) } == 494_071_496)

      let ranks = CommonTable(
        "ranked",
        RealCity.select {
          (
            $0.id,
            rowNumber().over(
              partitionBy: $0.country, orderBy: $0.population.desc, $0.id.asc)
          )
        })
      let ranked = try RealCity.all.join(common: ranks) { $0.id == $1.columns.0 }
        .filter { $1.columns.1 == 1 }.fetchAll(db)
      let populations = Dictionary(
        ranked.map { ($0.0.country, $0.0.population) }, uniquingKeysWith: max)
      #expect(ranked.count == 244 && populations.values.reduce(0, +) == 494_071_496)
      #expect(populations["CN"] == 24_874_500 && populations["NO"] == 1_082_575)
      #expect(populations["IN"] == 12_691_836 && populations["US"] == 8_804_190)
      #expect(populations["VA"] == 829 && populations["NA"] == 386_219)

      let byCountry = try RealCountry.order { $0.code }.select { country in
        let cities = RealCity.filter { $0.country == country.code }
        return (country.code, first(of: cities.select { $0.population.max() }).coalesce(0))
      }.fetchAll(db)
      #expect(byCountry.count == 252 && byCountry.map(\.1).reduce(0, +) == 494_071_496)
    }
  }

  /// set(iso) - {c["country_code"] for c in cities if int(c["population"]) > 1000000}
  @Test("Five queries find the countries without a city of more than a million")
  func countriesWithoutLargeCities() throws {
    try queue.read { db in
      let large = RealCity.filter { $0.population > 1_000_000 }
      let exists = RealCountry.filter { country in
        !large.filter { $0.country == country.code }.exists
      }
      #expect(try exists.fetchCount(db) == 147)
      let list = RealCountry.filter { !$0.code.in(large.select { $0.country }) }
      #expect(try list.fetchCount(db) == 147)
      let joined = RealCountry.leftJoin(RealCity.self) {
        $0.code == $1.country && $1.population > 1_000_000
      }.filter { $1.id == nil }
      #expect(try joined.fetchCount(db) == 147)
      let except = RealCountry.select { $0.code }.except(large.select { $0.country })
      #expect(try except.fetchCount(db) == 147)
      let counted = RealCountry.leftJoin(RealCity.self) { $0.code == $1.country }
        .group { $0.0.code }
        .having { count().filter(where: $1.population > 1_000_000) == 0 }
        .select { country, city in (country.code, city.id.count()) }
      let rows = try counted.fetchAll(db)
      #expect(rows.count == 147 && rows.filter { $0.1 > 0 }.count == 139)
      #expect(
        rows.filter { $0.1 == 0 }.map(\.0).sorted()
          == ["AN", "AQ", "BV", "CS", "HM", "IO", "TK", "UM"])
    }
  }

  /// sum(int(c["population"])) by the continent of c["country_code"]
  @Test("The urban population by continent, and the cities above their country's mean, are found")
  func totals() throws {
    try queue.read { db in
      let totals = try RealCity.join(RealCountry.self) { $0.country == $1.code }
        .group { $1.continent }.select { ($1.continent, $0.population.sum()) }.fetchAll(db)
      #expect(
        Dictionary(totals.map { ($0.0, $0.1) }, uniquingKeysWith: { $1 }) == [
          "AS": 2_106_995_659, "EU": 528_904_869, "AF": 513_956_368, "AN": 47, "OC": 37_155_453,
          "NA": 396_601_702, "SA": 348_568_606,
        ])
      let means = CommonTable(
        "mean",
        RealCity.all.group { $0.country }.select { ($0.country, $0.population.average()) })
      let above = RealCity.all.join(common: means) { city, mean in
        city.country == mean.columns.0
          && city.population.cast(to: Double.self) > mean.columns.1.coalesce(0)
      }
      #expect(try above.fetchCount(db) == 6_489)
    }
  }

  /// A code ending in 0000 has no parent, one ending in 00 the code with four zeros, any other the
  /// code with two.
  @Test("Recursive queries find the depths, paths and descendants of China's divisions")
  func divisions() throws {
    try queue.read { db in
      let tree = CommonTable(
        recursive: "tree",
        RealDivision.filter { $0.parent == nil }.select { ($0.code, .value(0)) }
      ) { tree in
        RealDivision.all.join(common: tree) { $0.parent == $1.columns.0 }.select {
          ($0.code, $1.columns.1 + 1)
        }
      }
      let depths = try tree.all.group { $0.columns.1 }.order { $0.columns.1 }
        .select { ($0.columns.1, count()) }.fetchAll(db)
      #expect(depths.map(\.0) == [0, 1, 2] && depths.map(\.1) == [34, 344, 3_133])

      #expect(try path(to: 440_305, db) == ["广东省", "深圳市", "南山区"])
      #expect(try path(to: 110_101, db) == ["北京市", "市辖区", "东城区"])
      #expect(try path(to: 659_001, db) == ["新疆维吾尔自治区", "自治区直辖县级行政区划", "石河子市"])
      #expect(try path(to: 999_999, db).isEmpty)
      #expect(try below(440_000, db).map(\.1) == [21, 138])
      #expect(try below(110_000, db).map(\.1) == [1, 16])
      #expect(try below(440_300, db).map(\.1) == [7])
      #expect(try below(820_000, db).isEmpty)
    }
  }

  private func path(to code: Int, _ db: Database) throws -> [String] {
    let path = CommonTable(
      recursive: "path",
      RealDivision.filter { $0.code == code }.select { ($0.name, $0.parent, .value(0)) }
    ) { path in
      RealDivision.all.join(common: path) { $0.code == $1.columns.1 }.select {
        ($0.name, $0.parent, $1.columns.2 + 1)
      }
    }
    let query = path.all.order { $0.columns.2.desc }
    return try query.fetchAll(db).map(\.columns.0)
  }

  private func below(_ code: Int, _ db: Database) throws -> [(Int, Int)] {
    let tree = CommonTable(
      recursive: "below",
      RealDivision.filter { $0.parent == code }.select { ($0.code, .value(1)) }
    ) { below in
      RealDivision.all.join(common: below) { $0.parent == $1.columns.0 }.select {
        ($0.code, $1.columns.1 + 1)
      }
    }
    return try tree.all.group { $0.columns.1 }.order { $0.columns.1 }
      .select { ($0.columns.1, count()) }.fetchAll(db)
  }

  /// sorted(cities, key=lambda c: (-int(c["population"]), c["name"].encode(), int(c["geoname_id"])));
  /// the sum is h = (h * 31 + id) % 1000000007 over the ids in this order.
  @Test("Pages of all cities have the same rows as one fetch, although many populations are equal")
  func pages() throws {
    try queue.read { db in
      let query = RealCity.order { [$0.population.desc, $0.name.asc] }
      var paged: [RealCity] = []
      var cursor: String?
      repeat {
        let page = try query.page(db, after: cursor, limit: 1_000)
        paged += page.rows
        cursor = page.next
      } while cursor != nil
      let once = try query.order { $0.id }.fetchAll(db)
      #expect(paged == once)
      #expect(paged.count == 34_006)
      #expect(paged.reduce(0) { ($0 * 31 + $1.id) % 1_000_000_007 } == 767_073_504)
      #expect(
        [0, 999, 1_000, 34_005].map { paged[$0].name }
          == ["Shanghai", "Tlalpan", "Herāt", "Thomas Magena home"])
    }
  }

  /// sum(1 for c in cities if "'" in c["name"]), with c["country_code"] and languages split at commas
  @Test(
    "Text conditions find quotes, codes that look like keywords, and items of a list"
  )
  func texts() throws {
    try queue.read { (db: Database) throws -> Void in
      #expect(try RealCity.filter { $0.name.contains("'") }.fetchCount(db) == 114)
      // Some CSV readers take Namibia's code “NA” for a missing value.
      #expect(try RealCity.filter { $0.country == "IN" }.fetchCount(db) == 3_779)
      let french = RealCountry.filter {
        ("," + $0.languages.coalesce("")).like("%,fr,%")
          || ("," + $0.languages.coalesce("") + ",").glob("*,fr[,-]*")
      }
      #expect(try french.fetchCount(db) == 61)
      #expect(try RealCity.filter { $0.region == nil }.fetchCount(db) == 25)
      #expect(try RealCountry.filter { $0.neighbours == nil }.fetchCount(db) == 87)
    }
  }
}

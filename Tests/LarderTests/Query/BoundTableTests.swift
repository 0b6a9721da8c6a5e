import FoundationEssentials
import Larder
import LarderVirtualTables
import PostgresSupport
import Testing

@Suite("Bound rows and table functions")
struct BoundTableTests {
  private let db: Database

  init() throws { db = try City.norway() }

  // MARK: Bound rows

  @Test("Tuples in memory can be joined as a table")
  func tuples() throws {
    let wanted = CommonTable(rows: [("Oslo", 700_000), ("Bergen", 300_000), ("Lagos", 0)])
    let query = City.all.join(common: wanted) {
      $0.name == $1.columns.0 && $0.population > $1.columns.1
    }
    if !TestEngine.isPostgres {
      #expect(
        query.sql.text.hasSuffix(
          """
          FROM "city" JOIN (SELECT c1 AS "c1", c2 AS "c2" FROM larder_table(?)) AS "rows" \
          ON "city"."name" IS "rows"."c1" AND "city"."population" > "rows"."c2"
          """), "\(query.sql.text)")
    }
    let rows = try query.fetchAll(db)
    #expect(rows.map(\.0.name) == ["Oslo"])
    #expect(rows.map { $0.1.columns.0 } == ["Oslo"])
    #expect(rows.map { $0.1.columns.1 } == [700_000])
  }

  @Test("Values in memory are a table of one column, also without any values")
  func values() throws {
    let ids = CommonTable<Int64>("wanted", rows: [3, 1, 9])
    let names = try City.all.join(common: ids) { $0.id == $1.columns }
      .order { $0.0.id }.select { city, _ in city.name }.fetchAll(db)
    #expect(names == ["Oslo", "Trondheim"])
    let missing = try ids.all.leftJoin(City.self) { $0.columns == $1.id }
      .filter { $1.name == nil }.select { id, _ in id.columns }.fetchAll(db)
    #expect(missing == [9])
    #expect(try ids.all.fetchCount(db) == 3)
    #expect(try CommonTable<Int64>(rows: []).all.fetchCount(db) == 0)
  }

  @Test("Columns of bound rows in a left join are nil where there is no match")
  func leftJoin() throws {
    let notes = CommonTable(rows: [(Int64(1), "capital"), (2, "rain")])
    let all = try City.all.leftJoin(common: notes) { $0.id == $1.columns.0 }
      .order { $0.0.id }.select { city, note in (city.name, note.columns.1) }.fetchAll(db)
    #expect(all.map(\.0) == ["Oslo", "Bergen", "Trondheim"])
    #expect(all.map(\.1) == ["capital", "rain", nil])
  }

  @Test(
    "Bound rows return a UUID, Date, Decimal, Float, Bool, nil and bytes unchanged",
    .onlySQLite(.anyTyped)
  )
  func types() throws {
    let price = Decimal(125) / 10
    let (id, date) = (UUID(), Date(timeIntervalSince1970: 1_700_000_000))
    let table = CommonTable(
      rows: [
        (id, date, Decimal(string: "12.50") ?? 0, Float(0.1), true, String?.none, [UInt8]([0, 1]))
      ])
    let row = try #require(try table.all.fetchOne(db)).columns
    #expect(row.0 == id && row.1 == date && row.2 == Decimal(string: "12.5") && row.3 == 0.1)
    #expect(row.4 && row.5 == nil && row.6 == [0, 1])
    #expect(
      try table.all.filter { $0.columns.2 == price && $0.columns.3 == Float(0.1) }.fetchCount(db)
        == 1)
    #expect(try table.all.filter { $0.columns.1 == date }.fetchCount(db) == 1)
  }

  @Test("Records in memory can be joined as their table", .onlySQLite(.functions))
  func records() throws {
    let measured = [
      City(id: nil, name: "Oslo", population: 720_000),
      City(id: nil, name: "Bergen", population: 291_940),
      City(id: nil, name: "Bodø", population: 1),
    ]
    let query = City.all.join(common: BoundTable(measured)) {
      $0.name == $1.name && $0.population != $1.population
    }
    #expect(
      query.sql.text.hasSuffix(
        """
        FROM "city" JOIN (SELECT c1 AS "id", c2 AS "name", c3 AS "population" FROM larder_table(?)) \
        AS "city_2" ON "city"."name" = "city_2"."name" AND "city"."population" <> "city_2"."population"
        """), "\(query.sql.text)")
    let changes = try query.fetchAll(db)
    #expect(changes.map(\.0.id) == [1])
    #expect(changes.map(\.1) == [measured[0]])
    let new = try BoundTable(measured).all.leftJoin(City.self) { $0.name == $1.name }
      .filter { $1.id == nil }.fetchAll(db)
    #expect(new.map(\.0.name) == ["Bodø"])
    #expect(try BoundTable([City]()).all.fetchAll(db) == [])
    #expect(try BoundTable(measured).all.order { $0.population }.fetchOne(db)?.name == "Bodø")
    let missing = try City.all.leftJoin(common: BoundTable(measured)) { $0.name == $1.name }
      .filter { $1.name == nil }.fetchAll(db)
    #expect(missing.map(\.0.name) == ["Trondheim"])
  }

  @Test(
    "PostgreSQL throws UnsupportedByEngine for records in memory and table functions",
    .enabled(if: TestEngine.isPostgres)
  )
  func unsupported() throws {
    #expect(throws: UnsupportedByEngine.self) {
      try BoundTable([City(id: 1, name: "Oslo", population: 1)]).all.fetchAll(db)
    }
    #expect(throws: UnsupportedByEngine.self) {
      try TableFunction("one") { [1] }().all.fetchAll(db)
    }
    #expect(throws: UnsupportedByEngine.self) {
      try db.value("SELECT count(*) FROM \(table: [1])", as: Int.self)
    }
  }

  @Test(
    "One compiled statement serves any number of bound rows", .onlySQLite(.limits)
  )
  func cached() throws {
    func count(_ number: Int) throws -> Int {
      try City.all.join(common: CommonTable<Int64>(rows: (0..<number).map { Int64($0) })) {
        $0.id == $1.columns
      }.fetchCount(db)
    }
    #expect(try count(1) == 0)
    let misses = db.statementCacheStatistics.misses
    for number in 2..<20 { #expect(try count(number) == min(3, number - 1)) }
    #expect(db.statementCacheStatistics.misses == misses)
  }

  @Test(
    "Binding NaN in a table of rows throws",
    .onlySQLite(.anyTyped))
  func wrong() throws {
    let error = #expect(throws: DatabaseError.self) {
      try CommonTable<Double>(rows: [.nan]).all.fetchAll(db)
    }
    #expect(error?.message.contains("NaN") == true)
  }

  // MARK: Lists

  @Test(
    "A list of more than 1,000 values is bound as one table, and gives the same rows",
    arguments: [1_000, 1_001, 100_000]
  )
  func longLists(count: Int) throws {
    let ids = (0..<Int64(count)).map { $0 * 2 + 1 }
    #expect(try City.filter { $0.id.in(ids) }.order { $0.id }.fetchAll(db).map(\.id) == [1, 3])
    #expect(try City.filter { !$0.id.in(ids) }.fetchAll(db).map(\.id) == [2])
    let names = ids.map { "city \($0)" } + ["Oslo"]
    #expect(try City.filter { $0.name.in(names) }.fetchAll(db).map(\.id) == [1])
    let populations = ids.map { Int($0) } + [291_940]
    #expect(try City.filter { $0.population.in(populations) }.fetchAll(db).map(\.id).contains(2))
    #expect(try City.filter { $0.id.in([nil] + ids.map(Optional.some)) }.fetchCount(db) == 2)
    guard !TestEngine.isPostgres else { return }
    let isTable = City.filter { $0.id.in(ids) }.sql.text.contains("larder_table(?)")
    #expect(isTable == (count > 1_000))
  }

  // MARK: Functions

  private let series = TableFunction("series") { (from: Int64, to: Int64) in
    from <= to ? Array(from...to) : []
  }
  private let letters = TableFunction("letters", columns: "place", "letter") { (text: String) in
    text.enumerated().map { ($0.offset, String($0.element)) }
  }

  @Test(
    "A table function's rows can be joined, filtered, limited and counted",
    .onlySQLite(.functions)
  )
  func function() throws {
    try db.createFunction(series)
    let query = series(2, 5).all.leftJoin(City.self) { $0.columns == $1.id }
    #expect(
      query.sql.text.hasSuffix(
        #"FROM "series"(?, ?) AS "series" LEFT JOIN "city" ON "series"."value" IS "city"."id""#),
      "\(query.sql.text)")
    let rows = try query.order { $0.0.columns }.fetchAll(db)
    #expect(rows.map(\.0.columns) == [2, 3, 4, 5])
    #expect(rows.map(\.1?.name) == ["Bergen", "Trondheim", nil, nil])
    #expect(try series(1, 1_000_000).all.filter { $0.columns > 999_990 }.fetchCount(db) == 10)
    #expect(try series(1, 9).all.limit(2).fetchAll(db).map(\.columns) == [1, 2])
    let joined = try City.all.join(common: series(1, 2)) { $0.id == $1.columns }.fetchAll(db)
    #expect(joined.map(\.0.name) == ["Oslo", "Bergen"])
  }

  @Test(
    "join(each:) calls a table function for each row", .onlySQLite(.functions))
  func lateral() throws {
    try db.createFunction(letters)
    try db.createFunction(series)
    let query = City.join(each: { letters($0.name) }).filter { city, letter in
      letter.columns.0 == 0 || letter.columns.1 == "o"
    }
    #expect(
      query.sql.text.contains(
        #"FROM "city" JOIN "letters"("city"."name") AS "letters" ON TRUE WHERE "#),
      "\(query.sql.text)")
    let found = try query.order { city, letter in [city.id.asc, letter.columns.0.asc] }
      .select { city, letter in (city.name, letter.columns.1) }.fetchAll(db)
    #expect(
      found.map { "\($0.0) \($0.1)" } == [
        "Oslo O", "Oslo o", "Bergen B", "Trondheim T", "Trondheim o",
      ])
  }

  @Test(
    "A query that joins a table function can be filtered, ordered and selected in one expression",
    .onlySQLite(.functions)
  )
  func steps() throws {
    try db.createFunction(letters)
    let first = try City.join(each: { letters($0.name) }).filter { $1.columns.0 == 0 }
      .select { _, letter in letter.columns.1 }.fetchAll(db)
    #expect(first.sorted() == ["B", "O", "T"])
    let pairs = try City.all.join(each: { letters($0.name) }).filter { $1.columns.0 == 1 }
      .order { city, _ in city.id }.select { city, letter in (city.id, letter.columns.1) }.fetchAll(
        db)
    #expect(pairs.map(\.1) == ["s", "e", "r"])
  }

  @Test(
    "A table function that isn't registered throws “no such table”",
    .onlySQLite(.functions)
  )
  func unknown() throws {
    let error = #expect(throws: DatabaseError.self) { try series(1, 2).all.fetchAll(db) }
    #expect(error?.message == "no such table: series")
  }
}

import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite("Tables bound to a parameter")
struct BoundTableTests {
  // MARK: Rows

  @Test("A list interpolated with `table:` is a table of one column")
  func list() throws {
    let db = try makeCities()
    let ids = [4, 2, 7]
    #expect(
      try db.texts(
        "SELECT name FROM \(table: ids) AS wanted JOIN city ON city.id = wanted.value ORDER BY id")
        == ["Oslo", "北京市"])
    #expect(
      try db.texts("SELECT name FROM city WHERE id IN \(table: ids) ORDER BY id") == [
        "Oslo", "北京市",
      ])
    #expect(try db.integers("SELECT value FROM \(table: ids)") == ids)
    #expect(try db.executeQuery("SELECT * FROM \(table: ids, columns: "id")").columnNames == ["id"])
    #expect(try db.integers("SELECT value FROM \(table: [Int]())") == [])
  }

  @Test("Tuples interpolated with `table:` are a table of several columns")
  func tuples() throws {
    let db = try makeCities()
    let changes = [(1, "Bjørgvin", 300_000), (2, "Kristiania", 700_000)]
    #expect(
      try db.executeUpdate(
        """
        UPDATE city SET name = new.name, population = new.population
        FROM \(table: changes, columns: "id", "name", "population") AS new WHERE city.id = new.id
        """) == 2)
    #expect(
      try db.texts("SELECT name || population FROM city WHERE id < 3 ORDER BY id")
        == ["Bjørgvin300000", "Kristiania700000"])
    #expect(
      try db.executeUpdate(
        "INSERT INTO city (id, name) SELECT c1, c2 FROM \(table: [(8, "Bodø"), (9, "Narvik")])")
        == 2)
    #expect(try db.cityCount() == 6)
    #expect(
      try db.executeUpdate("DELETE FROM city WHERE id IN \(table: [8, 9].lazy.map { $0 })") == 2)
  }

  @Test("Values of a bound table are read unchanged")
  func values() throws {
    let db = try Database()
    let values: [DatabaseValue] = [
      nil, 42, 0.1, "", "before\0after", .blob([]), .blob([0, 1]), .integer(.min),
    ]
    let rows = try db.executeQuery("SELECT value FROM \(table: values)")
    #expect(try rows.map { try $0.get(at: 0, as: DatabaseValue.self) } == values)
    let optionals: [Int?] = [1, nil]
    #expect(try db.value("SELECT count(value) FROM \(table: optionals)") == 1)
    #expect(try db.texts("SELECT value FROM \(table: Set(["Oslo"]))") == ["Oslo"])
  }

  @Test("Dates in a bound table have the connection's date format")
  func dates() throws {
    var configuration = Configuration()
    configuration.dateFormat = .iso8601
    let db = try Database(configuration: configuration)
    let dates = [Date(timeIntervalSince1970: 0)]
    #expect(try db.texts("SELECT value FROM \(table: dates)") == ["1970-01-01T00:00:00.000Z"])
  }

  @Test("A bound table can have a million rows")
  func million() throws {
    let db = try Database()
    let numbers = Array(1...1_000_000)
    #expect(try db.value("SELECT sum(value) FROM \(table: numbers)") == 500_000_500_000)
    #expect(try db.value("SELECT count(*) FROM \(table: numbers) WHERE value > 999998") == 2)
  }

  @Test("A statement can have several bound tables and other values, and can be prepared")
  func several() throws {
    let db = try makeCities()
    let sql: SQL = """
      SELECT name FROM city WHERE id IN \(table: [1, 2, 3]) AND population > \(300_000)
      AND name IN \(table: ["Oslo", "Lagos"]) ORDER BY id
      """
    #expect(try db.texts(sql) == ["Oslo", "Lagos"])
    let statement = try db.prepare(sql)
    #expect(try statement.query().map { try $0.get(at: 0, as: String.self) } == ["Oslo", "Lagos"])
    #expect(try statement.query().map { try $0.get(at: 0, as: String.self) } == ["Oslo", "Lagos"])
  }

  @Test("Two bound tables can be joined with each other, and one with a LEFT JOIN")
  func twice() throws {
    let db = try makeCities()
    let ids = [2, 3]
    #expect(
      try db.value(
        """
        SELECT count(*) FROM \(table: ids) AS a JOIN \(table: ids) AS b
        """) == 4)
    #expect(
      try db.value(
        "SELECT count(*) FROM city LEFT JOIN \(table: ids) AS w ON w.value = city.id WHERE w.value IS NULL"
      )
        == 2)
  }

  // MARK: Statements

  @Test("A statement with a bound table is compiled once for any number of rows")
  func cached() throws {
    let db = try makeCities()
    func count(_ ids: [Int]) throws -> Int? {
      try db.value("SELECT count(*) FROM city WHERE id IN \(table: ids)")
    }
    #expect(try count([1]) == 1)
    let before = db.statementCacheStatistics
    for length in 0..<50 { #expect(try count(Array(0..<length)) == min(4, max(0, length - 1))) }
    #expect(db.statementCacheStatistics.misses == before.misses)
  }

  private final class Token: DatabaseValueConvertible {
    init() {}
    init(databaseValue: DatabaseValue) throws {}
    var databaseValue: DatabaseValue { 1 }
  }

  @Test(
    "A bound table's rows are released when its statement returns to the cache, also after an error"
  )
  func released() throws {
    let db = try Database()
    weak var token: Token?
    func run(_ body: (SQL) throws -> Void) throws {
      let rows = [Token()]
      token = rows[0]
      try body("SELECT count(*) FROM \(table: rows)")
    }
    try run { sql in
      let count = try db.value(sql, as: Int.self)
      #expect(count == 1)
    }
    #expect(token == nil)
    try run { sql in
      let rows = try db.executeQuery(sql)
      #expect(try rows.next())
      rows.close()
    }
    #expect(token == nil)
    try run { sql in try db.executeUpdate(sql) }
    #expect(token == nil)
    try run { sql in
      _ = #expect(throws: DatabaseError.self) {
        try db.executeUpdate("\(sql) WHERE abs(value - 9223372036854775807 - 2)")
      }
    }
    #expect(token == nil)
    try run { sql in try db.executeStatements("\(sql); SELECT 1") }
    #expect(token == nil)
    try run { sql in
      _ = #expect(throws: DatabaseError.self) { try db.executeUpdate("\(sql) WHERE nothing") }
    }
    #expect(token == nil)
  }

  @Test(
    "A prepared statement keeps its bound table's rows over a reset and releases them when it is closed"
  )
  func releasedByStatement() throws {
    let db = try Database()
    weak var token: Token?
    func prepare() throws -> Statement {
      let rows = [Token()]
      token = rows[0]
      return try db.prepare("SELECT count(*) FROM \(table: rows)")
    }
    var statement: Statement? = try prepare()
    #expect(token != nil)
    #expect(try statement?.step() == true)
    try statement?.reset()
    #expect(try statement?.step() == true)
    statement?.close()
    statement = nil
    #expect(token == nil)
  }

  // MARK: Errors

  @Test("A bound table's value that can't be stored makes the statement throw")
  func throwing() throws {
    let db = try Database()
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT sum(value) FROM \(table: [1, .nan])", as: Double.self)
    }
    #expect(error?.message.contains("NaN") == true)
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE TABLE t AS SELECT * FROM \(table: [UInt64.max])")
    }
  }

  @Test("A bound table throws if its column names don't fit its rows or are invalid")
  func wrongNames() throws {
    let db = try Database()
    for sql in [
      "SELECT 1 FROM \(table: [1], columns: "a", "b")",
      "SELECT 1 FROM \(table: [(1, 2)], columns: "a", "b", "c")",
      "SELECT 1 FROM \(table: [1], columns: "")", "SELECT 1 FROM \(table: [1], columns: "a\0b")",
    ] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
      #expect(error?.code == .misuse)
    }
    #expect(
      try db.executeQuery("SELECT * FROM \(table: [1], columns: "x\" --")").columnNames == [
        "x\" --"
      ])
  }

  @Test("`larder_table` throws for any value that isn't a bound table")
  func noTable() throws {
    let db = try Database()
    for sql in [
      "SELECT * FROM larder_table(1)", "SELECT * FROM larder_table(NULL)",
      "SELECT * FROM larder_table(x'00')",
    ] {
      let error = #expect(throws: DatabaseError.self) { try db.executeQuery(SQL(raw: sql)).next() }
      #expect(error?.code == .misuse)
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT * FROM larder_table").next()
    }
    #expect(error?.code == .error)
    #expect(try db.value("SELECT typeof(\(table: [1]))", as: String.self) == "integer")
  }

  @Test("SQL with a bound table has no plain argument values and isn't equal to itself")
  func isNoValue() throws {
    let sql: SQL = "SELECT c1 FROM \(table: [1])"
    #expect(throws: DatabaseError.self) { try sql.arguments.values }
    #expect(sql.arguments != sql.arguments)
  }

  // MARK: Kinds of databases

  @Test(
    "Bound tables work with every profile and under an authorizer",
    arguments: [Configuration.Profile.service, .durable, .untrustedFile])
  func profiles(profile: Configuration.Profile) throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    try createCities(in: Database(path: path))
    var configuration = Configuration(profile: profile)
    configuration.limits[.columns] = 10
    let db = try Database(path: path, configuration: configuration)
    db.authorizer = .tables(["city"])
    #expect(try db.texts("SELECT name FROM city WHERE id IN \(table: [2])") == ["Oslo"])
    db.authorizer = .readOnly
    #expect(try db.texts("SELECT name FROM city WHERE id IN \(table: [3])") == ["Lagos"])
  }

  @Test(
    "Bound tables work in queues and pools, with and without shared syncs",
    arguments: Company.threads)
  func company(company: Company) throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let count = try access.inTransaction { db in
      try db.executeUpdate("DELETE FROM city WHERE id IN \(table: [1, 2])")
    }
    #expect(count == 2)
    #expect(
      try access.read { try $0.texts("SELECT name FROM city WHERE id IN \(table: [2, 3])") } == [
        "Lagos"
      ])
  }

  @Test("Bound tables work in UTF-16 and attached databases")
  func encodings() throws {
    let db = try Database()
    try db.executeStatements(
      "PRAGMA encoding = 'UTF-16'; ATTACH ':memory:' AS other; CREATE TABLE other.city (name)")
    try db.executeUpdate("INSERT INTO other.city SELECT value FROM \(table: ["北京市", "José 🌸"])")
    #expect(
      try db.texts("SELECT name FROM other.city WHERE name IN \(table: ["北京市", "x"])") == ["北京市"])
  }

  @Test("A cached statement with a bound table returns the right rows after a schema change")
  func schemaChanges() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT name FROM city WHERE id IN \(table: [1, 2]) ORDER BY id"
    #expect(try db.texts(sql) == ["Bergen", "Oslo"])
    try db.executeUpdate("ALTER TABLE city ADD COLUMN mayor")
    #expect(try db.texts(sql) == ["Bergen", "Oslo"])
    let rows = try db.executeQuery(sql)
    try db.executeUpdate("CREATE TABLE other (x)")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: String.self) == "Bergen")
  }
}

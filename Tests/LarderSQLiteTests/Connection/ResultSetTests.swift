import LarderSQLite
import Testing

@Suite("Reading the rows of a query")
struct ResultSetTests {
  // MARK: Iteration

  @Test("`next()` throws after it has returned false")
  func nextAfterEnd() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city WHERE id = 1")
    #expect(try rows.next())
    #expect(try rows.next() == false)
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .misuse)
    #expect(error?.code.rawValue == 21)
  }

  @Test("A row prints its columns with their values, and a row that was left says that")
  func description() throws {
    let db = try Database()
    let rows = try db.executeQuery(
      """
      SELECT 2 AS id, 'Bern "1"' AS name, 1.5 AS size, NULL AS note, x'0102' AS photo UNION ALL
      SELECT 3, '', 2.0, NULL, NULL
      """)
    var left: Row?
    try rows.forEach { row in
      if left == nil {
        #expect(
          "\(row)" == #"[id: 2, name: "Bern \"1\"", size: 1.5, note: NULL, photo: 2 bytes]"#)
        left = row
      } else {
        #expect(left.map { "\($0)" } == "[a row whose result set has moved on]")
      }
    }
  }

  @Test("A closed result set throws on reading and has no columns")
  func close() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    rows.close()
    rows.close()
    #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(throws: DatabaseError.self) { try rows.get("name", as: String.self) }
    #expect(rows.columnCount == 0)
    #expect(!db.hasOpenStatements)
  }

  @Test("`hasOpenStatements` is true until `next()` has returned false")
  func open() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city WHERE id <= 2")
    #expect(db.hasOpenStatements)
    while try rows.next() { #expect(db.hasOpenStatements) }
    #expect(!db.hasOpenStatements)
  }

  @Test("A result set is closed when its last reference is gone")
  func deinitialized() throws {
    let db = try makeCities()
    do {
      let rows = try db.executeQuery("SELECT name FROM city")
      #expect(try rows.next())
      #expect(db.hasOpenStatements)
    }
    #expect(!db.hasOpenStatements)
  }

  @Test("Reading a value before the first `next()` throws")
  func beforeFirst() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    let error = #expect(throws: DatabaseError.self) { try rows.get("name", as: String.self) }
    #expect(error?.code == .misuse)
    #expect(try rows.next())
    #expect(try rows.get("name", as: String.self) == "Bergen")
  }

  @Test("`forEach` runs for each remaining row")
  func forEach() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT id, name FROM city ORDER BY id")
    #expect(try rows.next())
    var names: [String] = []
    try rows.forEach { names.append(try $0.get("name")) }
    #expect(names == ["Oslo", "Lagos", "北京市"])
    #expect(!db.hasOpenStatements)
  }

  @Test("An error thrown by the closure of `forEach` ends the iteration and closes the result set")
  func forEachThrows() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city")
    var count = 0
    #expect(throws: CancellationError.self) {
      try rows.forEach { _ in
        count += 1
        throw CancellationError()
      }
    }
    #expect(count == 1)
    #expect(!db.hasOpenStatements)
  }

  @Test("A kept row throws once its result set has advanced")
  func keptRow() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
    #expect(try rows.next())
    let row = rows.row
    #expect(try row.get("name", as: String.self) == "Bergen")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try row.get("name", as: String.self) }
    #expect(error?.code == .misuse)
  }

  // MARK: Columns

  @Test("Column names and positions are known before the first row")
  func columnNames() throws {
    let db = try makeCities()
    let rows = try db.executeQuery(
      "SELECT id, name AS city, population / area FROM city WHERE id > 100")
    #expect(rows.columnCount == 3)
    #expect(rows.columnNames == ["id", "city", "population / area"])
    #expect(try rows.columnIndex(named: "id") == 0)
    #expect(try rows.columnIndex(named: "city") == 1)
    #expect(try rows.next() == false)
  }

  @Test("Reading the column names before the first row skips no row")
  func columnNamesFirst() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city ORDER BY id")
    #expect(rows.columnNames == ["name"])
    #expect(try rows.map { try $0.get(at: 0, as: String.self) }.count == 4)
  }

  @Test("Values can be read by position and by name, which is case-insensitive")
  func byName() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT id, name AS CityName, area FROM city WHERE id = 2")
    #expect(try rows.next())
    for name in ["CityName", "cityname", "CITYNAME"] {
      #expect(try rows.get(name, as: String.self) == "Oslo")
    }
    #expect(try rows.get(at: 1, as: String.self) == "Oslo")
    #expect(try rows["ID"] == 2)
    #expect(try rows[2] == 454.1)
  }

  @Test("A column whose name contains a period can be read by that name")
  func period() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT city.name AS 'city.name', id FROM city WHERE id = 2")
    #expect(try rows.next())
    #expect(try rows.get("city.name", as: String.self) == "Oslo")
    #expect(throws: DatabaseError.self) { try rows.get("name", as: String.self) }
  }

  @Test("Reading an unknown column name throws an error that lists the columns")
  func missingName() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT id, name FROM city")
    #expect(try rows.next())
    let calls: [() throws -> Void] = [
      { _ = try rows.get("mayor", as: String.self) },
      { _ = try rows.get("mayor", as: Int?.self) },
      { _ = try rows.get("mayor", as: [UInt8].self) },
      { _ = try rows["mayor"] },
      { _ = try rows.isNull("mayor") },
      { _ = try rows.storageClass("mayor") },
      { try rows.withUnsafeBytes("mayor") { _ in } },
      { _ = try rows.columnIndex(named: "mayor") },
    ]
    for call in calls {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.message == "no column “mayor”: the columns are id, name")
    }
  }

  @Test(
    "Reading a column position that is out of range throws `.range`",
    arguments: [2, 999, -1, Int.max, Int.min])
  func missingIndex(index: Int) throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT id, name FROM city")
    #expect(try rows.next())
    let calls: [() throws -> Void] = [
      { _ = try rows.get(at: index, as: String.self) },
      { _ = try rows.get(at: index, as: Int?.self) },
      { _ = try rows[index] },
      { _ = try rows.isNull(at: index) },
      { _ = try rows.storageClass(at: index) },
      { try rows.withUnsafeBytes(at: index) { _ in } },
    ]
    for call in calls {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .range)
    }
  }

  @Test("Reading a name that two columns have throws, and reading by position works")
  func duplicateName() throws {
    let db = try makeCities()
    let rows = try db.executeQuery(
      "SELECT a.name, b.name FROM city AS a JOIN city AS b ON b.id = a.id + 1 WHERE a.id = 1")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try rows.get("name", as: String.self) }
    #expect(error?.message.contains("2 columns are named “name”") == true)
    #expect(try rows.get(at: 0, as: String.self) == "Bergen")
    #expect(try rows.get(at: 1, as: String.self) == "Oslo")
    #expect(try rows.dictionary == ["name": "Bergen"])
  }

  @Test("`dictionary` keeps the case of the column names")
  func dictionary() throws {
    let db = try Database()
    let rows = try db.executeQuery(
      "SELECT 1 AS Id, 'Oslo' AS cityName, NULL AS MAYOR, 2.5 AS Ratio")
    #expect(try rows.next())
    #expect(try rows.dictionary == ["Id": 1, "cityName": "Oslo", "MAYOR": nil, "Ratio": 2.5])
  }

  @Test("A cached query has the new column names after its table was altered")
  func altered() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT * FROM city WHERE id = 1"
    #expect(try db.executeQuery(sql).columnNames == ["id", "name", "population", "area"])
    try db.executeUpdate("ALTER TABLE city RENAME COLUMN area TO squareKilometres")
    try db.executeUpdate("ALTER TABLE city ADD COLUMN mayor TEXT DEFAULT 'nobody'")
    let rows = try db.executeQuery(sql)
    #expect(rows.columnNames == ["id", "name", "population", "squareKilometres", "mayor"])
    #expect(try rows.next())
    #expect(try rows.get("squareKilometres", as: Double.self) == 464.7)
    #expect(try rows.get("mayor", as: String.self) == "nobody")
  }

  // MARK: Storage classes

  @Test("`storageClass` and `isNull` report how each column's value is stored")
  func storageClasses() throws {
    let db = try Database()
    let rows = try db.executeQuery(
      "SELECT 1 AS i, 2.5 AS r, 'x' AS t, x'00' AS b, x'' AS e, NULL AS n")
    #expect(try rows.next())
    #expect(
      try (0..<6).map { try rows.storageClass(at: $0) }
        == [.integer, .real, .text, .blob, .blob, .null])
    #expect(try rows.storageClass("t") == .text)
    #expect(
      try (0..<6).map { try rows.isNull(at: $0) } == [false, false, false, false, false, true])
    #expect(try rows.isNull("N"))
  }

  @Test("A row of RETURNING throws `.range` for positions beyond its columns")
  func returnedColumns() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("DELETE FROM city WHERE id = 1 RETURNING id, name")
    #expect(try rows.next())
    for index in [-1, 2, .max] {
      let error = #expect(throws: DatabaseError.self) { try rows.get(at: index, as: Int.self) }
      #expect(error?.code == .range)
      #expect(error?.message == "no column at index \(index): there are 2")
    }
    #expect(try rows.whileReading { try rows.get(at: 0, as: Int.self) } == 1)
    #expect(
      try rows.withUnsafeBytes(at: 1) { $0.count } == rows.get(at: 1, as: String.self).utf8.count)
  }
}

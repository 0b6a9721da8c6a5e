import LarderSQLite
import Testing

@Suite("Arguments of statements")
struct ArgumentTests {
  private func makeTable() throws -> Database {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE route (origin, destination, via)")
    return db
  }

  private func rows(of db: Database) throws -> [[DatabaseValue]] {
    try db.executeQuery("SELECT * FROM route ORDER BY rowid").map {
      [try $0[0], try $0[1], try $0[2]]
    }
  }

  // MARK: By position

  @Test("Positional arguments are bound in order, `nil` as NULL")
  func positional() throws {
    let db = try makeTable()
    let none: String? = nil
    try db.executeUpdate("INSERT INTO route VALUES (?, ?, ?)", "Oslo", 5, nil)
    try db.executeUpdate("INSERT INTO route VALUES (?, ?, ?)", "Lagos", none, 2.5)
    #expect(try rows(of: db) == [["Oslo", 5, nil], ["Lagos", nil, 2.5]])
  }

  @Test("An array of arguments is bound by position, in order")
  func array() throws {
    let db = try makeTable()
    let values: [(any DatabaseValueConvertible)?] = ["Oslo", "Lagos", nil]
    try db.executeUpdate("INSERT INTO route VALUES (?, ?, ?)", arguments: Arguments(values))
    try db.executeUpdate("INSERT INTO route VALUES (?, ?, ?)", arguments: ["Oslo", "Bergen", 1])
    #expect(try rows(of: db) == [["Oslo", "Lagos", nil], ["Oslo", "Bergen", 1]])
    let found = try db.executeQuery(
      "SELECT destination FROM route WHERE origin = ? ORDER BY rowid", arguments: ["Oslo"])
    #expect(try found.map { try $0.get(at: 0, as: String.self) } == ["Lagos", "Bergen"])
  }

  @Test(
    "Too few or too many positional arguments throw an error that states both counts",
    arguments: [0, 1, 3])
  func wrongCount(count: Int) throws {
    let db = try makeTable()
    let values = Arguments(Array(repeating: "Oslo", count: count))
    for call in [
      { try db.executeUpdate("INSERT INTO route VALUES (?, ?, NULL)", arguments: values) },
      { try db.executeQuery("SELECT ?, ?", arguments: values).columnCount },
      { try db.value("SELECT ?, ?", arguments: values) ?? 0 },
    ] as [() throws -> Int] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .range)
      #expect(error?.message.contains("2 parameters") == true)
      #expect(error?.message.contains("but \(count) were given") == true)
    }
    #expect(try rows(of: db).isEmpty)
    #expect(!db.hasOpenStatements)
  }

  @Test("A statement can be run again after arguments of the wrong number or value were refused")
  func afterFailure() throws {
    let db = try makeTable()
    for _ in 1...3 {
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("INSERT INTO route VALUES (?, ?, NULL)", "Oslo")
      }
      #expect(throws: ConversionError.self) {
        try db.executeUpdate("INSERT INTO route VALUES (?, ?, NULL)", "Oslo", Double.nan)
      }
    }
    try db.executeUpdate("INSERT INTO route VALUES (?, ?, NULL)", "Oslo", "Bergen")
    #expect(try rows(of: db) == [["Oslo", "Bergen", nil]])
  }

  @Test("Parameters with a number, such as `?2`, are bound by that number")
  func numbered() throws {
    let db = try makeTable()
    try db.executeUpdate("INSERT INTO route VALUES (?2, ?1, ?2)", "Bergen", "Oslo")
    #expect(try rows(of: db) == [["Oslo", "Bergen", "Oslo"]])
  }

  // MARK: By name

  @Test("A dictionary of arguments is bound by parameter name")
  func named() throws {
    let db = try makeTable()
    try db.executeUpdate(
      "INSERT INTO route VALUES (:origin, :destination, :via)",
      arguments: ["via": nil, "destination": "Lagos", "origin": "Oslo"])
    let dictionary: [String: (any DatabaseValueConvertible)?] = ["origin": "Oslo"]
    let found = try db.executeQuery(
      "SELECT * FROM route WHERE origin = :origin", arguments: Arguments(dictionary))
    #expect(try found.next())
    #expect(try found.get("destination", as: String.self) == "Lagos")
    #expect(try found.isNull("via"))
  }

  @Test(
    "An argument's name matches a parameter with any of the prefixes `:`, `@` and `$`",
    arguments: [":city", "@city", "$city"])
  func prefix(parameter: String) throws {
    let db = try Database()
    let sql = SQL(raw: "SELECT \(parameter)")
    #expect(try db.value(sql, arguments: ["city": "Oslo"]) == "Oslo")
    #expect(try db.value(sql, arguments: Arguments([parameter: "Bergen"])) == "Bergen")
  }

  @Test("A named argument binds every place where its name occurs")
  func repeated() throws {
    let db = try makeTable()
    try db.executeUpdate(
      "INSERT INTO route VALUES (:city, @city, :city)", arguments: ["city": "Oslo"])
    #expect(try rows(of: db) == [["Oslo", "Oslo", "Oslo"]])
  }

  @Test("A named parameter without an argument throws an error that names only that parameter")
  func missingName() throws {
    let db = try makeTable()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate(
        "INSERT INTO route VALUES (:origin, :destination, NULL)", arguments: ["origin": "Oslo"])
    }
    #expect(error?.message.contains(":destination") == true)
    #expect(error?.message.contains(":origin") == false)
    #expect(try rows(of: db).isEmpty)
  }

  @Test(
    "An argument whose name isn't in the statement throws, unless `ignoringSurplusNames()` allows it"
  )
  func surplusName() throws {
    let db = try makeTable()
    let sql: SQL = "INSERT INTO route VALUES (:origin, NULL, NULL)"
    let arguments: Arguments = ["origin": "Oslo", "season": "winter"]
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate(sql, arguments: arguments)
    }
    #expect(error?.message.contains("season") == true)
    #expect(try rows(of: db).isEmpty)
    try db.executeUpdate(sql, arguments: arguments.ignoringSurplusNames())
    #expect(try rows(of: db) == [["Oslo", nil, nil]])
  }

  @Test("`ignoringSurplusNames()` doesn't allow a parameter without an argument")
  func surplusAndMissing() throws {
    let db = try Database()
    let arguments: Arguments = ["season": "winter"]
    #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT :origin", arguments: arguments.ignoringSurplusNames())
    }
  }

  @Test(
    "A surplus argument name that one call allows is refused by the next call with the same SQL")
  func surplusNameOnce() throws {
    let db = try Database()
    let sql: SQL = "SELECT :origin"
    let arguments: Arguments = ["origin": "Oslo", "season": "winter"]
    #expect(try db.value(sql, arguments: arguments.ignoringSurplusNames()) == "Oslo")
    #expect(throws: DatabaseError.self) { try db.value(sql, arguments: arguments, as: String.self) }
  }

  @Test("A cached statement can be run with named arguments in any order, and with positional ones")
  func otherOrder() throws {
    let db = try makeTable()
    let sql: SQL = "INSERT INTO route VALUES (:origin, :destination, NULL)"
    try db.executeUpdate(sql, arguments: ["origin": "Oslo", "destination": "Bergen"])
    try db.executeUpdate(sql, arguments: ["destination": "Oslo", "origin": "Lagos"])
    try db.executeUpdate(sql, "Bergen", "Lagos")
    #expect(
      try rows(of: db) == [
        ["Oslo", "Bergen", nil], ["Lagos", "Oslo", nil], ["Bergen", "Lagos", nil],
      ])
  }

  // MARK: By interpolation

  @Test("A value interpolated into SQL is bound as a parameter, even if it contains SQL")
  func interpolation() throws {
    let db = try makeTable()
    let name = "Robert'); DROP TABLE route;--"
    try db.executeUpdate("INSERT INTO route VALUES (\(name), \(5), \(2.5))")
    #expect(try rows(of: db) == [[.text(name), 5, 2.5]])
  }

  @Test("A `nil` interpolated into SQL is bound as NULL")
  func interpolatedNil() throws {
    let db = try makeTable()
    let via: String? = nil
    try db.executeUpdate("INSERT INTO route VALUES (\("Oslo"), \(via), \(nil))")
    #expect(try rows(of: db) == [["Oslo", nil, nil]])
  }

  @Test("An array interpolated into SQL is a list for IN, and IN an empty array finds no row")
  func list() throws {
    let db = try makeCities()
    let names = ["Oslo", "北京市", "Atlantis"]
    #expect(
      try db.texts("SELECT name FROM city WHERE name IN \(names) ORDER BY id") == ["Oslo", "北京市"])
    #expect(try db.texts("SELECT name FROM city WHERE id IN \([Int]())").isEmpty)
    let ids = Array(2...40)
    #expect(try db.texts("SELECT name FROM city WHERE id IN \(ids)").count == 3)
  }

  @Test("An identifier interpolated into SQL with `\\(identifier:)` is quoted")
  func identifier() throws {
    let db = try Database()
    let table = #"the "old" towns; DROP"#
    try db.executeUpdate("CREATE TABLE \(identifier: table) (\(identifier: "select") TEXT)")
    try db.executeUpdate("INSERT INTO \(identifier: table) VALUES (\("Røros"))")
    #expect(try db.texts("SELECT \(identifier: "select") FROM \(identifier: table)") == ["Røros"])
  }

  @Test("SQL interpolated into other SQL keeps its arguments, in the order of the text")
  func fragment() throws {
    let db = try makeCities()
    let condition: SQL = "population > \(300_000) AND area < \(1000)"
    let sql: SQL = "SELECT name FROM city WHERE \(condition) AND name <> \("Lagos")"
    #expect(sql.text == "SELECT name FROM city WHERE population > ? AND area < ? AND name <> ?")
    #expect(try sql.arguments.values == [300_000, 1000, "Lagos"])
    #expect(try db.texts(sql) == ["Oslo"])
  }

  @Test("Interpolated values can be combined with named arguments, but not with positional ones")
  func mixed() throws {
    let db = try makeTable()
    let sql: SQL = "INSERT INTO route VALUES (:origin, \("Bergen"), :origin)"
    try db.executeUpdate(sql, arguments: ["origin": "Oslo"])
    #expect(try rows(of: db) == [["Oslo", "Bergen", "Oslo"]])
    #expect(throws: DatabaseError.self) { try db.executeUpdate(sql, "Oslo") }
    #expect(try rows(of: db).count == 1)
  }

  @Test("A value that one call interpolated isn't reused for an unbound `?` of the next call")
  func leftover() throws {
    let db = try Database()
    let interpolated: SQL = "SELECT :origin || \(" to Bergen")"
    #expect(try db.value(interpolated, arguments: ["origin": "Oslo"]) == "Oslo to Bergen")
    let plain: SQL = "SELECT :origin || ?"
    #expect(throws: DatabaseError.self) {
      try db.value(plain, arguments: ["origin": "Oslo"], as: String.self)
    }
  }
}

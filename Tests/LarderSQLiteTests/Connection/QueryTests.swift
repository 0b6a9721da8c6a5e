import LarderSQLite
import TestSupport
import Testing

@Suite("Running queries")
struct QueryTests {
  @Test("`next()` goes through a query's rows in order and then returns false")
  func rows() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city WHERE id <= ? ORDER BY id", 2)
    #expect(try rows.next())
    #expect(try rows.get("name", as: String.self) == "Bergen")
    #expect(try rows.next())
    #expect(try rows.get("name", as: String.self) == "Oslo")
    #expect(try rows.next() == false)
  }

  @Test("Non-ASCII text is matched as a bound value and as a literal")
  func unicode() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE place (path TEXT)")
    try db.executeUpdate("INSERT INTO place VALUES ('/københavn/søerne')")
    try db.executeUpdate("INSERT INTO place VALUES (?)", "/𠮷野/🌸")
    #expect(
      try db.texts("SELECT path FROM place WHERE path = ?", "/københavn/søerne").count == 1)
    #expect(try db.texts("SELECT path FROM place WHERE path = '/𠮷野/🌸'") == ["/𠮷野/🌸"])
  }

  @Test("A LIKE pattern finds the same rows as a bound value and as a literal")
  func like() throws {
    let db = try makeCities()
    #expect(
      try db.texts("SELECT name FROM city WHERE name LIKE '%g%' ORDER BY id") == [
        "Bergen", "Lagos",
      ])
    #expect(
      try db.texts("SELECT name FROM city WHERE name LIKE ? ORDER BY id", "%g%") == [
        "Bergen", "Lagos",
      ])
  }

  @Test("A syntax error throws an error with code, offset and SQL")
  func syntaxError() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT name FRM city"
    for call in [
      { _ = try db.executeQuery(sql) }, { try db.executeUpdate(sql) }, { _ = try db.prepare(sql) },
    ] as [() throws -> Void] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .error)
      #expect(error?.code.rawValue == 1)
      #expect(error?.message.contains("syntax error") == true)
      #expect(error?.sql == "SELECT name FRM city")
      #expect(error?.offset == SQLiteLibrary.offset(16))
    }
    #expect(!db.hasOpenStatements)
  }

  @Test("A query of a missing table throws an error that names the table")
  func missingTable() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) { try db.executeQuery("SELECT * FROM river") }
    #expect(error?.code == .error)
    #expect(error?.message == "no such table: river")
  }

  @Test("`executeQuery` refuses SQL with a second statement")
  func tail() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT name FROM city; DELETE FROM city")
    }
    #expect(error?.code == .misuse)
    #expect(!db.hasOpenStatements)
  }

  @Test("`executeQuery` refuses SQL without a statement", arguments: ["", "  ", "-- all cities"])
  func empty(text: String) throws {
    let db = try Database()
    #expect(throws: DatabaseError.self) { try db.executeQuery(SQL(raw: text)) }
  }

  @Test("PRAGMA `journal_mode` with a new value returns that value as a row")
  func pragma() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      let rows = try db.executeQuery("PRAGMA journal_mode = DELETE")
      #expect(try rows.next())
      #expect(try rows.get("journal_mode", as: String.self) == "delete")
      #expect(try rows.next() == false)
    }
  }

  @Test("`executeQuery` of an INSERT has inserted its row before `next()` is called, and only once")
  func writing() throws {
    let db = try makeCities()
    let inserted = try db.executeQuery("INSERT INTO city (name) VALUES ('Tromsø')")
    #expect(try db.cityCount() == 5)
    #expect(inserted.columnCount == 0)
    #expect(try inserted.next() == false)
    #expect(try db.cityCount() == 5)
  }

  @Test("A DELETE with RETURNING has deleted its rows before they are read")
  func returning() throws {
    let db = try makeCities()
    let rows = try db.executeQuery(
      "DELETE FROM city WHERE population > \(10_000_000) RETURNING name, id")
    #expect(try db.cityCount() == 2)
    #expect(rows.columnNames == ["name", "id"])
    let removed = try rows.map { row in
      "\(try row.get(at: 1, as: Int.self)) \(try row.get("name", as: String.self))"
    }
    #expect(removed.sorted() == ["3 Lagos", "4 北京市"])
  }

  // MARK: One value

  @Test("`value` returns the first column of the first row")
  func value() throws {
    let db = try makeCities()
    #expect(try db.value("SELECT name, id FROM city ORDER BY id", as: String.self) == "Bergen")
    #expect(
      try db.value("SELECT population FROM city WHERE name = ?", "Oslo", as: Int.self) == 709_037)
    #expect(try db.value("SELECT area FROM city WHERE name = \("Oslo")", as: Double.self) == 454.1)
    #expect(
      try db.value("SELECT id FROM city WHERE name = :name", arguments: ["name": "Oslo"]) == 2)
    #expect(!db.hasOpenStatements)
  }

  @Test("`value` of an optional type distinguishes no row, NULL and a value")
  func noRow() throws {
    let db = try makeCities()
    try db.executeUpdate("INSERT INTO city (name) VALUES ('Atlantis')")
    let sql: SQL = "SELECT population FROM city WHERE name = ?"
    let missing = try db.value(sql, "Eldorado", as: Int?.self)
    let null = try db.value(sql, "Atlantis", as: Int?.self)
    let present = try db.value(sql, "Oslo", as: Int?.self)
    #expect(missing == .none)
    #expect(null == .some(.none))
    #expect(present == .some(709_037))
    #expect(try db.value(sql, "Eldorado", as: Int.self) == nil)
  }

  @Test("`value` of a type that isn't optional throws for NULL, with the column's name")
  func null() throws {
    let db = try makeCities()
    let error = #expect(throws: ConversionError.self) {
      try db.value("SELECT max(population) AS most FROM city WHERE id > 100", as: Int.self)
    }
    #expect(error?.kind == .null)
    #expect(error?.column == "most")
    #expect(!db.hasOpenStatements)
  }

  @Test("Empty text and empty blobs aren't bound as NULL", arguments: ["Oslo", ""])
  func emptyIsNotNull(text: String) throws {
    let db = try Database()
    #expect(try db.value("SELECT ? IS NOT NULL", text, as: Bool.self) == true)
    #expect(try db.value("SELECT ? IS NOT NULL", Array(text.utf8), as: Bool.self) == true)
    #expect(try db.value("SELECT ? IS NOT NULL", nil, as: Bool.self) == false)
  }

  // MARK: Several queries at a time

  @Test("A table can be updated and queried while a result set iterates over it")
  func nested() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE stop (number INTEGER PRIMARY KEY, visits INTEGER NOT NULL)")
    for number in 1...20 { try db.executeUpdate("INSERT INTO stop VALUES (?, ?)", number, number) }
    let stops = try db.executeQuery("SELECT number, visits FROM stop ORDER BY number")
    var visited = 0
    while try stops.next() {
      let number = try stops.get("number", as: Int.self)
      let visits = try stops.get("visits", as: Int.self)
      try db.executeUpdate("UPDATE stop SET visits = ? WHERE number = ?", visits + 100, number)
      let again = try db.executeQuery("SELECT visits FROM stop WHERE number = ?", number)
      #expect(try again.next())
      #expect(try again.get("visits", as: Int.self) == number + 100)
      visited += 1
    }
    #expect(visited == 20)
    #expect(try db.value("SELECT sum(visits) FROM stop", as: Int.self) == 210 + 2000)
  }

  @Test("Two result sets of the same SQL advance independently")
  func sameSQL() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT name FROM city WHERE id >= ? ORDER BY id"
    let first = try db.executeQuery(sql, 1)
    #expect(try first.next())
    let second = try db.executeQuery(sql, 3)
    #expect(try second.next())
    #expect(try first.get(at: 0, as: String.self) == "Bergen")
    #expect(try second.get(at: 0, as: String.self) == "Lagos")
    #expect(try first.next())
    #expect(try first.get(at: 0, as: String.self) == "Oslo")
    #expect(try second.get(at: 0, as: String.self) == "Lagos")
    second.close()
    #expect(try first.next())
    #expect(try first.get(at: 0, as: String.self) == "Lagos")
  }

  // MARK: Validating

  @Test("`validate` doesn't run the statement")
  func validate() throws {
    let db = try makeCities()
    try db.validate("DELETE FROM city WHERE name = ?")
    #expect(try db.cityCount() == 4)
  }

  @Test("`validate` throws for missing columns, syntax errors and a second statement")
  func validateFails() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) { try db.validate("SELECT mayor FROM city") }
    #expect(error?.message == "no such column: mayor")
    #expect(throws: DatabaseError.self) { try db.validate("SELEKT name FROM city") }
    #expect(throws: DatabaseError.self) { try db.validate("DELETE FROM city; DELETE FROM city") }
  }
}

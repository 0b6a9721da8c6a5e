import LarderSQLite
import TestSupport
import Testing

@Suite("Running queries")
struct QueryTests {
  @Test("A query returns its rows in order, then false")
  func rows() throws {
    let db = try makeCities()
    let rows = try db.executeQuery("SELECT name FROM city WHERE id <= ? ORDER BY id", 2)
    #expect(try rows.next())
    #expect(try rows.get("name", as: String.self) == "Bergen")
    #expect(try rows.next())
    #expect(try rows.get("name", as: String.self) == "Oslo")
    #expect(try rows.next() == false)
  }

  @Test("Text beyond ASCII matches, bound or written out")
  func unicode() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE place (path TEXT)")
    try db.executeUpdate("INSERT INTO place VALUES ('/københavn/søerne')")
    try db.executeUpdate("INSERT INTO place VALUES (?)", "/𠮷野/🌸")
    #expect(
      try db.texts("SELECT path FROM place WHERE path = ?", "/københavn/søerne").count == 1)
    #expect(try db.texts("SELECT path FROM place WHERE path = '/𠮷野/🌸'") == ["/𠮷野/🌸"])
  }

  @Test("A pattern finds the same rows whether it is bound or written out")
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

  @Test("SQL that isn't valid throws with the code, the place and the SQL")
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

  @Test("A table that isn't there throws and is named")
  func missingTable() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) { try db.executeQuery("SELECT * FROM river") }
    #expect(error?.code == .error)
    #expect(error?.message == "no such table: river")
  }

  @Test("A second statement is refused instead of dropped")
  func tail() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT name FROM city; DELETE FROM city")
    }
    #expect(error?.code == .misuse)
    #expect(!db.hasOpenStatements)
  }

  @Test("Text without a statement is refused", arguments: ["", "  ", "-- all cities"])
  func empty(text: String) throws {
    let db = try Database()
    #expect(throws: DatabaseError.self) { try db.executeQuery(SQL(raw: text)) }
  }

  @Test("A PRAGMA that sets something returns what it is set to now")
  func pragma() throws {
    try withTemporaryFolder { folder in
      let db = try Database(path: folder + "/cities.db")
      let rows = try db.executeQuery("PRAGMA journal_mode = DELETE")
      #expect(try rows.next())
      #expect(try rows.get("journal_mode", as: String.self) == "delete")
      #expect(try rows.next() == false)
    }
  }

  @Test("A query that writes has written, though its rows are never asked for")
  func writing() throws {
    let db = try makeCities()
    let inserted = try db.executeQuery("INSERT INTO city (name) VALUES ('Tromsø')")
    #expect(try db.cityCount() == 5)
    #expect(inserted.columnCount == 0)
    #expect(try inserted.next() == false)
    #expect(try db.cityCount() == 5)
  }

  @Test("A query that writes gives the rows it returns after the fact")
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

  @Test("A single value is that of the first row and column")
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

  @Test("No row, NULL and a value can be told apart")
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

  @Test("NULL throws unless an optional value is asked for")
  func null() throws {
    let db = try makeCities()
    let error = #expect(throws: ConversionError.self) {
      try db.value("SELECT max(population) AS most FROM city WHERE id > 100", as: Int.self)
    }
    #expect(error?.reason == .null)
    #expect(error?.column == "most")
    #expect(!db.hasOpenStatements)
  }

  @Test("Text and an empty blob aren't NULL to SQLite", arguments: ["Oslo", ""])
  func emptyIsNotNull(text: String) throws {
    let db = try Database()
    #expect(try db.value("SELECT ? IS NOT NULL", text, as: Bool.self) == true)
    #expect(try db.value("SELECT ? IS NOT NULL", Array(text.utf8), as: Bool.self) == true)
    #expect(try db.value("SELECT ? IS NOT NULL", nil, as: Bool.self) == false)
  }

  // MARK: Several queries at a time

  @Test("A table may be updated and queried while its rows are iterated")
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

  @Test("Two result sets of the same SQL go their own ways")
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

  @Test("Validating compiles a statement and doesn't run it")
  func validate() throws {
    let db = try makeCities()
    try db.validate("DELETE FROM city WHERE name = ?")
    #expect(try db.cityCount() == 4)
  }

  @Test("Validating throws for a statement that doesn't fit the database")
  func validateFails() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) { try db.validate("SELECT mayor FROM city") }
    #expect(error?.message == "no such column: mayor")
    #expect(throws: DatabaseError.self) { try db.validate("SELEKT name FROM city") }
    #expect(throws: DatabaseError.self) { try db.validate("DELETE FROM city; DELETE FROM city") }
  }
}

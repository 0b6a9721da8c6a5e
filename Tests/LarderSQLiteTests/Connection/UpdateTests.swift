import LarderSQLite
import TestSupport
import Testing

@Suite("Statements that write")
struct UpdateTests {
  @Test("`executeUpdate` returns the number of changed rows, as does `changes`")
  func rowsChanged() throws {
    let db = try makeCities()
    #expect(try db.executeUpdate("UPDATE city SET area = area * 2 WHERE population < 1000000") == 2)
    #expect(db.changes == 2)
    #expect(try db.executeUpdate("DELETE FROM city WHERE name = 'Atlantis'") == 0)
    #expect(db.changes == 0)
    #expect(try db.executeUpdate("DELETE FROM city") == 4)
  }

  @Test(
    "`executeUpdate` returns 0 for CREATE TABLE and SELECT, also after a statement that changed rows"
  )
  func noRowsChanged() throws {
    let db = try makeCities()
    #expect(try db.executeUpdate("DELETE FROM city WHERE id <= 3") == 3)
    #expect(try db.executeUpdate("CREATE TABLE river (name TEXT)") == 0)
    #expect(try db.executeUpdate("SELECT * FROM city") == 0)
  }

  @Test("`totalChanges` also counts rows that triggers change")
  func totalChanges() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      CREATE TABLE history (name TEXT);
      CREATE TRIGGER removal AFTER DELETE ON city BEGIN INSERT INTO history VALUES (old.name); END;
      """)
    let before = db.totalChanges
    #expect(try db.executeUpdate("DELETE FROM city WHERE id > 2") == 2)
    #expect(db.totalChanges == before + 4)
  }

  @Test("`lastInsertRowID` is the row id of the last INSERT")
  func lastInsertRowID() throws {
    let db = try Database()
    #expect(db.lastInsertRowID == 0)
    try db.executeUpdate("CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)")
    for (index, name) in ["Oslo", "Bergen", "Tromsø"].enumerated() {
      try db.executeUpdate("INSERT INTO city (name) VALUES (?)", name)
      #expect(db.lastInsertRowID == Int64(index + 1))
    }
  }

  @Test("`lastInsertRowID` is the row id that an INSERT has given explicitly")
  func chosenRowID() throws {
    let db = try makeCities()
    let id = Int64.max - 1
    try db.executeUpdate("INSERT INTO city (id, name) VALUES (?, 'Tromsø')", id)
    #expect(db.lastInsertRowID == id)
  }

  @Test("`executeUpdate` runs a PRAGMA, even one that returns a row")
  func pragma() throws {
    let db = try Database()
    #expect(try db.executeUpdate("PRAGMA page_size = 8192") == 0)
    #expect(try db.executeUpdate("PRAGMA user_version") == 0)
    try db.executeUpdate("CREATE TABLE city (name TEXT)")
    #expect(try db.value("PRAGMA page_size", as: Int.self) == 8192)
  }

  @Test("`executeUpdate` runs VACUUM")
  func vacuum() throws {
    let db = try makeCities()
    #expect(try db.executeUpdate("VACUUM") == 0)
    #expect(try db.cityCount() == 4)
  }

  @Test("`executeUpdate` of an INSERT with RETURNING inserts all its rows")
  func returning() throws {
    let db = try makeCities()
    let sql: SQL = "INSERT INTO city (name) VALUES ('Tromsø'), ('Bodø'), ('Alta') RETURNING id"
    #expect(try db.executeUpdate(sql) == 3)
    #expect(try db.cityCount() == 7)
  }

  @Test("`executeUpdate` accepts comments and semicolons after its statement")
  func harmlessTail() throws {
    let db = try makeCities()
    #expect(try db.executeUpdate("DELETE FROM city WHERE id = 1; ; -- the smallest\n") == 1)
  }

  @Test("`executeUpdate` refuses SQL with a second statement before it runs the first")
  func tail() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("DELETE FROM city WHERE id = 1; DELETE FROM city WHERE id = 2")
    }
    #expect(error?.code == .misuse)
    #expect(error?.message.contains("executeStatements") == true)
    #expect(try db.cityCount() == 4)
  }

  @Test(
    "`executeUpdate` refuses SQL without a statement", arguments: ["", " \n", ";", "-- nothing"])
  func empty(text: String) throws {
    let db = try Database()
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: text)) }
    #expect(error?.code == .misuse)
  }

  @Test("A table can be created, dropped and created again with the same SQL")
  func recreate() throws {
    let db = try Database()
    for _ in 1...3 {
      try db.executeUpdate("CREATE TABLE lake (name TEXT, depth REAL)")
      try db.executeUpdate("INSERT INTO lake VALUES (?, ?)", "Hornindalsvatnet", 514.0)
      #expect(try db.value("SELECT count(*) FROM lake", as: Int.self) == 1)
      try db.executeUpdate("DROP TABLE lake", arguments: [])
    }
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM lake") }
  }

  @Test(
    "Inserting a value longer than the length limit throws `.tooBig`, and the statement stays usable"
  )
  func tooLong() throws {
    let db = try makeCities()
    let before = try db.setLimit(.length, 1000)
    #expect(before > 1000)
    #expect(db.limit(.length) == 1000)
    let text = String(repeating: "ø", count: 1000)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name) VALUES (?)", text)
    }
    #expect(error?.code == .tooBig)
    #expect(try db.cityCount() == 4)
    // The same statement can be run with the next value.
    #expect(try db.executeUpdate("INSERT INTO city (name) VALUES (?)", "Tromsø") == 1)
    #expect(try db.value("SELECT name FROM city WHERE id = 5", as: String.self) == "Tromsø")
  }

  @Test("An attached file's rows can be read and written by its schema name until it is detached")
  func attach() throws {
    try withTemporaryFolder { folder in
      let path = folder + "/o'brien.db"
      try createCities(in: Database(path: path))
      let db = try Database()
      try db.executeUpdate("ATTACH ? AS atlas", path)
      #expect(try db.value("SELECT count(*) FROM atlas.city", as: Int.self) == 4)
      #expect(try db.executeUpdate("DELETE FROM atlas.city WHERE id = 1") == 1)
      try db.executeUpdate("DETACH atlas")
      #expect(throws: DatabaseError.self) { try db.texts("SELECT name FROM atlas.city") }
      #expect(try Database(path: path).cityCount() == 3)
    }
  }
}

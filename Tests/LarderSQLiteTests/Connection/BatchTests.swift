import LarderSQLite
import Testing

@Suite("Batches of statements")
struct BatchTests {
  @Test("All statements of a batch run in order")
  func order() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE river (id INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO city (name) VALUES ('Oslo');
      INSERT INTO city (name) SELECT name || ' 2' FROM city;
      INSERT INTO river (name) VALUES ('Akerselva; or "Aker River" -- not a comment');
      """)
    #expect(try db.texts("SELECT name FROM city ORDER BY id") == ["Oslo", "Oslo 2"])
    #expect(
      try db.texts("SELECT name FROM river") == [#"Akerselva; or "Aker River" -- not a comment"#])
  }

  @Test("The closure of `executeStatements` gets each row of each statement")
  func rows() throws {
    let db = try makeCities()
    var seen: [String] = []
    try db.executeStatements(
      """
      SELECT count(*) AS number FROM city;
      DELETE FROM city WHERE id = 1;
      SELECT name FROM city WHERE id <= 3 ORDER BY id; -- two of them
      SELECT x'00ff' AS flag, NULL AS mayor;
      """
    ) { row in
      seen.append("\(row.columnNames.joined(separator: "+")) \(try row[0])")
      return .next
    }
    #expect(
      seen == [
        "number \(DatabaseValue.integer(4))", "name \(DatabaseValue.text("Oslo"))",
        "name \(DatabaseValue.text("Lagos"))", "flag+mayor \(DatabaseValue.blob([0, 255]))",
      ])
    #expect(!db.hasOpenStatements)
  }

  @Test(
    "The closure of `executeStatements` can stop the batch; the statements before keep their effect"
  )
  func stop() throws {
    let db = try makeCities()
    var names: [String] = []
    try db.executeStatements(
      """
      DELETE FROM city WHERE id = 1;
      SELECT name FROM city ORDER BY id;
      DELETE FROM city;
      """
    ) { row in
      names.append(try row.get("name"))
      return names.count < 2 ? .next : .stop
    }
    #expect(names == ["Oslo", "Lagos"])
    #expect(try db.cityCount() == 3)
    #expect(!db.hasOpenStatements)
  }

  @Test("An error thrown by the closure of `executeStatements` ends the batch and is passed on")
  func closureThrows() throws {
    let db = try makeCities()
    #expect(throws: CancellationError.self) {
      try db.executeStatements("SELECT name FROM city; DELETE FROM city") { _ in
        throw CancellationError()
      }
    }
    #expect(try db.cityCount() == 4)
    #expect(!db.hasOpenStatements)
  }

  @Test("A failing statement ends its batch; the statements before it keep their effect")
  func failure() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeStatements(
        """
        DELETE FROM city WHERE id = 1;
        INSERT INTO city (name) VALUES ('Oslo');
        DELETE FROM city;
        """)
    }
    #expect(error?.constraint?.kind == .unique)
    #expect(error?.sql?.contains("INSERT INTO city") == true)
    #expect(error?.sql?.contains("DELETE") == false)
    #expect(try db.cityCount() == 3)
  }

  @Test("A batch that fails inside a transaction is rolled back as a whole")
  func transaction() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) {
      try db.inTransaction { db in
        try db.executeStatements("DELETE FROM city; SELEKT 1;")
      }
    }
    #expect(try db.cityCount() == 4)
  }

  @Test("Values interpolated into a batch are bound to its statements in order")
  func values() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      DELETE FROM city WHERE id = \(1);
      UPDATE city SET name = \("Christiania"), area = \(nil) WHERE id = \(2);
      """)
    #expect(try db.texts("SELECT name FROM city ORDER BY id") == ["Christiania", "Lagos", "北京市"])
    #expect(try db.value("SELECT area IS NULL FROM city WHERE id = 2", as: Bool.self) == true)
  }

  @Test("A batch with a parameter that has no value throws")
  func missingValue() throws {
    let db = try makeCities()
    #expect(throws: DatabaseError.self) {
      try db.executeStatements("DELETE FROM city WHERE id > ?")
    }
    #expect(try db.cityCount() == 4)
  }

  @Test(
    "A batch without statements does nothing", arguments: ["", ";;", " -- nothing\n /* here */ "])
  func empty(text: String) throws {
    let db = try Database()
    try db.executeStatements(SQL(raw: text)) { _ in
      Issue.record("there is no row")
      return .next
    }
  }

  @Test("A statement of a batch can't use a table that an earlier one has dropped")
  func drop() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeStatements("DROP TABLE city; SELECT * FROM city")
    }
    #expect(error?.message == "no such table: city")
  }

  @Test("A batch with more values than parameters throws, but only after its statements have run")
  func superfluousValue() throws {
    let db = try Database()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeStatements("CREATE TABLE city (name) -- of \(5) years")
    }
    #expect(error?.code == .range)
    #expect(error?.message == "there are 1 more values than the statements have parameters")
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 0)
  }
}

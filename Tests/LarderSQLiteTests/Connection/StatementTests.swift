import LarderSQLite
import Testing

@Suite("Prepared statements")
struct StatementTests {
  @Test("A prepared statement can be bound by name and stepped repeatedly")
  func namedInsert() throws {
    let db = try makeCities()
    let insert = try db.prepare("INSERT INTO city (name, population) VALUES (:name, :population)")
    for (name, population) in [("Tromsø", 78_745), ("Bodø", 53_712), ("Alta", 21_708)] {
      try insert.bind(arguments: ["name": name, "population": population])
      #expect(try insert.step() == false)
    }
    let select = try db.prepare("SELECT population FROM city WHERE name = :name")
    try select.bind(arguments: ["name": "Bodø"])
    #expect(try select.step())
    #expect(try select.get("population", as: Int.self) == 53_712)
    try select.bind(arguments: ["name": "Alta"])
    #expect(try select.step())
    #expect(try select.get("population", as: Int.self) == 21_708)
    #expect(try select.step() == false)
  }

  @Test("A prepared statement can be bound by position and executed repeatedly")
  func positionalInsert() throws {
    let db = try makeCities()
    let insert = try db.prepare("INSERT INTO city (name, population) VALUES (?, ?)")
    for (name, population) in [("Tromsø", 78_745), ("Bodø", 53_712), ("Alta", nil)] {
      #expect(try insert.execute(name, population) == 1)
    }
    let select = try db.prepare("SELECT population FROM city WHERE name = ?")
    try select.bind("Bodø")
    #expect(try select.step())
    #expect(try select.get(at: 0, as: Int?.self) == 53_712)
    try select.bind(arguments: ["Alta"])
    #expect(try select.step())
    #expect(try select.isNull(at: 0))
  }

  @Test("`step()` on a prepared INSERT that has ended throws and inserts no second row")
  func stepAfterEnd() throws {
    let db = try makeCities()
    let insert = try db.prepare("INSERT INTO city (name) VALUES (?)")
    try insert.bind("Tromsø")
    #expect(try insert.step() == false)
    let error = #expect(throws: DatabaseError.self) { try insert.step() }
    #expect(error?.code == .misuse)
    #expect(try db.cityCount() == 5)
  }

  @Test("A reset statement runs again from the first row with the same arguments")
  func reset() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name FROM city WHERE population > ? ORDER BY id")
    try select.bind(1_000_000)
    #expect(try select.step())
    #expect(try select.get(at: 0, as: String.self) == "Lagos")
    try select.reset()
    #expect(throws: DatabaseError.self) { try select.get(at: 0, as: String.self) }
    #expect(try select.step())
    #expect(try select.get(at: 0, as: String.self) == "Lagos")
    #expect(try select.step())
    #expect(try select.get(at: 0, as: String.self) == "北京市")
  }

  @Test("A prepared statement throws until all its parameters are bound")
  func unbound() throws {
    let db = try makeCities()
    let delete = try db.prepare("DELETE FROM city WHERE id > ?")
    #expect(delete.parameterCount == 1)
    #expect(throws: DatabaseError.self) { try delete.step() }
    #expect(throws: DatabaseError.self) { try delete.bind() }
    #expect(throws: DatabaseError.self) { try delete.step() }
    #expect(try db.cityCount() == 4)
    #expect(try delete.execute(0) == 4)
  }

  @Test("A failed `bind` also unbinds the earlier values")
  func failedBinding() throws {
    let db = try makeCities()
    let delete = try db.prepare("DELETE FROM city WHERE id = ?")
    try delete.bind(1)
    #expect(throws: ConversionError.self) { try delete.bind(UInt64.max) }
    #expect(throws: DatabaseError.self) { try delete.step() }
    #expect(try db.cityCount() == 4)
  }

  @Test("A prepared statement can be executed again after a constraint error")
  func afterError() throws {
    let db = try makeCities()
    let insert = try db.prepare("INSERT INTO city (name) VALUES (?)")
    let error = #expect(throws: DatabaseError.self) { try insert.execute("Oslo") }
    #expect(error?.constraint?.kind == .unique)
    #expect(try insert.execute("Tromsø") == 1)
    #expect(try db.cityCount() == 5)
  }

  @Test("`query` on a prepared statement can be repeated with other arguments")
  func query() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name FROM city WHERE population < ? ORDER BY id")
    #expect(
      try select.query(1_000_000).map { try $0.get(at: 0, as: String.self) } == ["Bergen", "Oslo"])
    #expect(try select.query(500_000).map { try $0.get(at: 0, as: String.self) } == ["Bergen"])
    #expect(try select.query(0).map { try $0.get(at: 0, as: String.self) } == [])
  }

  @Test("A prepared statement's second `query` ends the result set of the first")
  func queryAgain() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name FROM city WHERE id > ? ORDER BY id")
    let first = try select.query(0)
    #expect(try first.next())
    let second = try select.query(2)
    #expect(throws: DatabaseError.self) { try first.next() }
    #expect(throws: DatabaseError.self) { try first.get(at: 0, as: String.self) }
    #expect(try second.next())
    #expect(try second.get(at: 0, as: String.self) == "Lagos")
  }

  @Test(
    "A prepared SELECT with an interpolated value can be stepped at once or queried with another one"
  )
  func interpolated() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name FROM city WHERE id = \(2)")
    #expect(try select.step())
    #expect(try select.get(at: 0, as: String.self) == "Oslo")
    #expect(try select.query(3).map { try $0.get(at: 0, as: String.self) } == ["Lagos"])
  }

  @Test("A prepared statement reports its SQL, its columns and whether it is read-only")
  func properties() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name, area FROM city")
    #expect(select.sql == "SELECT name, area FROM city")
    #expect(select.isReadOnly)
    #expect(select.columnNames == ["name", "area"])
    #expect(try !db.prepare("DELETE FROM city").isReadOnly)
  }

  @Test("`step()` and `bind()` on a closed statement throw")
  func close() throws {
    let db = try makeCities()
    let select = try db.prepare("SELECT name FROM city")
    #expect(db.hasOpenStatements)
    select.close()
    select.close()
    #expect(!db.hasOpenStatements)
    let error = #expect(throws: DatabaseError.self) { try select.step() }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) { try select.bind() }
  }

  @Test("Reading a column position that the prepared statement doesn't have throws `.range`")
  func columnRange() throws {
    let db = try makeCities()
    let statement = try db.prepare("SELECT id, name FROM city")
    #expect(try statement.step())
    for index in [-1, 2, .max] {
      let error = #expect(throws: DatabaseError.self) { try statement.get(at: index, as: Int.self) }
      #expect(error?.code == .range)
      #expect(error?.message == "no column at index \(index): there are 2")
    }
    #expect(try statement.get(at: 0, as: Int.self) == 1)
  }
}

import LarderSQLite
import Testing

@Suite("Errors")
struct ErrorTests {
  @Test("Inserting a duplicate primary key throws with code 19 and leaves the rows unchanged")
  func duplicateKey() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (id, name) VALUES (?, ?)", 2, "Tromsø")
    }
    #expect(error?.code == .constraint)
    #expect(error?.code.rawValue == 19)
    #expect(error?.extendedCode == .constraintPrimaryKey)
    #expect(error?.code == .constraint)
    #expect(error?.isBusy == false)
    #expect(error?.message == "UNIQUE constraint failed: city.id")
    #expect(try db.texts("SELECT name FROM city WHERE id = 2") == ["Oslo"])
  }

  @Test("`DatabaseError.constraint` has the kind, table and columns of each kind of constraint")
  func violations() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE line (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE "o.k, station" (
        "line.id" INTEGER REFERENCES line, number INTEGER, name TEXT NOT NULL,
        depth REAL CONSTRAINT underground CHECK (depth >= 0), UNIQUE ("line.id", number));
      CREATE TABLE exact (number INTEGER) STRICT;
      INSERT INTO line VALUES (1, 'Blue');
      INSERT INTO "o.k, station" VALUES (1, 1, 'Centre', 20);
      CREATE TRIGGER keep BEFORE DELETE ON line BEGIN SELECT raise(ABORT, 'lines are kept'); END;
      """)
    func violation(_ sql: SQL) -> ConstraintViolation? {
      #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }?.constraint
    }

    let primaryKey = violation("INSERT INTO line VALUES (1, 'Red')")
    #expect(primaryKey?.kind == .primaryKey)
    #expect(primaryKey?.table == "line")
    #expect(primaryKey?.columns == ["id"])

    let notNull = violation("INSERT INTO line (name) VALUES (NULL)")
    #expect(notNull?.kind == .notNull)
    #expect(notNull?.columns == ["name"])

    let unique = violation(#"INSERT INTO "o.k, station" VALUES (1, 1, 'Again', 0)"#)
    #expect(unique?.kind == .unique)
    #expect(unique?.table == "o.k, station")
    #expect(unique?.columns == ["line.id", "number"])

    let check = violation(#"INSERT INTO "o.k, station" VALUES (1, 2, 'Tower', -5)"#)
    #expect(check?.kind == .check)
    #expect(check?.name == "underground")

    let foreignKey = violation(#"INSERT INTO "o.k, station" VALUES (9, 1, 'Nowhere', 0)"#)
    #expect(foreignKey?.kind == .foreignKey)

    let datatype = violation("INSERT INTO exact VALUES ('many')")
    #expect(datatype?.kind == .datatype)
    #expect(datatype?.table == "exact")
    #expect(datatype?.columns == ["number"])

    #expect(violation("DELETE FROM line")?.kind == .trigger)
  }

  @Test("An error of DROP TABLE without a table has no `constraint`")
  func noViolation() throws {
    let error = #expect(throws: DatabaseError.self) { try Database().executeUpdate("DROP TABLE x") }
    #expect(error?.constraint == nil)
    #expect(error?.code != .constraint)
  }

  @Test("A constraint error's description contains code, message and SQL, but no arguments")
  func description() throws {
    let db = try makeCities()
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name, population) VALUES (?, ?)", "Oslo", 271_828)
    }
    let text = try #require(error?.description)
    #expect(text.contains("2067"))
    #expect(text.contains("UNIQUE constraint failed: city.name"))
    #expect(text.contains("INSERT INTO city (name, population) VALUES (?, ?)"))
    #expect(!text.contains("Oslo"))
    #expect(!text.contains("271828"))
    #expect(error?.expandedSQL == nil)
  }

  @Test("With `showsArguments`, a constraint error's description contains the arguments")
  func showsArguments() throws {
    var configuration = Configuration()
    configuration.showsArguments = true
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city (name, population) VALUES (?, ?)", "Oslo", 271_828)
    }
    #expect(
      error?.expandedSQL == "INSERT INTO city (name, population) VALUES ('Oslo', 271828)")
    #expect(error?.description.contains("271828") == true)
  }

  @Test("A ConversionError has the column's name and position and the SQL, but not the value")
  func conversion() throws {
    let db = try makeCities()
    let sql: SQL = "SELECT id, name FROM city WHERE id = 2"
    let rows = try db.executeQuery(sql)
    #expect(try rows.next())
    let error = #expect(throws: ConversionError.self) { try rows.get("name", as: Int.self) }
    #expect(error?.kind == .storageClass(.text))
    #expect(error?.type == "Int")
    #expect(error?.column == "name")
    #expect(error?.index == 1)
    #expect(error?.sql == sql.text)
    #expect(error?.description.contains("Oslo") == false)
  }
}

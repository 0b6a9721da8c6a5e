import LarderSQLite
import Testing

@Suite("Broken constraints as data")
struct ConstraintTests {
  let db: Database

  init() throws { db = try Database() }

  private func violation(
    _ schema: SQL, _ statement: SQL, _ sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> ConstraintViolation {
    try db.executeStatements(schema)
    let error = try #require(throws: DatabaseError.self, sourceLocation: sourceLocation) {
      try db.executeUpdate(statement)
    }
    #expect(error.code == .constraint, sourceLocation: sourceLocation)
    return try #require(error.constraint, sourceLocation: sourceLocation)
  }

  @Test("Unique columns, in the constraint's order")
  func unique() throws {
    let found = try violation(
      "CREATE TABLE city (name, country, UNIQUE (country, name)); INSERT INTO city VALUES ('Oslo', 'no')",
      "INSERT INTO city VALUES ('Oslo', 'no')")
    #expect(found.kind == .unique)
    #expect(found.table == "city")
    #expect(found.columns == ["country", "name"])
    #expect(found.name == nil)
  }

  @Test("A unique index on an expression has a name and no columns")
  func expressionIndex() throws {
    let found = try violation(
      """
      CREATE TABLE city (name); CREATE UNIQUE INDEX "city's name" ON city (lower(name));
      INSERT INTO city VALUES ('Oslo')
      """, "INSERT INTO city VALUES ('OSLO')")
    #expect(found.kind == .unique)
    #expect(found.name == "city's name")
    #expect(found.table == nil)
    #expect(found.columns.isEmpty)
  }

  @Test("Primary keys, integer ones and others")
  func primaryKeys() throws {
    let first = try violation(
      "CREATE TABLE city (id INTEGER PRIMARY KEY); INSERT INTO city VALUES (1)",
      "INSERT INTO city VALUES (1)")
    #expect(first.kind == .primaryKey)
    #expect(first.columns == ["id"])
    let second = try violation(
      "CREATE TABLE road (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID; INSERT INTO road VALUES (1, 2)",
      "INSERT INTO road VALUES (1, 2)")
    #expect(second.kind == .primaryKey)
    #expect(second.table == "road")
    #expect(second.columns == ["a", "b"])
  }

  @Test("The implicit row id")
  func rowID() throws {
    let found = try violation(
      "CREATE TABLE city (name); INSERT INTO city (rowid, name) VALUES (7, 'Oslo')",
      "INSERT INTO city (rowid, name) VALUES (7, 'Bergen')")
    #expect(found.kind == .rowID)
    #expect(found.table == "city")
    #expect(found.columns == ["rowid"])
  }

  @Test("NOT NULL")
  func notNull() throws {
    let found = try violation(
      "CREATE TABLE city (name TEXT NOT NULL)", "INSERT INTO city VALUES (\(String?.none))")
    #expect(found.kind == .notNull)
    #expect(found.table == "city")
    #expect(found.columns == ["name"])
  }

  @Test("CHECK, by name or by expression")
  func check() throws {
    let named = try violation(
      #"CREATE TABLE city (size, CONSTRAINT "size: not negative" CHECK (size >= 0))"#,
      "INSERT INTO city VALUES (-1)")
    #expect(named.kind == .check)
    #expect(named.name == "size: not negative")
    #expect(named.table == nil)
    let unnamed = try violation(
      "CREATE TABLE town (size CHECK (size > 0))", "INSERT INTO town VALUES (0)")
    #expect(unnamed.name == "size > 0")
  }

  @Test("Foreign keys, of which SQLite tells nothing more")
  func foreignKey() throws {
    let found = try violation(
      "CREATE TABLE country (id PRIMARY KEY); CREATE TABLE city (country REFERENCES country (id))",
      "INSERT INTO city VALUES ('no')")
    #expect(found.kind == .foreignKey)
    #expect(found.table == nil)
    #expect(found.columns.isEmpty)
  }

  @Test("The type of a column in a STRICT table")
  func datatype() throws {
    let found = try violation(
      #"CREATE TABLE city ("its size" INTEGER) STRICT"#, "INSERT INTO city VALUES ('large')")
    #expect(found.kind == .datatype)
    #expect(found.table == "city")
    #expect(found.columns == ["its size"])
  }

  @Test("RAISE in a trigger, whatever its message pretends")
  func trigger() throws {
    let found = try violation(
      """
      CREATE TABLE city (name); CREATE TRIGGER full BEFORE INSERT ON city BEGIN
      SELECT RAISE(ABORT, 'UNIQUE constraint failed: city.name'); END
      """, "INSERT INTO city VALUES ('Oslo')")
    #expect(found.kind == .trigger)
    #expect(found.table == nil)
    #expect(found.columns.isEmpty)
  }

  @Test(
    "Names with dots, commas, quotes and spaces are told apart",
    arguments: [
      ("a.b", ["c"]), ("a", ["b.c"]), ("a.b", ["c.d", "e.f"]), ("city", ["x, city.y"]),
      ("city", ["x", "city.x"]), ("o'brien", ["name \"here\""]), ("234 fds", ["a, b", "c"]),
      ("北京.市", ["名.称"]), ("constraint failed: a", ["b"]), ("...", ["."]), ("a, a.b", ["c"]),
    ] as [(String, [String])])
  func names(table: String, columns: [String]) throws {
    let list = columns.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ", ")
    let marks = columns.map { _ in "1" }.joined(separator: ", ")
    let found = try violation(
      "CREATE TABLE \(identifier: table) (\(SQL(raw: list)), UNIQUE (\(SQL(raw: list))))",
      "INSERT INTO \(identifier: table) VALUES (\(SQL(raw: marks))), (\(SQL(raw: marks)))")
    #expect(found.kind == .unique)
    #expect(found.table == table)
    #expect(found.columns == columns)
  }

  @Test("A table whose name looks like the report of an index")
  func nameLikeAnIndex() throws {
    let found = try violation(
      #"CREATE TABLE "index 'a" ("b'" UNIQUE); INSERT INTO "index 'a" VALUES (1)"#,
      #"INSERT INTO "index 'a" VALUES (1)"#)
    #expect(found.table == "index 'a")
    #expect(found.columns == ["b'"])
  }

  @Test("Names that begin with a combining accent are told apart")
  func combiningAccents() throws {
    let found = try violation(
      "CREATE TABLE city (\"\u{301}name\" UNIQUE); INSERT INTO city VALUES (1)",
      "INSERT INTO city VALUES (1)")
    #expect(found.table == "city")
    #expect(found.columns == ["\u{301}name"])
  }

  @Test("Tables of attached databases and temporary ones")
  func otherSchemas() throws {
    let found = try violation(
      """
      ATTACH ':memory:' AS atlas; CREATE TABLE atlas."a.b" ("c.d" UNIQUE);
      INSERT INTO atlas."a.b" VALUES (1)
      """, #"INSERT INTO atlas."a.b" VALUES (1)"#)
    #expect(found.table == "a.b")
    #expect(found.columns == ["c.d"])
  }

  @Test("Other errors have none")
  func otherErrors() throws {
    let error = try #require(throws: DatabaseError.self) {
      try db.executeUpdate("DELETE FROM city")
    }
    #expect(error.constraint == nil)
    #expect(error.code != .constraint)
  }
}

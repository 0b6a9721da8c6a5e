import LarderSQLite
import Testing

@Suite("Details of constraint errors")
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

  @Test("A UNIQUE error has its table and the columns in the constraint's order")
  func unique() throws {
    let found = try violation(
      "CREATE TABLE city (name, country, UNIQUE (country, name)); INSERT INTO city VALUES ('Oslo', 'no')",
      "INSERT INTO city VALUES ('Oslo', 'no')")
    #expect(found.kind == .unique)
    #expect(found.table == "city")
    #expect(found.columns == ["country", "name"])
    #expect(found.name == nil)
  }

  @Test("An error of a unique index on an expression has the index's name and no columns")
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

  @Test("A PRIMARY KEY error has its columns, for integer and other keys")
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

  @Test("An error of a duplicate implicit row id has the kind `.rowID` and the column `rowid`")
  func rowID() throws {
    let found = try violation(
      "CREATE TABLE city (name); INSERT INTO city (rowid, name) VALUES (7, 'Oslo')",
      "INSERT INTO city (rowid, name) VALUES (7, 'Bergen')")
    #expect(found.kind == .rowID)
    #expect(found.table == "city")
    #expect(found.columns == ["rowid"])
  }

  @Test("A NOT NULL error has its table and column")
  func notNull() throws {
    let found = try violation(
      "CREATE TABLE city (name TEXT NOT NULL)", "INSERT INTO city VALUES (\(String?.none))")
    #expect(found.kind == .notNull)
    #expect(found.table == "city")
    #expect(found.columns == ["name"])
  }

  @Test("A CHECK error has the constraint's name or else its expression")
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

  @Test("A foreign key error has no table and columns, which SQLite doesn't report")
  func foreignKey() throws {
    let found = try violation(
      "CREATE TABLE country (id PRIMARY KEY); CREATE TABLE city (country REFERENCES country (id))",
      "INSERT INTO city VALUES ('no')")
    #expect(found.kind == .foreignKey)
    #expect(found.table == nil)
    #expect(found.columns.isEmpty)
  }

  @Test("A type error in a STRICT table has its table and column")
  func datatype() throws {
    let found = try violation(
      #"CREATE TABLE city ("its size" INTEGER) STRICT"#, "INSERT INTO city VALUES ('large')")
    #expect(found.kind == .datatype)
    #expect(found.table == "city")
    #expect(found.columns == ["its size"])
  }

  @Test(
    "A RAISE in a trigger has the kind `.trigger` even if its message looks like a UNIQUE error")
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
    "A UNIQUE error has the right table and columns if their names contain dots, commas or quotes",
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

  @Test("A UNIQUE error of a table whose name begins like `index '` has its table and column")
  func nameLikeAnIndex() throws {
    let found = try violation(
      #"CREATE TABLE "index 'a" ("b'" UNIQUE); INSERT INTO "index 'a" VALUES (1)"#,
      #"INSERT INTO "index 'a" VALUES (1)"#)
    #expect(found.table == "index 'a")
    #expect(found.columns == ["b'"])
  }

  @Test("A UNIQUE error has the right column if its name begins with a combining accent")
  func combiningAccents() throws {
    let found = try violation(
      "CREATE TABLE city (\"\u{301}name\" UNIQUE); INSERT INTO city VALUES (1)",
      "INSERT INTO city VALUES (1)")
    #expect(found.table == "city")
    #expect(found.columns == ["\u{301}name"])
  }

  @Test("A UNIQUE error in an attached database has its table and column")
  func otherSchemas() throws {
    let found = try violation(
      """
      ATTACH ':memory:' AS atlas; CREATE TABLE atlas."a.b" ("c.d" UNIQUE);
      INSERT INTO atlas."a.b" VALUES (1)
      """, #"INSERT INTO atlas."a.b" VALUES (1)"#)
    #expect(found.table == "a.b")
    #expect(found.columns == ["c.d"])
  }

  @Test("An error of a missing table has no `constraint`")
  func otherErrors() throws {
    let error = try #require(throws: DatabaseError.self) {
      try db.executeUpdate("DELETE FROM city")
    }
    #expect(error.constraint == nil)
    #expect(error.code != .constraint)
  }

  @Test("The message of a foreign key error names the keys that the statement can break")
  func foreignKeys() throws {
    try db.executeStatements(
      """
      CREATE TABLE list (id INTEGER PRIMARY KEY); CREATE TABLE "the user" (a, b, PRIMARY KEY (a, b));
      CREATE TABLE item (
        id INTEGER PRIMARY KEY, list REFERENCES list, a, b, text,
        FOREIGN KEY (a, b) REFERENCES "the user");
      CREATE TABLE mark (item REFERENCES item (id) ON DELETE RESTRICT);
      INSERT INTO list VALUES (1); INSERT INTO item VALUES (1, 1, NULL, NULL, '');
      INSERT INTO mark VALUES (1);
      """)
    func message(_ sql: SQL) -> String? {
      do {
        try db.executeUpdate(sql)
        return nil
      } catch {
        return (error as? DatabaseError)?.message
      }
    }
    let failed = "FOREIGN KEY constraint failed"
    let (list, user) = ("“item” (list) to “list”", "“item” (a, b) to “the user”")
    #expect(
      message("INSERT INTO item VALUES (2, 9, NULL, NULL, '')")
        == "\(failed): the foreign keys are \(list), \(user)")
    #expect(
      message("WITH n(x) AS (SELECT 9) INSERT OR FAIL INTO main.item (list) SELECT x FROM n")
        == "\(failed): the foreign keys are \(list), \(user)")
    #expect(
      message("UPDATE item SET text = 'a', list = 9 WHERE a IS NULL")
        == "\(failed): the foreign key is \(list)")
    #expect(
      message("UPDATE item AS i SET id = 7")
        == "\(failed): the foreign key is “mark” (item) to “item”")
    #expect(message("DELETE FROM list") == "\(failed): the foreign key is \(list)")
    #expect(
      message("REPLACE INTO item VALUES (1, 1, 8, 8, '')")?.hasSuffix(
        "\(user), “mark” (item) to “item”") == true)
  }

  @Test(
    "An error of ON DELETE RESTRICT is one of a foreign key, though SQLite carries it out by a trigger"
  )
  func restrict() throws {
    let found = try violation(
      """
      CREATE TABLE list (id INTEGER PRIMARY KEY);
      CREATE TABLE item (list REFERENCES list ON DELETE RESTRICT);
      INSERT INTO list VALUES (1); INSERT INTO item VALUES (1)
      """, "DELETE FROM list")
    #expect(found.kind == .foreignKey)
  }

  @Test("A foreign key error of a trigger's or a commit's change names no key of another table")
  func hiddenForeignKeys() throws {
    try db.executeStatements(
      """
      CREATE TABLE list (id INTEGER PRIMARY KEY); CREATE TABLE note (text);
      CREATE TABLE item (list REFERENCES list DEFERRABLE INITIALLY DEFERRED);
      CREATE TABLE entry (list REFERENCES list);
      CREATE TRIGGER noted AFTER INSERT ON note BEGIN INSERT INTO entry VALUES (9); END;
      """)
    let statement = failure { try db.executeUpdate("INSERT INTO note VALUES ('a')") }
    #expect(statement?.message == "FOREIGN KEY constraint failed")
    let commit = failure {
      try db.inTransaction { db in _ = try db.executeUpdate("INSERT INTO item VALUES (9)") }
    }
    #expect(commit?.message == "FOREIGN KEY constraint failed")
  }

  private func failure(_ body: () throws -> Void) -> DatabaseError? {
    do {
      try body()
      return nil
    } catch {
      return error as? DatabaseError
    }
  }
}

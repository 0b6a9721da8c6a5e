import LarderSQLite
import Testing

/// The database, table and column that a result's columns come from.
@Suite struct ColumnOriginTests {
  private func database() throws -> Database {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
      CREATE VIEW town AS SELECT id AS number, name AS title FROM city;
      ATTACH ':memory:' AS other;
      CREATE TABLE other.river (name TEXT);
      INSERT INTO city VALUES (1, 'Oslo');
      """)
    return db
  }

  private func words(_ origins: [ColumnOrigin?]) -> [String] {
    origins.map { $0.map { "\($0.database).\($0.table).\($0.column)" } ?? "-" }
  }

  @Test(
    "Columns of views and subqueries have the origin of their table; computed columns have none",
    .needsColumnMetadata
  )
  func origins() throws {
    let db = try database()
    let sql: SQL = """
      SELECT c.name AS n, title, s.x, upper(title), c.rowid, river.name, 1
      FROM (SELECT id AS x FROM city) AS s, city AS c, town LEFT JOIN river
      """
    let expected = [
      "main.city.name", "main.city.name", "main.city.id", "-", "main.city.id", "other.river.name",
      "-",
    ]
    let statement = try db.prepare(sql)
    #expect(words(try statement.columnOrigins) == expected)
    let rows = try db.executeQuery(sql)
    #expect(words(try rows.columnOrigins) == expected)
    #expect(try rows.next())
    #expect(words(try rows.columnOrigins) == expected)
  }

  @Test(
    "A column's origin has its new name after ALTER TABLE, even before the statement's first step",
    .needsColumnMetadata)
  func altered() throws {
    let db = try database()
    let statement = try db.prepare("SELECT * FROM city")
    try db.executeUpdate("ALTER TABLE city RENAME name TO title")
    #expect(words(try statement.columnOrigins) == ["main.city.id", "main.city.title"])
    #expect(try statement.step())
    #expect(words(try statement.columnOrigins) == ["main.city.id", "main.city.title"])
  }

  @Test(
    "Columns of RETURNING have no origin, and a statement without rows has no column origins",
    .needsColumnMetadata)
  func returning() throws {
    let db = try database()
    let rows = try db.executeQuery("INSERT INTO city (name) VALUES ('Bergen') RETURNING id, name")
    #expect(words(try rows.columnOrigins) == ["-", "-"])
    #expect(try db.prepare("DELETE FROM city").columnOrigins.isEmpty)
  }

  @Test("Column origins throw once the rows have ended or the statement or database is closed")
  func ended() throws {
    let db = try database()
    let rows = try db.executeQuery("SELECT * FROM city")
    while try rows.next() {}
    #expect(throws: DatabaseError.self) { try rows.columnOrigins }
    let statement = try db.prepare("SELECT * FROM city")
    statement.close()
    #expect(throws: DatabaseError.self) { try statement.columnOrigins }
    let other = try db.prepare("SELECT * FROM city")
    try db.close()
    #expect(throws: DatabaseError.self) { try other.columnOrigins }
  }
}

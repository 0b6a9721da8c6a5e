import LarderSQLite
import Testing

/// Tests of `suggestedIndexes(for:)`.
@Suite struct SuggestedIndexTests {
  private func database(_ more: SQL = "") throws -> Database {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT, continent TEXT);
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, country TEXT REFERENCES country,
        population INTEGER, founded TEXT, mayor TEXT, payload TEXT);
      """)
    try db.executeStatements(more)
    return db
  }

  private func suggestions(_ sql: SQL, _ more: SQL = "") throws -> [String] {
    try database(more).suggestedIndexes(for: sql).map(\.sql).sorted()
  }

  @Test("An index is suggested for a column that a WHERE clause compares")
  func comparison() throws {
    #expect(
      try suggestions("SELECT * FROM city WHERE country = ?")
        == [#"CREATE INDEX "city_country" ON "city" ("country")"#])
    #expect(
      try suggestions("SELECT name FROM city WHERE population BETWEEN 1 AND 2")
        == [#"CREATE INDEX "city_population" ON "city" ("population")"#])
  }

  @Test("A suggested index has equality columns first, then range columns, then those of ORDER BY")
  func severalColumns() throws {
    #expect(
      try suggestions("SELECT * FROM city WHERE population > ? AND country = ?")
        == [#"CREATE INDEX "city_country_population" ON "city" ("country", "population")"#])
    #expect(
      try suggestions("SELECT * FROM city WHERE country = 'NO' ORDER BY population DESC LIMIT 3")
        == [#"CREATE INDEX "city_country_population" ON "city" ("country", "population")"#])
    #expect(
      try suggestions("SELECT * FROM city WHERE country = 'NO' ORDER BY name, population DESC")
        == [
          #"CREATE INDEX "city_country_name_population" ON "city" ("country", "name" DESC, "population")"#
        ])
  }

  @Test("No index is suggested when a suitable one exists, or none could help")
  func nothing() throws {
    #expect(try suggestions("SELECT * FROM city WHERE id = 3") == [])
    #expect(try suggestions("SELECT * FROM city") == [])
    #expect(try suggestions("SELECT count(*), max(population) FROM city WHERE name + 1 = 3") == [])
    #expect(
      try suggestions("SELECT * FROM city WHERE country = 'NO'", "CREATE INDEX a ON city (country)")
        == [])
    #expect(try suggestions("INSERT INTO city (name) VALUES ('Oslo')") == [])
    #expect(try suggestions("PRAGMA user_version") == [])
  }

  @Test("Indexes are suggested for joins, OR, subqueries, GROUP BY, UPDATE and DELETE")
  func statements() throws {
    #expect(
      try suggestions(
        "SELECT country.name, city.name FROM country JOIN city ON city.country = country.code WHERE continent = 'EU'"
      )
        == [
          #"CREATE INDEX "city_country" ON "city" ("country")"#,
          #"CREATE INDEX "country_continent" ON "country" ("continent")"#,
        ])
    #expect(
      try suggestions("SELECT * FROM city WHERE name = 'Oslo' OR mayor = 'Liu'")
        == [
          #"CREATE INDEX "city_mayor" ON "city" ("mayor")"#,
          #"CREATE INDEX "city_name" ON "city" ("name")"#,
        ])
    #expect(
      try suggestions("UPDATE city SET population = 0 WHERE name = ?")
        == [#"CREATE INDEX "city_name" ON "city" ("name")"#])
    #expect(
      try suggestions("DELETE FROM city WHERE founded < '1500'")
        == [#"CREATE INDEX "city_founded" ON "city" ("founded")"#])
    #expect(
      try suggestions(
        "SELECT name, (SELECT count(*) FROM city AS c WHERE c.country = code) FROM country")
        == [#"CREATE INDEX "city_country" ON "city" ("country")"#])
    #expect(
      try suggestions("SELECT country, count(*) FROM city GROUP BY country")
        == [#"CREATE INDEX "city_country" ON "city" ("country")"#])
  }

  @Test("A suggested index has the statement's collation or expression")
  func expressions() throws {
    #expect(
      try suggestions("SELECT * FROM city WHERE name = ? COLLATE NOCASE")
        == [#"CREATE INDEX "city_name" ON "city" ("name" COLLATE "NOCASE")"#])
    #expect(
      try suggestions("SELECT * FROM city WHERE lower(city.name) = 'oslo'")
        == [#"CREATE INDEX "city_expression" ON "city" (lower(name))"#])
    #expect(
      try suggestions("SELECT * FROM city AS c WHERE json_extract(c.payload, '$.a') > 3")
        == [#"CREATE INDEX "city_expression" ON "city" (json_extract(payload, '$.a'))"#])
  }

  @Test(
    "Indexes are suggested with custom functions and collations, and for views, attached and temp tables"
  )
  func company() throws {
    let db = try database("CREATE VIEW european AS SELECT * FROM city WHERE half(population) > 3")
    try db.createFunction("half", argumentCount: 1) { _ in nil }
    try db.createCollation("by_length") { _, _ in .orderedSame }
    try db.executeStatements(
      """
      CREATE TABLE sorted (name TEXT COLLATE by_length);
      ATTACH ':memory:' AS other;
      CREATE TABLE other.river (name TEXT, length REAL);
      CREATE TEMP TABLE visit (city INTEGER);
      CREATE VIRTUAL TABLE search USING fts5 (text);
      """)
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM european WHERE name = 'Oslo'").map(\.name)
        == ["city_name"])
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM river WHERE length > 3").map(\.sql)
        == [#"CREATE INDEX "other"."river_length" ON "river" ("length")"#])
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM visit WHERE city = 3").map(\.name)
        == ["visit_city"])
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM search WHERE search MATCH 'a'").isEmpty)
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM sorted WHERE name = 'a'").map(\.name)
        == ["sorted_name"])
  }

  @Test(
    "The suggested index of a join is on the table with more rows by ANALYZE's statistics",
    arguments: [true, false])
  func statistics(isFirstLarge: Bool) throws {
    let db = try database("CREATE TABLE a (x); CREATE TABLE b (x); ANALYZE")
    try db.executeUpdate(
      "INSERT INTO sqlite_stat1 VALUES ('a', NULL, \(isFirstLarge ? "1000000" : "10")), ('b', NULL, \(isFirstLarge ? "10" : "1000000"))"
    )
    #expect(
      try db.suggestedIndexes(for: "SELECT * FROM a JOIN b ON a.x = b.x").map(\.name)
        == [isFirstLarge ? "a_x" : "b_x"])
  }

  @Test("Suggesting an index changes no schema, and the query then uses the suggested index")
  func used() throws {
    let db = try database()
    let before = try db.schema()
    let sql: SQL = "SELECT * FROM city WHERE country = \("NO") AND population > \(10)"
    let index = try #require(try db.suggestedIndexes(for: sql).first)
    #expect(try db.schema() == before)
    #expect(index.columns == ["country", "population"])
    try db.executeUpdate(SQL(raw: index.sql))
    let detail =
      try db.value("SELECT 1", as: Int.self) == 1
      ? try db.executeQuery("EXPLAIN QUERY PLAN \(sql)").map {
        try $0.get("detail", as: String.self)
      } : []
    #expect(
      detail == ["SEARCH city USING INDEX city_country_population (country=? AND population>?)"])
    #expect(try db.suggestedIndexes(for: sql) == [])
  }

  @Test("A suggested index quotes unusual names, and adds a number to a name that is taken")
  func names() throws {
    let db = try Database()
    try db.executeStatements(
      #"""
      CREATE TABLE "o'brien "" x" ("a ""b" TEXT, "select" INTEGER, "ü-🙂" TEXT);
      CREATE TABLE t (a); CREATE TABLE t_a (x);
      """#)
    let index = try #require(
      try db.suggestedIndexes(
        for: #"SELECT * FROM "o'brien "" x" WHERE "a ""b" = 'a' AND "ü-🙂" = 'b'"#
      )
      .first)
    try db.executeUpdate(SQL(raw: index.sql))
    #expect(Set(index.columns) == [#"a "b"#, "ü-🙂"])
    #expect(try db.suggestedIndexes(for: "SELECT * FROM t WHERE a = 1").map(\.name) == ["t_a_2"])
  }

  @Test("Suggesting indexes for invalid, empty or several statements throws")
  func invalid() throws {
    let db = try database()
    #expect(throws: DatabaseError.self) { try db.suggestedIndexes(for: "SELECT * FROM nowhere") }
    #expect(throws: DatabaseError.self) { try db.suggestedIndexes(for: "SELEC") }
    #expect(throws: DatabaseError.self) { try db.suggestedIndexes(for: "") }
    #expect(throws: DatabaseError.self) { try db.suggestedIndexes(for: "SELECT 1; SELECT 2") }
    try db.close()
    #expect(throws: DatabaseError.self) { try db.suggestedIndexes(for: "SELECT 1") }
  }
}

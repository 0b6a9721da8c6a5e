import Larder
import PostgresSupport
import Testing

@Suite(
  "Adding missing columns",
  .onlySQLite(.definitions))
struct MissingColumnTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test("Missing columns are added with their defaults, checks, foreign keys and indexes")
  func added() throws {
    try Country.table.create(db)
    try db.executeStatements(
      """
      CREATE TABLE "the town" (id INTEGER PRIMARY KEY) STRICT; INSERT INTO "the town" VALUES (1)
      """)
    let table = try TableSchema(
      "the town",
      [
        .column("id", .integer, .primaryKey),
        .column("the \"name\"", .text, .default("it's"), .indexed),
        .column("country", .text.optional, .references("country", column: "code")),
        .column("size", .integer.optional, .check("size > 0")),
        .column("double", .integer.optional, .generated("size * 2")),
      ], indexes: [.index("country", "size", unique: true)])
    #expect(try table.addMissingColumns(db) == ["the \"name\"", "country", "size", "double"])
    #expect(try table.differences(from: Schema(db).table("the town")) == [])
    #expect(try db.value(#"SELECT "the ""name""" FROM "the town""#) == "it's")
    #expect(try table.addMissingColumns(db) == [])
  }

  @Test("A record's missing columns are added, and names compare in any case")
  func record() throws {
    try db.executeStatements(
      "CREATE TABLE CITY (ID INTEGER PRIMARY KEY, Population INTEGER NOT NULL)")
    let table = Table(
      "city", City.init, City.columns.id, Column("name", \City.name, .default("?")),
      City.columns.population)
    #expect(try table.addMissingColumns(db) == ["name"])
    #expect(try db.columns(of: "city").map(\.name) == ["ID", "Population", "name"])
  }

  @Test(
    "A column that ALTER TABLE can't add throws with the reason, and nothing is added",
    arguments: [
      (ColumnDefinition.column("x", .integer), "it is NOT NULL and has no default"),
      (.column("x", .integer.optional, .unique), "it is UNIQUE"),
      (
        .column("x", .integer.optional, .generated("1", stored: true)),
        "it is a STORED generated column"
      ),
      (.column("x", .integer, .default(sql: "abs(1)")), "its default is an expression"),
      (.column("x", .text, .default("a\0b")), "its default is an expression"),
      (
        .column("x", .text, .default("NO"), .references("country", column: "code")),
        "it refers to another table and has a default"
      ),
    ])
  func impossible(column: ColumnDefinition, reason: String) throws {
    try db.executeStatements(
      "CREATE TABLE town (id INTEGER PRIMARY KEY) STRICT; INSERT INTO town VALUES (1)")
    let table = try TableSchema(
      "town",
      [.column("id", .integer, .primaryKey), .column("fine", .integer.optional), column])
    let error = failure(SchemaError.self) { try table.addMissingColumns(db) }
    #expect(error == .cannotAddColumn(table: "town", column: "x", reason: reason))
    #expect(try db.columns(of: "town").count == 1)
    // The steps rebuild the table instead.
    if column.name == "x", !reason.contains("NOT NULL") {
      let steps = Schema(tables: [table]).steps(from: try Schema(db))
      #expect(steps.map(\.sql) == [nil])
    }
  }

  @Test("A column whose check existing rows violate isn't added")
  func check() throws {
    try db.executeStatements(
      "CREATE TABLE town (id INTEGER PRIMARY KEY) STRICT; INSERT INTO town VALUES (1)")
    let table = try TableSchema(
      "town",
      [
        .column("id", .integer, .primaryKey), .column("a", .integer.optional),
        .column("b", .integer, .default(0), .check("b > 0")),
      ])
    #expect(throws: DatabaseError.self) { try table.addMissingColumns(db) }
    #expect(try db.columns(of: "town").count == 1)
    let missing = try TableSchema("river", [.column("id", .integer, .primaryKey)])
    #expect(failure(SchemaError.self) { try missing.addMissingColumns(db) } == .noTable("river"))
  }
}

import Larder
import PostgresSupport
import Testing

@Suite("Tables without records, views, triggers and virtual tables")
struct TableSchemaTests {
  let db: Database

  init() throws { db = try Database.empty() }

  private func log() throws -> TableSchema {
    try TableSchema(
      "log",
      [
        .column("id", .integer, .autoincrement),
        .column("at", .real, .indexed, .check("at > \(0)")),
        .column("country", .text.optional, .references("country", column: "code")),
        .column("text", .text, .default("it's"), .collate("NOCASE")),
        .column("anything", .any.optional),
      ], constraints: [.unique("at", "country"), .check("text <> country")],
      indexes: [.index("country", "at", unique: true, where: "at > \(5)", name: "late")])
  }

  @Test(
    "TableSchema declares a table column by column",
    .onlySQLite(.definitions))
  func builder() throws {
    #expect(
      try log().statements == [
        """
        CREATE TABLE "log" (
          "id" INTEGER PRIMARY KEY AUTOINCREMENT,
          "at" REAL NOT NULL CHECK (at > 0),
          "country" TEXT REFERENCES "country" ("code"),
          "text" TEXT COLLATE "NOCASE" NOT NULL DEFAULT 'it''s',
          "anything" ANY,
          UNIQUE ("at", "country"),
          CHECK (text <> country)
        ) STRICT
        """, #"CREATE INDEX "log_at_index" ON "log" ("at")"#,
        #"CREATE UNIQUE INDEX "late" ON "log" ("country", "at") WHERE at > 5"#,
      ])
    try Country.table.create(db)
    try log().create(db)
    #expect(throws: DatabaseError.self) { try log().create(db) }
    try log().create(db, ifNotExists: true)
    #expect(try log().differences(from: Schema(db).table("LOG")) == [])
    try log().drop(db)
    #expect(throws: DatabaseError.self) { try log().drop(db) }
    try log().drop(db, ifExists: true)
  }

  @Test("TableSchema declares a foreign key of several columns")
  func compositeForeignKey() throws {
    let table = try TableSchema(
      "closure", [.column("a", .integer), .column("b", .integer)],
      constraints: [
        .foreignKey(
          ["a", "b"], references: "road", columns: ["from", "to"], onDelete: .cascade)
      ], options: .noPrimaryKey, in: db)
    #expect(
      table.sql.contains(#"FOREIGN KEY ("a", "b") REFERENCES "road" ("from", "to") ON DELETE"#))
    try Road.table.create(db)
    try table.create(db)
    #expect(try db.foreignKeys(of: "closure").map(\.columns) == [["a", "b"]])
  }

  @Test("Tables, views and triggers can have any name", .onlySQLite(.triggers))
  func oddNames() throws {
    for name in ["the \"old\" towns", "o'brien", "select", "北京", "a.b", "x;--", " ", "[x]"] {
      let db = try Database.empty()
      let table = try TableSchema(
        name, [.column("\(name) id", .integer, .primaryKey), .column(name, .text, .indexed)])
      try table.create(db)
      #expect(try table.differences(from: Schema(db).table(name)) == [], "\(name)")
      try SchemaEntry.view(
        "\(name) view", as: "SELECT \(identifier: name) FROM \(identifier: name)"
      )
      .create(db)
      try SchemaEntry.trigger(
        "\(name) trigger", "BEFORE DELETE", on: name, run: "SELECT raise(ABORT, 'kept')"
      ).create(db)
      try db.executeUpdate("INSERT INTO \(identifier: name) VALUES (1, 'x')")
      #expect(try table.rebuild(db) == 1)
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("DELETE FROM \(identifier: name)")
      }
      #expect(try db.value("SELECT * FROM \(identifier: "\(name) view")") == "x")
      #expect(try table.differences(from: Schema(db).table(name)) == [], "\(name)")
    }
  }

  @Test("A wrong TableSchema or SchemaEntry throws when it is made")
  func wrongDeclarations() throws {
    func problem(_ name: String, _ columns: [ColumnDefinition]) -> String? {
      recordFailure { try TableSchema(name, columns) }
    }
    let key = ColumnDefinition.column("id", .integer, .primaryKey)
    #expect(problem("", [key])?.contains("its name is empty") == true)
    #expect(problem("a\0", [key])?.contains("holds a NUL") == true)
    #expect(problem("a", [])?.contains("it has no columns") == true)
    #expect(problem("a", [key, .column("ID", .text)])?.contains("two columns are named") == true)
    #expect(problem("a", [.column("b", .text)])?.contains("it has no primary key") == true)
    #expect(throws: ConversionError.self) {
      try TableSchema("a", [key, .column("b", .real, .default(.real(.nan)))])
    }
    #expect(recordFailure { try SchemaEntry.view("", as: "SELECT 1") } != nil)
    #expect(throws: ConversionError.self) {
      try SchemaEntry.view("v", as: "SELECT \(Double.nan)")
    }
  }

  @Test(
    "Views and triggers are created from SQL with its values as literals",
    .onlySQLite(.triggers))
  func viewsAndTriggers() throws {
    try City.table.create(db)
    let view = try SchemaEntry.view(
      "large", columns: ["label"], as: "SELECT name FROM city WHERE population > \(100_000)")
    #expect(
      view.sql
        == #"CREATE VIEW "large" ("label") AS SELECT name FROM city WHERE population > 100000"#)
    try view.create(db)
    try view.create(db, ifNotExists: true)
    #expect(throws: DatabaseError.self) { try view.create(db) }
    let trigger = try SchemaEntry.trigger(
      "shrink", "AFTER INSERT", on: "city", when: "new.name = \("L'Aquila")",
      run: "UPDATE city SET population = population - 1 WHERE id = new.id",
      "UPDATE city SET population = population - 1 WHERE id = new.id")
    try trigger.create(db)
    try db.executeUpdate("INSERT INTO city VALUES (1, 'Oslo', 709037), (2, 'L''Aquila', 70000)")
    #expect(try db.value("SELECT label FROM large") == "Oslo")
    #expect(try db.value("SELECT population FROM city WHERE id = 2") == 69_998)
    try trigger.drop(db)
    try view.drop(db)
    try view.drop(db, ifExists: true)
    #expect(try Schema(db).others == [])
  }

  @Test(
    "A full-text table is created, read and compared as a schema entry",
    .onlySQLite(.definitions))
  func fullText() throws {
    let text = try SchemaEntry.virtualTable(
      "city_text", using: "fts5(name, tokenize = \("porter"))")
    try text.create(db)
    try db.executeUpdate("INSERT INTO city_text VALUES ('Oslo by the fjords')")
    #expect(try db.value("SELECT count(*) FROM city_text WHERE city_text MATCH 'fjord'") == 1)
    let schema = try Schema(db)
    #expect(schema.tables == [])
    #expect(schema.others == [text])
    #expect(Schema(tables: [], others: [text]).differences(from: schema) == [])
    try text.drop(db)
    #expect(try db.schema() == [])
  }
}

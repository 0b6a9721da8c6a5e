import Larder
import PostgresSupport
import Testing

@Suite(
  "Steps that change a schema to the declared one",
  .onlySQLite(.definitions))
struct SchemaStepTests {
  /// The descriptions of the steps from what this SQL creates. Runs them and checks that no
  /// difference is left.
  private func steps(to declared: Schema, from statements: SQL) throws -> [String] {
    let db = try Database.empty()
    try db.executeStatements(statements)
    let before = try db.schema()
    let steps = declared.steps(from: try Schema(db))
    #expect(try db.schema() == before)
    for step in steps { try step.execute(db) }
    #expect(declared.differences(from: try Schema(db)) == [])
    #expect(declared.steps(from: try Schema(db)) == [])
    return steps.map(\.description)
  }

  @Test("Schema steps create missing tables and indexes")
  func creation() throws {
    #expect(
      try steps(to: Schema(City.self), from: "") == [
        "create the table “city”: \(try City.table.schema().statements[0])",
        "create the index “city_population_index” of “city”: "
          + #"CREATE INDEX "city_population_index" ON "city" ("population")"#,
      ])
  }

  @Test("Schema steps add columns where ALTER TABLE can, and create and drop indexes")
  func addition() throws {
    let table = try TableSchema(
      "city",
      [
        .column("id", .integer, .primaryKey), .column("name", .text, .default("?"), .indexed),
        .column("size", .integer.optional, .check("size > 0"), .references("size", column: "id")),
      ])
    #expect(
      try steps(
        to: Schema(tables: [table]),
        from: """
          CREATE TABLE city (id INTEGER PRIMARY KEY) STRICT; INSERT INTO city VALUES (1);
          CREATE INDEX by_id ON city (id DESC)
          """) == [
          #"DESTRUCTIVE: drop the index “by_id” of “city”: DROP INDEX "by_id""#,
          "add the column “name” to “city”: "
            + #"ALTER TABLE "city" ADD COLUMN "name" TEXT NOT NULL DEFAULT '?'"#,
          "add the column “size” to “city”: "
            + #"ALTER TABLE "city" ADD COLUMN "size" INTEGER CHECK (size > 0) "#
            + #"REFERENCES "size" ("id")"#,
          #"create the index “city_name_index” of “city”: "#
            + #"CREATE INDEX "city_name_index" ON "city" ("name")"#,
        ])
  }

  @Test("Schema steps drop an index first if another needs its name, also of another table")
  func namesOfIndexes() throws {
    let city = try TableSchema(
      "city", [.column("id", .integer, .primaryKey), .column("name", .text)],
      indexes: [.index("name", name: "first"), .index("id", "name", name: "second")])
    let lake = try TableSchema(
      "lake", [.column("id", .integer, .primaryKey), .column("name", .text)])
    #expect(
      try steps(
        to: Schema(tables: [city, lake]),
        from: """
          CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          CREATE TABLE lake (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          CREATE INDEX first ON city (id, name);
          CREATE INDEX second ON lake (name);
          """) == [
          #"drop the index “first” of “city”: DROP INDEX "first""#,
          #"DESTRUCTIVE: drop the index “second” of “lake”: DROP INDEX "second""#,
          #"create the index “first” of “city”: CREATE INDEX "first" ON "city" ("name")"#,
          "create the index “second” of “city”: "
            + #"CREATE INDEX "second" ON "city" ("id", "name")"#,
        ])
    // A rebuild needs the index's name, because the index replaces a UNIQUE constraint.
    #expect(
      try steps(
        to: Schema(tables: [city, lake]),
        from: """
          CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
          CREATE TABLE lake (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          CREATE INDEX first ON lake (name);
          """) == [
          #"DESTRUCTIVE: drop the index “first” of “lake”: DROP INDEX "first""#,
          "rebuild the table “city”",
        ])
    // An index that differs only in its name is accepted.
    #expect(
      try steps(
        to: Schema(tables: [city]),
        from: """
          CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          CREATE INDEX first ON city (id, name);
          CREATE INDEX second ON city (name);
          """) == [])
  }

  @Test(
    "Schema steps rebuild what ALTER TABLE can't change, marked destructive if columns are lost"
  )
  func rebuild() throws {
    #expect(
      try steps(
        to: Schema(City.self),
        from: """
          CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR(80), population INT);
          INSERT INTO city VALUES (1, 'Oslo', 709037)
          """) == ["rebuild the table “city”"])
    #expect(
      try steps(
        to: Schema(Country.self),
        from: "CREATE TABLE country (code TEXT PRIMARY KEY, president TEXT)") == [
          "DESTRUCTIVE: rebuild the table “country”, losing “president”, with values for “name”"
        ])
  }

  @Test("Schema steps drop what isn't declared, marked destructive")
  func surplus() throws {
    #expect(
      try steps(
        to: Schema(Country.self),
        from: """
          CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
          CREATE TABLE river (id INTEGER PRIMARY KEY);
          CREATE TABLE lake (river INTEGER REFERENCES river);
          CREATE VIEW rivers AS SELECT * FROM river;
          CREATE VIRTUAL TABLE text USING fts5(x);
          CREATE TRIGGER t AFTER DELETE ON river BEGIN SELECT 1; END;
          CREATE TABLE larder_migration (name TEXT);
          """) == [
          #"DESTRUCTIVE: drop the trigger “t”: DROP TRIGGER "t""#,
          #"DESTRUCTIVE: drop the view “rivers”: DROP VIEW "rivers""#,
          #"DESTRUCTIVE: drop the virtual table “text”: DROP TABLE "text""#,
          #"DESTRUCTIVE: drop the table “lake” with its rows: DROP TABLE "lake""#,
          #"DESTRUCTIVE: drop the table “river” with its rows: DROP TABLE "river""#,
        ])
  }

  @Test("Schema steps recreate changed views and triggers with the ones that depend on them")
  func dependents() throws {
    var declared = try Schema(Country.self)
    let delete = try SchemaEntry.trigger(
      "gone", "INSTEAD OF DELETE", on: "names",
      run: "DELETE FROM country WHERE name = old.name")
    declared.others = [
      delete, try .view("names", as: "SELECT name FROM country WHERE name > ''"),
    ]
    #expect(
      try steps(
        to: declared,
        from: """
          CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL UNIQUE) STRICT;
          CREATE VIEW names AS SELECT name FROM country;
          CREATE TRIGGER gone INSTEAD OF DELETE ON names
            BEGIN DELETE FROM country WHERE name = old.name; END;
          """) == [
          #"drop the trigger “gone”: DROP TRIGGER "gone""#,
          #"drop the view “names”: DROP VIEW "names""#,
          "create the view “names”: "
            + #"CREATE VIEW "names" AS SELECT name FROM country WHERE name > ''"#,
          "create the trigger “gone”: \(delete.sql ?? "")",
        ])
  }

  @Test("A rebuild step without a value for a new column throws, and changes nothing")
  func needsValue() throws {
    let db = try Database.empty()
    try db.executeStatements(
      "CREATE TABLE country (code TEXT PRIMARY KEY) STRICT; INSERT INTO country VALUES ('NO')")
    let steps = try Schema(Country.self).steps(from: Schema(db))
    #expect(steps.map(\.isDestructive) == [false])
    #expect(
      failure(SchemaError.self) { try steps[0].execute(db) }
        == .needsValue(table: "country", column: "name"))
    #expect(try db.columns(of: "country").count == 1)
  }
}

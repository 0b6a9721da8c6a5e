import Foundation
import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite(
  "Reading and comparing schemas",
  .onlySQLite(.definitions)
)
struct SchemaReadingTests {
  let db: Database

  init() throws { db = try Database.empty() }

  private let station: SQL = """
    CREATE TABLE country (code TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE [the "station"] (
      id INTEGER PRIMARY KEY AUTOINCREMENT, -- the number, (not the code)
      name VARCHAR(40) COLLATE NOCASE NOT NULL DEFAULT ('un, ' || 'named') UNIQUE CHECK (name <> ')'),
      "check" TEXT /* , */ CONSTRAINT home REFERENCES country DEFERRABLE INITIALLY DEFERRED,
      label TEXT GENERATED ALWAYS AS (upper(name) || x'2d' || 1e-5) STORED,
      short TEXT AS (substr(name, 1, 3)),
      CONSTRAINT "long enough" CHECK (length(name) > 1 - -1),
      UNIQUE (name, "check"),
      FOREIGN KEY (name) REFERENCES country (code) ON DELETE SET NULL ON UPDATE CASCADE
        NOT DEFERRABLE INITIALLY DEFERRED
    );
    CREATE INDEX "by (name)" ON [the "station"] (name COLLATE BINARY DESC, lower("check"))
      WHERE "check" > 'a, b';
    CREATE VIEW names AS SELECT name FROM [the "station"];
    CREATE TRIGGER kept BEFORE DELETE ON country BEGIN SELECT raise(ABORT, 'kept'); END;
    """

  @Test("Reading a schema finds columns, keys, constraints and indexes of a table")
  func table() throws {
    try db.executeStatements(station)
    let table = try #require(try Schema(db).table("THE \"STATION\""))
    #expect(table.name == "the \"station\"")
    #expect(table.columns.map(\.name) == ["id", "name", "check", "label", "short"])
    #expect(table.columns.map(\.type) == ["INTEGER", "VARCHAR(40)", "TEXT", "TEXT", "TEXT"])
    #expect(table.columns.map(\.isNotNull) == [false, true, false, false, false])
    #expect(table.columns.map(\.default) == [nil, "'un, ' || 'named'", nil, nil, nil])
    #expect(table.columns.map(\.collation) == [nil, "NOCASE", nil, nil, nil])
    #expect(
      table.columns.map(\.generated) == [
        nil, nil, nil, "upper(name) || x'2d' || 1e-5", "substr(name, 1, 3)",
      ])
    #expect(table.columns.map(\.isStored) == [false, false, false, true, false])
    #expect(table.primaryKey == ["id"])
    #expect(table.isAutoincrement)
    #expect(table.uniqueConstraints == [["name"], ["name", "check"]])
    #expect(table.checks == ["name <> ')'", "length(name) > 1 - -1"])
    #expect(!table.isStrict && !table.isWithoutRowID)
    let keys = table.foreignKeys
    #expect(keys.map(\.columns) == [["check"], ["name"]])
    #expect(keys.map(\.referencedColumns) == [[], ["code"]])
    #expect(keys.map(\.isDeferred) == [true, false])
    #expect(keys.map(\.onDelete) == [.noAction, .setNull])
    #expect(keys.map(\.onUpdate) == [.noAction, .cascade])
    let index = try #require(table.indexes.first)
    #expect(index.name == "by (name)")
    #expect(index.terms == ["name COLLATE BINARY DESC", #"lower("check")"#])
    #expect(index.condition == #""check" > 'a, b'"#)
  }

  @Test("Names in single quotes are read as names")
  func stringsAsNames() throws {
    try db.executeStatements(
      "CREATE TABLE 'lake' ('the name' TEXT COLLATE 'NOCASE', 'size' AS (length(\"the name\")))")
    let columns = try #require(try Schema(db).table("lake")).columns
    #expect(columns.map(\.name) == ["the name", "size"])
    #expect(columns.map(\.collation) == ["NOCASE", nil])
    #expect(columns.map(\.generated) == [nil, #"length("the name")"#])
    #expect(columns.map(\.sql)[0] == "'the name' TEXT COLLATE 'NOCASE'")
  }

  @Test("Reading a schema finds views, triggers and options, and omits SQLite's own tables")
  func others() throws {
    try db.executeStatements(station)
    try db.executeStatements("CREATE TEMP TABLE country (x); ANALYZE")
    let schema = try Schema(db)
    #expect(schema.tables.map(\.name) == ["country", "the \"station\""])
    #expect(schema.tables.map(\.isWithoutRowID) == [true, false])
    #expect(schema.tables[0].primaryKey == ["code"])
    #expect(schema.others.map(\.kind) == [.view, .trigger])
    #expect(schema.others.map(\.table) == ["names", "country"])
  }

  @Test("A schema that was read can be created in another database without differences")
  func copy() throws {
    try db.executeStatements(station)
    let schema = try Schema(db)
    let other = try Database.empty()
    for step in schema.steps(from: try Schema(other)) {
      #expect(!step.isDestructive)
      try step.execute(other)
    }
    #expect(try Schema(other) == schema)
    #expect(schema.differences(from: try Schema(other)) == [])
    #expect(schema.steps(from: schema) == [])
  }

  @Test("A schema can be read in a read scope and from a read-only database")
  func reading() throws {
    let queue = try DatabaseQueue()
    try queue.inTransaction { try City.table.create($0) }
    #expect(try queue.read { try Schema($0).tables.map(\.name) } == ["city"])
    #expect(try queue.read { try Schema(City.self).differences(from: Schema($0)) } == [])
    let folder = try ScratchFolder()
    let file = folder.file("cities.db")
    try City.table.create(Database(path: file))
    var configuration = Configuration()
    configuration.readOnly = true
    let db = try Database(path: file, configuration: configuration)
    #expect(try Schema(db).tables.map(\.name) == ["city"])
  }

  @Test("A schema of records matches the database that its steps create")
  func records() throws {
    let declared = try Schema(Country.self, City.self, Road.self, Bridge.self, Everything.self)
    for step in declared.steps(from: Schema(tables: [])) { try step.execute(db) }
    #expect(declared.differences(from: try Schema(db)) == [])
    #expect(try City.table.differences(db) == [])
    #expect(throws: (any Error).self) { try Schema(BadlyDeclared.self) }
  }

  private struct BadlyDeclared: Record {
    var id: Int64
    static let columns = [Column("id", \BadlyDeclared.id)]
    static let table = Table("bad", BadlyDeclared.init, columns[0])
  }

  @Test("Each difference between schemas is described in one line")
  func differences() throws {
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE NOT NULL,
        population INTEGER NOT NULL CHECK (population > 0)) STRICT;
      CREATE INDEX by_name ON city (name DESC);
      CREATE TABLE river (name TEXT UNIQUE);
      CREATE VIEW large AS SELECT 1;
      CREATE TRIGGER t AFTER DELETE ON city BEGIN SELECT 1; END;
      """)
    var declared = try Schema(City.self, Country.self)
    declared.others = [try .view("large", as: "SELECT 2"), try .view("small", as: "SELECT 3")]
    #expect(
      declared.differences(from: try Schema(db)).map(\.description) == [
        "“city”.“name”, collation: declared nothing, found NOCASE",
        #"“city”.“population”, index: declared CREATE INDEX "city_population_index" ON "city" "#
          + #"("population"), found nothing"#,
        "“city”, index: declared nothing, found CREATE INDEX by_name ON city (name DESC)",
        "“city”, check: declared nothing, found CHECK (population > 0)",
        "“country”: declared \(try Country.table.schema().sql), found nothing",
        "“river”: declared nothing, found CREATE TABLE river (name TEXT UNIQUE)",
        #"“large”, view: declared CREATE VIEW "large" AS SELECT 2, found CREATE VIEW large AS SELECT 1"#,
        #"“small”, view: declared CREATE VIEW "small" AS SELECT 3, found nothing"#,
        "“t”, trigger: declared nothing, "
          + "found CREATE TRIGGER t AFTER DELETE ON city BEGIN SELECT 1; END",
      ])
  }
}

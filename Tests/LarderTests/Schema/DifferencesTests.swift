import Foundation
import Larder
import PostgresSupport
import Testing

@Suite(
  "Differences between a table and its declaration",
  .onlySQLite(.definitions))
struct DifferencesTests {
  /// The descriptions of the differences of a table that this SQL creates.
  private func differences<R>(_ table: Table<R>, _ statements: SQL...) throws -> [String] {
    let db = try Database.empty()
    for statement in statements { try db.executeStatements(statement) }
    return try table.differences(db).map(\.description)
  }

  private let city: SQL =
    "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL) STRICT"
  private let index: SQL = "CREATE INDEX city_population ON city (population)"

  @Test("A table that says the same in other words has no differences")
  func same() throws {
    #expect(try differences(City.table, city, index) == [])
    #expect(
      try differences(
        City.table,
        """
        create table CITY (ID integer not null primary key asc, [Name] text not null, -- the name
          `POPULATION` int not null) strict
        """, "CREATE UNIQUE INDEX i ON city (Population)") == [])
    #expect(
      try differences(
        town(Column("name", \.name, .references(Country.self), .default(sql: "upper( 'Oslo' )"))),
        """
        CREATE TABLE town (id INTEGER PRIMARY KEY,
          name TEXT NOT NULL DEFAULT ((UPPER('Oslo'))) REFERENCES COUNTRY) STRICT
        """) == [])
  }

  @Test("A missing table is reported as the only difference")
  func missingTable() throws {
    let found = try differences(City.table)
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("“city”: declared CREATE TABLE \"city\" (") == true)
    #expect(found.first?.hasSuffix("found nothing") == true)
    // A view isn't a table.
    #expect(try differences(City.table, "CREATE VIEW city AS SELECT 1 AS id").count == 1)
  }

  @Test("Missing and surplus columns are reported as differences")
  func columns() throws {
    #expect(
      try differences(
        City.table,
        """
        CREATE TABLE city (id INTEGER PRIMARY KEY, population INTEGER NOT NULL,
          mayor TEXT DEFAULT 'nobody', double INTEGER AS (population * 2)) STRICT
        """, index) == [
          #"“city”.“name”: declared "name" TEXT NOT NULL, found nothing"#,
          #"“city”.“mayor”: declared nothing, found "mayor" TEXT DEFAULT 'nobody'"#,
          #"“city”.“double”: declared nothing, found "double" INTEGER GENERATED ALWAYS"#,
        ])
  }

  @Test("Differences in types and nullability are reported")
  func types() throws {
    #expect(
      try differences(
        City.table,
        "CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL, population)", index)
        == [
          "“city”.“population”, type: declared INTEGER, found no type",
          "“city”.“population”, nullability: declared NOT NULL, found NULL",
          "“city”, options: declared STRICT, found nothing",
        ])
    #expect(
      try differences(
        City.table,
        "CREATE TABLE city (id INT PRIMARY KEY, name TEXT NOT NULL, population INT NOT NULL) STRICT",
        index) == ["“city”.“id”, type: declared INTEGER, found INT"])
  }

  @Test("The declared type of dates follows the connection's format in differences")
  func dates() throws {
    var configuration = Configuration()
    configuration.dateFormat = .iso8601
    let db = try Database(configuration: configuration)
    for sql in try everything().schema(dateFormat: .unixMilliseconds).statements {
      try db.executeStatements(SQL(raw: sql))
    }
    #expect(
      try everything().differences(db).map(\.description) == [
        "“everything”.“date”, type: declared TEXT, found INTEGER",
        "“everything”.“date”, default: declared '1970-01-01T00:00:00.000Z', found 0",
      ])
  }

  @Test("Differences of primary keys report their columns, order and AUTOINCREMENT")
  func primaryKeys() throws {
    #expect(
      try differences(
        road(),
        """
        CREATE TABLE road ("from" INTEGER NOT NULL, "to" INTEGER NOT NULL, country TEXT,
          length REAL NOT NULL, PRIMARY KEY ("to", "from")) STRICT
        """) == [#"“road”, primary key: declared ("from", "to"), found ("to", "from")"#])
    #expect(
      try differences(
        Country.table,
        "CREATE TABLE country (code TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE) STRICT")
        == [#"“country”, primary key: declared ("code"), found nothing"#])
    #expect(
      try differences(
        City.table,
        """
        CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL,
          population INTEGER NOT NULL) STRICT
        """, index) == [#"“city”, primary key: declared ("id"), found ("id") AUTOINCREMENT"#])
  }

  @Test("Differences of defaults are reported")
  func defaults() throws {
    #expect(
      try differences(
        town(Column("name", \.name, .default("Oslo"))),
        "CREATE TABLE town (id INTEGER PRIMARY KEY DEFAULT 7, name TEXT NOT NULL DEFAULT 'oslo') STRICT"
      ) == [
        "“town”.“id”, default: declared nothing, found 7",
        "“town”.“name”, default: declared 'Oslo', found 'oslo'",
      ])
    #expect(
      try differences(
        town(Column("name", \.name, .default(sql: "(1) || (2)"))),
        "CREATE TABLE town (id INTEGER PRIMARY KEY DEFAULT NULL, name TEXT NOT NULL) STRICT")
        == ["“town”.“name”, default: declared ((1) || (2)), found nothing"])
  }

  @Test("Differences of generated columns report presence, storage and expression")
  func generated() throws {
    func found(_ column: String) throws -> [String] {
      try differences(
        town(Column("name", \.name, .generated("'town ' || id", stored: true))),
        SQL(raw: "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL \(column)) STRICT"))
    }
    let declared = "“town”.“name”, generated value: declared AS ('town ' || id) STORED, found "
    #expect(try found("AS ( 'town '||ID ) STORED") == [])
    #expect(try found("") == [declared + "nothing"])
    #expect(try found("AS ('town ' || id)") == [declared + "VIRTUAL"])
    #expect(try found("AS ('Town ' || id) STORED") == [declared + "another expression"])
    #expect(
      try differences(
        town(Column("name", \.name)),
        "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL AS ('x')) STRICT")
        == ["“town”.“name”, generated value: declared nothing, found GENERATED ALWAYS"])
  }

  @Test("Missing indexes and UNIQUE constraints are reported as differences")
  func indexes() throws {
    #expect(
      try differences(City.table, city) == [
        #"“city”.“population”, index: declared CREATE INDEX "city_population_index" "#
          + #"ON "city" ("population"), found nothing"#
      ])
    let table = road(
      constraints: [.unique(Road.columns.country, Road.columns.length)],
      indexes: [.index(Road.columns.length, unique: true, where: "country = 'NO'", name: "norway")])
    let sql = SQL(raw: SchemaTextTests.roadSQL())
    let missing = [
      #"“road”, index: declared UNIQUE ("country", "length"), found nothing"#,
      #"“road”.“length”, index: declared CREATE UNIQUE INDEX "norway" ON "road" ("length") "#
        + "WHERE country = 'NO', found nothing",
    ]
    #expect(try differences(table, sql) == missing)
    // None has the right columns, order, uniqueness and condition together.
    #expect(
      try differences(
        table, sql,
        """
        CREATE UNIQUE INDEX a ON road (length, country); CREATE INDEX b ON road (country, length);
        CREATE UNIQUE INDEX c ON road (length) WHERE country = 'no';
        CREATE UNIQUE INDEX d ON road (length); CREATE UNIQUE INDEX e ON road (abs(length));
        CREATE INDEX f ON road (length) WHERE country = 'NO';
        """) == missing)
    #expect(
      try differences(
        table, sql,
        """
        CREATE UNIQUE INDEX a ON road (COUNTRY, length);
        CREATE UNIQUE INDEX b ON road (length) where COUNTRY='NO';
        """) == [])
  }

  @Test("A row id that is declared unique needs no index")
  func uniqueRowID() throws {
    let table = Table(
      "town", Town.init, Column("id", \.id, .primaryKey, .unique), Column("name", \.name))
    #expect(
      try differences(
        table, "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT") == [])
  }

  @Test("Missing and different foreign keys are reported as differences")
  func foreignKeys() throws {
    let table = town(Column("name", \.name, .references(Country.self, onDelete: .cascade)))
    func found(_ clause: String) throws -> [String] {
      try differences(
        table,
        SQL(raw: "CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL \(clause)) STRICT"))
    }
    let declared =
      #"“town”.“name”, foreign key: declared ("name") REFERENCES "country" ("code") ON DELETE CASCADE"#
      + ", found "
    #expect(try found("REFERENCES country ON DELETE CASCADE") == [])
    #expect(try found("") == [declared + "nothing"])
    #expect(
      try found("REFERENCES country(name) ON DELETE CASCADE") == [
        declared + #"("name") REFERENCES "country" ("name") ON DELETE CASCADE"#
      ])
    #expect(
      try found("REFERENCES nation ON UPDATE SET NULL") == [
        declared + #"("name") REFERENCES "nation" ON UPDATE SET NULL"#
      ])
  }

  @Test("Differences of STRICT and WITHOUT ROWID are reported")
  func options() throws {
    let sql = SQL(raw: SchemaTextTests.roadSQL(options: " WITHOUT ROWID"))
    #expect(
      try differences(road(), sql) == ["“road”, options: declared STRICT, found WITHOUT ROWID"])
    #expect(
      try differences(road(options: .withoutRowID), sql) == [
        "“road”, options: declared STRICT, WITHOUT ROWID, found WITHOUT ROWID"
      ])
  }

  @Test("A temporary table that hides another of its name is the one that is compared")
  func temporary() throws {
    #expect(
      try differences(
        City.table, city, index,
        "CREATE TEMP TABLE city (id INTEGER PRIMARY KEY, name, population INTEGER NOT NULL)"
      ).count == 4)
  }

  @Test("Differences can be computed in a read scope")
  func reading() throws {
    let queue = try DatabaseQueue()
    try queue.inTransaction { try City.table.create($0) }
    let differences = try queue.read { try City.table.differences($0) }
    #expect(differences == [])
  }
}

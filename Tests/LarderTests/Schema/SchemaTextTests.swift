import Foundation
import Larder
import PostgresSupport
import Testing

@Suite(
  "The SQL that creates tables", .onlySQLite(.definitions))
struct SchemaTextTests {
  /// The CREATE TABLE of a town with this column.
  static func townSQL(_ name: String, _ more: String...) -> String {
    let lines = [#""id" INTEGER PRIMARY KEY"#, name] + more
    return "CREATE TABLE \"town\" (\n" + lines.map { "  " + $0 }.joined(separator: ",\n")
      + "\n) STRICT"
  }

  static func roadSQL(_ more: String..., options: String = " STRICT") -> String {
    let lines =
      [
        #""from" INTEGER NOT NULL"#, #""to" INTEGER NOT NULL"#, #""country" TEXT"#,
        #""length" REAL NOT NULL"#, #"PRIMARY KEY ("from", "to")"#,
      ] + more
    return "CREATE TABLE \"road\" (\n" + lines.map { "  " + $0 }.joined(separator: ",\n") + "\n)"
      + options
  }

  static let samples: [SampleTable] = columnOptions + defaults + tables

  static let columnOptions: [SampleTable] = [
    SampleTable(
      "plain", town(Column("name", \.name)), townSQL(#""name" TEXT NOT NULL"#)),
    SampleTable(
      "unique", town(Column("name", \.name, .unique)), townSQL(#""name" TEXT NOT NULL UNIQUE"#)),
    SampleTable(
      "indexed", town(Column("name", \.name, .indexed)), townSQL(#""name" TEXT NOT NULL"#),
      #"CREATE INDEX "town_name_index" ON "town" ("name")"#),
    SampleTable(
      "unique and indexed", town(Column("name", \.name, .unique, .indexed)),
      townSQL(#""name" TEXT NOT NULL UNIQUE"#),
      #"CREATE INDEX "town_name_index" ON "town" ("name")"#),
    SampleTable(
      "collate", town(Column("name", \.name, .collate("NOCASE"), .unique)),
      townSQL(#""name" TEXT COLLATE "NOCASE" NOT NULL UNIQUE"#)),
    SampleTable(
      "checks", town(Column("name", \.name, .check("name <> \("L'Aquila")"), .check("name > ''"))),
      townSQL(#""name" TEXT NOT NULL CHECK (name <> 'L''Aquila') CHECK (name > '')"#)),
    SampleTable(
      "read-only", town(Column("name", \.name, .readOnly, .default(sql: "upper('oslo')"))),
      townSQL(#""name" TEXT NOT NULL DEFAULT (upper('oslo'))"#)),
    SampleTable(
      "generated", town(Column("name", \.name, .generated("'town ' || id + \(1)"))),
      townSQL(#""name" TEXT NOT NULL GENERATED ALWAYS AS ('town ' || id + 1) VIRTUAL"#)),
    SampleTable(
      "generated and stored",
      town(Column("name", \.name, .generated("upper('Oslo')", stored: true))),
      townSQL(#""name" TEXT NOT NULL GENERATED ALWAYS AS (upper('Oslo')) STORED"#)),
    SampleTable(
      "references", town(Column("name", \.name, .references(Country.self))),
      townSQL(#""name" TEXT NOT NULL REFERENCES "country" ("code")"#)),
    SampleTable(
      "references with actions",
      town(
        Column(
          "name", \.name,
          .references(Country.self, onDelete: .cascade, onUpdate: .restrict, deferred: true))),
      townSQL(
        #""name" TEXT NOT NULL REFERENCES "country" ("code") ON DELETE CASCADE ON UPDATE RESTRICT "#
          + "DEFERRABLE INITIALLY DEFERRED")),
    SampleTable(
      "odd names", town(Column(#"the "old" na.me;--"#, \.name, .indexed)),
      townSQL(#""the ""old"" na.me;--" TEXT NOT NULL"#),
      #"CREATE INDEX "town_the ""old"" na.me;--_index" ON "town" ("the ""old"" na.me;--")"#),
  ]

  static let defaults: [SampleTable] = [
    SampleTable(
      "default", town(Column("name", \.name, .default("L'Aquila"))),
      townSQL(#""name" TEXT NOT NULL DEFAULT 'L''Aquila'"#)),
    SampleTable(
      "default with NUL", town(Column("name", \.name, .default("Os\0lo"))),
      townSQL(#""name" TEXT NOT NULL DEFAULT ('Os' || char(0) || 'lo')"#)),
    SampleTable(
      "default expression", town(Column("name", \.name, .default(sql: "upper(\("oslo"))"))),
      townSQL(#""name" TEXT NOT NULL DEFAULT (upper('oslo'))"#)),
    SampleTable(
      "every type", everything(),
      """
      CREATE TABLE "everything" (
        "id" BLOB PRIMARY KEY NOT NULL,
        "integer" INTEGER NOT NULL DEFAULT -5,
        "real" REAL DEFAULT NULL,
        "text" TEXT NOT NULL DEFAULT 'L''Aquila',
        "blob" BLOB DEFAULT x'01ff',
        "date" REAL NOT NULL DEFAULT 0.0,
        "any" ANY DEFAULT 2.5,
        "level" TEXT NOT NULL DEFAULT 'city',
        "tags" TEXT DEFAULT '["old"]',
        "millisecond" INTEGER DEFAULT 1000
      ) STRICT
      """),
    SampleTable(
      "every type, not strict", everything(.notStrict),
      """
      CREATE TABLE "everything" (
        "id" BLOB PRIMARY KEY NOT NULL,
        "integer" INTEGER NOT NULL DEFAULT -5,
        "real" REAL DEFAULT NULL,
        "text" TEXT NOT NULL DEFAULT 'L''Aquila',
        "blob" BLOB DEFAULT x'01ff',
        "date" REAL NOT NULL DEFAULT 0.0,
        "any" DEFAULT 2.5,
        "level" TEXT NOT NULL DEFAULT 'city',
        "tags" TEXT DEFAULT '["old"]',
        "millisecond" INTEGER DEFAULT 1000
      )
      """),
  ]

  static let tables: [SampleTable] = [
    SampleTable(
      "city", City.table,
      """
      CREATE TABLE "city" (
        "id" INTEGER PRIMARY KEY,
        "name" TEXT NOT NULL,
        "population" INTEGER NOT NULL
      ) STRICT
      """, #"CREATE INDEX "city_population_index" ON "city" ("population")"#),
    SampleTable(
      "text key", Country.table,
      """
      CREATE TABLE "country" (
        "code" TEXT PRIMARY KEY NOT NULL,
        "name" TEXT NOT NULL UNIQUE
      ) STRICT
      """),
    SampleTable(
      "nullable text key", Motto.table,
      """
      CREATE TABLE "motto" (
        "city" TEXT PRIMARY KEY NOT NULL,
        "text" TEXT NOT NULL
      ) STRICT
      """),
    SampleTable(
      "autoincrement, self-reference and composite foreign key", Bridge.table,
      """
      CREATE TABLE "bridge" (
        "id" INTEGER PRIMARY KEY AUTOINCREMENT,
        "from" INTEGER NOT NULL,
        "to" INTEGER NOT NULL,
        "older" INTEGER REFERENCES "bridge" ("id") ON DELETE SET NULL,
        FOREIGN KEY ("from", "to") REFERENCES "road" ("from", "to") ON DELETE CASCADE \
      ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED
      ) STRICT
      """),
    SampleTable("composite key", road(), roadSQL()),
    SampleTable(
      "without row id", road(options: .withoutRowID), roadSQL(options: " STRICT, WITHOUT ROWID")),
    SampleTable(
      "neither", road(options: [.withoutRowID, .notStrict]), roadSQL(options: " WITHOUT ROWID")),
    SampleTable(
      "integer key without row id",
      town(Column("name", \.name), options: .withoutRowID),
      """
      CREATE TABLE "town" (
        "id" INTEGER PRIMARY KEY NOT NULL,
        "name" TEXT NOT NULL
      ) STRICT, WITHOUT ROWID
      """),
    SampleTable(
      "no key",
      Table(
        "town", Town.init, Column("id", \.id), Column("name", \.name), options: .noPrimaryKey),
      """
      CREATE TABLE "town" (
        "id" INTEGER,
        "name" TEXT NOT NULL
      ) STRICT
      """),
    SampleTable(
      "constraints",
      road(constraints: [
        .unique(Road.columns.country, Road.columns.length),
        .check(#"length > \#(0) AND "from" <> "to""#),
      ]),
      roadSQL(#"UNIQUE ("country", "length")"#, #"CHECK (length > 0 AND "from" <> "to")"#)),
    SampleTable(
      "indexes",
      road(indexes: [
        .index(Road.columns.country, Road.columns.length),
        .index(Road.columns.length, unique: true, where: "country = \("NO")", name: "norway"),
        .index(Road.columns.to, where: #""from" > 0"#),
      ]),
      roadSQL(), #"CREATE INDEX "road_country_length_index" ON "road" ("country", "length")"#,
      #"CREATE UNIQUE INDEX "norway" ON "road" ("length") WHERE country = 'NO'"#,
      #"CREATE INDEX "road_to_index" ON "road" ("to") WHERE "from" > 0"#),
  ]

  @Test("Each column, table and index option is written as the expected SQL", arguments: samples)
  func text(sample: SampleTable) throws {
    #expect(try sample.sql(.secondsSince1970) == sample.expected)
  }

  @Test("SQLite's schema contains the created statements unchanged", arguments: samples)
  func kept(sample: SampleTable) throws {
    let db = try Database.empty()
    try sample.create(db, false)
    let statements = try db.schema().compactMap(\.sql).filter { !$0.contains("sqlite_sequence") }
    #expect(statements == sample.expected)
  }

  @Test("A created table has no differences, in any date format", arguments: samples)
  func noDifferences(sample: SampleTable) throws {
    for format in [.secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime]
      as [DateFormat]
    {
      var configuration = Configuration()
      configuration.dateFormat = format
      let db = try Database(configuration: configuration)
      try sample.create(db, false)
      #expect(try sample.differences(db) == [])
    }
  }

  @Test("A table can be created again only with ifNotExists, or after it was dropped")
  func twice() throws {
    for sample in Self.samples {
      let db = try Database.empty()
      try sample.create(db, false)
      #expect(throws: DatabaseError.self) { try sample.create(db, false) }
      try sample.create(db, true)
      #expect(try sample.differences(db) == [], "\(sample.testDescription)")
      try sample.drop(db)
      #expect(try sample.differences(db).map(\.kind) == [.table])
      #expect(throws: DatabaseError.self) { try sample.drop(db) }
      try sample.create(db, true)
      #expect(try sample.differences(db) == [], "\(sample.testDescription)")
    }
  }

  @Test("The type and default of a date column follow the connection's date format")
  func dates() throws {
    let lines = try [.iso8601, .unixMilliseconds].map { format in
      try everything().schema(dateFormat: format).statements[0].split(separator: "\n")[6]
    }
    #expect(
      lines == [
        #"  "date" TEXT NOT NULL DEFAULT '1970-01-01T00:00:00.000Z',"#,
        #"  "date" INTEGER NOT NULL DEFAULT 0,"#,
      ])
  }
}

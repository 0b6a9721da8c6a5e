import Foundation
import Larder
import LarderTesting
import PostgresSupport
import TestSupport
import Testing

/// A stay at a place.
struct Stay: Record, Equatable {
  var id: Int64
  var place: Int64?
  var nights: Int

  struct Columns: Sendable {
    let id = Column("id", \Stay.id, .primaryKey)
    let place = Column("place", \Stay.place)
    let nights = Column("nights", \Stay.nights)
  }
  static let columns = Columns()
  static let table = Table("stay", Stay.init, columns.id, columns.place, columns.nights)
  static let inPlace = BelongsTo(columns.place, Place.columns.id)
}

extension Place {
  static let stays = HasMany(columns.id, Stay.columns.place).order { $0.id }
}

extension Nation {
  static let cities = HasMany(columns.code, Place.columns.country)
}

extension Language {
  static let nations = HasManyThrough(
    columns.code, Spoken.columns.language, Spoken.columns.country, Nation.columns.code)
}

@Suite("Nested, filtered, ordered and limited associations")
struct NestedAssociationTests {
  let db: Database
  let repeated = RepeatedStatements()

  static let tables: SQL = """
    CREATE TABLE stay (id INTEGER PRIMARY KEY, place INTEGER, nights INTEGER NOT NULL);
    CREATE TABLE language (code TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE spoken (country TEXT, language TEXT, PRIMARY KEY (country, language));
    CREATE TABLE division (code INTEGER PRIMARY KEY, name TEXT NOT NULL, parent INTEGER);
    INSERT INTO stay VALUES (1, 3, 2), (2, 1, 5), (3, 3, 1), (4, NULL, 9), (5, 3, 7), (6, 77, 3);
    INSERT INTO language VALUES ('zh'), ('nb'), ('en');
    INSERT INTO spoken VALUES ('CN', 'zh'), ('NO', 'nb'), ('NO', 'en'), ('CN', 'en');
    INSERT INTO division VALUES
      (1, 'A', NULL), (2, 'B', 1), (3, 'C', 1), (4, 'D', 2), (5, 'E', 2), (6, 'F', 4);
    """

  init() throws {
    db = try .world(repeated.watching(Configuration()))
    try db.executeStatements(Self.tables)
  }

  /// The number of statements that the closure runs.
  private func statements(_ body: () throws -> Void) rethrows -> Int {
    try repeated.during(atLeast: 1, body).values.reduce(0, +)
  }

  @Test("Nested associations take one statement for each level")
  func nested() throws {
    let count = try statements {
      let rows = try Nation.order { $0.code }.fetchAll(
        db, with: Nation.places.with(Place.stays))
      #expect(rows.map(\.0.code) == ["AQ", "CN", "NO"])
      #expect(rows.map { $0.1.map(\.0.id) } == [[], [2, 1, 4], [3]])
      #expect(rows.map { $0.1.map { $0.1.map(\.id) } } == [[], [[], [2], []], [[1, 3, 5]]])
    }
    #expect(count == 3)
  }

  @Test("A parent from BelongsTo comes with its own associations, or is nil")
  func nestedInOne() throws {
    let count = try statements {
      let stays = try Stay.order { $0.id }.fetchAll(
        db, with: Stay.inPlace.with(Place.inCountry, Place.stays))
      #expect(stays.map { $0.1?.0.name } == ["Oslo", "北京市", "Oslo", nil, "Oslo", nil])
      #expect(stays.map { $0.1?.1?.name } == ["Norway", "China", "Norway", nil, "Norway", nil])
      #expect(stays.map { $0.1?.2.count } == [3, 1, 3, nil, 3, nil])
    }
    #expect(count == 4)
  }

  @Test(
    "Associations nested four deep take four more statements, and none for levels without records"
  )
  func deep() throws {
    let parts = Division.parts.order { $0.code }
    let tree = parts.with(parts.with(parts.with(parts)))
    let count = try statements {
      let rows = try Division.filter { $0.parent == nil }.fetchAll(db, with: tree)
      let (second, third) = (rows[0].1, rows[0].1.map { $0.1.map(\.0.code) })
      #expect(second.map(\.0.code) == [2, 3] && third == [[4, 5], []])
      #expect(second[0].1[0].1.map(\.0.code) == [6])
      #expect(second[0].1[0].1[0].1.isEmpty)
    }
    #expect(count == 5)
    let none = try statements {
      let rows = try Nation.filter { $0.code == "AQ" }.fetchAll(
        db, with: Nation.places.with(Place.stays))
      #expect(rows.count == 1 && rows[0].1.isEmpty)
      #expect(try Nation.filter { $0.code == "XX" }.fetchAll(db, with: Nation.places).isEmpty)
    }
    #expect(none == 3)
  }

  @Test("A child shared by two parents comes with its associations under both")
  func shared() throws {
    let languages = Nation.languages.with(Language.nations.order { $0.code.desc })
    let rows = try Nation.order { $0.code }.fetchAll(db, with: languages)
    #expect(rows.map { $0.1.map(\.0.code) } == [[], ["en", "zh"], ["en", "nb"]])
    #expect(
      rows.map { $0.1.map { $0.1.map(\.code) } } == [
        [], [["NO", "CN"], ["CN"]], [["NO", "CN"], ["NO"]],
      ])
  }

  @Test("A filter and an order of an association apply to its records, and a limit to each owner")
  func limited() throws {
    func ids(_ association: HasMany<Nation, Place>) throws -> [[Int64?]] {
      var rows: [(Nation, [Place])] = []
      let count = try statements {
        rows = try Nation.order { $0.code }.fetchAll(db, with: association)
      }
      #expect(count == 2)
      return rows.map { $0.1.map(\.id) }
    }
    let cities = Nation.cities
    #expect(try ids(cities.filter { $0.level == .city }.order { $0.name }) == [[], [2, 1], [3]])
    #expect(try ids(cities.order { $0.population.desc }.limit(1)) == [[], [2], [3]])
    #expect(try ids(cities.order { $0.id }.limit(1, offset: 1)) == [[], [2], []])
    #expect(try ids(cities.order { [$0.level.asc, $0.id.desc] }.limit(2)) == [[], [2, 1], [3]])
    #expect(try ids(cities.limit(0)) == [[], [], []])
    #expect(try ids(cities.limit(-1, offset: -5)) == [[], [], []])
    #expect(try ids(cities.order { $0.id }.limit(.max, offset: .max)) == [[], [], []])
    #expect(try ids(cities.order { $0.id }.limit(.max, offset: 1)) == [[], [2, 4], []])
    let small = cities.filter { $0.population < 1_000_000 }.filter { $0.elevation == nil }
    #expect(try ids(small.limit(5)) == [[], [4], []])
    // Steps after `with` apply to the association's records too.
    let late = cities.with(Place.stays).filter { $0.id < 4 }.order { $0.id }.limit(1)
    let first = try Nation.order { $0.code }.fetchAll(db, with: late)
    #expect(first.map { $0.1.map(\.0.id) } == [[], [1], [3]])
    #expect(first.map { $0.1.map { $0.1.map(\.id) } } == [[], [[2]], [[1, 3, 5]]])
    let trips = try Nation.order { $0.code }.fetchAll(
      db, with: cities.order { $0.id.desc }.limit(1).with(Place.stays.limit(2)))
    #expect(trips.map { $0.1.map { $0.1.map(\.id) } } == [[], [[]], [[1, 3]]])
  }

  @Test("A parent that a BelongsTo filter excludes is nil")
  func filteredOne() throws {
    let north = Place.inCountry.filter { $0.code == "NO" }
    let places = try Place.order { $0.id }.fetchAll(db, with: north)
    #expect(places.map { $0.1?.code } == [nil, nil, "NO", nil])
    let stays = try Stay.order { $0.id }.fetchAll(db, with: Stay.inPlace.with(north))
    #expect(stays.map { $0.1?.1?.code } == ["NO", nil, "NO", nil, "NO", nil])
    #expect(stays.map { $0.1 == nil } == [false, false, false, true, false, true])
  }

  @Test(
    "A limited association is written with row_number() over a partition",
    .onlySQLite(.catalog))
  func statements() throws {
    let owners = try Nation.order { $0.code }.fetchAll(db)
    let columns = #""c1", "c2", "c3", "c4", "c5", "c6", "number""#
    let selected =
      #""place"."id", "place"."name", "place"."population", "place"."country", "place"."level", "#
      + #""place"."elevation""#
    #expect(
      try Nation.cities.filter { $0.population > 1 }.order { $0.name }.limit(3)
        .snapshot(db, of: owners) == [
          """
          WITH "larder_row"(\(columns)) AS (SELECT \(selected), row_number() OVER (PARTITION BY \
          "place"."country" ORDER BY "place"."name") FROM "place" WHERE "place"."population" > ? \
          AND "place"."country" IN (SELECT value FROM json_each(?))) SELECT * FROM "larder_row" \
          WHERE "number" <= ? ORDER BY "number"
          """
        ])
    #expect(
      try Nation.languages.limit(1, offset: 1).snapshot(db, of: owners) == [
        """
        WITH "larder_row"("c1", "c2", "c3", "number") AS (SELECT "language"."code", \
        "spoken"."country", "spoken"."language", row_number() OVER (PARTITION BY \
        "spoken"."country" ORDER BY "language"."code") FROM "language" JOIN "spoken" ON \
        "language"."code" = "spoken"."language" WHERE "spoken"."country" IN \
        (SELECT value FROM json_each(?))) SELECT * FROM "larder_row" WHERE "number" > ? AND \
        "number" <= ? ORDER BY "number"
        """
      ])
    try db.define("DROP TABLE country; CREATE TABLE country (code TEXT COLLATE NOCASE)")
    let keys = #"WITH "larder_key"("number", "value") AS MATERIALIZED "#
    let joined = """
      CROSS JOIN "larder_key" ON +"place"."country" = "larder_key"."value" COLLATE "NOCASE"
      """
    #expect(
      try Nation.cities.snapshot(db, of: owners) == [
        keys + "(SELECT key, value FROM json_each(?)) "
          + #"SELECT \#(selected), "larder_key"."number" FROM "place" "# + joined
      ])
    #expect(
      try Nation.cities.limit(1).snapshot(db, of: owners) == [
        keys + """
          (SELECT key, value FROM json_each(?)), "larder_row"("c1", "c2", "c3", "c4", "c5", "c6", \
          "c7", "number") AS (SELECT \(selected), "larder_key"."number", row_number() OVER \
          (PARTITION BY "larder_key"."number") FROM "place" \(joined)) SELECT * FROM "larder_row" \
          WHERE "number" <= ? ORDER BY "number"
          """
      ])
  }

  @Test(
    "Associations over a key with another collation use an index",
    .onlySQLite(.keys))
  func plans() throws {
    try db.define(
      """
      DROP TABLE country; CREATE TABLE country (code TEXT PRIMARY KEY COLLATE NOCASE, name TEXT, capital TEXT);
      CREATE INDEX place_country ON place (country);
      """)
    let owners = ["CN", "no"].map { Nation(code: $0, name: "", capital: nil) }
    func plan(_ sql: [SQL]) throws -> String {
      try db.executeQuery("EXPLAIN QUERY PLAN \(sql[0])").map {
        try $0.get("detail", as: String.self)
      }.joined(separator: "; ")
    }
    let many = try plan(Nation.cities.records.sql(db, of: owners))
    #expect(
      many.hasSuffix("SCAN place; SEARCH larder_key USING AUTOMATIC COVERING INDEX (value=?)"))
    let one = try plan(Place.inCountry.records.sql(db, of: Place.fetchAll(db)))
    #expect(one.contains("SEARCH country USING INDEX sqlite_autoindex_country_1 (code=?)"))
    #expect(one.contains("SEARCH larder_key USING AUTOMATIC COVERING INDEX (value=?)"))
    try db.executeStatements(
      "DROP INDEX place_country; CREATE INDEX place_country ON place (country COLLATE NOCASE)")
    #expect(try Nation.cities.fetchAll(db, of: owners).map(\.count) == [3, 1])
    let stays = try plan(Place.stays.records.sql(db, of: Place.fetchAll(db)))
    #expect(stays.contains("SCAN stay"))
    #expect(!stays.contains("larder_key"))
  }

  @Test("Nested associations work in asynchronous scopes of queues and pools")
  func scopes() async throws {
    let folder = try ScratchFolder()
    try Database(path: folder.file("world.db")).close()
    let pool = try DatabasePool(path: folder.file("world.db"))
    let queue = try DatabaseQueue(path: folder.file("world.db"))
    try await pool.inTransaction { db in
      try db.define(
        """
        CREATE TABLE country (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, capital TEXT);
        CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER NOT NULL,
          country TEXT NOT NULL, level TEXT NOT NULL, elevation REAL);
        INSERT INTO country VALUES ('NO', 'Norway', 'Oslo');
        INSERT INTO place VALUES (3, 'Oslo', 709037, 'NO', 'city', 23);
        """)
      try db.executeStatements(Self.tables)
    }
    let cities = Nation.cities.limit(2).with(Place.stays.limit(2))
    @Sendable func ids(_ db: Database) throws -> [[[Int64]]] {
      try Nation.all.fetchAll(db, with: cities).map { $0.1.map { $0.1.map(\.id) } }
    }
    #expect(try await pool.read { try ids($0) } == [[[1, 3]]])
    #expect(try await queue.inTransaction { try ids($0) } == [[[1, 3]]])
  }

  @Test("Nested associations work in synchronous scopes of a queue")
  func threads() throws {
    let queue = try DatabaseQueue()
    try queue.inTransaction { db in
      try Nation.table.create(db)
      try Place.table.create(db)
      try Nation.insert(db, contentsOf: [Nation(code: "NO", name: "Norway", capital: nil)])
      #expect(try Nation.all.fetchAll(db, with: Nation.cities.with(Place.stays)).count == 1)
    }
    let rows = try queue.read { try Nation.all.fetchAll($0, with: Nation.cities.limit(1)) }
    #expect(rows.map(\.1.count) == [0])
  }

  @Test("Associations can span the main and an attached database", .onlySQLite(.files))
  func attached() throws {
    let folder = try ScratchFolder()
    try db.executeUpdate("ATTACH ? AS more", folder.file("more.db"))
    try db.define(
      """
      CREATE TABLE more.stay (id INTEGER PRIMARY KEY, place INTEGER, nights INTEGER NOT NULL);
      INSERT INTO more.stay SELECT * FROM main.stay;
      DROP TABLE main.stay;
      """)
    let rows = try Nation.order { $0.code }.fetchAll(
      db, with: Nation.places.with(Place.stays.limit(2)))
    #expect(rows.map { $0.1.map { $0.1.map(\.id) } } == [[], [[], [2], []], [[1, 3]]])
  }

  @Test("Associations work between views and tables")
  func views() throws {
    try db.executeStatements(
      """
      ALTER TABLE stay RENAME TO stays; CREATE VIEW stay AS SELECT * FROM stays WHERE nights < 9;
      ALTER TABLE place RENAME TO places; CREATE VIEW place AS SELECT * FROM places;
      """)
    let rows = try Nation.order { $0.code }.fetchAll(
      db, with: Nation.places.with(Place.stays.limit(2)))
    #expect(rows.map { $0.1.map { $0.1.map(\.id) } } == [[], [[], [2], []], [[1, 3]]])
    let stays = try Stay.order { $0.id }.fetchAll(db, with: Stay.inPlace)
    #expect(stays.map { $0.1?.id } == [3, 1, 3, 3, nil])
  }

  @Test("A custom association that returns too few results throws")
  func wrongAssociation() throws {
    struct Nothing: Association {
      func fetchAll(_ db: Database, of owners: [Place]) throws -> [Int] { [] }
    }
    #expect(throws: DatabaseError.self) { try Place.all.fetchAll(db, with: Nothing()) }
    #expect(throws: DatabaseError.self) {
      try Nation.all.fetchAll(db, with: Nation.places.with(Nothing()))
    }
  }
}

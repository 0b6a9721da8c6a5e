import Larder
import LarderTesting
import PostgresSupport
import Testing

/// A language.
struct Language: Record, Equatable {
  var code: String

  struct Columns: Sendable {
    let code = Column("code", \Language.code, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("language", Language.init, columns.code)
}

/// A pair of a country and a language that is spoken there.
struct Spoken: Record {
  var country: String
  var language: String

  struct Columns: Sendable {
    let country = Column("country", \Spoken.country, .primaryKey)
    let language = Column("language", \Spoken.language, .primaryKey)
  }
  static let columns = Columns()
  static let table = Table("spoken", Spoken.init, columns.country, columns.language)
}

extension Nation {
  static let places = HasMany(
    columns.code, Place.columns.country, in: Place.order { $0.population.desc })
  static let capitalPlace = BelongsTo(columns.capital, Place.columns.name)
  static let languages = HasManyThrough(
    columns.code, Spoken.columns.country, Spoken.columns.language, Language.columns.code,
    in: Language.order { $0.code })
}

extension Place {
  static let inCountry = BelongsTo(columns.country, Nation.columns.code)
}

extension Division {
  static let parts = HasMany(columns.code, columns.parent)
  static let whole = BelongsTo(columns.parent, columns.code)
}

@Suite("Associations, and finding repeated statements")
struct AssociationTests {
  let db: Database
  let repeated = RepeatedStatements()

  init() throws {
    db = try .world(repeated.watching(Configuration()))
    try db.define(
      """
      CREATE TABLE language (code TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE spoken (country TEXT, language TEXT, PRIMARY KEY (country, language));
      INSERT INTO language VALUES ('zh'), ('nb'), ('nn'), ('fo');
      INSERT INTO spoken VALUES ('CN', 'zh'), ('NO', 'nn'), ('NO', 'nb');
      """)
  }

  @Test("HasMany fetches the children of all records with one more statement")
  func hasMany() throws {
    let statements = try repeated.during(atLeast: 1) {
      let rows = try Nation.order { $0.code }.fetchAll(db, with: Nation.places)
      #expect(rows.map(\.0.code) == ["AQ", "CN", "NO"])
      #expect(rows.map { $0.1.map(\.id) } == [[], [2, 1, 4], [3]])
    }
    #expect(statements.values.allSatisfy { $0 == 1 })
    if TestEngine.isPostgres { return }
    #expect(
      statements.keys.sorted() == [
        #"SELECT "country"."code", "country"."name", "country"."capital" FROM "country" "#
          + #"ORDER BY "country"."code""#,
        #"SELECT "place"."id", "place"."name", "place"."population", "place"."country", "#
          + #""place"."level", "place"."elevation" FROM "place" WHERE "place"."country" IN "#
          + #"(SELECT value FROM json_each(?)) ORDER BY "place"."population" DESC"#,
      ])
  }

  @Test("BelongsTo gives each record its parent, or nil")
  func belongsTo() throws {
    let places = try Place.order { $0.id }.fetchAll(db, with: Place.inCountry)
    #expect(places.map { $0.1?.name } == ["China", "China", "Norway", "China"])
    let capitals = try Nation.order { $0.code }.fetchAll(db, with: Nation.capitalPlace)
    #expect(capitals.map { $0.1?.id } == [nil, 1, 3])
  }

  @Test("HasManyThrough fetches across a join table with one statement")
  func hasManyThrough() throws {
    let statements = try repeated.during(atLeast: 1) {
      let rows = try Nation.order { $0.code }
        .fetchAll(db, with: Nation.languages, Nation.capitalPlace)
      #expect(rows.map { $0.1.map(\.code) } == [[], ["zh"], ["nb", "nn"]])
      #expect(rows.map { $0.2?.name } == [nil, "北京市", "Oslo"])
    }
    #expect(statements.count == 3 && statements.values.allSatisfy { $0 == 1 })
    if TestEngine.isPostgres { return }
    #expect(
      statements.keys.contains(
        """
        SELECT "language"."code", "spoken"."country", "spoken"."language" FROM "language" \
        JOIN "spoken" ON "language"."code" = "spoken"."language" WHERE "spoken"."country" IN \
        (SELECT value FROM json_each(?)) ORDER BY "language"."code"
        """))
  }

  @Test("A table can be associated with itself, in both directions")
  func itself() throws {
    try db.define(
      """
      CREATE TABLE division (code INTEGER PRIMARY KEY, name TEXT NOT NULL, parent INTEGER);
      INSERT INTO division VALUES (1, 'A', NULL), (2, 'B', 1), (3, 'C', 1);
      """)
    let rows = try Division.order { $0.code }.fetchAll(db, with: Division.parts, Division.whole)
    #expect(rows.map { $0.1.map(\.code) } == [[2, 3], [], []])
    #expect(rows.map { $0.2?.code } == [nil, 1, 1])
  }

  @Test("An association of no records runs no statement, and one in a limited query throws")
  func edges() throws {
    let statements = try repeated.during(atLeast: 1) {
      let nobody = try Nation.places.fetchAll(db, of: [])
      #expect(nobody.isEmpty)
    }
    #expect(statements.isEmpty)
    let first = HasMany(Nation.columns.code, Place.columns.country, in: Place.all.limit(1))
    #expect(throws: DatabaseError.self) { try Nation.all.fetchAll(db, with: first) }
  }

  @Test("RepeatedStatements reports a query that runs once for each row")
  func repetition() throws {
    let found = try repeated.during(atLeast: 3) {
      for country in try Nation.all.fetchAll(db) {
        _ = try Place.filter { $0.country == country.code }.fetchAll(db)
      }
    }
    #expect(found.count == 1 && found.values.first == 3)
    #expect(found.keys.first?.contains(#"WHERE "place"."country" = "#) == true)
    let once = try repeated.during { _ = try Nation.all.fetchAll(db, with: Nation.places) }
    #expect(once.isEmpty)
  }

  @Test("HasMany and BelongsTo match an optional integer key with a non-optional one")
  func chosenKey() throws {
    try City.table.create(db)
    try Road.table.create(db)
    try City.insert(db, contentsOf: City.norwegian)
    try Road.insert(
      db,
      contentsOf: [
        Road(from: 1, to: 2, country: "NO", length: 463),
        Road(from: 1, to: 3, country: "NO", length: 494),
      ])
    let roads = HasMany(City.columns.id, Road.columns.from, in: Road.order { $0.to })
    let found = try roads.fetchAll(db, of: City.norwegian)
    #expect(found.map { $0.map(\.to) } == [[2, 3], [], []])
    let end = BelongsTo(Road.columns.to, City.columns.id)
    let ends = try Road.order { $0.to }.fetchAll(db, with: end)
    #expect(ends.map(\.1?.id) == [2, 3])
  }

  @Test("An association by a column that the record doesn't declare throws")
  func noSuchColumn() throws {
    let people = HasMany(Column("mayor", \Nation.code), Place.columns.country)
    #expect(
      recordFailure { try people.fetchAll(db, of: Nation.fetchAll(db)) }
        == "the declaration of the table “country” is wrong: it has no column “mayor”")
  }

  @Test("`insert(from:)` runs a single INSERT … SELECT")
  func insertFromQuery() throws {
    let statements = try repeated.during(atLeast: 1) {
      let count = try Spoken.insert(
        db, Spoken.columns.country, Spoken.columns.language,
        from: Nation.filter { $0.code == "AQ" }.select { ($0.code, .value("en")) })
      #expect(count == 1)
    }
    if TestEngine.isPostgres { return #expect(statements.count == 1) }
    #expect(
      Array(statements.keys) == [
        """
        INSERT INTO "spoken" ("country", "language") SELECT "country"."code", ? FROM "country" \
        WHERE "country"."code" = ?
        """
      ])
    #expect(try Spoken.find(db, "AQ", "en").country == "AQ")
  }
}

import Larder

/// The tables of the gazetteer, and what they were in earlier versions of the program.
///
/// The records say what the tables are now; a migration that was released says for ever what they were
/// then. That both come to the same is tested.
enum Schema {
  static let migrator = Migrator([
    // The first version knew no migrations; it called its databases version 1.
    Migration("countries, cities and divisions", sql: firstTables).replacing(userVersion: 1),
    Migration(
      "population and coordinates",
      sql: """
        ALTER TABLE "city" ADD COLUMN "population" INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE "city" ADD COLUMN "timezone" TEXT;
        ALTER TABLE "city" ADD COLUMN "region" TEXT;
        ALTER TABLE "division" ADD COLUMN "longitude" REAL;
        ALTER TABLE "division" ADD COLUMN "latitude" REAL;
        CREATE INDEX "city_population_index" ON "city" ("population");
        CREATE INDEX "city_country_population_index" ON "city" ("country", "population");
        CREATE INDEX "city_latitude_longitude_index" ON "city" ("latitude", "longitude");
        """),
    Migration(
      "full-text search",
      sql: """
        CREATE VIRTUAL TABLE city_text USING fts5(
          name, content='city', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
        INSERT INTO city_text(city_text) VALUES ('rebuild');
        CREATE VIRTUAL TABLE division_text USING fts5(
          name, content='division', content_rowid='code', tokenize='unicode61 remove_diacritics 2');
        INSERT INTO division_text(division_text) VALUES ('rebuild');
        """),
    Migration(
      "visits",
      sql: """
        CREATE TABLE "visit" (
          "id" INTEGER PRIMARY KEY,
          "city" INTEGER NOT NULL REFERENCES "city" ("id") ON DELETE CASCADE,
          "task" INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX "visit_city_index" ON "visit" ("city");
        """),
  ])

  static let firstTables: SQL = """
    CREATE TABLE "country" (
      "code" TEXT PRIMARY KEY NOT NULL,
      "iso3" TEXT NOT NULL UNIQUE,
      "name" TEXT NOT NULL,
      "capital" TEXT,
      "continent" TEXT NOT NULL,
      "area" REAL NOT NULL,
      "population" INTEGER NOT NULL,
      "currency" TEXT,
      "languages" TEXT NOT NULL,
      "neighbours" TEXT NOT NULL
    ) STRICT;
    CREATE TABLE "city" (
      "id" INTEGER PRIMARY KEY,
      "name" TEXT NOT NULL,
      "latitude" REAL NOT NULL,
      "longitude" REAL NOT NULL,
      "country" TEXT NOT NULL REFERENCES "country" ("code")
    ) STRICT;
    CREATE TABLE "division" (
      "code" INTEGER PRIMARY KEY NOT NULL,
      "name" TEXT NOT NULL
    ) STRICT;
    """

  /// Makes the tables in a database that holds no places yet; throws where it isn't one of this
  /// version.
  static func prepare(_ queue: DatabaseQueue) throws {
    if try queue.read(holdsNoPlaces) { try migrator.migrate(queue) }
    try queue.read(checkIsCurrent)
  }

  /// Whether the database is empty, or another import has made some of its tables: it may be about to
  /// make the others, or was killed before.
  private static func holdsNoPlaces(_ db: Database) throws -> Bool {
    let tables = try db.schema().isEmpty ? [] : ["country", "city", "division"]
    guard try tables.isEmpty || migrator.pending(db).count < migrator.migrations.count else {
      return false
    }
    return try tables.allSatisfy {
      try db.value("SELECT NOT EXISTS (SELECT 1 FROM \(identifier: $0))", as: Bool.self) == true
    }
  }

  /// Throws if the database isn't one of this version of the program.
  static func checkIsCurrent(_ db: Database) throws {
    try checkIsGazetteer(db)
    guard try !migrator.pending(db).isEmpty else { return }
    throw Failure(
      .database,
      """
      \(db.path ?? ""): an earlier version of the program made it; “gazetteer upgrade” brings it up to \
      date
      """)
  }

  /// Throws if the database isn't one of any version.
  static func checkIsGazetteer(_ db: Database) throws {
    guard try migrator.pending(db).count == migrator.migrations.count else { return }
    throw Failure(
      .database, "\(db.path ?? ""): there is no gazetteer in it; “gazetteer import” makes one")
  }
}

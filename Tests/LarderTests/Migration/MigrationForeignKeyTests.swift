import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite(
  "Migrations and foreign keys",
  .onlySQLite(.keys))
struct MigrationForeignKeyTests {
  private let db: Database
  private let create = Migration(
    "create",
    sql: """
      CREATE TABLE country (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT,
        country INTEGER NOT NULL REFERENCES country ON DELETE CASCADE);
      INSERT INTO country VALUES (1, 'Norway'), (2, 'China');
      INSERT INTO city VALUES (1, 'Oslo', 1), (2, 'Bergen', 1), (3, '北京市', 2);
      """)

  init() throws {
    db = try Database.empty()
    try Migrator([create]).migrate(db)
  }

  private func count(_ table: String) throws -> Int? {
    try db.value("SELECT count(*) FROM \(identifier: table)")
  }

  @Test("A migration can rebuild a table that others refer to, in SQLite's twelve steps")
  func rebuild() throws {
    try Migrator([
      create,
      Migration(
        "make names obligatory",
        sql: """
          CREATE TABLE new_country (id INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
          INSERT INTO new_country SELECT id, name FROM country;
          DROP TABLE country;
          ALTER TABLE new_country RENAME TO country;
          """),
    ]).migrate(db)
    #expect(try count("city") == 3)
    #expect(try db.foreignKeys(of: "city").map(\.referencedTable) == ["country"])
    #expect(try db.columns(of: "country").map(\.isNotNull) == [false, true])
    #expect(try db.effectiveSettings.foreignKeys)
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("INSERT INTO city VALUES (4, 'Atlantis', 9)")
    }
  }

  @Test("A migration that violates foreign keys is undone, and its error lists the rows")
  func violated() throws {
    let error = #expect(throws: MigrationError.self) {
      try Migrator([create, Migration("drop", sql: "DELETE FROM country WHERE id = 1")]).migrate(db)
    }
    guard case .foreignKeys("drop", let violations)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(violations.map(\.table) == ["city", "city"])
    #expect(violations.map(\.row) == [1, 2])
    #expect(violations.map(\.referencedTable) == ["country", "country"])
    #expect(
      error?.description == """
        the migration “drop” violates foreign keys and was undone: row 1 of “city” refers to a row \
        of “country” that doesn't exist; row 2 of “city” refers to a row of “country” that doesn't \
        exist
        """)
    #expect(try count("country") == 2)
    #expect(try db.effectiveSettings.foreignKeys)
    #expect(try Migrator([create]).applied(db).count == 1)
  }

  @Test(
    "A migration's error lists at most 100 foreign key violations, also of rows without a rowid"
  )
  func many() throws {
    let error = #expect(throws: MigrationError.self) {
      try Migrator([
        create,
        Migration("visits") { db in
          try db.executeUpdate(
            "CREATE TABLE visit (day PRIMARY KEY, city REFERENCES city) WITHOUT ROWID")
          for day in 1...250 { try db.executeUpdate("INSERT INTO visit VALUES (?, 9)", day) }
        },
      ]).migrate(db)
    }
    guard case .foreignKeys(_, let violations)? = error else { return _ = Issue.record() }
    #expect(violations.count == 100)
    #expect(violations[0].row == nil)
    #expect(error?.description.hasSuffix("; …") == true)
  }

  @Test("With enforced foreign keys a migration cascades, and a violation fails at its statement")
  func enforced() throws {
    try Migrator([
      create,
      Migration(
        "forget Norway", foreignKeys: true, sql: "DELETE FROM country WHERE id = 1"),
    ]).migrate(db)
    #expect(try count("city") == 1)
    let error = #expect(throws: MigrationError.self) {
      try Migrator([
        create,
        Migration(
          "forget Norway", foreignKeys: true, sql: "DELETE FROM country WHERE id = 1"),
        Migration("wrong", foreignKeys: true) { db in
          try db.executeUpdate("UPDATE city SET country = 7")
        },
      ]).migrate(db)
    }
    #expect(error?.sql == "UPDATE city SET country = 7")
  }

  @Test("A deferred violation that fails at a migration's commit names the migration and is undone")
  func deferred() throws {
    let error = #expect(throws: MigrationError.self) {
      try Migrator([
        create,
        Migration("defer", foreignKeys: true) { db in
          try db.executeUpdate("PRAGMA defer_foreign_keys = ON")
          try db.executeUpdate("UPDATE city SET country = 7")
        },
      ]).migrate(db)
    }
    guard case .failed("defer", let cause)? = error else { return _ = Issue.record() }
    #expect((cause as? DatabaseError)?.code == .constraint)
    #expect(!db.isInTransaction)
    #expect(try count("country") == 2)
    #expect(try Migrator([create]).applied(db).count == 1)
  }

  @Test("A connection with foreign keys off migrates without checking them")
  func off() throws {
    var configuration = Configuration()
    configuration.foreignKeys = false
    let db = try Database(configuration: configuration)
    let drop = Migration("drop", sql: "DELETE FROM country WHERE id = 1")
    try Migrator([create, drop]).migrate(db)
    #expect(try db.value("SELECT count(*) FROM city") == 3)
    #expect(try !db.effectiveSettings.foreignKeys)
  }

  @Test("A migration with enforced foreign keys can remove violations that were there before")
  func old() throws {
    var configuration = Configuration()
    configuration.foreignKeys = false
    let folder = try ScratchFolder()
    let careless = try Database(path: folder.file("old.db"), configuration: configuration)
    try Migrator([create]).migrate(careless)
    try careless.executeUpdate("DELETE FROM country WHERE id = 1")
    let db = try Database(path: folder.file("old.db"))
    let later = Migration("later", sql: "CREATE TABLE river (name TEXT)")
    let clean = Migration(
      "clean", foreignKeys: true,
      sql: "DELETE FROM city WHERE country NOT IN (SELECT id FROM country)")
    // A migration that doesn't touch the violations still runs.
    try Migrator([create, later, clean]).migrate(db)
    #expect(try db.value("SELECT count(*) FROM city") == 1)
  }
}

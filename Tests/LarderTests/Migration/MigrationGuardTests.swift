import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite("Migrations that affect later ones")
struct MigrationGuardTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test(
    "A migration that changes the bookkeeping table is undone",
    arguments: [
      "UPDATE larder_migration SET checksum = 'x' WHERE position = 1",
      "UPDATE larder_migration SET checksum = NULL",
      "ALTER TABLE larder_migration ADD COLUMN note TEXT NOT NULL DEFAULT ''",
      "ALTER TABLE larder_migration RENAME COLUMN checksum TO sum",
      "CREATE TRIGGER t AFTER INSERT ON larder_migration BEGIN SELECT 1; END",
      "CREATE UNIQUE INDEX i ON larder_migration (applied_at)",
    ])
  func bookkeeping(sql: String) throws {
    let first = Migration("first", sql: "CREATE TABLE city (name TEXT)")
    try Migrator([first]).migrate(db)
    let before = try db.schema()
    let bad = Migration("bad") { try $0.executeStatements(SQL(raw: sql)) }
    let error = failure(MigrationError.self) { try Migrator([first, bad]).migrate(db) }
    if case .failed("bad", let cause as DatabaseError)? = error {
      // Other changes may let the statement that records the migration fail.
      if sql.hasPrefix("UPDATE") { #expect(cause.code == .misuse) }
    } else {
      Issue.record("\(String(describing: error))")
    }
    #expect(try db.schema() == before)
    try Migrator([first, Migration("later", sql: "CREATE TABLE later (x TEXT)")]).migrate(db)
  }

  @Test(
    "A migration that declares a foreign key without a matching key is undone, even without rows",
    .onlySQLite(.keys))
  func missingKeys() throws {
    for (sql, other): (SQL, String) in [
      ("CREATE TABLE city (country REFERENCES country)", "country"),
      (
        "CREATE TABLE country (name TEXT); CREATE TABLE city (country REFERENCES country(name))",
        "country"
      ),
      (
        "CREATE TABLE country (name TEXT); CREATE TABLE city (country REFERENCES country)",
        "country"
      ),
      (
        """
        CREATE TABLE country (name PRIMARY KEY);
        CREATE TABLE city (a REFERENCES country, b REFERENCES country(code))
        """, "country"
      ),
    ] {
      let error = failure(MigrationError.self) {
        try Migrator([Migration("keys", sql: sql)]).migrate(db)
      }
      guard case .foreignKeys("keys", let violations)? = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(violations.map(\.table) == ["city"])
      #expect(violations.map(\.referencedTable) == [other])
      #expect(violations.map(\.kind) == [.missingKey])
      #expect(
        violations.first?.description == "“city” refers to a key that “country” doesn't have")
    }
    try Migrator([
      Migration(
        "keys",
        sql: """
          CREATE TABLE city (country REFERENCES country, a REFERENCES city(b), b UNIQUE);
          CREATE TABLE country (name PRIMARY KEY)
          """)
    ]).migrate(db)
  }

  @Test(
    "Violations from before a migration don't fail it, and new ones do",
    .onlySQLite(.keys))
  func oldViolations() throws {
    try db.withForeignKeysOff(
      """
      CREATE TABLE country (id INTEGER PRIMARY KEY);
      CREATE TABLE city (id INTEGER PRIMARY KEY, country REFERENCES country);
      CREATE TABLE visit (day PRIMARY KEY, city REFERENCES city) WITHOUT ROWID;
      CREATE TABLE lake (city REFERENCES nowhere);
      INSERT INTO city VALUES (1, 7), (2, 8); INSERT INTO visit VALUES ('a', 9), ('b', 9);
      """)
    let harmless = Migration(
      "harmless", sql: "CREATE TABLE river (name TEXT); INSERT INTO city VALUES (3, NULL)")
    try Migrator([harmless]).migrate(db)
    func violations(_ sql: SQL) -> [ForeignKeyViolation] {
      let error = failure(MigrationError.self) {
        try Migrator([harmless, Migration("harmful", sql: sql)]).migrate(db)
      }
      guard case .foreignKeys(_, let violations)? = error else { return [] }
      return violations
    }
    #expect(violations("INSERT INTO city VALUES (4, 7)").map(\.row) == [4])
    #expect(violations("INSERT INTO visit VALUES ('c', 9)").count == 1)
    // The number of violations is the same as before, but one is new.
    #expect(
      violations("DELETE FROM city WHERE id = 1; INSERT INTO city VALUES (5, 7)").map(\.row) == [
        5
      ])
    #expect(violations("CREATE TABLE sea (city REFERENCES nowhere)").map(\.table) == ["sea"])
  }

  @Test(
    "A semicolon or comment at the end of the SQL doesn't change a migration's checksum",
    .onlySQLite(.migrations))
  func semicolons() throws {
    let sums = [
      "CREATE TABLE city (name)", "CREATE TABLE city (name);",
      "CREATE TABLE city (name) ; -- x\n ;",
    ]
    .map { Migration("city", sql: SQL(raw: $0)).checksum }
    #expect(Set(sums).count == 1)
    // The checksum that an earlier version of Larder stored for the SQL with a semicolon.
    try Migrator([Migration("city", sql: "CREATE TABLE city (name)")]).migrate(db)
    for stored in ["f8f1137aa11b6f63", sums[0] ?? ""] {
      try db.executeUpdate("UPDATE larder_migration SET checksum = ?", stored)
      for sql: SQL in ["CREATE TABLE city (name)", "CREATE TABLE city (name);"] {
        try Migrator([Migration("city", sql: sql)]).migrate(db)
      }
    }
    #expect(throws: MigrationError.self) {
      try Migrator([Migration("city", sql: "CREATE TABLE city (nam)")]).migrate(db)
    }
  }

  @Test(
    "`migrate(_:downTo:)` also undoes what another process has migrated meanwhile")
  func downAndUp() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    func table(_ name: String) -> Migration {
      Migration(
        name, sql: "CREATE TABLE \(identifier: name) (x TEXT)",
        down: "DROP TABLE \(identifier: name)")
    }
    let migrations = [table("city"), table("lake"), table("river")]
    try Migrator(Array(migrations.prefix(2))).migrate(Database(path: path))
    // The other connection migrates after the first has read the bookkeeping, and before it begins
    // its transaction.
    let isFirst = Lock(true)
    let other = Lock<Result<Void, any Error>?>(nil)
    var configuration = Configuration()
    configuration.trace = { event in
      guard event.sql.contains("FROM main.larder_migration"),
        isFirst.withLock({ isFirst in
          defer { isFirst = false }
          return isFirst
        })
      else { return }
      let result = Result { try Migrator(migrations).migrate(Database(path: path)) }
      other.withLock { $0 = result }
    }
    let db = try Database(path: path, configuration: configuration)
    try Migrator(migrations).migrate(db, downTo: "city")
    try #require(other.withLock { $0 }).get()
    #expect(try Migrator(migrations).pending(db) == ["lake", "river"])
  }
}

extension Database {
  fileprivate func withForeignKeysOff(_ sql: SQL) throws {
    try executeUpdate("PRAGMA foreign_keys = OFF")
    try executeStatements(sql)
    try executeUpdate("PRAGMA foreign_keys = ON")
  }
}

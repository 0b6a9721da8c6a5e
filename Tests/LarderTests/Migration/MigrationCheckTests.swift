import Larder
import TestSupport
import Testing

@Suite("Checking migrations with old databases")
struct MigrationCheckTests {
  private let migrator = Migrator([
    Migration(
      "create city",
      sql: """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE INDEX city_name ON city (name);
        """
    ).replacing(userVersion: 1),
    Migration(
      "add population",
      sql: "ALTER TABLE city ADD COLUMN population INTEGER NOT NULL DEFAULT 0"),
  ])
  private let dump: SQL = """
    PRAGMA foreign_keys=OFF;
    BEGIN TRANSACTION;
    CREATE TABLE "City"( [id] integer primary key, `name` TEXT NOT NULL UNIQUE /* its name */ );
    INSERT INTO City VALUES (1, 'Oslo');
    CREATE INDEX city_name ON city (name);
    COMMIT;
    PRAGMA user_version = 1;
    """

  private struct Town: Record {
    var id: Int64?
    var label: String

    struct Columns: Sendable {
      let id = Column("id", \Town.id, .primaryKey)
      let label = Column("label", \Town.label)
    }
    static let columns = Columns()
    static let table = Table("city", Town.init, columns.id, columns.label)
  }

  private func problems(_ body: () throws -> Void) -> [String] {
    guard case .check(let problems) = failure(MigrationError.self, body) else { return [] }
    return problems
  }

  @Test("Files and dumps of old versions that come to the same schema pass, and stay as they are")
  func passing() throws {
    let folder = try ScratchFolder()
    let path = folder.file("1.0.db")
    let old = try Database(path: path)
    try Migrator([migrator.migrations[0]]).migrate(old)
    try old.close()
    try migrator.check(
      oldDatabases: [.file(path), .dump(dump), .dump("")], records: [City.self],
      queries: [City.filter { $0.population > 5 }.sql, "SELECT name FROM city WHERE id = \(1)"])
    #expect(try migrator.pending(Database(path: path)) == ["add population"])
    #expect(throws: DatabaseError.self) {
      try migrator.check(oldDatabases: [.file(folder.file("none.db"))])
    }
  }

  @Test("Schemas that differ are listed, object by object")
  func differing() throws {
    let found = problems {
      try migrator.check(oldDatabases: [
        .dump(
          """
          CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL UNIQUE);
          CREATE VIEW town AS SELECT * FROM city;
          PRAGMA user_version = 1;
          """)
      ])
    }
    #expect(
      found == [
        """
        old database 1: index “city_name” is missing; a new database has CREATE INDEX city_name ON \
        city (name)
        """,
        """
        old database 1: table “city” is CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR NOT \
        NULL UNIQUE, population INTEGER NOT NULL DEFAULT 0); in a new database it is CREATE TABLE \
        city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, population INTEGER NOT NULL DEFAULT \
        0)
        """,
        """
        old database 1: view “town” isn't in a new database: CREATE VIEW town AS SELECT * FROM city
        """,
      ])
  }

  @Test("A migration that fails on an old database is told, and the others are still tried")
  func failing() throws {
    let found = problems {
      try migrator.check(oldDatabases: [
        .dump("CREATE TABLE city (name TEXT)"), .dump("PRAGMA user_version = 9"), .dump(dump),
      ])
    }
    #expect(found.count == 2)
    #expect(found.first?.hasPrefix("old database 1: the migration “create city” failed") == true)
    #expect(found.last?.hasPrefix("old database 2: the database is newer") == true)
  }

  @Test("Records and queries that don't fit the schema are told with their SQL")
  func statements() throws {
    let found = problems {
      try migrator.check(records: [City.self, Town.self], queries: ["SELECT mayor FROM city"])
    }
    #expect(found.count == 6)
    #expect(found.allSatisfy { $0.hasPrefix("a new database: ") })
    #expect(found.first?.contains(Town.table.selectSQL) == true)
    #expect(found.last?.contains("no such column: mayor") == true)
  }

  @Test("A record whose declaration is wrong is told, and all that is wrong makes one text")
  func declaration() throws {
    struct Fixed: Record {
      var id: Int64?
      let version: Int
      static let columns = [Column("id", \Fixed.id, .primaryKey)]
      static let table = Table(
        "city", Fixed.init, columns[0], Column("name", \.version, .version))
    }
    let error = failure(MigrationError.self) {
      try migrator.check(records: [Fixed.self], queries: ["SELECT mayor FROM city"])
    }
    guard case .check(let problems) = error else {
      Issue.record("no problems, but \(error as Any)")
      return
    }
    #expect(problems.count == 2)
    #expect(
      problems.first?.hasPrefix(
        "a new database: the declaration of the table “city” is wrong: ") == true)
    #expect(error?.description == problems.joined(separator: "\n"))
  }

  @Test("Of a view's record only what reads is tried")
  func views() throws {
    struct Name: Record {
      var id: Int
      var name: String
      static let columns = (Column("id", \Name.id, .primaryKey), Column("name", \Name.name))
      static let table = Table("name", Name.init, columns.0, columns.1, options: .view)
    }
    let withView = Migrator(
      migrator.migrations + [
        Migration("create name", sql: "CREATE VIEW name AS SELECT id, name FROM city")
      ])
    try withView.check(records: [City.self, Name.self])
    #expect(problems { try migrator.check(records: [Name.self]) }.count == 2)
  }
}

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

  @Test(
    "A migration check passes for old files and dumps with the same schema, and changes no file"
  )
  func passing() throws {
    let folder = try ScratchFolder()
    let path = folder.file("1.0.db")
    let old = try Database(path: path)
    try Migrator([migrator.migrations[0]]).migrate(old)
    try old.close()
    try migrator.check(
      oldDatabases: [path], dumps: [dump, ""], records: [City.self],
      queries: [City.filter { $0.population > 5 }.sql, "SELECT name FROM city WHERE id = \(1)"])
    #expect(try migrator.pending(Database(path: path)) == ["add population"])
    #expect(throws: DatabaseError.self) {
      try migrator.check(oldDatabases: [folder.file("none.db")])
    }
  }

  @Test("A migration check lists each object in which an old database's migrated schema differs")
  func differing() throws {
    let found = problems {
      try migrator.check(dumps: [
        """
        CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL UNIQUE);
        CREATE VIEW town AS SELECT * FROM city;
        PRAGMA user_version = 1;
        """
      ])
    }
    #expect(
      found == [
        """
        old database 1: index “city_name” is missing; in a new database it is CREATE INDEX city_name ON \
        city (name)
        """,
        """
        old database 1: table “city” is CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR NOT \
        NULL UNIQUE, population INTEGER NOT NULL DEFAULT 0); in a new database it is CREATE TABLE \
        city (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, population INTEGER NOT NULL DEFAULT \
        0)
        """,
        """
        old database 1: view “town” doesn't exist in a new database: CREATE VIEW town AS SELECT * FROM city
        """,
      ])
  }

  @Test(
    "A migration check reports an old database on which a migration fails, and tries the others"
  )
  func failing() throws {
    let found = problems {
      try migrator.check(dumps: [
        "CREATE TABLE city (name TEXT)", "PRAGMA user_version = 9", dump,
      ])
    }
    #expect(found.count == 2)
    #expect(found.first?.hasPrefix("old database 1: the migration “create city” failed") == true)
    #expect(found.last?.hasPrefix("old database 2: the database is newer") == true)
  }

  @Test("A migration check reports records and queries that don't fit the schema, with their SQL")
  func statements() throws {
    let found = problems {
      try migrator.check(records: [City.self, Town.self], queries: ["SELECT mayor FROM city"])
    }
    #expect(found.count == 6)
    #expect(found.allSatisfy { $0.hasPrefix("a new database: ") })
    #expect(found.first?.contains(Town.table.selectSQL) == true)
    #expect(found.last?.contains("no such column: mayor") == true)
  }

  @Test(
    "A migration check reports a wrong declaration, and joins all problems into one text"
  )
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

  @Test("A migration check of a view's record only tries statements that read")
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

import Larder
import TestSupport
import PostgresSupport
import Testing

@Suite(
  "SQL planted behind a schema entry's statement",
  .onlySQLite(.definitions))
struct ForeignStatementTests {
  private let folder: ScratchFolder
  private let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("foreign.db")
  }

  /// Makes a file in which another statement follows that of a schema entry.
  private func plant(
    _ create: String, end: String = "", _ planted: String, file: String = "foreign.db"
  ) throws {
    let db = try Database(path: folder.file(file))
    let room = String(repeating: "x", count: planted.utf8.count - 3)
    let city = "CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population INT);"
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE victim (a); INSERT INTO victim VALUES (1);
          \(create.hasPrefix("CREATE TABLE") ? "" : city)
          \(create) /*\(room)*/\(end);
          PRAGMA wal_checkpoint(truncate)
          """))
    try db.close()
    try folder.replace(" /*\(room)*/\(end)", by: "\(end); \(planted)", in: file)
  }

  private func expectVictim(_ db: Database) throws {
    #expect(try db.tableExists("victim"))
    #expect(try db.value("SELECT count(*) FROM pragma_database_list WHERE name = 'z'") == 0)
  }

  @Test(
    "A rebuild throws if SQL was planted behind an index or trigger, and doesn't run it",
    arguments: [
      ("CREATE INDEX i ON city(name)", ""),
      ("CREATE TRIGGER i AFTER INSERT ON city BEGIN SELECT 1;", " END"),
    ])
  func rebuild(create: String, end: String) throws {
    for planted in ["DROP TABLE victim;", "ATTACH 'z.db' AS z;"] {
      let file = "\(planted.utf8.count).db"
      try plant(create, end: end, planted, file: file)
      let db = try Database(path: folder.file(file))
      let before = try db.schema()
      #expect(before.contains { $0.sql?.hasSuffix(planted) == true })
      #expect(throws: (any Error).self) { try City.table.rebuild(db) }
      #expect(try db.schema() == before)
      try expectVictim(db)
    }
  }

  @Test("Creating an entry or a table of a schema, or running a step, doesn't run planted SQL")
  func creation() throws {
    try plant("CREATE TABLE city (name TEXT) STRICT", "DROP TABLE victim;")
    let schema = try Schema(Database(path: path))
    let entries = try Database(path: path).schema().filter { $0.name == "city" }
    let mine = try Database.empty()
    try mine.executeStatements("CREATE TABLE victim (a)")
    let table = try #require(schema.table("city"))
    #expect(table.sql.contains("DROP"))
    #expect(throws: (any Error).self) { try table.create(mine) }
    #expect(throws: (any Error).self) { try entries[0].create(mine) }
    for step in schema.steps(from: try Schema(mine)) {
      #expect(throws: (any Error).self) { try step.execute(mine) }
    }
    try mine.executeStatements("CREATE TABLE city (name TEXT); INSERT INTO city VALUES (1)")
    #expect(throws: (any Error).self) { try table.rebuild(mine) }
    #expect(try mine.value("SELECT count(*) FROM city") == 1)
    try expectVictim(mine)
  }

  @Test("A schema entry whose SQL creates anything else is refused with its SQL")
  func otherName() throws {
    let db = try Database.empty()
    try db.executeStatements("CREATE TABLE city (name); CREATE TABLE town (name)")
    func error(_ kind: SchemaEntry.Kind, _ name: String, _ sql: String) -> SchemaError? {
      failure(SchemaError.self) {
        try SchemaEntry(kind: kind, name: name, table: "city", sql: sql).create(db)
      }
    }
    for (kind, name, sql): (SchemaEntry.Kind, String, String) in [
      (.index, "a", "CREATE INDEX a ON town(name)"),
      (.index, "a", "CREATE INDEX b ON city(name)"),
      (.index, "a", "CREATE TABLE a (name)"),
      (.table, "a", "DROP TABLE city"),
      (.view, "a", "CREATE VIEW temp.a AS SELECT 1"),
      (.trigger, "a", "CREATE TRIGGER a AFTER INSERT ON town BEGIN SELECT 1; END"),
      (.table, "a", "/* CREATE TABLE a */ ATTACH 'z.db' AS a"),
    ] {
      #expect(error(kind, name, sql) == .notItsStatement(name: name, sql: sql))
    }
    #expect(error(.index, "A", "CREATE UNIQUE INDEX [a] ON City (name)") == nil)
    #expect(
      error(
        .trigger, "c", "create trigger 'c' after update of name on \"city\" begin select 1; end")
        == nil)
    #expect(try db.schema().count == 4)
  }
}

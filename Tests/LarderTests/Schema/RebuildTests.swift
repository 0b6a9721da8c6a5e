import Larder
import PostgresSupport
import Testing

@Suite(
  "Rebuilding a table",
  .enabled(
    if: !TestEngine.isPostgres,
    "the new table with copied rows is SQLite's; a server's: AlterationTests"))
struct RebuildTests {
  let db: Database

  init() throws { db = try Database.empty() }

  /// The rows of a query as texts.
  private func rows(_ sql: SQL) throws -> [String] {
    try db.executeQuery(sql).map { row in
      try (0..<row.columnCount).map { "\(try row.get(at: $0, as: DatabaseValue.self))" }
        .joined(separator: " ")
    }
  }

  /// The database's whole schema and rows as texts.
  private func snapshot() throws -> [String] {
    try db.schema().map { "\($0)" }
      + db.schema().filter { $0.kind == .table }.flatMap {
        try rows("SELECT rowid, * FROM \(identifier: $0.name)")
      }
  }

  private func makeOldCities() throws {
    try db.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name VARCHAR(80), inhabitants TEXT);
      INSERT INTO city VALUES (7, 'Oslo', '709037'), (3, 'Bergen', '291940');
      """)
  }

  @Test("A rebuild changes types, renames columns and copies rows by expressions")
  func copying() throws {
    try makeOldCities()
    let count = try City.table.rebuild(
      db, copying: ["Population": "CAST(inhabitants AS INTEGER) + \(1)"])
    #expect(count == 2)
    #expect(try City.table.differences(db) == [])
    #expect(
      try City.order { $0.id }.fetchAll(db) == [
        City(id: 3, name: "Bergen", population: 291_941),
        City(id: 7, name: "Oslo", population: 709_038),
      ])
    #expect(try db.schema().map(\.sql) == City.table.schema().statements)
    #expect(try db.value("PRAGMA foreign_keys") == 1)
  }

  @Test("A rebuild gives new columns their default")
  func defaults() throws {
    try makeOldCities()
    let table = Table(
      "city", City.init, City.columns.id, City.columns.name,
      Column("population", \.population, .default(5)))
    try table.rebuild(db, losing: .columns)
    #expect(try rows("SELECT * FROM city") == ["3 Bergen 5", "7 Oslo 5"].map(described))
  }

  /// A row as ``rows(_:)`` describes it.
  private func described(_ row: String) -> String {
    row.split(separator: " ").map { word in
      "\(Int64(word).map(DatabaseValue.integer) ?? .text(String(word)))"
    }.joined(separator: " ")
  }

  @Test("A rebuild that would lose a column, or lacks a value for one, throws and changes nothing")
  func refusals() throws {
    try makeOldCities()
    let before = try snapshot()
    func error(_ copying: [String: SQL], losing: RebuildLosses = []) -> SchemaError? {
      failure(SchemaError.self) { try City.table.rebuild(db, copying: copying, losing: losing) }
    }
    #expect(
      error(["population": "1"]) == .losesColumns(table: "city", columns: ["inhabitants"]))
    #expect(
      error([:], losing: .columns) == .needsValue(table: "city", column: "population"))
    #expect(
      error(["mayor": "1", "population": "inhabitants"])
        == .noSuchColumn(table: "city", column: "mayor"))
    #expect(try snapshot() == before)
    try City.table.rebuild(db, copying: ["population": "1"], losing: .columns)
  }

  @Test("A rebuild without a column in common with the old table needs values")
  func nothingInCommon() throws {
    let db = try Database.empty()
    try db.executeStatements(
      "CREATE TABLE lake (old TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO lake VALUES ('Ladoga')")
    let lake = try TableSchema("lake", [.column("name", .text, .primaryKey)])
    #expect(throws: SchemaError.needsValue(table: "lake", column: "name")) {
      try lake.rebuild(db, losing: .columns)
    }
  }

  @Test("A rebuild of an empty table may drop all columns")
  func empty() throws {
    try db.executeStatements("CREATE TABLE city (key TEXT)")
    #expect(try City.table.rebuild(db) == 0)
    #expect(try City.table.differences(db) == [])
  }

  @Test("A rebuild throws for rows that violate constraints, or drops them with .rows")
  func rowsThatBreakConstraints() throws {
    try makeOldCities()
    try db.executeStatements("INSERT INTO city VALUES (8, NULL, '5'), (9, 'Oslo', 'many')")
    let before = try snapshot()
    let numbers: [String: SQL] = ["population": "CAST(inhabitants AS INTEGER)"]
    #expect(throws: DatabaseError.self) { try City.table.rebuild(db, copying: numbers) }
    // A STRICT table accepts no text for a number.
    #expect(throws: DatabaseError.self) {
      try City.table.rebuild(
        db, copying: ["population": "inhabitants", "name": "ifnull(name, '')"])
    }
    #expect(try snapshot() == before)
    #expect(try City.table.rebuild(db, copying: numbers, losing: .rows) == 3)
    #expect(try City.fetchAll(db).map(\.id) == [3, 7, 9])
  }

  @Test("A rebuild throws for rows that a conflict clause would replace")
  func replacedRows() throws {
    try makeOldCities()
    try db.executeStatements("INSERT INTO city VALUES (8, 'Oslo', '5')")
    // A table read from another database: no builder declares conflict clauses.
    let other = try Database.empty()
    try other.executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT REPLACE,
        inhabitants TEXT)
      """)
    let table = try #require(try Schema(other).table("city"))
    let before = try snapshot()
    #expect(
      failure(SchemaError.self) { try table.rebuild(db) } == .losesRows(table: "city", count: 1))
    #expect(try snapshot() == before)
    #expect(try table.rebuild(db, losing: .rows) == 2)
  }

  @Test("A rebuild keeps row ids that no column shows")
  func rowIDs() throws {
    try db.executeStatements(
      "CREATE TABLE road (a TEXT, rowid TEXT); INSERT INTO road (_rowid_, a) VALUES (9, 'x'), (4, 'y')"
    )
    let table = try TableSchema(
      "road",
      [.column("a", .text), .column("rowid", .text.optional), .column("_rowid_", .text.optional)],
      options: .noPrimaryKey)
    try table.rebuild(db)
    #expect(try rows("SELECT oid, a FROM road") == ["4 y", "9 x"].map(described))
    // The row ids become the key of a table that had none.
    let keyed = try TableSchema(
      "road", [.column("id", .integer, .primaryKey), .column("a", .text)])
    try keyed.rebuild(db, losing: .columns)
    #expect(try rows("SELECT id, a FROM road") == ["4 y", "9 x"].map(described))
  }

  @Test("A rebuild changes a table to WITHOUT ROWID and back")
  func withoutRowID() throws {
    try road().create(db)
    try db.executeStatements("INSERT INTO road VALUES (2, 1, 'NO', 5), (1, 2, 'SE', 6)")
    try road(options: .withoutRowID).rebuild(db)
    #expect(try Schema(db).tables[0].isWithoutRowID)
    #expect(try rows(#"SELECT "from", length FROM road"#).count == 2)
    try road(options: .notStrict).rebuild(db)
    #expect(try road(options: .notStrict).differences(db) == [])
    #expect(try db.value("SELECT count(*) FROM road") == 2)
  }

  @Test("A rebuild keeps the AUTOINCREMENT sequence")
  func autoincrement() throws {
    try Bridge.table.create(db)
    try road().create(db)
    try db.executeStatements(
      """
      INSERT INTO road VALUES (1, 2, 'NO', 5);
      INSERT INTO bridge VALUES (1, 1, 2, NULL), (50, 1, 2, NULL); DELETE FROM bridge WHERE id = 50;
      """)
    try Bridge.table.rebuild(db)
    #expect(try rows("SELECT * FROM sqlite_sequence") == ["bridge 50"].map(described))
    try db.executeStatements("DELETE FROM bridge")
    try Bridge.table.rebuild(db)
    var bridge = Bridge(id: nil, from: 1, to: 2, older: nil)
    try bridge.insert(db)
    #expect(bridge.id == 51)
  }

  @Test("A rebuild works if the name of its temporary table is taken")
  func takenName() throws {
    try makeOldCities()
    try db.executeStatements(
      """
      CREATE TABLE "city rebuilt" (year); INSERT INTO "city rebuilt" VALUES (1624);
      CREATE VIEW "city rebuilt'" AS SELECT 1
      """)
    #expect(try City.table.rebuild(db, copying: ["population": "inhabitants"]) == 2)
    #expect(try City.table.differences(db) == [])
    #expect(try rows("SELECT * FROM \"city rebuilt\"") == ["1624"].map(described))
    #expect(try db.schema().count { $0.kind != .index } == 3)
  }

  @Test("A rebuild that copies no column fills each row with defaults")
  func onlyDefaults() throws {
    struct Lake: Record {
      var name: String
      static let columns = [Column("name", \Lake.name, .default("unnamed"))]
      static let table = Table("lake", Lake.init, columns[0], options: .noPrimaryKey)
    }
    try db.executeStatements(
      """
      CREATE TABLE lake (old TEXT PRIMARY KEY) WITHOUT ROWID;
      INSERT INTO lake VALUES ('Ladoga'), ('Onega')
      """)
    #expect(try Lake.table.rebuild(db, losing: .columns) == 2)
    #expect(try rows("SELECT * FROM lake") == ["unnamed", "unnamed"].map(described))
  }

  @Test("A rebuild keeps the AUTOINCREMENT sequence if the table's name changes its case")
  func autoincrementInAnotherCase() throws {
    try road().create(db)
    try db.executeStatements(
      """
      CREATE TABLE Bridge (id INTEGER PRIMARY KEY AUTOINCREMENT, "from" INTEGER, "to" INTEGER,
        older INTEGER);
      INSERT INTO road VALUES (1, 2, 'NO', 5);
      INSERT INTO Bridge VALUES (50, 1, 2, NULL); DELETE FROM bridge;
      """)
    try Bridge.table.rebuild(db)
    #expect(try Bridge.table.differences(db) == [])
    var bridge = Bridge(id: nil, from: 1, to: 2, older: nil)
    try bridge.insert(db)
    #expect(bridge.id == 51)
  }

  @Test("A rebuild computes generated columns anew, and takes no value for them")
  func generated() throws {
    try db.executeStatements(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT NOT NULL, twice TEXT AS (name || name));
      INSERT INTO town (id, name) VALUES (1, 'Oslo')
      """)
    let table = try TableSchema(
      "town",
      [
        .column("id", .integer, .primaryKey), .column("name", .text),
        .column("twice", .text.optional, .generated("name || '!'", stored: true)),
      ])
    try table.rebuild(db)
    #expect(try db.value("SELECT twice FROM town") == "Oslo!")
    #expect(
      failure(SchemaError.self) { try table.rebuild(db, copying: ["twice": "1"]) }
        == .noSuchColumn(table: "town", column: "twice"))
  }

  @Test("Rebuilding a view, a virtual or a temporary table, or a hidden one, throws")
  func notTables() throws {
    func error(_ sql: SQL) throws -> SchemaError? {
      let db = try Database.empty()
      try db.executeStatements(sql)
      return failure(SchemaError.self) { try City.table.rebuild(db) }
    }
    #expect(try error("") == .noTable("city"))
    #expect(try error("CREATE VIEW city AS SELECT 1") == .noTable("city"))
    #expect(try error("CREATE VIRTUAL TABLE city USING fts5(name)") == .noTable("city"))
    #expect(try error("CREATE TEMP TABLE city (id)") == .hidden("city"))
    #expect(try error("CREATE TABLE city (id); CREATE TEMP TABLE City (id)") == .hidden("city"))
  }

  @Test("A full disk in a rebuild leaves the database as it was")
  func fullDisk() throws {
    try makeOldCities()
    try db.executeStatements(
      """
      WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO city SELECT i, 'City number ' || i, i FROM n;
      CREATE INDEX by_name ON city (name); CREATE TRIGGER t AFTER DELETE ON city BEGIN SELECT 1; END
      """)
    let before = try snapshot()
    let pages = try #require(try db.value("PRAGMA page_count", as: Int.self))
    try db.executeUpdate(SQL(raw: "PRAGMA max_page_count = \(pages + 20)"))
    let error = failure(DatabaseError.self) {
      try City.table.rebuild(db, copying: ["population": "CAST(inhabitants AS INTEGER)"])
    }
    #expect(error?.code == .full)
    #expect(try snapshot() == before)
    #expect(try db.value("PRAGMA foreign_keys") == 1)
    #expect(try db.value("PRAGMA legacy_alter_table") == 0)
    #expect(!db.isInTransaction)
  }

  @Test("A rebuild in a transaction is rolled back with it")
  func rolledBack() throws {
    try makeOldCities()
    let before = try snapshot()
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try db.inTransaction { db in
        try City.table.rebuild(db, copying: ["population": "CAST(inhabitants AS INTEGER)"])
        throw Stop()
      }
    }
    #expect(try snapshot() == before)
    let queue = try DatabaseQueue()
    try queue.inTransaction { try City.table.create($0) }
    #expect(throws: DatabaseError.self) { try queue.read { try City.table.rebuild($0) } }
    #expect(try queue.inTransaction { try City.table.rebuild($0) } == 0)
    #expect(try queue.inDatabase { try City.table.rebuild($0) } == 0)
  }
}

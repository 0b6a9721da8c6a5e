import LarderSQLite
import Testing

@Suite("Reading the schema")
struct SchemaTests {
  private let oddNames = ["234 fds", "o'brien", #"the "old" towns"#, "select", "北京", "a.b", "x;--"]

  @Test("`tableExists` ignores the case of the name")
  func tableExists() throws {
    let db = try makeCities()
    #expect(try db.tableExists("city"))
    #expect(try db.tableExists("CITY"))
    #expect(try !db.tableExists("river"))
    #expect(try !db.tableExists("cit_"))
    #expect(try !db.tableExists(""))
    try db.executeUpdate("DROP TABLE city")
    #expect(try !db.tableExists("city"))
  }

  @Test("`tableExists` is true for temporary tables, false for views and indexes")
  func notTables() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      CREATE VIEW large AS SELECT * FROM city WHERE population > 1000000;
      CREATE INDEX city_area ON city (area);
      CREATE TEMP TABLE visited (name TEXT);
      """)
    #expect(try !db.tableExists("large"))
    #expect(try !db.tableExists("city_area"))
    #expect(try db.tableExists("visited"))
  }

  @Test("`columnExists` ignores the case of table and column")
  func columnExists() throws {
    let db = try makeCities()
    #expect(try db.columnExists("population", in: "city"))
    #expect(try db.columnExists("Population", in: "City"))
    #expect(try !db.columnExists("mayor", in: "city"))
    #expect(try !db.columnExists("population", in: "river"))
    try db.executeUpdate("ALTER TABLE city ADD COLUMN mayor TEXT")
    #expect(try db.columnExists("mayor", in: "city"))
  }

  @Test("Reading the schema works for tables and columns with quotes, spaces or keywords as names")
  func oddTables() throws {
    for name in oddNames {
      let db = try Database()
      try db.executeUpdate(
        "CREATE TABLE \(identifier: name) (\(identifier: name + " column") TEXT)")
      #expect(try db.tableExists(name), "\(name)")
      #expect(try db.columnExists(name + " column", in: name), "\(name)")
      #expect(try !db.columnExists(name, in: name), "\(name)")
      #expect(try db.columns(of: name).map(\.name) == [name + " column"])
      #expect(try db.schema().map(\.name) == [name])
      #expect(try db.indexes(of: name).isEmpty)
      #expect(try db.foreignKeys(of: name).isEmpty)
    }
  }

  @Test("`schema` lists tables, indexes, views and triggers in the order of creation")
  func schema() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      CREATE VIEW large AS SELECT name FROM city;
      CREATE INDEX city_area ON city (area);
      CREATE TRIGGER keep BEFORE DELETE ON city BEGIN SELECT raise(ABORT, 'kept'); END;
      """)
    let schema = try db.schema()
    #expect(schema.map(\.kind) == [.table, .index, .view, .index, .trigger])
    #expect(
      schema.map(\.name) == ["city", "sqlite_autoindex_city_1", "large", "city_area", "keep"])
    #expect(schema.map(\.table) == ["city", "city", "large", "city", "city"])
    #expect(schema[1].sql == nil)
    #expect(schema[3].sql == "CREATE INDEX city_area ON city (area)")
  }

  @Test("`schema` of a new database is empty")
  func emptySchema() throws {
    #expect(try Database().schema().isEmpty)
  }

  @Test("`columns` gives type, default, NOT NULL, primary key and generating expression")
  func columns() throws {
    let db = try Database()
    try db.executeUpdate(
      """
      CREATE TABLE station (
        line TEXT NOT NULL, number INTEGER NOT NULL, name VARCHAR(40) DEFAULT 'unnamed',
        anything, label TEXT AS (line || number), PRIMARY KEY (number, line))
      """)
    let columns = try db.columns(of: "station")
    #expect(columns.map(\.name) == ["line", "number", "name", "anything", "label"])
    #expect(columns.map(\.type) == ["TEXT", "INTEGER", "VARCHAR(40)", "", "TEXT"])
    #expect(columns.map(\.isNotNull) == [true, true, false, false, false])
    #expect(columns.map(\.default) == [nil, nil, "'unnamed'", nil, nil])
    #expect(columns.map(\.primaryKeyPosition) == [2, 1, 0, 0, 0])
    #expect(columns.map(\.generated) == [nil, nil, nil, nil, "line || number"])
  }

  @Test("`columns`, `indexes`, `foreignKeys` give details that only the CREATE statement contains")
  func statementFacts() throws {
    let db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE line (name TEXT COLLATE NOCASE, UNIQUE (name COLLATE RTRIM DESC));
      CREATE TABLE stop (
        name TEXT NOT NULL DEFAULT 'it''s', line TEXT REFERENCES line DEFERRABLE INITIALLY DEFERRED);
      CREATE INDEX by_name ON stop (name DESC, lower(line));
      """)
    #expect(try db.columns(of: "line").map(\.collation) == ["NOCASE"])
    #expect(try db.columns(of: "stop").map(\.sql)[0] == "name TEXT NOT NULL DEFAULT 'it''s'")
    #expect(try db.foreignKeys(of: "stop").map(\.isDeferred) == [true])
    #expect(try db.indexes(of: "stop").map(\.terms) == [["name DESC", "lower(line)"]])
    #expect(
      try db.indexes(of: "line").map(\.sql) == [#"UNIQUE ("name" COLLATE RTRIM DESC)"#])
  }

  @Test("`columns` finds a temp table or view first, then the main database's, then attached ones")
  func hiddenTables() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      ATTACH ':memory:' AS other;
      CREATE TABLE other.lake (name TEXT COLLATE NOCASE);
      CREATE TABLE other.city (mayor TEXT COLLATE NOCASE);
      """)
    #expect(try db.columns(of: "lake").map(\.collation) == ["NOCASE"])
    #expect(try db.columns(of: "city").map(\.name) == ["id", "name", "population", "area"])
    try db.executeStatements("CREATE TEMP VIEW city AS SELECT 1 AS one")
    #expect(try db.columns(of: "city").map(\.sql) == [#""one""#])
    #expect(try db.columns(of: "sqlite_schema").map(\.name).contains("rootpage"))
    #expect(try db.columns(of: "json_each").map(\.name).contains("value"))
  }

  @Test(
    "The schema can be read under a read-only authorizer",
    arguments: [nil, Authorizer.readOnly, .dataOnly])
  func authorized(preset: Authorizer?) throws {
    var configuration = Configuration(profile: .untrustedFile)
    configuration.readOnly = false
    let db = try Database(configuration: configuration)
    db.authorizer = nil
    try createCities(in: db)
    db.authorizer = preset
    #expect(try db.columns(of: "city").map(\.primaryKeyPosition) == [1, 0, 0, 0])
    #expect(try db.indexes(of: "city").map(\.sql) == [#"UNIQUE ("name")"#])
    #expect(try db.foreignKeys(of: "city").isEmpty)
  }

  @Test("A column type that SQLite cuts within a character is returned with U+FFFD")
  func cutType() throws {
    let db = try Database()
    // SQLite removes the first and last byte of a type that begins with a quote or bracket.
    try db.executeUpdate("CREATE TABLE town (size [c]北)")
    #expect(try db.columns(of: "town")[0].type == "c]\u{FFFD}")
  }

  @Test("`columns` and `columnExists` work for a view")
  func viewColumns() throws {
    let db = try makeCities()
    try db.executeUpdate("CREATE VIEW large AS SELECT name, population / area AS density FROM city")
    #expect(try db.columns(of: "large").map(\.name) == ["name", "density"])
    #expect(try db.columnExists("density", in: "large"))
  }

  @Test("`indexes` gives columns, uniqueness, WHERE condition and kind")
  func indexes() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      CREATE INDEX city_size ON city (population, area);
      CREATE UNIQUE INDEX large_city ON city (lower(name)) WHERE population > 1000000;
      """)
    let indexes = try db.indexes(of: "city")
    #expect(indexes.map(\.name) == ["sqlite_autoindex_city_1", "city_size", "large_city"])
    #expect(indexes.map(\.columns) == [["name"], ["population", "area"], [nil]])
    #expect(indexes.map(\.isUnique) == [true, false, true])
    #expect(indexes.map(\.condition) == [nil, nil, "population > 1000000"])
    #expect(indexes.map(\.kind) == [.unique, .created, .created])
  }

  @Test("`foreignKeys` gives columns, referenced table and actions")
  func foreignKeys() throws {
    let db = try makeCities()
    try db.executeStatements(
      """
      CREATE TABLE station (line TEXT, number INTEGER, PRIMARY KEY (line, number));
      CREATE TABLE stop (
        city INTEGER REFERENCES city ON DELETE SET NULL,
        line TEXT, number INTEGER,
        FOREIGN KEY (line, number) REFERENCES station (line, number) ON UPDATE CASCADE);
      """)
    let keys = try db.foreignKeys(of: "stop")
    try #require(keys.count == 2)
    #expect(keys[0].columns == ["city"])
    #expect(keys[0].referencedTable == "city")
    #expect(keys[0].referencedColumns.isEmpty)
    #expect(keys[0].onDelete == .setNull)
    #expect(keys[0].onUpdate == .noAction)
    #expect(keys[1].columns == ["line", "number"])
    #expect(keys[1].referencedTable == "station")
    #expect(keys[1].referencedColumns == ["line", "number"])
    #expect(keys[1].onUpdate == .cascade)
  }

  @Test("`columns`, `indexes` and `foreignKeys` of a missing table throw")
  func missingTable() throws {
    let db = try makeCities()
    for call in [
      { _ = try db.columns(of: "river") }, { _ = try db.indexes(of: "river") },
      { _ = try db.foreignKeys(of: "river") },
    ] as [() throws -> Void] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.message == "no such table: river")
    }
    #expect(try db.indexes(of: "city").count == 1)
    #expect(try db.foreignKeys(of: "city").isEmpty)
  }
}

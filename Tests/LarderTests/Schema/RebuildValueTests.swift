import Larder
import PostgresSupport
import Testing

@Suite(
  "Values in a rebuild",
  .onlySQLite(.anyTyped))
struct RebuildValueTests {
  let db: Database

  init() throws { db = try Database.empty() }

  private func table(_ type: ColumnType, _ options: TableOptions = .notStrict) throws -> TableSchema
  {
    try TableSchema(
      "town", [.column("id", .integer, .primaryKey), .column("a", type.optional)],
      options: options)
  }

  /// Makes a table with values of one type, and rebuilds it with another type.
  private func convert(_ type: String, _ values: String, to new: TableSchema) throws -> [String] {
    let db = try Database.empty()
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE town (id INTEGER PRIMARY KEY, a \(type));
          INSERT INTO town (a) VALUES \(values)
          """))
    try new.rebuild(db)
    return try db.executeQuery("SELECT typeof(a) || ' ' || quote(a) FROM town ORDER BY id").map {
      try $0.get(at: 0)
    }
  }

  @Test("A rebuild changes a column's type if every value is kept")
  func kept() throws {
    #expect(
      try convert(
        "TEXT", "('7'), ('-12'), ('0.5'), ('Oslo'), (NULL), (x'00ff'), ('')", to: table(.any))
        == [
          "text '7'", "text '-12'", "text '0.5'", "text 'Oslo'", "null NULL", "blob X'00FF'",
          "text ''",
        ])
    #expect(
      try convert("TEXT", "('7'), ('-12'), ('Oslo'), (NULL)", to: table(.integer)) == [
        "integer 7", "integer -12", "text 'Oslo'", "null NULL",
      ])
    #expect(
      try convert("REAL", "(7), (0.5), (1e300)", to: table(.text)) == [
        "text '7.0'", "text '0.5'", "text '1.0e+300'",
      ])
    #expect(
      try convert("INTEGER", "(7), (9007199254740992), (0.5)", to: table(.real)) == [
        "real 7.0", "real 9.00719925474099199994e+15", "real 0.5",
      ])
    #expect(try convert("", "('007'), (1.0), (3)", to: table(.any)).count == 3)
  }

  @Test(
    "A rebuild that would change values throws with the number of rows and their keys",
    arguments: [
      ("REAL", "0.30000000000000004", ColumnType.text),
      ("INTEGER", "9007199254740993", .real),
      ("INTEGER", "9223372036854775807", .real),
      ("TEXT", "'007'", .integer),
      ("TEXT", "'1e3'", .integer),
      ("TEXT", "' 5'", .integer),
      ("TEXT", "'5'", .real),
      ("TEXT", "'12345678901234567890'", .integer),
      ("TEXT", "'12345678901234567890'", .real),
      ("TEXT", "'9007199254740993'", .real),
      ("TEXT COLLATE NOCASE", "'1E5'", .real),
      ("REAL", "9e999", .text),
      ("", "'-0'", .integer),
    ])
  func refused(type: String, value: String, new: ColumnType) throws {
    try db.executeStatements(
      SQL(
        raw: """
          CREATE TABLE town (id INTEGER PRIMARY KEY, a \(type));
          INSERT INTO town VALUES (2, NULL), (5, \(value)), (9, 'x'), (11, \(value));
          """))
    let before = try db.schema()
    #expect(
      failure(SchemaError.self) { try table(new).rebuild(db) }
        == .changesValues(
          table: "town", column: "a", count: 2, rows: [[.integer(5)], [.integer(11)]]))
    #expect(try db.schema() == before)
    // A step is refused too, which was computed without the rows.
    let steps = try Schema(tables: [table(new)]).steps(from: Schema(db))
    #expect(throws: SchemaError.self) { try steps[0].execute(db) }
    // A new name with another type is refused too.
    let renamed = try TableSchema(
      "town", [.column("id", .integer, .primaryKey), .column("b", new.optional)],
      options: .notStrict)
    #expect(throws: SchemaError.self) { try renamed.rebuild(db, copying: ["b": "a"]) }
    #expect(try table(new).rebuild(db, losing: .values) == 4)
  }

  @Test("A rebuild that would change -0.0 throws unless the new column has no type")
  func negativeZero() throws {
    try db.executeStatements("CREATE TABLE town (id INTEGER PRIMARY KEY, a)")
    for number in [0.0, -0.0, 1.0] {
      try db.executeUpdate("INSERT INTO town (a) VALUES (?)", number)
    }
    for type in [ColumnType.integer, .real, .text] {
      #expect(
        failure(SchemaError.self) { try table(type).rebuild(db) }
          == .changesValues(table: "town", column: "a", count: 1, rows: [[.integer(2)]]))
    }
    try table(.any).rebuild(db)
    #expect(try db.value("SELECT a FROM town WHERE id = 2", as: Double.self)?.sign == .minus)
  }

  @Test("The error of a rebuild without row ids names rows by their keys")
  func keys() throws {
    try db.executeStatements(
      """
      CREATE TABLE town (a TEXT, b TEXT, c TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
      INSERT INTO town VALUES ('x', 'y', '01'), ('z', 'y', '1')
      """)
    let table = try TableSchema(
      "town",
      [.column("a", .text, .primaryKey), .column("b", .text, .primaryKey), .column("c", .integer)])
    #expect(
      failure(SchemaError.self) { try table.rebuild(db) }
        == .changesValues(table: "town", column: "c", count: 1, rows: [["y", "x"]]))
  }

  @Test("A rebuild throws if a NULL would become the default or a key that SQLite chooses")
  func nulls() throws {
    try db.executeStatements(
      "CREATE TABLE town (id INT PRIMARY KEY, a INTEGER); INSERT INTO town VALUES (1, 5), (NULL, 6)"
    )
    #expect(
      failure(SchemaError.self) { try table(.integer).rebuild(db, losing: .rowIDs) }
        == .changesValues(table: "town", column: "id", count: 1, rows: [[2]]))
    let other = try Database.empty()
    try other.executeStatements(
      "CREATE TABLE town (id INT PRIMARY KEY, a INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 9)")
    let found = try #require(try Schema(other).table("town"))
    try db.executeUpdate("UPDATE town SET a = NULL WHERE a = 5")
    #expect(
      failure(SchemaError.self) { try found.rebuild(db) }
        == .changesValues(table: "town", column: "a", count: 1, rows: [[1]]))
  }

  @Test("A rebuild that makes a column generated loses its values, and the reverse keeps them")
  func generated() throws {
    try db.executeStatements(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, a INTEGER, b INTEGER) STRICT;
      INSERT INTO town VALUES (1, 7, 99)
      """)
    let computed = try TableSchema(
      "town",
      [
        .column("id", .integer, .primaryKey), .column("a", .integer.optional),
        .column("b", .integer.optional, .generated("a * 2")),
      ])
    #expect(
      failure(SchemaError.self) { try computed.rebuild(db) }
        == .losesColumns(table: "town", columns: ["b"]))
    let steps = try Schema(tables: [computed]).steps(from: Schema(db))
    #expect(
      steps.map(\.description) == ["DESTRUCTIVE: rebuild the table “town”, losing “b”"])
    let found = try #require(try Schema(db).table("town"))
    try steps[0].execute(db)
    #expect(try db.value("SELECT b FROM town") == 14)
    try found.rebuild(db)
    #expect(try db.value("SELECT b FROM town") == 14)
    #expect(found.differences(from: try Schema(db).table("town")) == [])
  }

  @Test("A rebuild counts a column as copied only if an expression reads it")
  func usedColumns() throws {
    try db.executeStatements(
      """
      CREATE TABLE town (id INTEGER PRIMARY KEY, date TEXT, size INTEGER);
      CREATE TABLE other (size INTEGER); INSERT INTO other VALUES (5);
      INSERT INTO town VALUES (1, '2024-05-01', 3)
      """)
    func error(_ column: String, _ expression: SQL) throws -> SchemaError? {
      let table = try TableSchema(
        "town",
        [
          .column("id", .integer, .primaryKey), .column("a", .any.optional),
          .column(column, .any.optional),
        ])
      return failure(SchemaError.self) {
        try db.inTransaction { db in
          try table.rebuild(db, copying: ["a": expression])
          db.setRollbackOnly()
        }
      }
    }
    let lost = SchemaError.losesColumns(table: "town", columns: ["date"])
    #expect(try error("size", "date('2024-05-01')") == lost)
    #expect(try error("size", "'date'") == lost)
    #expect(try error("size", "id COLLATE nocase /* date */") == lost)
    #expect(try error("size", "date(date)") == nil)
    #expect(try error("size", "\"DATE\" || \(1)") == nil)
    #expect(try error("size", "main.town.date") == nil)
    #expect(try error("size", "date(town.date) || rowid") == nil)
    let size = SchemaError.losesColumns(table: "town", columns: ["size"])
    #expect(try error("date", "(SELECT size FROM other)") == size)
    #expect(try error("date", "(SELECT town.size FROM other)") == nil)
  }
}

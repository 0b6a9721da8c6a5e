import Larder
import PostgresSupport
import Testing

@Suite("Differences that are only notes", .onlySQLite(.definitions))
struct NoteTests {
  /// The differences and the notes for a town's table with this column.
  private func compared(
    _ column: Column<Town, String>, _ found: String, options: TableOptions = .notStrict
  ) throws -> (differences: [String], notes: [String]) {
    let db = try Database.empty()
    try db.executeStatements(
      SQL(raw: "CREATE TABLE town (id INTEGER PRIMARY KEY, \(found))"))
    let table = town(column, options: options)
    let all = try table.differences(db, strictly: true)
    let differences = try table.differences(db)
    #expect(all.filter { !$0.isNote } == differences)
    return (differences.map(\.description), all.filter(\.isNote).map(\.description))
  }

  private let name = Column("name", \Town.name)

  @Test(
    "A type of the same affinity is a note, not a difference",
    arguments: ["NVARCHAR(160)", "varchar", "CLOB", "CHARACTER VARYING(8)", "\"my text\""])
  func text(_ type: String) throws {
    let (differences, notes) = try compared(name, "name \(type) NOT NULL")
    #expect(differences == [])
    #expect(notes.count == 1 && notes[0].hasPrefix("“town”.“name”, type: declared TEXT, found "))
  }

  @Test(
    "A type of another affinity is a difference", arguments: ["DATETIME", "INT", "REAL", "BLOB"])
  func others(_ type: String) throws {
    let (differences, notes) = try compared(name, "name \(type) NOT NULL")
    #expect(differences == ["“town”.“name”, type: declared TEXT, found \(type)"])
    #expect(notes == [])
  }

  @Test("A type declared by .sqlType exactly as in the table is neither a note nor a difference")
  func declared() throws {
    let column = Column("name", \Town.name, .sqlType("NVARCHAR(160)"))
    #expect(try compared(column, "name NVARCHAR(160) NOT NULL") == ([], []))
    #expect(try compared(column, "name TEXT NOT NULL").notes.count == 1)
    let untyped = Column("name", \Town.name, .sqlType(""))
    #expect(try compared(untyped, "name NOT NULL") == ([], []))
    #expect(try compared(name, "name NOT NULL").differences.count == 1)
  }

  @Test("A text key that SQLite allows to be NULL is a note, not a difference")
  func nullableKey() throws {
    struct Saying: Record {
      var city: String?
      static let columns = Column("city", \Saying.city, .primaryKey)
      static let table = Table("saying", Saying.init, columns, options: .notStrict)
    }
    let db = try Database.empty()
    try db.executeStatements("CREATE TABLE saying (city TEXT PRIMARY KEY)")
    #expect(try Saying.table.differences(db) == [])
    #expect(
      try Saying.table.differences(db, strictly: true).map(\.description)
        == ["“saying”.“city”, nullability: declared NOT NULL, found NULL"])
    #expect(try Schema(Saying.self, in: db).steps(from: Schema(db)) == [])
  }

  @Test(
    "A default of the same value in another spelling is no difference",
    arguments: [
      ("'x'", "('x')"), ("'x'", "\"x\""), ("'x'", "x"), ("'5'", "5"), ("'5'", "+5"),
    ])
  func defaults(_ declared: String, _ found: String) throws {
    let column = Column(
      "name", \Town.name, .default(String(declared.dropFirst().dropLast())))
    let (differences, _) = try compared(column, "name TEXT NOT NULL DEFAULT \(found)")
    #expect(differences == [])
  }

  @Test(
    "A default of another value is a difference",
    arguments: ["'X'", "5.0", "('y' || 'z')", "NULL", "CURRENT_TIMESTAMP", "x'35'"])
  func otherDefaults(_ found: String) throws {
    let column = Column("name", \Town.name, .default("5"))
    let (differences, notes) = try compared(column, "name TEXT NOT NULL DEFAULT \(found)")
    #expect(differences.count == 1 && notes == [])
  }

  @Test("Defaults of numbers, booleans and times are compared by value")
  func numbers() throws {
    struct Part: Record {
      var id: Int
      var price: Double?
      var count: Int
      var isOld: Bool
      var made: String?
      static let columns = (
        Column("id", \Part.id, .primaryKey), Column("price", \Part.price, .default(0)),
        Column("count", \Part.count, .default(2)), Column("isOld", \Part.isOld, .default(true)),
        Column("made", \Part.made, .default(sql: "CURRENT_TIMESTAMP"))
      )
      static let table = Table(
        "part", Part.init, columns.0, columns.1, columns.2, columns.3, columns.4,
        options: .notStrict)
    }
    let db = try Database.empty()
    try db.executeStatements(
      """
      CREATE TABLE part (id INTEGER PRIMARY KEY, price DOUBLE DEFAULT 0,
        count BIGINT NOT NULL DEFAULT '2', isOld BOOLEAN NOT NULL DEFAULT TRUE,
        made VARCHAR DEFAULT current_timestamp)
      """)
    #expect(try Part.table.differences(db).map(\.description) == [])
    try db.executeStatements("DROP TABLE part")
    try db.executeStatements(
      """
      CREATE TABLE part (id INTEGER PRIMARY KEY, price REAL DEFAULT -0.5,
        count INTEGER NOT NULL DEFAULT 2.5, isOld INTEGER NOT NULL DEFAULT 0,
        made TEXT DEFAULT 'current_timestamp')
      """)
    #expect(
      try Part.table.differences(db).map(\.kind)
        == [.defaultValue, .defaultValue, .defaultValue, .defaultValue])
  }
}

@Suite("Columns with .sqlType", .onlySQLite(.definitions))
struct SQLTypeTests {
  private func schema(_ type: String, _ options: TableOptions = .notStrict) throws -> String {
    try town(Column("name", \Town.name, .sqlType(type), .default("x")), options: options)
      .schema().sql
  }

  @Test(".sqlType stands in CREATE TABLE as given")
  func text() throws {
    #expect(
      try schema("NVARCHAR(160)") == """
        CREATE TABLE "town" (
          "id" INTEGER PRIMARY KEY,
          "name" NVARCHAR(160) NOT NULL DEFAULT 'x'
        )
        """)
    #expect(try schema("").contains("\"name\" NOT NULL"))
    #expect(try schema("DECIMAL (10, 2)").contains("DECIMAL (10, 2) NOT NULL"))
    #expect(try schema("BLOB", []).contains("BLOB NOT NULL"))
  }

  @Test("A STRICT table refuses a .sqlType that isn't one of its types")
  func strict() throws {
    #expect(
      recordFailure { try schema("NVARCHAR(160)", []) }?
        .hasSuffix("which a STRICT table doesn't allow; use .notStrict") == true)
  }

  @Test(
    "A .sqlType that is more than a type's name is refused",
    arguments: [
      "TEXT DEFAULT 'a'", "TEXT, other TEXT", "TEXT)", "(5", "TEXT PRIMARY KEY", "TEXT; --",
      "TEXT NOT NULL", "a\0b",
    ])
  func noType(_ type: String) throws {
    #expect(recordFailure { try schema(type) }?.contains("has an invalid SQL type") == true)
  }

  @Test("Only a key with the type INTEGER is the row id")
  func rowID() throws {
    struct Visit: Record {
      var id: Int64?
      var day: Int
      static let columns = Column("day", \Visit.day)
      static func visits(_ type: String) -> Table<Visit> {
        Table(
          "visit", Visit.init, Column("id", \Visit.id, .primaryKey, .sqlType(type)), columns,
          options: .notStrict)
      }
      static let table = visits("integer")
    }
    #expect(try Visit.table.schema().sql.contains("\"id\" integer PRIMARY KEY,"))
    #expect(try Visit.visits("INT").schema().sql.contains("\"id\" INT PRIMARY KEY NOT NULL,"))
    let db = try Database.empty()
    try Visit.table.create(db)
    var visit = Visit(id: nil, day: 5)
    try visit.insert(db)
    #expect(visit.id == 1)
  }
}

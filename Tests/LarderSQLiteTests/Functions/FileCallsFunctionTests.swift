import LarderSQLite
import Synchronization
import TestSupport
import Testing

@Suite("Custom functions can't be called by a file's schema")
struct FileCallsFunctionTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  /// Counts the calls of the functions that the file's schema refers to.
  final class Calls: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Creates a file with a table of one row, on a connection that has the functions and lets the schema
  /// call them.
  private func makeFile(_ statements: SQL) throws {
    var configuration = Configuration()
    configuration.journalMode = .delete
    configuration.trustsSchema = true
    let db = try Database(path: path, configuration: configuration)
    try db.createFunction("wire", argumentCount: 1, directOnly: false) { _ in 1 }
    try db.createFunction("wire_twice", argumentCount: 1, deterministic: false, directOnly: false) {
      _ in 1
    }
    try db.executeStatements(statements)
    try db.close()
  }

  private func configuration(
    _ profile: Configuration.Profile, _ calls: Calls
  ) -> Configuration {
    var configuration = Configuration(profile: profile)
    configuration.readOnly = false
    configuration.prepareDatabase = { try register($0, calls) }
    return configuration
  }

  private static let schemas: [SQL] = [
    "CREATE TABLE city (name, spied AS (wire(name)) NOT NULL); INSERT INTO city VALUES ('Oslo')",
    """
    CREATE TABLE city (name, spied AS (wire(name)) STORED); INSERT INTO city VALUES ('Oslo')
    """,
    "CREATE TABLE city (name CHECK (wire(name))); INSERT INTO city VALUES ('Oslo')",
    "CREATE TABLE city (name CHECK (wire_twice(name))); INSERT INTO city VALUES ('Oslo')",
    """
    CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo');
    CREATE INDEX spied ON city (wire(name))
    """,
    """
    CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo');
    CREATE INDEX spied ON city (name) WHERE wire(name)
    """,
    """
    CREATE TABLE city (name, spied DEFAULT (wire('Oslo'))); INSERT INTO city (name) VALUES ('Oslo')
    """,
    """
    CREATE TABLE city (name, spied DEFAULT (wire_twice('Oslo')));
    INSERT INTO city (name) VALUES ('Oslo')
    """,
    """
    CREATE TABLE town (name); CREATE VIEW city AS SELECT name, wire(name), wire_twice(name) FROM town;
    INSERT INTO town VALUES ('Oslo')
    """,
    """
    CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo');
    CREATE TRIGGER spying AFTER INSERT ON city BEGIN SELECT wire(new.name); END
    """,
  ]

  /// Runs statements that read or write the table. Most of them are expected to fail.
  private func use(_ db: Database) {
    let statements: [SQL] = [
      "SELECT * FROM city", "SELECT count(*) FROM city WHERE name >= 'A'",
      "INSERT INTO city (name) VALUES ('Bergen')", "UPDATE city SET name = 'Bodø'",
      "PRAGMA quick_check", "PRAGMA integrity_check", "REINDEX", "ANALYZE", "VACUUM",
      "ALTER TABLE city ADD COLUMN more", "DELETE FROM city",
    ]
    for sql in statements { try? db.executeStatements(sql) }
  }

  @Test(
    "Generated columns, checks, indexes, defaults, views and triggers can't call custom functions",
    arguments: Self.schemas,
    [Configuration.Profile.service, .durable, .untrustedFile])
  func functionsOfPrepareDatabase(schema: SQL, profile: Configuration.Profile) throws {
    try makeFile(schema)
    let calls = Calls()
    let db: Database
    do {
      db = try Database(path: path, configuration: configuration(profile, calls))
    } catch let error as DatabaseError {
      // The check of an untrusted file would have to call the function.
      #expect(profile == .untrustedFile && error.message.contains("function: wire"), "\(error)")
      #expect(calls.count.load(ordering: .relaxed) == 0)
      return
    }
    let isChecked = ["CHECK", "NOT NULL"].contains { schema.text.contains($0) }
    #expect(!isChecked || profile != .untrustedFile)
    use(db)
    #expect(calls.count.load(ordering: .relaxed) == 0)
    // A statement itself may call the function.
    #expect(try db.value("SELECT wire_twice(1)", as: Int.self) == 1)
    #expect(calls.count.load(ordering: .relaxed) == 1)
  }

  @Test(
    "A file's schema can't call a custom function that is registered after the schema was read",
    arguments: schemas)
  func functionsRegisteredLate(schema: SQL) throws {
    try makeFile(schema)
    let calls = Calls()
    let db = try Database(path: path)
    _ = try db.schema()
    try register(db, calls)
    use(db)
    #expect(calls.count.load(ordering: .relaxed) == 0)
  }

  @Test(
    "A file's schema can't call a custom function that replaces one of SQLite's own",
    arguments: [true, false])
  func replacedFunctions(isDeterministic: Bool) throws {
    try makeFile(
      """
      CREATE TABLE city (name CHECK (abs(random()) >= 0), more AS (abs(name)));
      INSERT INTO city VALUES ('Oslo')
      """)
    let calls = Calls()
    let db = try Database(path: path)
    _ = try db.value("SELECT more FROM city", as: Double.self)
    try db.executeUpdate("INSERT INTO city VALUES ('Narvik')")
    for (name, count) in [("random", 0), ("abs", 1)] {
      try db.createFunction(name, argumentCount: count, deterministic: isDeterministic) { _ in
        calls.count.add(1, ordering: .relaxed)
        return 1
      }
    }
    use(db)
    #expect(calls.count.load(ordering: .relaxed) == 0)
  }

  @Test(
    "A file's schema can't call a custom function that another one has registered during a statement"
  )
  func registeredWithinAStatement() throws {
    try makeFile(
      "CREATE TABLE city (name, spied AS (wire(name))); INSERT INTO city VALUES ('Oslo')")
    let calls = Calls()
    let db = try Database(path: path)
    let box = Box(db)
    try db.createFunction("open_door", argumentCount: 0) { _ in
      try register(box.database, calls)
      return 1
    }
    #expect(try db.value("SELECT open_door()", as: Int.self) == 1)
    #expect(throws: DatabaseError.self) { try db.executeQuery("SELECT spied FROM city").next() }
    #expect(calls.count.load(ordering: .relaxed) == 0)
  }

  @Test("A temporary trigger can call custom functions")
  func temporaryTriggers() throws {
    let db = try Database(path: path)
    let calls = Calls()
    try register(db, calls)
    try db.executeStatements(
      """
      CREATE TABLE city (name);
      CREATE TEMP TRIGGER told AFTER INSERT ON city
        BEGIN SELECT wire(new.name), wire_twice(new.name); END
      """)
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    #expect(calls.count.load(ordering: .relaxed) == 2)
  }

  @Test("A result set can be read on after custom functions were registered")
  func registeringWhileReading() throws {
    let db = try Database(path: path)
    try db.executeStatements(
      "CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo'), ('Bergen')")
    let cities = try db.executeQuery("SELECT name FROM city ORDER BY rowid")
    #expect(try cities.next())
    try register(db, Calls())
    #expect(try cities.get(at: 0, as: String.self) == "Oslo")
    #expect(try cities.next())
    #expect(try cities.get(at: 0, as: String.self) == "Bergen")
    #expect(try !cities.next())
  }
}

private final class Box: @unchecked Sendable {
  let database: Database
  init(_ database: Database) { self.database = database }
}

private func register(_ db: Database, _ calls: FileCallsFunctionTests.Calls) throws {
  try db.createFunction("wire", argumentCount: 1) { _ in
    calls.count.add(1, ordering: .relaxed)
    return 1
  }
  try db.createFunction("wire_twice", argumentCount: 1, deterministic: false) { _ in
    calls.count.add(1, ordering: .relaxed)
    return 1
  }
}

import LarderSQLite
import TestSupport
import Testing

@Suite("Protection against hostile SQL")
struct HostileSQLTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
    var configuration = Configuration()
    configuration.journalMode = .delete
    try Database(path: path, configuration: configuration).executeStatements(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
      INSERT INTO city (name) VALUES ('Oslo'), ('Bergen');
      CREATE INDEX cityByName ON city (name); ANALYZE;
      CREATE VIRTUAL TABLE doc USING fts5 (text); CREATE VIRTUAL TABLE old USING fts4 (text);
      """)
  }

  private func database(_ preset: Authorizer) throws -> Database {
    var configuration = Configuration()
    configuration.authorizer = preset
    return try Database(path: path, configuration: configuration)
  }

  @Test(
    "SQL can't set or read the pointers to full-text tokenizers under any profile",
    arguments: [Configuration.Profile.service, .durable, .untrustedFile])
  func tokenizers(profile: Configuration.Profile) throws {
    let db = try Database(path: path, configuration: Configuration(profile: profile))
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("SELECT fts3_tokenizer('simple', x'4141414141414141')")
    }
    #expect(error?.message == "fts3tokenize disabled")
    #expect(try db.value("SELECT fts3_tokenizer('simple')", as: [UInt8]?.self) == .some(nil))
  }

  @Test(
    "Authorizers deny `fts3_tokenizer` and `load_extension`, also with bound arguments",
    arguments: [Authorizer.readOnly, .dataOnly])
  func functions(preset: Authorizer) throws {
    let db = try database(preset)
    let calls: [SQL] = [
      "SELECT fts3_tokenizer(\("simple"))", "SELECT load_extension(\("x"))",
      "SELECT FTS3_Tokenizer('simple')",
    ]
    for sql in calls {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
      #expect(error?.message.hasPrefix("not authorized") == true, "\(sql)")
    }
    #expect(try db.value("SELECT upper(name) FROM city", as: String.self) == "OSLO")
  }

  @Test("The authorizer `.readOnly` allows the program's own functions")
  func ownFunctions() throws {
    let db = try database(.readOnly)
    try db.createFunction("shout", argumentCount: 1) { "\(try String(databaseValue: $0[0]))!" }
    #expect(try db.value("SELECT shout(name) FROM city", as: String.self) == "Oslo!")
  }

  @Test(
    "Authorizers deny reading other statements' SQL from `sqlite_stmt`",
    arguments: [Authorizer.readOnly, .dataOnly])
  func statements(preset: Authorizer) throws {
    let db = try database(preset)
    for sql: SQL in ["SELECT sql FROM sqlite_stmt", "SELECT * FROM Sqlite_Stmt"] {
      #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
    }
  }

  @Test(
    "The authorizer `.dataOnly` denies writing SQLite's own tables, which SQLite still maintains")
  func ownTables() throws {
    let db = try database(.dataOnly)
    let statements: [SQL] = [
      "UPDATE sqlite_sequence SET seq = 9223372036854775807", "DELETE FROM sqlite_sequence",
      "INSERT INTO sqlite_sequence VALUES ('city', 7)", "DELETE FROM sqlite_stat1",
      "UPDATE SQLITE_STAT1 SET stat = '1 1'", "INSERT INTO sqlite_stat1 VALUES ('city', NULL, '1')",
    ]
    for sql in statements {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
      #expect(error?.code == .authorization, "\(sql)")
    }
    #expect(try db.value("SELECT seq FROM sqlite_sequence", as: Int.self) == 2)
    // SQLite itself still maintains the tables.
    try db.executeUpdate("INSERT INTO city (name) VALUES ('Bodø')")
    try db.executeUpdate("INSERT INTO doc VALUES ('Bodø')")
    #expect(try db.value("SELECT seq FROM sqlite_sequence", as: Int.self) == 3)
    #expect(try db.columns(of: "city").count == 2)
  }

  @Test("Without `showsArguments`, SQLite's error messages don't contain values of arguments")
  func messages() throws {
    let errors = Recorder<DatabaseError>()
    var configuration = Configuration()
    configuration.log = { errors.add($0) }
    let hiding = try Database(path: path, configuration: configuration)
    configuration.showsArguments = true
    let showing = try Database(path: path, configuration: configuration)
    let statements: [SQL] = [
      "SELECT text FROM doc WHERE doc MATCH \("hunter2 : a")",
      "SELECT text FROM doc WHERE doc MATCH \("( hunter2 hunter2")",
      "SELECT text FROM old WHERE old MATCH \("\"(hunter2 (")",
      "SELECT json_extract('{}', \("hunter2"))",
      "ATTACH \("/no such folder/hunter2") AS other",
    ]
    for sql in statements {
      for (db, isShown) in [(hiding, false), (showing, true)] {
        let error = #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
        #expect(error?.description.contains("hunter2") == isShown, "\(error?.description ?? "")")
      }
    }
    #expect(errors.elements.contains { $0.description.contains("hunter2") })
    #expect(
      !errors.elements.contains { $0.expandedSQL == nil && $0.description.contains("hunter2") })
    let error = #expect(throws: DatabaseError.self) {
      try hiding.executeQuery("SELECT json_extract('{}', \("hunter2"))").next()
    }
    // Newer versions of SQLite have another message.
    let words =
      SQLiteLibrary.versionNumber > 3_041_000 && error?.message.hasPrefix("bad") == true
      ? "bad JSON path:" : "JSON path error near"
    #expect(error?.message == "\(words) '…'")
    let own = #expect(throws: DatabaseError.self) {
      try hiding.executeQuery("SELECT json_extract('{}', 'mine')").next()
    }
    #expect(own?.message == "\(words) 'mine'")
  }

  @Test("Without `showsArguments`, errors of custom functions don't contain values of arguments")
  func functionErrors() throws {
    struct Unknown: Error, CustomStringConvertible {
      let description: String
    }
    for shows in [false, true] {
      var configuration = Configuration()
      configuration.showsArguments = shows
      let db = try Database(path: path, configuration: configuration)
      try db.createFunction("look_up", argumentCount: 2) { arguments in
        throw Unknown(description: "nobody is called \(try String(databaseValue: arguments[0]))")
      }
      try db.createFunction("look", argumentCount: 1) { arguments in
        throw DatabaseError(code: .error, message: "no \(try Int64(databaseValue: arguments[0]))")
      }
      try db.createAggregate(
        "gather", argumentCount: 1, initial: "",
        step: { _, arguments in
          throw Unknown(description: "not \(try String(databaseValue: arguments[0]))")
        }, final: { $0 })
      for (sql, message) in [
        ("SELECT look_up(\("Kari Nordmann"), 1)" as SQL, "nobody is called …"),
        ("SELECT look(\(4_111_111_111)) FROM city", "no …"),
        ("SELECT gather(name || '') FROM city", "not …"),
      ] {
        let error = #expect(throws: DatabaseError.self) { try db.executeQuery(sql).next() }
        #expect((error?.message == message) != shows, "\(error?.message ?? "")")
      }
    }
  }
}

import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Hardening of a connection")
struct HardeningTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  private func pragma(_ db: Database, _ name: String) throws -> DatabaseValue {
    try #require(try db.value(SQL(raw: "PRAGMA \(name)"), as: DatabaseValue.self))
  }

  @Test("The default profile sets its PRAGMAs: write-ahead log, synchronous NORMAL, foreign keys")
  func service() throws {
    let db = try Database(path: path)
    #expect(try pragma(db, "journal_mode") == "wal")
    #expect(try pragma(db, "synchronous") == 1)
    #expect(try pragma(db, "foreign_keys") == 1)
    #expect(try pragma(db, "cache_size") == -16_384)
    #expect(try pragma(db, "journal_size_limit") == 67_108_864)
    #expect(try pragma(db, "cell_size_check") == 1)
    #expect(try pragma(db, "trusted_schema") == 0)
    #expect(db.busyTimeout == .seconds(5))
  }

  @Test("Profile `.durable` sets a write-ahead log and synchronous FULL")
  func durable() throws {
    let db = try Database(path: path, configuration: Configuration(profile: .durable))
    #expect(try pragma(db, "journal_mode") == "wal")
    #expect(try pragma(db, "synchronous") == 2)
  }

  @Test("`effectiveSettings` reports the default profile's settings")
  func effectiveSettings() throws {
    let settings = try Database(path: path).effectiveSettings
    #expect(settings.journalMode == "wal")
    #expect(settings.synchronous == .normal)
    #expect(settings.isHardened && settings.foreignKeys)
    #expect(settings.cellSizeCheck && settings.isDefensive)
    #expect(!settings.trustsSchema && !settings.allowsDoubleQuotedStrings)
    #expect(!settings.loadsExtensions && !settings.isReadOnly)
    #expect(settings.cacheSize == 16 << 20)
    #expect(settings.journalSizeLimit == 64 << 20)
    #expect(settings.busyTimeout == .seconds(5))
    #expect(settings.runsTriggers && settings.allowsViews)
  }

  @Test("Each property of a configuration sets its PRAGMA or limit")
  func properties() throws {
    var configuration = Configuration()
    configuration.foreignKeys = false
    configuration.journalMode = .truncate
    configuration.synchronous = .extra
    configuration.cacheSize = 1 << 20
    configuration.journalSizeLimit = nil
    configuration.limits = [.variables: 7, .attached: 0]
    configuration.busyTimeout = .milliseconds(20)
    let db = try Database(path: path, configuration: configuration)
    #expect(try pragma(db, "foreign_keys") == 0)
    #expect(try pragma(db, "journal_mode") == "truncate")
    #expect(try pragma(db, "synchronous") == 3)
    #expect(try pragma(db, "cache_size") == -1_024)
    #expect(try pragma(db, "journal_size_limit") == -1)
    #expect(db.limit(.variables) == 7)
    #expect(db.busyTimeout == .milliseconds(20))
    #expect(throws: DatabaseError.self) { try db.executeUpdate("ATTACH ':memory:' AS other") }
  }

  @Test("A new database file, its log and the log's index are only accessible by their owner")
  func fileMode() throws {
    let db = try Database(path: path)
    try db.executeUpdate("CREATE TABLE city (name)")
    for name in ["cities.db", "cities.db-wal", "cities.db-shm"] {
      #expect(try folder.mode(of: name) == 0o600, "\(name)")
    }
  }

  @Test(
    "A new file opened by a URI, an escaped name or a symbolic link is only accessible by its owner"
  )
  func fileModeOfOtherPaths() throws {
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    let escaped = folder.path + "/big%20cities.db?cache=private"
    _ = try Database(path: "file:" + escaped, configuration: configuration)
    #expect(try folder.mode(of: "big cities.db") == 0o600)
    _ = try Database(path: folder.file("small cities?.db"))
    #expect(try folder.mode(of: "small cities?.db") == 0o600)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link.db"), withDestinationPath: folder.file("target.db"))
    _ = try Database(path: folder.file("link.db"))
    #expect(try folder.mode(of: "target.db") == 0o600)
  }

  @Test("Opening an existing file keeps its permissions")
  func existingFile() throws {
    #expect(
      FileManager.default.createFile(
        atPath: path, contents: nil, attributes: [.posixPermissions: 0o640]))
    _ = try Database(path: path)
    #expect(try folder.mode(of: "cities.db") == 0o640)
  }

  @Test("Opening an in-memory database by a URI creates no file")
  func uriInMemory() throws {
    var configuration = Configuration()
    configuration.flags = [.create, .uri]
    for query in ["mode=memory", "vfs=memdb"] {
      let db = try Database(path: "file:\(path)?\(query)", configuration: configuration)
      try db.executeUpdate("CREATE TABLE city (name)")
    }
    #expect(!folder.exists("cities.db"))
    let name = ":memory:"
    let wasThere = FileManager.default.fileExists(atPath: name)
    _ = try Database(path: "file::memory:", configuration: configuration)
    #expect(FileManager.default.fileExists(atPath: name) == wasThere)
    if !wasThere { try? FileManager.default.removeItem(atPath: name) }
  }

  @Test("By default, a string in double quotes is refused in queries and in CREATE TABLE")
  func doubleQuotes() throws {
    let db = try Database()
    #expect(throws: DatabaseError.self) { try db.value(#"SELECT "Oslo""#, as: String.self) }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate(#"CREATE TABLE city (name CHECK (name <> "Oslo"))"#)
    }
  }

  @Test("By default, PRAGMAs can't make the schema writable or switch the journal off")
  func defensive() throws {
    let db = try Database(path: path)
    try db.executeUpdate("CREATE TABLE city (name)")
    try db.executeUpdate("PRAGMA writable_schema = ON")
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM sqlite_schema") }
    try db.executeUpdate("PRAGMA journal_mode = OFF")
    #expect(try pragma(db, "journal_mode") != "off")
    #expect(try db.tableExists("city"))
  }

  @Test("By default, SQL can't load extensions")
  func extensions() throws {
    let db = try Database()
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT load_extension('spellfix')", as: DatabaseValue.self)
    }
    #expect(error?.message == "not authorized")
  }

  @Test(
    "By default, a custom function can be called by a statement but not by a view, even a trusted one"
  )
  func directOnly() throws {
    for trusts in [false, true] {
      var configuration = Configuration()
      configuration.trustsSchema = trusts
      let db = try Database(configuration: configuration)
      try db.createFunction("secret", argumentCount: 0) { _ in "hunter2" }
      try db.createFunction("shout", argumentCount: 1, directOnly: false) {
        "\(try String(databaseValue: $0[0]))!"
      }
      try db.executeUpdate("CREATE VIEW leak AS SELECT secret() AS found")
      try db.executeUpdate("CREATE VIEW loud AS SELECT shout('Oslo') AS found")
      let error = #expect(throws: DatabaseError.self) {
        try db.value("SELECT found FROM leak", as: String.self)
      }
      #expect(error?.message.hasPrefix("unsafe use of secret()") == true)
      #expect(try db.value("SELECT secret()", as: String.self) == "hunter2")
      #expect(try db.value("SELECT shout('Oslo')", as: String.self) == "Oslo!")
      if trusts { #expect(try db.value("SELECT found FROM loud", as: String.self) == "Oslo!") }
    }
  }

  @Test(
    "With profile `.untrustedFile`, a file is read-only, its views are refused and limits are tight"
  )
  func untrusted() throws {
    try Database(path: path).executeStatements(
      """
      CREATE TABLE city (name); INSERT INTO city VALUES ('Oslo');
      CREATE VIEW capital AS SELECT name FROM city;
      CREATE TRIGGER t AFTER INSERT ON city BEGIN DELETE FROM city; END
      """)
    let db = try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    #expect(db.isReadOnly)
    #expect(try db.value("SELECT name FROM city", as: String.self) == "Oslo")
    #expect(throws: DatabaseError.self) { try db.executeUpdate("DELETE FROM city") }
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT name FROM capital", as: String.self)
    }
    #expect(try pragma(db, "mmap_size") == 0)
    #expect(db.limit(.attached) == 0)
    #expect(db.limit(.expressionDepth) == 200)
    let settings = try db.effectiveSettings
    #expect(!settings.runsTriggers && !settings.allowsViews && settings.isDefensive)
  }

  @Test(
    "With profile `.untrustedFile` and `readOnly` false, a file can be written without running triggers"
  )
  func untrustedWritable() throws {
    try Database(path: path).executeStatements(
      "CREATE TABLE city (name); CREATE TRIGGER t AFTER INSERT ON city BEGIN DELETE FROM city; END")
    var configuration = Configuration(profile: .untrustedFile)
    configuration.readOnly = false
    let db = try Database(path: path, configuration: configuration)
    try db.executeUpdate("INSERT INTO city VALUES ('Oslo')")
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 1)
  }

  @Test("Opening a damaged file with profile `.untrustedFile` throws an error that names the file")
  func untrustedDamaged() throws {
    var configuration = Configuration()
    configuration.journalMode = .delete
    let db = try Database(path: path, configuration: configuration)
    try db.executeStatements(
      """
      CREATE TABLE city (name); CREATE INDEX byName ON city (name);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO city SELECT 'city ' || i FROM n
      """)
    try db.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: 4096 * 3)
    try file.write(contentsOf: Data(repeating: 0xAB, count: 4096))
    try file.close()
    let error = #expect(throws: DatabaseError.self) {
      try Database(path: path, configuration: Configuration(profile: .untrustedFile))
    }
    #expect(error?.code == .corrupt || error?.code == .notADatabase)
    #expect(error?.message.contains(path) == true)
  }

  @Test(
    "Read-only, in-memory and temporary databases open although they can't have the profile's WAL mode"
  )
  func noLogPossible() throws {
    var other = Configuration()
    other.journalMode = .delete
    try Database(path: path, configuration: other).executeUpdate("CREATE TABLE city (name)")
    var configuration = Configuration(profile: .durable)
    configuration.readOnly = true
    let db = try Database(path: path, configuration: configuration)
    #expect(try pragma(db, "journal_mode") == "delete")
    #expect(db.isReadOnly)
    #expect(try pragma(Database(), "journal_mode") == "memory")
    #expect(try Database(path: "").value("SELECT 1", as: Int.self) == 1)
  }
}

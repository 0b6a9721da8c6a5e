import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite(
  "Changing encryption keys, and copies with other keys",
  .enabled(if: Encrypted.isThere, "the library that is linked doesn't encrypt"))
struct EncryptionTests {
  private func key(_ byte: UInt8) throws -> EncryptionKey {
    try EncryptionKey(raw: [UInt8](repeating: byte, count: 32))
  }

  @Test(
    "A backup with a key encrypts a plain database with all its contents, and one without decrypts it"
  )
  func moving() throws {
    try withTemporaryFolder { (folder: String) throws in
      let plain = try makeCities()
      try plain.executeStatements(
        """
        CREATE TABLE "a 'b' ""c""!" (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT,
          loud TEXT GENERATED ALWAYS AS (upper(name)) STORED, long INT AS (length(name)) VIRTUAL);
        INSERT INTO "a 'b' ""c""!" (id, name) VALUES (40, 'Tromsø'), (41, NULL);
        CREATE INDEX city_population ON city (population) WHERE population > 1000000;
        CREATE VIEW large AS SELECT name FROM city WHERE population > 1000000;
        CREATE TABLE log (name TEXT);
        CREATE TRIGGER noted AFTER INSERT ON city BEGIN INSERT INTO log VALUES (new.name); END;
        CREATE VIRTUAL TABLE page USING fts5(body);
        INSERT INTO page VALUES ('Bergen is rainy');
        CREATE TABLE pair (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
        INSERT INTO pair VALUES (1, x'00ff'), (2, 'two');
        CREATE TABLE strict_one (n INTEGER, t ANY) STRICT;
        INSERT INTO strict_one VALUES (9223372036854775807, 'x' || char(0) || 'y');
        """)
      try plain.setUserVersion(12)
      try plain.setApplicationID(77)
      try plain.backup(to: folder + "/secret.db", key: key(7))
      #expect(try Encrypted.plainFiles(in: folder) == [])
      let moved = try Database(
        path: folder + "/secret.db", configuration: Encrypted.configuration())
      try moved.backup(to: folder + "/plain.db", key: nil)
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["plain.db"])
      for copy in [moved, try Database(path: folder + "/plain.db")] {
        #expect(try copy.userVersion == 12 && copy.applicationID == 77)
        #expect(try copy.texts("PRAGMA integrity_check") == ["ok"])
        #expect(try copy.schema().count == plain.schema().count)
        for table in [
          "city", "a 'b' \"c\"!", "page", "pair", "strict_one", "sqlite_sequence", "log",
        ] {
          let sql = SQL("SELECT * FROM \(identifier: table)")
          func rows(_ db: Database) throws -> [[DatabaseValue]] {
            try db.executeQuery(sql).map { row in
              try (0..<row.columnCount).map { try row.get(at: $0, as: DatabaseValue.self) }
            }
          }
          #expect(try rows(copy) == rows(plain), "\(table)")
        }
        #expect(try copy.texts("SELECT body FROM page('rainy')") == ["Bergen is rainy"])
        #expect(try copy.texts("SELECT name FROM large ORDER BY name") == ["Lagos", "北京市"])
      }
    }
  }

  @Test(
    "A backup with another key throws over a file, in a transaction, or on a read-only connection")
  func refusedCopies() throws {
    try withTemporaryFolder { (folder: String) throws in
      let db = try Database(path: folder + "/cities.db", configuration: Encrypted.configuration())
      try createCities(in: db)
      func code(_ body: () throws -> Void) -> ResultCode? {
        (#expect(throws: DatabaseError.self, performing: body))?.code
      }
      #expect(code { try db.backup(to: folder + "/cities.db", key: nil) } == .cannotOpen)
      #expect(code { try db.backup(to: folder + "/none/copy.db", key: nil) } == .cannotOpen)
      #expect(code { try db.backup(to: "", key: nil) } == .misuse)
      #expect(code { try db.backup(to: folder + "/a\0b.db", key: nil) } == .misuse)
      #expect(code { try db.backup(to: folder + "/copy.db", key: EncryptionKey("")) } == .misuse)
      try db.inTransaction { db in
        #expect(code { try db.backup(to: folder + "/copy.db", key: nil) } == .misuse)
      }
      var readOnly = try Encrypted.configuration()
      readOnly.readOnly = true
      let reader = try Database(path: folder + "/cities.db", configuration: readOnly)
      #expect(code { try reader.backup(to: folder + "/copy.db", key: nil) } == .cannotOpen)
      let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
      #expect(names.filter { !$0.hasPrefix("cities.db") } == [])
      #expect(try db.texts("SELECT name FROM pragma_database_list") == ["main"])
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("Backups and VACUUM INTO use the database's key, and restoring reads them")
  func backups() throws {
    try withTemporaryFolder { (folder: String) throws in
      let configuration = try Encrypted.configuration()
      let db = try Database(path: folder + "/cities.db", configuration: configuration)
      try createCities(in: db)
      try db.backup(to: folder + "/copy.db")
      try db.vacuum(into: folder + "/vacuumed.db")
      try db.vacuum()
      #expect(try Encrypted.plainFiles(in: folder) == [])
      for name in ["copy.db", "vacuumed.db"] {
        let copy = try Database(path: folder + "/" + name, configuration: configuration)
        #expect(try copy.cityCount() == 4)
        try copy.close()
      }
      try db.executeUpdate("DELETE FROM city")
      try db.restore(from: folder + "/copy.db")
      #expect(try db.cityCount() == 4)
      // A backup over an existing file.
      try db.backup(to: folder + "/copy.db")
      let other = try Database(
        path: folder + "/other.db", configuration: Encrypted.configuration(8))
      try other.restore(from: db)
      #expect(try other.cityCount() == 4)
      // Plain and encrypted pages reserve different space, so neither can be copied over the other.
      try makeCities().backup(to: folder + "/plain.db")
      for body in [
        { try db.restore(from: folder + "/plain.db") }, { try db.restore(from: makeCities()) },
        { try db.backup(to: Database()) }, { try db.backup(to: folder + "/plain.db") },
      ] as [() throws -> Void] {
        #expect(throws: DatabaseError.self, performing: body)
      }
      #expect(try db.cityCount() == 4)
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["plain.db"])
    }
  }

  @Test("`serialized` of an encrypted database returns plain bytes, opened with or without a key")
  func serialized() throws {
    try withTemporaryFolder { (folder: String) throws in
      let configuration = try Encrypted.configuration()
      let db = try Database(path: folder + "/cities.db", configuration: configuration)
      try createCities(in: db)
      let bytes = try db.serialized()
      #expect(bytes.starts(with: "SQLite format 3".utf8))
      #expect(try Database(serialized: bytes).cityCount() == 4)
      #expect(try Database(serialized: bytes, configuration: configuration).cityCount() == 4)
    }
  }

  @Test(
    "After `rekey`, in each journal mode, the new key opens the file and the old one doesn't")
  func rekeying() throws {
    for mode in [Configuration.JournalMode.wal, .delete, .truncate] {
      try withTemporaryFolder { (folder: String) throws in
        let path = folder + "/cities.db"
        var configuration = try Encrypted.configuration()
        configuration.journalMode = mode
        let db = try Database(path: path, configuration: configuration)
        try createCities(in: db)
        let before = try ScratchFolder.contents(of: path)
        try db.rekey(EncryptionKey("trollkjerringtær"))
        #expect(try db.effectiveSettings.journalMode == mode.rawValue)
        try db.executeUpdate("DELETE FROM city WHERE id = 4")
        #expect(try db.cipherIntegrityCheck() == [])
        try db.backup(to: folder + "/copy.db")
        try db.close()
        #expect(try ScratchFolder.contents(of: path) != before)
        let error = #expect(throws: DatabaseError.self) {
          try Database(path: path, configuration: configuration)
        }
        #expect(error?.code == .notADatabase)
        configuration.key = EncryptionKey("trollkjerringtær")
        for name in ["cities.db", "copy.db"] {
          let again = try Database(path: folder + "/" + name, configuration: configuration)
          #expect(try again.cityCount() == 3)
        }
        #expect(try Encrypted.plainFiles(in: folder) == [])
      }
    }
  }

  @Test("A queue's key can be changed between transactions, also in the profile that shares syncs")
  func rekeyingQueue() throws {
    for profile in [Configuration.Profile.service, .durable] {
      try withTemporaryFolder { (folder: String) throws in
        let path = folder + "/cities.db"
        let queue = try DatabaseQueue(
          path: path, configuration: Encrypted.configuration(7, profile))
        try queue.inDatabase { try createCities(in: $0) }
        try queue.inDatabase { try $0.rekey(key(8)) }
        try queue.inTransaction { _ = try $0.executeUpdate("DELETE FROM city WHERE id = 1") }
        #expect(try queue.read { try $0.cityCount() } == 3)
        try queue.close()
        let db = try Database(path: path, configuration: Encrypted.configuration(8))
        #expect(try db.cityCount() == 3 && db.cipherIntegrityCheck() == [])
      }
    }
  }

  @Test(
    "`rekey` throws in a transaction or pool, beside other connections, or if plain or read-only")
  func refusedRekeying() throws {
    try withTemporaryFolder { (folder: String) throws in
      let path = folder + "/cities.db"
      let configuration = try Encrypted.configuration()
      let db = try Database(path: path, configuration: configuration)
      try createCities(in: db)
      func refused(_ code: ResultCode, _ db: Database, _ key: EncryptionKey? = nil) throws {
        let other = try key ?? self.key(9)
        let error = #expect(throws: DatabaseError.self) { try db.rekey(other) }
        #expect(error?.code == code, "\(String(describing: error))")
      }
      try refused(.misuse, Database())
      try refused(.misuse, db, EncryptionKey(""))
      try db.inTransaction { try refused(.misuse, $0) }
      let result = try db.executeQuery("SELECT * FROM city")
      _ = try result.next()
      try refused(.misuse, db)
      result.close()
      var impatient = configuration
      impatient.busyTimeout = .zero
      let other = try Database(path: path, configuration: impatient)
      #expect(try other.cityCount() == 4)
      try refused(.busy, other)
      try db.close()
      impatient.readOnly = true
      try refused(.readOnly, Database(path: path, configuration: impatient))
      try other.close()
      let pool = try DatabasePool(path: path, configuration: configuration)
      try pool.inDatabase { try refused(.misuse, $0) }
      try pool.close()
      #expect(try Database(path: path, configuration: configuration).cityCount() == 4)
    }
  }

  @Test(
    "Databases are attached with their own key or none; ATTACH in SQL uses the main database's key")
  func attached() throws {
    try withTemporaryFolder { (folder: String) throws in
      try makeCities().backup(to: folder + "/plain.db")
      try makeCities().backup(to: folder + "/eight.db", key: key(8))
      let db = try Database(path: folder + "/cities.db", configuration: Encrypted.configuration())
      try db.attach(folder + "/plain.db", as: "plain", key: nil)
      try db.attach(folder + "/eight.db", as: "eight", key: key(8))
      try db.executeUpdate("ATTACH \(folder + "/own.db") AS own")
      try db.executeUpdate("CREATE TABLE own.city AS SELECT * FROM eight.city")
      for name in ["plain", "eight", "own"] {
        #expect(
          try db.value("SELECT count(*) FROM \(identifier: name).city", as: Int.self) == 4)
      }
      func code(_ path: String, _ name: String, _ key: EncryptionKey?) -> ResultCode? {
        #expect(throws: DatabaseError.self) { try db.attach(path, as: name, key: key) }?.code
      }
      #expect(try code(folder + "/eight.db", "wrong", key(9)) == .notADatabase)
      #expect(code(folder + "/eight.db", "none", nil) == .notADatabase)
      #expect(try code(folder + "/plain.db", "keyed", key(8)) == .notADatabase)
      #expect(try code(folder + "/eight.db", "own", key(8)) == .error)
      #expect(try code(folder + "/new.db", "", key(8)) == .misuse)
      #expect(try code(folder + "/a\0b.db", "new", key(8)) == .misuse)
      #expect(code(folder + "/new.db", "new", EncryptionKey("")) == .misuse)
      #expect(try db.texts("SELECT name FROM pragma_database_list").count == 4)
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["plain.db"])
    }
  }

  @Test(
    "A queue's attached database stays until it is detached, and attaching in a read scope throws")
  func attachedInScopes() throws {
    try withTemporaryFolder { (folder: String) throws in
      try makeCities().backup(to: folder + "/eight.db", key: key(8))
      let queue = try DatabaseQueue(
        path: folder + "/cities.db", configuration: Encrypted.configuration())
      for _ in 0..<2 {
        try queue.inDatabase { db in
          try db.attach(folder + "/eight.db", as: "eight", key: key(8))
          #expect(try db.value("SELECT count(*) FROM eight.city", as: Int.self) == 4)
        }
        #expect(
          try queue.read { try $0.value("SELECT count(*) FROM eight.city", as: Int.self) } == 4)
        try queue.inDatabase { _ = try $0.executeUpdate("DETACH eight") }
      }
      let error = #expect(throws: DatabaseError.self) {
        try queue.read { try $0.attach(folder + "/eight.db", as: "eight", key: key(8)) }
      }
      #expect(error?.code == .readOnly)
    }
  }

  @Test("`cipherIntegrityCheck` finds a page that was altered in the file, and reading it throws")
  func integrity() throws {
    try withTemporaryFolder { (folder: String) throws in
      let path = folder + "/cities.db"
      var configuration = try Encrypted.configuration()
      configuration.journalMode = .delete
      var db = try Database(path: path, configuration: configuration)
      try createCities(in: db)
      #expect(try db.cipherIntegrityCheck() == [])
      try db.close()
      var bytes = try ScratchFolder.contents(of: path)
      bytes[4096 + 100] ^= 1
      try bytes.write(to: URL(fileURLWithPath: path))
      db = try Database(path: path, configuration: configuration)
      let findings = try db.cipherIntegrityCheck()
      #expect(findings.count == 1 && findings[0].contains("page 2"), "\(findings)")
      #expect(throws: DatabaseError.self) {
        try db.value("SELECT sum(population) FROM city", as: Int.self)
      }
      let error = #expect(throws: DatabaseError.self) { try Database().cipherIntegrityCheck() }
      #expect(error?.code == .misuse)
    }
  }
}

import FoundationEssentials
import LarderSQLite
import Synchronization
import TestSupport
import Testing

@Suite(
  "Encrypted files", .enabled(if: Encrypted.isThere, "the library that is linked doesn't encrypt"))
struct EncryptedFileTests {
  @Test("Neither the file nor its log shows what is in it, with each journal mode")
  func noPlainText() throws {
    for mode in [Configuration.JournalMode.wal, .delete, .persist, .truncate] {
      try withTemporaryFolder { (folder: String) throws in
        var configuration = try Encrypted.configuration()
        configuration.journalMode = mode
        let db = try Database(path: folder + "/cities.db", configuration: configuration)
        try createCities(in: db)
        try db.inTransaction { db in
          try db.executeUpdate("UPDATE city SET name = name || ' (Bergen)'")
          // Pages of both the file and the journal.
          #expect(try Encrypted.plainFiles(in: folder) == [])
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(
          files.contains("cities.db-wal") == (mode == .wal)
            && files.contains("cities.db-journal") == (mode == .persist || mode == .truncate))
        #expect(try Encrypted.plainFiles(in: folder) == [])
        try db.close()
        let again = try Database(path: folder + "/cities.db", configuration: configuration)
        #expect(try again.cityCount() == 4)
        #expect(try Encrypted.plainFiles(in: folder) == [])
      }
    }
  }

  @Test("Without a key the same file shows all of it: the search finds what there is")
  func search() throws {
    try withTemporaryFolder { (folder: String) throws in
      let db = try Database(path: folder + "/cities.db")
      try createCities(in: db)
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["cities.db-wal"])
      try db.close()
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["cities.db"])
    }
  }

  @Test("A wrong key, no key, and a key for a file that isn't encrypted throw, each with its cause")
  func wrongKeys() throws {
    try withTemporaryFolder { (folder: String) throws in
      let path = folder + "/cities.db"
      try createCities(in: Database(path: path, configuration: Encrypted.configuration()))
      try createCities(in: Database(path: folder + "/plain.db"))
      let bytes = try ScratchFolder.contents(of: path)
      func opening(_ name: String, _ configuration: Configuration) -> DatabaseError? {
        #expect(throws: DatabaseError.self) {
          try Database(path: folder + "/" + name, configuration: configuration)
        }
      }
      var readOnly = try Encrypted.configuration(8)
      readOnly.readOnly = true
      for (error, cause) in try [
        (opening("cities.db", Encrypted.configuration(8)), "the key is wrong"),
        (opening("cities.db", readOnly), "the key is wrong"),
        (opening("cities.db", Encrypted.configuration(8, .untrustedFile)), "the key is wrong"),
        (opening("cities.db", Configuration()), "needs a key"),
        (opening("cities.db", Configuration(profile: .untrustedFile)), "needs a key"),
        (opening("plain.db", Encrypted.configuration()), "isn't encrypted, and a key is given"),
      ] {
        #expect(error?.code == .notADatabase)
        #expect(error?.message.contains(cause) == true, "\(String(describing: error))")
        #expect(error?.message.contains(folder) == true)
      }
      #expect(throws: DatabaseError.self) {
        try DatabasePool(path: path, configuration: Encrypted.configuration(8))
      }
      #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path) }
      #expect(try ScratchFolder.contents(of: path) == bytes)
      #expect(
        try Database(path: path, configuration: Encrypted.configuration()).cityCount() == 4)
    }
  }

  @Test("Texts and bytes are keys that are derived alike, raw ones are taken as they are")
  func forms() throws {
    try withTemporaryFolder { (folder: String) throws in
      func count(_ name: String, _ key: EncryptionKey) throws -> Int? {
        var configuration = Configuration()
        configuration.key = key
        let db = try Database(path: folder + "/" + name, configuration: configuration)
        if try !db.tableExists("city") { try createCities(in: db) }
        return try db.cityCount()
      }
      #expect(try count("text.db", EncryptionKey("trollkjerringtær 🗝")) == 4)
      #expect(try count("text.db", EncryptionKey(Array("trollkjerringtær 🗝".utf8))) == 4)
      #expect(throws: DatabaseError.self) {
        try count("text.db", EncryptionKey("trollkjerringtær"))
      }

      let bytes = (0..<48).map { UInt8($0 * 5) }
      #expect(try count("raw.db", EncryptionKey(raw: bytes)) == 4)
      // The form in which SQLCipher writes it.
      let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(try count("raw.db", EncryptionKey("x'\(hex)'")) == 4)
      // The salt, which is given, begins the file.
      #expect(try ScratchFolder.contents(of: folder + "/raw.db").starts(with: bytes[32...]))
      #expect(try count("zeros.db", EncryptionKey([1, 0, 2])) == 4)
      #expect(throws: DatabaseError.self) { try count("zeros.db", EncryptionKey([1])) }
      for number in [0, 1, 31, 33, 47, 49, 64] {
        let error = #expect(throws: DatabaseError.self) {
          try EncryptionKey(raw: [UInt8](repeating: 1, count: number))
        }
        #expect(error?.code == .misuse)
      }
    }
  }

  @Test("An empty key is refused, and nothing is created")
  func emptyKey() throws {
    try withTemporaryFolder { (folder: String) throws in
      for key in [EncryptionKey(""), EncryptionKey([])] {
        var configuration = Configuration()
        configuration.key = key
        let error = #expect(throws: DatabaseError.self) {
          try Database(path: folder + "/cities.db", configuration: configuration)
        }
        #expect(error?.code == .misuse)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("Every connection of a pool and of a queue gets the key", arguments: [true, false])
  func company(isDurable: Bool) async throws {
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let profile: Configuration.Profile = isDurable ? .durable : .service
    let configuration = try Encrypted.configuration(7, profile)
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    try await pool.inDatabase { try createCities(in: $0) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try await pool.inTransaction { db in
            _ = try db.executeUpdate("UPDATE city SET population = population + 1")
          }
          #expect(try await pool.read { try $0.cityCount() } == 4)
        }
      }
      try await group.waitForAll()
    }
    // By the checkpointer's connection.
    #expect(try pool.checkpoint(.truncate).logFrames == 0)
    #expect(
      try await pool.read { try $0.value("SELECT population FROM city WHERE id = 1", as: Int.self) }
        == 291_948)
    #expect(try Encrypted.plainFiles(in: folder.path) == [])
    try await pool.close()
    let queue = try DatabaseQueue(path: folder.file("cities.db"), configuration: configuration)
    #expect(try await queue.read { try $0.cityCount() } == 4)
    try await queue.close()
    #expect(try Encrypted.plainFiles(in: folder.path) == [])
  }

  @Test("A file from elsewhere is checked with its key, and is left as it was")
  func untrusted() throws {
    try withTemporaryFolder { (folder: String) throws in
      let path = folder + "/cities.db"
      try createCities(in: Database(path: path, configuration: Encrypted.configuration()))
      let bytes = try ScratchFolder.contents(of: path)
      let db = try Database(path: path, configuration: Encrypted.configuration(7, .untrustedFile))
      #expect(try db.cityCount() == 4)
      try db.close()
      #expect(try ScratchFolder.contents(of: path) == bytes)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["cities.db"])
    }
  }

  @Test("Databases in memory and temporary ones take a key, too")
  func memory() throws {
    for path in [nil, ""] {
      let db = try Database(path: path, configuration: Encrypted.configuration())
      try createCities(in: db)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test("A statement's own file of temporary rows shows nothing, too")
  func temporaryTables() throws {
    try withTemporaryFolder { (folder: String) throws in
      let db = try Database(path: folder + "/cities.db", configuration: Encrypted.configuration())
      try db.executeStatements(
        "CREATE TEMP TABLE secret AS SELECT 'Bergen' AS name; PRAGMA temp.cache_spill = 1")
      #expect(try db.value("PRAGMA temp_store", as: Int.self) != 1)
      #expect(try Encrypted.plainFiles(in: folder) == [])
    }
  }

  @Test("The key is in no error, trace, description or setting")
  func secrecy() throws {
    try withTemporaryFolder { (folder: String) throws in
      let secret = "trollkjerringtær"
      let seen = Mutex("")
      var configuration = Configuration()
      configuration.key = EncryptionKey(secret)
      configuration.showsArguments = true
      configuration.trace = { event in seen.withLock { $0 += "\(event)\n" } }
      configuration.log = { error in seen.withLock { $0 += "\(error)\n" } }
      let db = try Database(path: folder + "/cities.db", configuration: configuration)
      try createCities(in: db)
      try db.attach(folder + "/other.db", as: "other", key: EncryptionKey(secret))
      _ = try? db.attach(folder + "/other.db", as: "again", key: EncryptionKey(secret + "!"))
      _ = try? db.attach(folder + "/none/other.db", as: "third", key: EncryptionKey(secret))
      try db.backup(to: folder + "/copy.db", key: EncryptionKey(secret))
      seen.withLock { $0 += "\(db)\n\(configuration)\n" }
      for text in [
        "PRAGMA key = '\(secret)'", "PRAGMA main.rekey('\(secret)')", "PRAGMA hexkey = \(secret)",
        "SELECT 1; PRAGMA \"textkey\" = \(secret)", "EXPLAIN PRAGMA key = '\(secret)'",
        "ATTACH 'x.db' AS x KEY '\(secret)'", "ATTACH 'x.db' AS key /* */ key '\(secret)'",
      ] {
        let error = #expect(throws: DatabaseError.self) {
          try db.executeStatements(SQL(raw: text))
        }
        #expect(error?.code == .misuse)
        seen.withLock { $0 += "\(String(describing: error))\n" }
      }
      var all = "\(try db.effectiveSettings)\n"
      dump(configuration, to: &all)
      seen.withLock {
        $0 += all
        #expect($0.contains("CREATE TABLE"))
        #expect(!$0.contains(secret) && !$0.contains("jerring"))
      }
    }
  }

  @Test("A path that holds a key is refused")
  func pathWithKey() throws {
    try withTemporaryFolder { (folder: String) throws in
      var configuration = Configuration()
      configuration.flags.insert(.uri)
      for query in ["key=secret", "mode=rwc&hexkey=00ff", "textkey=s", "%6bey=secret"] {
        let error = #expect(throws: DatabaseError.self) {
          try Database(path: "file:\(folder)/cities.db?\(query)", configuration: configuration)
        }
        #expect(error?.code == .misuse)
        #expect(error?.message.contains("secret") == false)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
      #expect(
        try Database(
          path: "file:\(folder)/monkey=1.db?mode=rwc#key=1", configuration: configuration
        ).isOpen)
    }
  }
}

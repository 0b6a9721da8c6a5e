import FoundationEssentials
import LarderSQLite
import Synchronization
import TestSupport
import Testing

@Suite(
  "Encrypted files", .enabled(if: Encrypted.isThere, "the library that is linked doesn't encrypt"))
struct EncryptedFileTests {
  @Test("An encrypted file and its journal contain no plain text in any journal mode")
  func noPlainText() throws {
    for mode in [Configuration.JournalMode.wal, .delete, .persist, .truncate] {
      try withTemporaryFolder { (folder: String) throws in
        var configuration = try Encrypted.configuration()
        configuration.journalMode = mode
        let db = try Database(path: folder + "/cities.db", configuration: configuration)
        try createCities(in: db)
        try db.inTransaction { db in
          try db.executeUpdate("UPDATE city SET name = name || ' (Bergen)'")
          // This checks pages of both the file and the journal.
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

  @Test("The tests' search for plain text finds it in a file that isn't encrypted")
  func search() throws {
    try withTemporaryFolder { (folder: String) throws in
      let db = try Database(path: folder + "/cities.db")
      try createCities(in: db)
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["cities.db-wal"])
      try db.close()
      #expect(try Encrypted.files(in: folder, with: "Bergen") == ["cities.db"])
    }
  }

  @Test(
    "Opening with a wrong key, without one, or with one for a plain file throws an error that says so"
  )
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
        (opening("plain.db", Encrypted.configuration()), "isn't encrypted, but a key was given"),
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

  @Test(
    "Text and byte keys are derived alike; raw keys are used as they are and need the right length")
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
      // SQLCipher's notation of a raw key.
      let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      #expect(try count("raw.db", EncryptionKey("x'\(hex)'")) == 4)
      // The file begins with the salt, which is part of this raw key.
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

  @Test("Opening with an empty key throws and creates no file")
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

  @Test(
    "Every connection of a pool and a queue uses the configuration's key", arguments: [true, false])
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
    // The checkpointer's own connection does this.
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

  @Test("An encrypted file can be opened with profile `.untrustedFile`, which leaves it unchanged")
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

  @Test("In-memory and temporary databases can be opened with a key")
  func memory() throws {
    for path in [nil, ""] {
      let db = try Database(path: path, configuration: Encrypted.configuration())
      try createCities(in: db)
      #expect(try db.cityCount() == 4)
    }
  }

  @Test(
    "Temporary tables of an encrypted database are kept in memory, not in a plain file in its folder"
  )
  func temporaryTables() throws {
    try withTemporaryFolder { (folder: String) throws in
      let db = try Database(path: folder + "/cities.db", configuration: Encrypted.configuration())
      try db.executeStatements(
        "CREATE TEMP TABLE secret AS SELECT 'Bergen' AS name; PRAGMA temp.cache_spill = 1")
      #expect(try db.value("PRAGMA temp_store", as: Int.self) != 1)
      #expect(try Encrypted.plainFiles(in: folder) == [])
    }
  }

  @Test("An encryption key never appears in an error, trace, description or setting")
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

  @Test("A URI that contains an encryption key is refused, and the error doesn't repeat it")
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

import FoundationEssentials
import LarderSQLite
import TestSupport
import Testing

@Suite(
  "Keys without a cipher", .enabled(if: !Encrypted.isThere, "the library that is linked encrypts"))
struct NoCipherTests {
  @Test("Without a cipher, every call with a key throws `UnsupportedByEngine` and writes no file")
  func refused() throws {
    try withTemporaryFolder { (folder: String) throws in
      let configuration = try Encrypted.configuration()
      let key = EncryptionKey("trollkjerringtær")
      let db = try makeCities()
      for body in [
        { _ = try Database(path: folder + "/cities.db", configuration: configuration) },
        { _ = try Database(configuration: configuration) },
        { _ = try DatabaseQueue(path: folder + "/cities.db", configuration: configuration) },
        { _ = try DatabasePool(path: folder + "/cities.db", configuration: configuration) },
        { _ = try Database(serialized: db.serialized(), configuration: configuration) },
        { try db.backup(to: folder + "/copy.db", key: key) },
        { try db.backup(to: folder + "/copy.db", key: nil) },
        { try db.attach(folder + "/other.db", as: "other", key: key) },
        { try db.rekey(key) },
        { _ = try db.cipherIntegrityCheck() },
      ] as [() throws -> Void] {
        let error = #expect(throws: UnsupportedByEngine.self, performing: body)
        #expect(error?.feature.hasPrefix("encryption") == true)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }
  }

  @Test("Without a cipher, SQL and URIs with a key, which SQLite would ignore, are refused")
  func sql() throws {
    try withTemporaryFolder { (folder: String) throws in
      var configuration = Configuration()
      configuration.flags.insert(.uri)
      let db = try Database(path: folder + "/cities.db", configuration: configuration)
      for sql in [
        "PRAGMA key = 'secret'", "PRAGMA rekey = 'secret'", "pragma main.\"hexkey\"(00)",
        "ATTACH \(folder + "/other.db") AS other KEY 'secret'",
        "attach database \(folder + "/other.db") as key key \("secret")",
      ] as [SQL] {
        let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(sql) }
        #expect(error?.code == .misuse)
        #expect(error?.description.contains("secret") == false)
      }
      #expect(throws: DatabaseError.self) {
        try Database(path: "file:\(folder)/other.db?key=secret", configuration: configuration)
      }
      #expect(try Encrypted.files(in: folder, with: "SQLite") == ["cities.db"])
    }
  }

  @Test("Without a cipher, databases can be attached without a key, even under the name `key`")
  func attached() throws {
    try withTemporaryFolder { (folder: String) throws in
      try makeCities().backup(to: folder + "/cities.db")
      let db = try Database()
      try db.attach(folder + "/cities.db", as: "key", key: nil)
      try db.executeUpdate("ATTACH \(folder + "/cities.db") AS \"as key\"")
      #expect(try db.value("SELECT count(*) FROM key.city", as: Int.self) == 4)
      #expect(try db.value("SELECT count(*) FROM \"as key\".city", as: Int.self) == 4)
    }
  }

  @Test("Without a key, opening an encrypted file throws an error that says it may need one")
  func encrypted() throws {
    try withTemporaryFolder { (folder: String) throws in
      let bytes = Data((0..<8192).map { _ in UInt8.random(in: 0...255) })
      try bytes.write(to: URL(fileURLWithPath: folder + "/cities.db"))
      let error = #expect(throws: DatabaseError.self) { try Database(path: folder + "/cities.db") }
      #expect(error?.code == .notADatabase)
      #expect(error?.message.contains("needs a key") == true)
    }
  }
}

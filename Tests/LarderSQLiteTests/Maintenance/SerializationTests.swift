import LarderSQLite
import TestSupport
import Testing

@Suite("Serialized databases")
struct SerializationTests {
  @Test(
    "`Database(serialized:)` makes an independent copy with the same rows",
    arguments: Company.threads
  )
  func copies(company: Company) throws {
    let folder = try ScratchFolder()
    let access = try company.open(in: folder)
    let bytes = try access.inTransaction { db in
      try db.executeUpdate("UPDATE city SET population = 7 WHERE id = 1")
      return try db.serialized()
    }
    #expect(try access.read { try $0.serialized() } == bytes)
    let copy = try Database(serialized: bytes)
    #expect(try copy.value("SELECT population FROM city WHERE id = 1", as: Int.self) == 7)
    #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
    for _ in 0..<3 {
      try copy.executeUpdate("INSERT INTO city (name) SELECT hex(randomblob(20000)) FROM city")
    }
    #expect(try copy.cityCount() == 32)
    #expect(try access.read { try $0.cityCount() } == 4)
    let queue = try DatabaseQueue()
    try queue.inDatabase { try $0.restore(from: copy) }
    #expect(try queue.read { try $0.cityCount() } == 32)
  }

  @Test("A serialized copy can be opened read-only; an empty one works; unknown schemas throw")
  func readOnly() throws {
    var configuration = Configuration()
    configuration.readOnly = true
    let copy = try Database(serialized: try makeCities().serialized(), configuration: configuration)
    #expect(try copy.cityCount() == 4)
    let error = #expect(throws: DatabaseError.self) { try copy.executeUpdate("DELETE FROM city") }
    #expect(error?.code == .readOnly)
    let empty = try Database(serialized: try Database().serialized())
    try createCities(in: empty)
    #expect(try empty.cityCount() == 4)
    #expect(throws: DatabaseError.self) { try copy.serialized("none") }
    #expect(throws: DatabaseError.self) { try copy.serialized("a\0b") }
  }

  @Test("Opening bytes that aren't a database throws; randomly altered ones may, but never crash")
  func hostile() throws {
    let bytes = try makeCities().serialized()
    let error = #expect(throws: DatabaseError.self) {
      try Database(serialized: [UInt8](repeating: 65, count: 4096))
    }
    #expect(error?.code == .notADatabase)
    var random = SeededGenerator(seed: 5)
    var refused = 0
    for _ in 0..<300 {
      var mutated = bytes
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        mutated[Int.random(in: 0..<mutated.count, using: &random)] = .random(
          in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        mutated.removeLast(Int.random(in: 0..<mutated.count, using: &random))
      }
      do {
        let copy = try Database(serialized: mutated, configuration: .init(profile: .untrustedFile))
        _ = try copy.texts("SELECT name FROM city")
      } catch {
        refused += 1
        #expect(error is DatabaseError || error is ConversionError)
      }
    }
    #expect(refused > 0)
  }
}

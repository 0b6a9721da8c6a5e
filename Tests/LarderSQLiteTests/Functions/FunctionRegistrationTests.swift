import LarderSQLite
import TestSupport
import Testing

@Suite("Registration of functions")
struct FunctionRegistrationTests {
  @Test("Registering a custom function again replaces the old one")
  func replace() throws {
    let db = try Database()
    try db.createFunction("capital", argumentCount: 0) { _ in "Christiania" }
    #expect(try db.value("SELECT capital()", as: String.self) == "Christiania")
    try db.createFunction("capital", argumentCount: 0) { _ in "Oslo" }
    #expect(try db.value("SELECT capital()", as: String.self) == "Oslo")
  }

  @Test("A custom function's name can have one function for each number of arguments")
  func overloads() throws {
    let db = try Database()
    try db.createFunction("arguments", argumentCount: 1) { _ in "one" }
    try db.createFunction("arguments", argumentCount: 2) { _ in "two" }
    try db.createFunction("arguments") { _ in "many" }
    #expect(
      try db.texts("VALUES (arguments(0)), (arguments(0, 0)), (arguments(0, 0, 0))")
        == ["one", "two", "many"])
  }

  @Test("Calling a removed function throws, and removing it again does nothing")
  func remove() throws {
    let db = try Database()
    try db.createFunction("capital", argumentCount: 0) { _ in "Oslo" }
    try db.removeFunction("capital", argumentCount: 0)
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT capital()", as: String.self)
    }
    #expect(error?.message == "no such function: capital")
    try db.removeFunction("capital", argumentCount: 0)
  }

  @Test("A custom function can replace one of SQLite's own, on its connection only")
  func builtIn() throws {
    let db = try Database()
    try db.createFunction("upper", argumentCount: 1) { _ in "mine" }
    #expect(try db.value("SELECT upper('Oslo')", as: String.self) == "mine")
    #expect(try Database().value("SELECT upper('Oslo')", as: String.self) == "OSLO")
  }

  @Test("Replacing a custom function throws `.busy` while a statement that calls it runs")
  func replaceWhileRunning() throws {
    let db = try makeCities()
    try db.createFunction("tag", argumentCount: 1) { "\($0[0])" }
    let rows = try db.executeQuery("SELECT tag(name) FROM city")
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) {
      try db.createFunction("tag", argumentCount: 1) { _ in nil }
    }
    #expect(error?.code == .busy)
    rows.close()
    try db.createFunction("tag", argumentCount: 1) { _ in "new" }
    #expect(try db.value("SELECT tag(1)", as: String.self) == "new")
  }

  @Test("Registering a custom function with an invalid name or number of arguments throws")
  func refused() throws {
    let db = try Database()
    for name in ["", "a\0b", String(repeating: "x", count: 256)] {
      #expect(throws: DatabaseError.self) { try db.createFunction(name) { _ in nil } }
      #expect(throws: DatabaseError.self) { try db.removeFunction(name) }
    }
    for count in [-1, 128, Int.max] {
      #expect(throws: DatabaseError.self) {
        try db.createFunction("capital", argumentCount: count) { _ in nil }
      }
    }
  }

  /// A database with four cities, whose schema may call functions that aren't direct-only.
  private func makeTrustedCities() throws -> Database {
    var configuration = Configuration()
    configuration.trustsSchema = true
    let db = try Database(configuration: configuration)
    try createCities(in: db)
    return db
  }

  @Test("A trusted view that calls a custom function throws, unless that isn't direct-only")
  func directOnly() throws {
    let db = try makeTrustedCities()
    try db.createFunction("tag", argumentCount: 1) { _ in "direct" }
    try db.executeUpdate("CREATE VIEW tagged AS SELECT tag(name) FROM city")
    let error = #expect(throws: DatabaseError.self) { try db.texts("SELECT * FROM tagged") }
    #expect(error?.message == "unsafe use of tag()")
    try db.createFunction("tag", argumentCount: 1, directOnly: false) { _ in "anywhere" }
    #expect(
      try db.texts("SELECT * FROM tagged") == ["anywhere", "anywhere", "anywhere", "anywhere"])
  }

  @Test("Only a deterministic custom function can be used in an index")
  func deterministic() throws {
    let db = try makeTrustedCities()
    try db.createFunction("tag", argumentCount: 1, deterministic: false, directOnly: false) {
      $0[0]
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE INDEX tags ON city (tag(name))")
    }
    #expect(error?.message == "non-deterministic functions prohibited in index expressions")
    try db.createFunction("tag", argumentCount: 1, directOnly: false) { $0[0] }
    try db.executeUpdate("CREATE INDEX tags ON city (tag(name))")
    #expect(try db.texts("SELECT name FROM city WHERE tag(name) = 'Oslo'") == ["Oslo"])
  }

  @Test("A custom function can query the database that calls it")
  func reentrant() throws {
    let db = try makeCities()
    // The closure must be Sendable, which a database isn't. It is called on this thread only.
    nonisolated(unsafe) let unsafeDB = db
    try db.createFunction("population_of", argumentCount: 1, deterministic: false) {
      try unsafeDB.value("SELECT population FROM city WHERE name = ?", $0[0], as: Int.self)
    }
    #expect(
      try db.texts("SELECT name FROM city WHERE population_of(name) > 1000000 ORDER BY id")
        == ["Lagos", "北京市"])
    // Otherwise, function and database would retain each other.
    try db.removeFunction("population_of", argumentCount: 1)
  }

  @Test("A custom function that closes the database calling it makes the statement throw `.misuse`")
  func closes() throws {
    let db = try makeCities()
    nonisolated(unsafe) let unsafeDB = db
    try db.createFunction("close_all", argumentCount: 0) { _ in
      try unsafeDB.close()
      return nil
    }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT close_all()") }
    #expect(error?.code == .misuse)
    #expect(db.isOpen)
    #expect(try db.cityCount() == 4)
    try db.removeFunction("close_all", argumentCount: 0)
  }

  private final class Token: Sendable {}

  @Test(
    "A custom function's captures are released when it is replaced or removed or its database is closed"
  )
  func captures() throws {
    func register(_ name: String, in db: Database) throws -> () -> Bool {
      let token = Token()
      try db.createFunction(name) { _ in "\(type(of: token))" }
      return { [weak token] in token != nil }
    }
    let db = try Database()
    let replaced = try register("a", in: db)
    let removed = try register("b", in: db)
    let closed = try register("c", in: db)
    #expect(replaced() && removed() && closed())
    try db.createFunction("a") { _ in nil }
    #expect(!replaced())
    try db.removeFunction("b")
    #expect(!removed())
    try db.close()
    #expect(!closed())
  }

  @Test("A custom function registered by `prepareDatabase` exists on that connection only")
  func perConnection() throws {
    try withTemporaryFolder { folder in
      var configuration = Configuration()
      configuration.prepareDatabase = { try $0.createFunction("capital") { _ in "Oslo" } }
      let first = try Database(path: folder + "/cities.db", configuration: configuration)
      let second = try Database(path: folder + "/cities.db")
      #expect(try first.value("SELECT capital()", as: String.self) == "Oslo")
      #expect(throws: DatabaseError.self) { try second.value("SELECT capital()", as: String.self) }
    }
  }
}

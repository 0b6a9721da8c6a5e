import LarderSQLite
import LarderVirtualTables
import Synchronization
import TestSupport
import Testing

@Suite("Virtual tables")
struct VirtualTableTests {
  private final class Asked: Sendable {
    let keys = Mutex<[[String: DatabaseValue]]>([])
  }

  /// Registers a module of cities: the module's arguments are their names, and each one's position is its id.
  private func register(_ db: Database, directOnly: Bool = true, _ asked: Asked = Asked()) throws {
    try db.createModule("cities", directOnly: directOnly) { names in
      guard !names.isEmpty else { throw DatabaseError(code: .misuse, message: "no cities") }
      return VirtualTable(columns: ["id", "name"], keys: ["id", "name"]) { equals in
        asked.keys.withLock { $0.append(equals) }
        return names.enumerated().lazy.map {
          [DatabaseValue.integer(Int64($0.offset)), .text($0.element)]
        }
      }
    }
  }

  @Test("A virtual table gets the texts of CREATE VIRTUAL TABLE and can be read and dropped")
  func read() throws {
    let db = try Database()
    try register(db)
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING cities(Oslo, Bergen , 北京市)")
    #expect(try db.texts("SELECT name FROM town ORDER BY id") == ["Oslo", "Bergen", "北京市"])
    #expect(try db.executeQuery("SELECT * FROM town").columnNames == ["id", "name"])
    try db.executeUpdate("DROP TABLE town")
    #expect(throws: DatabaseError.self) { try db.texts("SELECT name FROM town") }
  }

  @Test("A virtual table gets the values of its keys, and SQLite checks the returned rows again")
  func keys() throws {
    let db = try makeCities()
    let asked = Asked()
    try register(db, asked)
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING cities(Oslo, Bergen, Lagos)")
    #expect(try db.texts("SELECT name FROM town WHERE id = 1") == ["Bergen"])
    #expect(
      try db.texts("SELECT name FROM town WHERE name = 'Oslo' COLLATE NOCASE AND id < 9") == [
        "Oslo"
      ])
    #expect(try db.texts("SELECT name FROM town WHERE id > 1") == ["Lagos"])
    // CROSS JOIN has SQLite look up each city in the virtual table, not the other way round.
    #expect(
      try db.texts("SELECT city.name FROM city CROSS JOIN town ON town.name = city.name ORDER BY 1")
        == ["Bergen", "Lagos", "Oslo"])
    #expect(try db.value("SELECT count(*) FROM town WHERE id IN (0, 2)") == 2)
    let keys = asked.keys.withLock { $0 }
    try #require(keys.count > 7)
    // Older versions of SQLite don't report a number that is a literal in the statement.
    let first: [String: DatabaseValue] = SQLiteLibrary.versionNumber < 3_038_000 ? [:] : ["id": 1]
    #expect(keys[0] == first)
    #expect(keys[2] == [:])
    let cities: Set<DatabaseValue> = ["Bergen", "Oslo", "Lagos", "北京市"]
    #expect(keys[3..<7].allSatisfy { $0.count == 1 })
    #expect(Set(keys[3..<7].compactMap { $0["name"] }) == cities)
  }

  @Test("Writing to a virtual table of a read-only module throws")
  func readOnly() throws {
    let db = try Database()
    try register(db)
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING cities(Oslo)")
    for sql in [
      "INSERT INTO town VALUES (1, 'x')", "UPDATE town SET name = 'x'", "DELETE FROM town",
    ] {
      let error = #expect(throws: DatabaseError.self) { try db.executeUpdate(SQL(raw: sql)) }
      #expect(error?.message == "table town may not be modified")
    }
  }

  @Test(
    "CREATE VIRTUAL TABLE throws its module's error, and invalid columns or module names are refused"
  )
  func refused() throws {
    let db = try Database()
    try register(db)
    let error = #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING cities")
    }
    #expect(error?.code == .misuse)
    #expect(error?.message == "no cities")
    try db.createModule("wrong") { _ in VirtualTable(columns: ["a"], keys: ["b"]) { _ in [] } }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING wrong")
    }
    try db.createModule("twice") { _ in VirtualTable(columns: ["a", "A"]) { _ in [] } }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING twice")
    }
    try db.createModule("none") { _ in VirtualTable(columns: []) { _ in [] } }
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING none")
    }
    for name in ["", "a\0b", "fts5", "rtree", String(repeating: "x", count: 256)] {
      #expect(throws: DatabaseError.self) {
        try db.createModule(name) { _ in VirtualTable(columns: ["a"]) { _ in [] } }
      }
    }
  }

  @Test(
    "A file's virtual table can call a module only if that was registered with `directOnly` false",
    arguments: [true, false])
  func files(isAllowed: Bool) throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let db = try Database(path: path)
    try register(db, directOnly: false)
    try db.executeUpdate("CREATE VIRTUAL TABLE town USING cities(Oslo)")
    try db.executeUpdate("CREATE VIEW spying AS SELECT * FROM town")
    #expect(throws: DatabaseError.self) { try db.texts("SELECT name FROM spying") }
    try db.close()
    let other = try Database(path: path)
    let asked = Asked()
    #expect(throws: DatabaseError.self) { try other.texts("SELECT name FROM town") }
    try register(other, directOnly: !isAllowed, asked)
    if isAllowed {
      #expect(try other.texts("SELECT name FROM town") == ["Oslo"])
    } else {
      let error = #expect(throws: DatabaseError.self) { try other.texts("SELECT name FROM town") }
      #expect(error?.code == .misuse)
      #expect(asked.keys.withLock { $0.isEmpty })
      #expect(throws: DatabaseError.self) {
        try other.executeUpdate("CREATE VIRTUAL TABLE mine USING cities(Oslo)")
      }
    }
  }

  @Test("A file's views, triggers and virtual tables can't call a table-valued function")
  func functionsInFiles() throws {
    let folder = try ScratchFolder()
    let path = folder.file("cities.db")
    let called = Asked()
    @Sendable func wire(directOnly: Bool) -> TableFunction<Int> {
      TableFunction("wire", directOnly: directOnly) {
        called.keys.withLock { $0.append([:]) }
        return [1]
      }
    }
    var configuration = Configuration()
    configuration.trustsSchema = true
    let db = try Database(path: path, configuration: configuration)
    try db.createFunction(wire(directOnly: false))
    try db.executeStatements(
      """
      CREATE TABLE town (name);
      CREATE VIEW city AS SELECT * FROM town, wire;
      CREATE TRIGGER spying AFTER INSERT ON town BEGIN INSERT INTO town SELECT value FROM wire; END;
      INSERT INTO town VALUES ('Oslo');
      PRAGMA writable_schema = ON
      """)
    #expect(called.keys.withLock { $0.count } == 1)
    try db.close()
    // The file also gets a virtual table whose module has the function's name.
    let raw = try Database(path: path)
    try raw.createModule("wire", directOnly: false) { _ in
      VirtualTable(columns: ["name"]) { _ in [["Oslo"]] }
    }
    try raw.executeUpdate("CREATE VIRTUAL TABLE place USING wire")
    try raw.close()
    for trusts in [true, false] {
      configuration.trustsSchema = trusts
      let other = try Database(path: path, configuration: configuration)
      try other.createFunction(wire(directOnly: true))
      for sql in ["SELECT * FROM city", "INSERT INTO town VALUES (1)", "SELECT * FROM place"] {
        #expect(throws: DatabaseError.self, "\(sql)") {
          try other.executeQuery(SQL(raw: sql)).next()
        }
      }
      #expect(called.keys.withLock { $0.count } == 1)
      try other.executeUpdate("CREATE TEMP VIEW mine AS SELECT * FROM wire")
      #expect(try other.value("SELECT value FROM mine") == 1)
      called.keys.withLock { _ = $0.popLast() }
    }
  }

  @Test("Replacing or removing a module affects only virtual tables that are created afterwards")
  func replace() throws {
    let db = try Database()
    try register(db)
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.town USING cities(Oslo)")
    try db.createModule("cities") { _ in VirtualTable(columns: ["capital"]) { _ in [["Rome"], []] }
    }
    #expect(try db.texts("SELECT name FROM town") == ["Oslo"])
    try db.executeUpdate("CREATE VIRTUAL TABLE temp.other USING cities(Oslo)")
    #expect(try db.value("SELECT count(*) FROM other WHERE capital IS NULL") == 1)
    try db.removeFunction("cities")
    #expect(try db.texts("SELECT name FROM town") == ["Oslo"])
    #expect(throws: DatabaseError.self) {
      try db.executeUpdate("CREATE VIRTUAL TABLE temp.third USING cities(Oslo)")
    }
  }

  @Test("A module can't be read as a table of its own name")
  func notEponymous() throws {
    let db = try Database()
    try register(db)
    #expect(throws: DatabaseError.self) { try db.texts("SELECT name FROM cities") }
  }
}

import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Maintenance of a database file")
struct UpkeepTests {
  @Test(
    "Closing with `optimizesOnClose` gathers the query planner's statistics, and without it doesn't"
  )
  func optimizesOnClose() throws {
    for optimizes in [true, false] {
      let folder = try ScratchFolder()
      let path = folder.file("a.db")
      var configuration = Configuration()
      configuration.optimizesOnClose = optimizes
      for access in try [
        DatabaseQueue(path: path, configuration: configuration) as any DatabaseAccess,
        DatabasePool(path: folder.file("b.db"), configuration: configuration),
      ] {
        try access.inTransaction { db in
          try db.executeStatements(
            "CREATE TABLE t (a); CREATE INDEX i ON t (a); INSERT INTO t VALUES (1), (2)")
          _ = try db.texts("SELECT 'x' FROM t WHERE a = 1")
        }
        try access.close()
      }
      for name in ["a.db", "b.db"] {
        let db = try Database(path: folder.file(name))
        #expect(try db.tableExists("sqlite_stat1") == optimizes)
      }
    }
  }

  @Test("`optimize` gathers the query planner's statistics and leaves `analysis_limit` unchanged")
  func optimize() throws {
    let db = try makeCities()
    try db.executeUpdate("CREATE INDEX i ON city (population, area)")
    _ = try db.texts("SELECT name FROM city WHERE population = 1")
    try db.executeUpdate("PRAGMA analysis_limit = 7")
    try db.optimize()
    #expect(try db.tableExists("sqlite_stat1"))
    #expect(try db.value("PRAGMA analysis_limit", as: Int.self) == 7)
  }

  @Test("`vacuum` works on the file or into a new one, and throws in transactions and read scopes")
  func vacuum() throws {
    let folder = try ScratchFolder()
    let queue = try DatabaseQueue(path: folder.file("a.db"))
    try queue.inTransaction { try createCities(in: $0) }
    try queue.inDatabase { db in
      try db.vacuum()
      try db.vacuum(into: folder.file("it's.db"))
    }
    #expect(try Database(path: folder.file("it's.db")).cityCount() == 4)
    let exists = #expect(throws: DatabaseError.self) {
      try queue.inDatabase { try $0.vacuum(into: folder.file("it's.db")) }
    }
    #expect(exists?.code == .error)
    #expect(throws: DatabaseError.self) { try queue.inTransaction { try $0.vacuum() } }
    #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.vacuum(into: "a\0b") } }
    #expect(throws: DatabaseError.self) { try queue.read { try $0.vacuum() } }
    #expect(throws: DatabaseError.self) { try queue.read { try $0.optimize() } }
  }

  @Test(
    "A new file gets `applicationID`, and opening or restoring one with another id throws")
  func applicationID() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.applicationID = 0x4C41_5244
    let own = try DatabasePool(path: folder.file("own.db"), configuration: configuration)
    try own.inTransaction { try createCities(in: $0) }
    #expect(try own.read { try $0.applicationID } == 0x4C41_5244)
    try own.close()
    #expect(
      try Database(path: folder.file("own.db"), configuration: configuration).cityCount() == 4)
    let other = try Database(path: folder.file("other.db"))
    try createCities(in: other)
    try other.close()
    let error = #expect(throws: DatabaseError.self) {
      try Database(path: folder.file("other.db"), configuration: configuration)
    }
    #expect(error?.code == .mismatch)
    // A file with another id isn't restored into this one either.
    let again = try DatabasePool(path: folder.file("own.db"), configuration: configuration)
    for source in ["other.db", "own.db"] {
      let error = failure { db in
        if source == "own.db" {
          try db.backup(to: folder.file(source))
        } else {
          try db.restore(from: folder.file(source))
        }
      }
      #expect(error?.code == (source == "own.db" ? .misuse : .mismatch))
    }
    let inMemory = try Database()
    #expect(failure { try $0.restore(from: inMemory) }?.code == .mismatch)
    #expect(try again.read { try $0.cityCount() } == 4)
    func failure(_ body: (Database) throws -> Void) -> DatabaseError? {
      do { try again.inDatabase(body) } catch { return error as? DatabaseError }
      return nil
    }
  }

  @Test("With `secureDelete` deleted rows are overwritten in the file")
  func secureDelete() throws {
    for isOn in [true, false] {
      let folder = try ScratchFolder()
      var configuration = Configuration()
      configuration.secureDelete = isOn
      configuration.journalMode = .delete
      let db = try Database(path: folder.file("a.db"), configuration: configuration)
      try db.executeStatements(
        "CREATE TABLE t (a); INSERT INTO t VALUES ('a secret that is long'), ('x'); DELETE FROM t WHERE a > 'b' OR a LIKE 'a%'"
      )
      try db.close()
      let bytes = try Data(contentsOf: URL(filePath: folder.file("a.db")))
      #expect((bytes.range(of: Data("a secret that is long".utf8)) == nil) == isOn)
    }
  }

  @Test("`statistics` of a connection and a statement give SQLite's counters")
  func statistics() throws {
    let db = try makeCities()
    let figures = try db.statistics
    #expect(figures.cacheBytes > 0 && figures.schemaBytes > 0)
    let statement = try db.prepare("SELECT name FROM city WHERE area > ? ORDER BY population")
    for _ in 0..<2 {
      let rows = try statement.query(1.0)
      while try rows.next() {}
    }
    let costs = try statement.statistics
    #expect(costs.fullScanSteps == 6 && costs.sorts == 2 && costs.count == 2)
    #expect(costs.steps > 20 && costs.bytes > 0)
    #expect(try db.statistics.statementBytes > figures.statementBytes)
    statement.close()
    #expect(throws: DatabaseError.self) { try statement.statistics }
    try db.close()
    #expect(throws: DatabaseError.self) { try db.statistics }
  }

  @Test(
    "Opening with a missing or invalid extension throws, and load_extension() in SQL is refused")
  func extensions() throws {
    let folder = try ScratchFolder()
    try Data("no library".utf8).write(to: URL(filePath: folder.file("text.so")))
    for path in [folder.file("none.so"), folder.file("text.so"), "", "a\0b"] {
      var configuration = Configuration()
      configuration.extensions = [.init(path)]
      let error = #expect(throws: DatabaseError.self) { try Database(configuration: configuration) }
      #expect(error?.message.isEmpty == false)
    }
    let db = try Database()
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT load_extension('none')", as: Int?.self)
    }
  }

  @Test(
    "`vacuum` works on a schema that uses SQLite's JSON functions, whose author isn't trusted",
    arguments: [
      "CREATE TABLE place (json CHECK (json_valid(json)))",
      "CREATE TABLE place (json); CREATE INDEX i ON place (json_extract(json, '$.a'))",
      "CREATE TABLE place (json); CREATE INDEX i ON place (json) WHERE json ->> 'a' > 3",
      "CREATE TABLE place (json, a AS (json -> 'a') STORED, b AS (json_type(json)))",
      "CREATE TABLE place (json CHECK (json LIKE '%' AND \"json_valid\" (json)))",
    ] as [SQL])
  func vacuumOfJSON(schema: SQL) throws {
    let folder = try ScratchFolder(inMemory: true)
    let path = folder.file("a.db")
    let made = try Database(path: path)
    try made.executeStatements(schema)
    try made.executeUpdate("INSERT INTO place (json) VALUES ('{\"a\": 4}')")
    try made.close()
    // On a new connection, VACUUM INTO is the first to read the schema.
    for (index, intoFirst) in [true, false].enumerated() {
      let db = try Database(path: path)
      let copy = folder.file("copy\(index).db")
      if intoFirst { try db.vacuum(into: copy) }
      try db.vacuum()
      if !intoFirst { try db.vacuum(into: copy) }
      try db.executeUpdate("VACUUM")
      #expect(try !db.effectiveSettings.trustsSchema)
      let text = try db.texts("SELECT json FROM place")
      #expect(try Database(path: copy).texts("SELECT json FROM place") == text)
      #expect(try db.texts("PRAGMA integrity_check") == ["ok"])
      try db.close()
    }
  }

  @Test(
    "`vacuum` names a function of the schema that isn't known to be harmless",
    arguments: ["", "CREATE INDEX i ON place (wire(json))"] as [SQL])
  func vacuumOfUnknownFunction(index: SQL) throws {
    let folder = try ScratchFolder(inMemory: true)
    let path = folder.file("a.db")
    func open(trusts: Bool) throws -> Database {
      var configuration = Configuration()
      configuration.trustsSchema = trusts
      let db = try Database(path: path, configuration: configuration)
      try db.createFunction("wire", directOnly: false) { arguments in
        #expect(trusts)
        return arguments.first
      }
      return db
    }
    let made = try open(trusts: true)
    try made.executeStatements(
      """
      CREATE TABLE place (json CHECK (json_valid(json)), wired CHECK (wire(wired)));
      INSERT INTO place VALUES ('[]', 1)
      """)
    try made.executeStatements(index)
    try made.vacuum()
    try made.close()
    let db = try open(trusts: false)
    for path in [nil, folder.file("b.db"), nil, folder.file("c.db")] {
      let error = #expect(throws: DatabaseError.self) { try db.vacuum(into: path) }
      #expect(error?.code == .error)
      #expect(error?.message.contains("wire()") == true)
      #expect(error?.message.contains("trustsSchema") == true)
    }
  }

  @Test("`vacuum` of a damaged file says that it is malformed")
  func vacuumOfDamagedFile() throws {
    let folder = try ScratchFolder(inMemory: true)
    let path = folder.file("a.db")
    let made = try Database(path: path)
    try made.executeStatements(
      """
      CREATE TABLE place (json CHECK (json_valid(json)));
      INSERT INTO place VALUES ('[]')
      """)
    let pageSize = try #require(try made.value("PRAGMA page_size", as: UInt64.self))
    try made.close()
    // The second page is the table's.
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seek(toOffset: pageSize)
    try file.write(contentsOf: Data(repeating: 0xff, count: 100))
    try file.close()
    let db = try Database(path: path)
    for path in [folder.file("b.db"), nil] {
      let error = #expect(throws: DatabaseError.self) { try db.vacuum(into: path) }
      #expect(error?.code == .corrupt)
    }
  }
}

import LarderSQLite
import LarderVirtualTables
import Synchronization
import TestSupport
import Testing

@Suite("Table-valued functions: errors and registration")
struct TableRegistrationTests {
  private let series = TableFunction("series") { (from: Int, to: Int) in
    from <= to ? Array(from...to) : []
  }

  // MARK: Errors

  private struct Doubt: Error, CustomStringConvertible {
    let description: String
  }

  @Test(
    "An error thrown by a table-valued function becomes the statement's error, without argument values"
  )
  func closureThrows() throws {
    let db = try Database()
    try db.createFunction(
      TableFunction("refuse") { (city: String) throws -> [Int] in
        throw Doubt(description: "\(city) is closed")
      })
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT * FROM refuse(\("Oslo"))").next()
    }
    #expect(error?.message == "… is closed")
    #expect(error?.code == .error)
    #expect(try db.value("SELECT 1") == 1)
  }

  @Test(
    "An error thrown for a row of a table-valued function makes `next()` throw it with its code")
  func rowThrows() throws {
    let db = try Database()
    try db.createFunction(
      TableFunction("half") {
        var number = 0
        return { () throws -> Int? in
          number += 1
          guard number < 3 else { throw DatabaseError(code: .ioError, message: "line 3") }
          return number
        }
      })
    let rows = try db.executeQuery("SELECT value FROM half")
    #expect(try rows.next())
    #expect(try rows.next())
    let error = #expect(throws: DatabaseError.self) { try rows.next() }
    #expect(error?.code == .ioError)
    #expect(error?.message == "line 3")
    #expect(error?.sql == "SELECT value FROM half")
  }

  @Test(
    "A table-valued function's value that can't be stored makes the statement throw when it is read"
  )
  func badValue() throws {
    let db = try Database()
    try db.createFunction(TableFunction("nan") { [Double.nan] })
    try db.createFunction(TableFunction("huge") { [(1, UInt64.max)] })
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT * FROM nan", as: Double?.self)
    }
    #expect(error?.message.contains("NaN") == true)
    #expect(throws: DatabaseError.self) { try db.value("SELECT c2 FROM huge", as: Int.self) }
    #expect(try db.value("SELECT c1 FROM huge") == 1)
    try db.setLimit(.length, 1000)
    try db.createFunction(TableFunction("long") { [String(repeating: "ø", count: 1000)] })
    let long = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT * FROM long").next()
    }
    #expect(long?.code == .tooBig)
  }

  @Test("A table-valued function may query its database and itself, but endless recursion throws")
  func reentrant() throws {
    let db = try makeCities()
    nonisolated(unsafe) let unsafeDB = db
    try db.createFunction(
      TableFunction("names") { () in try unsafeDB.texts("SELECT name FROM city ORDER BY id") })
    #expect(try db.texts("SELECT value FROM names LIMIT 2") == ["Bergen", "Oslo"])
    try db.createFunction(
      TableFunction("factorial") { (n: Int) in
        [n < 2 ? 1 : try n * (unsafeDB.value("SELECT value FROM factorial(\(n - 1))") ?? 0)]
      })
    #expect(try db.value("SELECT value FROM factorial(5)") == 120)
    try db.createFunction(
      TableFunction("forever") { () in
        [try unsafeDB.value("SELECT value FROM forever", as: Int.self) ?? 0]
      })
    let error = #expect(throws: DatabaseError.self) {
      try db.value("SELECT value FROM forever", as: Int.self)
    }
    #expect(error?.message.contains("too deeply") == true, "\(error?.message ?? "")")
    for name in ["names", "factorial", "forever"] { try db.removeFunction(name) }
  }

  @Test(
    "A table-valued function that closes the database reading it makes the statement throw `.misuse`"
  )
  func closes() throws {
    let db = try makeCities()
    nonisolated(unsafe) let unsafeDB = db
    try db.createFunction(
      TableFunction("close_all") { () throws -> [Int] in
        try unsafeDB.close()
        return []
      })
    let error = #expect(throws: DatabaseError.self) {
      try db.executeQuery("SELECT * FROM close_all").next()
    }
    #expect(error?.code == .misuse)
    #expect(db.isOpen)
    #expect(try db.cityCount() == 4)
    try db.removeFunction("close_all")
  }

  // MARK: Registering

  @Test(
    "Registering a table-valued function again replaces it, also in cached statements")
  func replace() throws {
    let db = try Database()
    let statement: SQL = "SELECT * FROM capital"
    try db.createFunction(TableFunction("capital") { ["Christiania"] })
    #expect(try db.texts(statement) == ["Christiania"])
    try db.createFunction(TableFunction("Capital", columns: "name") { ["Oslo"] })
    #expect(try db.texts(statement) == ["Oslo"])
    #expect(try db.texts("SELECT name FROM capital") == ["Oslo"])
  }

  @Test("Reading a removed table-valued function throws, also in cached statements")
  func remove() throws {
    let db = try Database()
    try db.createFunction(TableFunction("capital") { ["Oslo"] })
    #expect(try db.texts("SELECT * FROM capital") == ["Oslo"])
    try db.removeFunction("CAPITAL")
    let error = #expect(throws: DatabaseError.self) { try db.texts("SELECT * FROM capital") }
    #expect(error?.message == "no such table: capital")
    try db.removeFunction("capital")
  }

  @Test(
    "A result set can be read on after its table-valued function was removed or replaced",
    arguments: [true, false])
  func removedWhileReading(isReplaced: Bool) throws {
    let db = try Database()
    try db.createFunction(series)
    let rows = try db.executeQuery("SELECT value FROM series(1, 3)")
    #expect(try rows.next())
    if isReplaced {
      try db.createFunction(TableFunction("series") { [7] })
    } else {
      try db.removeFunction("series")
    }
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: Int.self) == 2)
    #expect(try rows.next())
    #expect(try !rows.next())
    rows.close()
    if isReplaced {
      #expect(try db.integers("SELECT value FROM series") == [7])
    } else {
      #expect(throws: DatabaseError.self) { try db.integers("SELECT value FROM series(1, 3)") }
    }
  }

  @Test(
    "Registering a table-valued function with an invalid or reserved name or columns throws `.misuse`"
  )
  func refused() throws {
    let db = try Database()
    for name in [
      "", "a\0b", String(repeating: "x", count: 256), "json_each", "FTS5", "sqlite_schema",
      "pragma_user_version", "larder_table",
    ] {
      let error = #expect(throws: DatabaseError.self, "\(name)") {
        try db.createFunction(TableFunction(name) { [1] })
      }
      #expect(error?.code == .misuse)
    }
    for columns in [["a", "A"], ["", "b"], ["a\0", "b"], ["a", "argument_1"]] {
      let error = #expect(throws: DatabaseError.self, "\(columns)") {
        try db.createFunction(
          TableFunction("t", columns: columns[0], columns[1]) { (_: Int) in [(1, 2)] })
      }
      #expect(error?.code == .misuse)
    }
    let error = #expect(throws: DatabaseError.self) {
      try db.createFunction(TableFunction("t", columns: "a") { [(1, 2)] })
    }
    #expect(error?.code == .misuse)
    #expect(throws: DatabaseError.self) { try db.value("SELECT * FROM t", as: Int.self) }
  }

  @Test(
    "A table-valued function and its columns may have names with any other characters",
    arguments: ["order by", "a\"b", "x'; DROP TABLE city;--", "表", " ", "]", "`"])
  func hostileNames(name: String) throws {
    let db = try makeCities()
    try db.createFunction(
      TableFunction(name, columns: name, "hidden") { (_: Int) in [("Oslo", 1)] })
    #expect(try db.texts("SELECT \(identifier: name) FROM \(identifier: name)(1)") == ["Oslo"])
    #expect(
      try db.executeQuery("SELECT * FROM \(identifier: name)(1)").columnNames == [name, "hidden"])
    #expect(try db.cityCount() == 4)
  }

  @Test("A table of the database takes precedence over a table-valued function of the same name")
  func hiddenByTable() throws {
    let db = try makeCities()
    try db.createFunction(TableFunction("city") { [1] })
    #expect(try db.cityCount() == 4)
  }

  @Test(
    "A table-valued function's captures are released when it is replaced or removed or the database closed"
  )
  func captures() throws {
    func register(_ name: String, in db: Database) throws -> () -> Bool {
      let token = Counter()
      try db.createFunction(TableFunction(name) { [token.number] })
      #expect(try db.value("SELECT value FROM \(identifier: name)") == 0)
      return { [weak token] in token != nil }
    }
    let db = try Database()
    let replaced = try register("a", in: db)
    let removed = try register("b", in: db)
    let closed = try register("c", in: db)
    #expect(replaced() && removed() && closed())
    db.clearStatementCache()
    try db.createFunction(TableFunction("a") { [1] })
    #expect(!replaced())
    try db.removeFunction("b")
    #expect(!removed())
    try db.close()
    #expect(!closed())
  }

  @Test(
    "A table-valued function's row closure is released when the rows end or the result set is closed"
  )
  func rowsAreReleased() throws {
    let db = try Database()
    let isOpen = Flag()
    try db.createFunction(
      TableFunction("file") {
        let file = OpenFile(isOpen)
        var number = 0
        return { () -> Int? in
          number += file.step
          return number < 3 ? number : nil
        }
      })
    let rows = try db.executeQuery("SELECT value FROM file")
    #expect(try rows.next())
    #expect(isOpen.isSet)
    rows.close()
    #expect(!isOpen.isSet)
    let again = try db.executeQuery("SELECT value FROM file")
    while try again.next() {}
    #expect(!isOpen.isSet)
  }

  // MARK: Pools, closed databases and authorizers

  @Test(
    "A table-valued function registered by `prepareDatabase` works on a pool's writer and readers")
  func pool() throws {
    let folder = try ScratchFolder()
    var configuration = Configuration()
    configuration.prepareDatabase = { [series] in try $0.createFunction(series) }
    let pool = try DatabasePool(path: folder.file("cities.db"), configuration: configuration)
    try pool.inTransaction { db in
      try createCities(in: db)
      try db.executeUpdate(
        "INSERT INTO city SELECT value, 'city ' || value, 0, 0 FROM series(10, 19)")
    }
    for _ in 0..<3 {
      #expect(try pool.read { try $0.cityCount() } == 14)
      #expect(try pool.read { try $0.integers("SELECT value FROM series(1, 2)") } == [1, 2])
    }
    try pool.close()
  }

  @Test("Registering a table-valued function on a closed database throws")
  func closed() throws {
    let db = try Database()
    try db.close()
    #expect(throws: DatabaseError.self) { try db.createFunction(series) }
  }

  @Test("The authorizer `.tables` allows only the table-valued functions that it lists")
  func authorizer() throws {
    let db = try makeCities()
    try db.createFunction(series)
    db.authorizer = .tables(["city"])
    #expect(throws: DatabaseError.self) { try db.integers("SELECT value FROM series(1, 2)") }
    db.authorizer = .tables(["city", "series"])
    #expect(try db.integers("SELECT value FROM series(1, 2)") == [1, 2])
    db.authorizer = .readOnly
    #expect(try db.integers("SELECT value FROM series(1, 2)") == [1, 2])
  }
}

private final class Counter: Sendable {
  let count = Atomic<Int>(0)
  var number: Int { count.load(ordering: .relaxed) }
}

private final class Flag: Sendable {
  let value = Atomic<Bool>(false)
  var isSet: Bool { value.load(ordering: .relaxed) }
}

private final class OpenFile {
  let flag: Flag
  let step = 1

  init(_ flag: Flag) {
    self.flag = flag
    flag.value.store(true, ordering: .relaxed)
  }

  deinit { flag.value.store(false, ordering: .relaxed) }
}

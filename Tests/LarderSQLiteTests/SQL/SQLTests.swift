import Foundation
import LarderSQLite
import Testing

@Suite("SQL from interpolation")
struct SQLTests {
  let db: Database

  init() throws {
    db = try Database()
    try db.executeStatements(
      """
      CREATE TABLE city (name TEXT, population INTEGER);
      INSERT INTO city VALUES ('Oslo', 709037), ('Bergen', 291940), ('Tromsø', 78745);
      """)
  }

  static let payloads = [
    "'; DROP TABLE city; --", "\"; DROP TABLE city; --", "Robert'); DROP TABLE city;--", "1 OR 1=1",
    "' OR ''='", "x' UNION SELECT 'Bergen", "`", "]", "[city]", "?", "?1", ":name", "@name",
    "$name",
    "%", "_", "\\", "\\'", "''", "\"\"", "/*", "*/", "--", ";", "\n", "\0", "\0'; DROP TABLE city",
    "o'brien", "北京'", "🏙️\"", "e\u{301}", "\u{202E}", "\\u0027", "%27", "char(39)", "NULL", "",
    "\"\u{301}", "a\"\u{301} TEXT, b", "'\u{301}",
  ]

  @Test("Interpolated values become parameters, in order")
  func values() throws {
    let name: String? = nil
    let sql: SQL = "SELECT \(1), \(2.5), \("Oslo"), \(name), \([UInt8]([1, 2])), \(Data([3]))"
    #expect(sql.text == "SELECT ?, ?, ?, ?, ?, ?")
    #expect(
      try sql.arguments.values == [1, 2.5, "Oslo", nil, .blob([1, 2]), .blob([3])])
    #expect(sql.description == sql.text)
  }

  @Test("An interpolated list becomes as many parameters in parentheses")
  func lists() throws {
    let names = ["Oslo", "Tromsø"]
    let sql: SQL = "SELECT count(*) FROM city WHERE name IN \(names) AND population > \(100_000)"
    #expect(sql.text == "SELECT count(*) FROM city WHERE name IN (?, ?) AND population > ?")
    #expect(try db.value(sql, as: Int.self) == 1)
    #expect(
      try db.value("SELECT count(*) FROM city WHERE name IN \([String]())", as: Int.self) == 0)
    #expect(try db.value("SELECT 3 IN \(Set([1, 2, 3]))", as: Bool.self) == true)
    #expect(try db.value("SELECT 3 IN \(1...3)", as: Bool.self) == true)
    let optional: SQL = "(\([Int?.none, 1]))"
    #expect(optional.text == "((?, ?))")
  }

  @Test("An interpolated array literal of integers is a list, not a blob")
  func literalList() throws {
    let sql: SQL = "SELECT 3 IN \([1, 2, 3])"
    #expect(sql.text == "SELECT 3 IN (?, ?, ?)")
    #expect(try sql.arguments.values == [1, 2, 3])
  }

  @Test("A query with a list of 1,000 values works, and isn't added to the statement cache")
  func longList() throws {
    let before = db.statementCacheStatistics.count
    let populations = [Int](0..<1_000)
    #expect(try db.value("SELECT 999 IN \(populations)", as: Bool.self) == true)
    #expect(try db.value("SELECT 1000 IN \(populations)", as: Bool.self) == false)
    #expect(db.statementCacheStatistics.count == before)
  }

  @Test("Interpolated SQL keeps its values in their places")
  func nesting() throws {
    let large: SQL = "population > \(100_000)"
    let filter: SQL = "WHERE \(large) AND name <> \("Oslo")"
    let sql: SQL = "SELECT \("first"), name FROM city \(filter) LIMIT \(1)"
    #expect(sql.text == "SELECT ?, name FROM city WHERE population > ? AND name <> ? LIMIT ?")
    #expect(try sql.arguments.values == ["first", 100_000, "Oslo", 1])
    let rows = try db.executeQuery(sql)
    #expect(try rows.next())
    #expect(try rows[1] == "Bergen")
  }

  @Test("Interpolated values are stored unchanged, and can't inject SQL", arguments: payloads)
  func injectionByValue(payload: String) throws {
    #expect(
      try db.value("SELECT \(payload)", as: String.self).map { Array($0.utf8) }
        == Array(payload.utf8))
    try db.executeUpdate("INSERT INTO city VALUES (\(payload), 0)")
    #expect(try db.value("SELECT count(*) FROM city WHERE name = ?", payload, as: Int.self) == 1)
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 4)
  }

  @Test(
    "An interpolated identifier can't inject SQL: it names that table or column, or throws on NUL",
    arguments: payloads)
  func injectionByIdentifier(payload: String) throws {
    if payload.utf8.contains(0) {
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("CREATE TABLE \(identifier: payload) (name)")
      }
    } else {
      try db.executeUpdate("CREATE TABLE \(identifier: payload) (\(identifier: payload) TEXT)")
      try db.executeUpdate("INSERT INTO \(identifier: payload) VALUES ('Oslo')")
      let rows = try db.executeQuery("SELECT \(identifier: payload) FROM \(identifier: payload)")
      #expect(try rows.next())
      #expect(try rows[0] == "Oslo")
      rows.close()
      #expect(try db.columnExists(payload, in: payload))
      try db.executeUpdate("DROP TABLE \(identifier: payload)")
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test(
    "A savepoint's name can't inject SQL: any name works, or throws on NUL", arguments: payloads)
  func injectionBySavepoint(payload: String) throws {
    if payload.utf8.contains(0) {
      #expect(throws: DatabaseError.self) { try db.savepoint(payload) }
      #expect(!db.isInTransaction)
    } else {
      try db.savepoint(payload)
      try db.executeUpdate("DELETE FROM city")
      try db.rollback(to: payload)
      try db.release(payload)
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("An unknown column given as an identifier throws, instead of being read as a string")
  func identifiersAreNoStrings() {
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT \(identifier: "nmae") FROM city", as: String.self)
    }
  }

  @Test("`SQL(raw:)` takes its text unchanged")
  func raw() throws {
    let order = "population DESC"
    let sql = SQL(raw: "SELECT name FROM city ORDER BY \(order) LIMIT 1")
    #expect(sql.text == "SELECT name FROM city ORDER BY population DESC LIMIT 1")
    #expect(try db.value(sql, as: String.self) == "Oslo")
  }

  @Test(
    "SQL without a statement throws, except in `executeStatements`",
    arguments: ["", " ", ";", "-- nothing", "/* nothing */ ;", "\n\t", "/* open"])
  func empty(text: String) {
    let sql = SQL(raw: text)
    for call in calls(sql) {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .misuse)
      #expect(error?.message == "the SQL has no statement")
    }
    #expect(throws: Never.self) { try db.executeStatements(sql) }
  }

  @Test(
    "SQL with a second statement throws before the first has run",
    arguments: [
      "DELETE FROM city; DELETE FROM city", "DELETE FROM city; nonsense", "DELETE FROM city;;x",
    ])
  func tail(text: String) throws {
    for call in calls(SQL(raw: text)) {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.code == .misuse)
      #expect(error?.message.contains("executeStatements") == true)
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  @Test("Semicolons, spaces and comments after a statement aren't a second statement")
  func harmlessTail() throws {
    #expect(try db.value("SELECT 1;", as: Int.self) == 1)
    #expect(try db.value("SELECT 1 ; ; -- that's all\n /* folks */ ;", as: Int.self) == 1)
  }

  @Test("SQL with a NUL character throws, because SQLite would stop reading there")
  func nul() throws {
    let sql = SQL(raw: "DELETE FROM city WHERE name = 'Oslo'\0 AND 0")
    for call in calls(sql) + [{ try db.executeStatements(sql) }] {
      let error = #expect(throws: DatabaseError.self) { try call() }
      #expect(error?.message.contains("NUL") == true)
    }
    #expect(try db.value("SELECT count(*) FROM city", as: Int.self) == 3)
  }

  private func calls(_ sql: SQL) -> [() throws -> Void] {
    [
      { try db.executeUpdate(sql) }, { _ = try db.executeQuery(sql) }, { _ = try db.prepare(sql) },
      { _ = try db.value(sql, as: Int.self) }, { try db.validate(sql) },
    ]
  }
}

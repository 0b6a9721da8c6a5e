import LarderSQLite
import Testing

@Suite("Arguments")
struct ArgumentsTests {
  let db: Database

  init() throws { db = try Database() }

  private func message(
    _ sql: SQL, _ arguments: Arguments, _ sourceLocation: SourceLocation = #_sourceLocation
  ) -> String? {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) {
      try db.value(sql, arguments: arguments, as: DatabaseValue.self)
    }
    #expect(error?.code == .range, sourceLocation: sourceLocation)
    return error?.message
  }

  @Test("Too few or too many positional arguments throw with both numbers")
  func counts() {
    #expect(message("SELECT ?, ?", [1]) == "the statement has 2 parameters, given were 1")
    #expect(message("SELECT ?", [1, 2, 3]) == "the statement has 1 parameters, given were 3")
    #expect(message("SELECT 1", [1]) == "the statement has 0 parameters, given were 1")
    #expect(message("SELECT ?", []) == "the statement has 1 parameters, given were 0")
    #expect(message("SELECT '\(1)'", [])?.contains("0 parameters, given were 1") == true)
  }

  @Test("Missing names are told")
  func missingNames() {
    #expect(
      message("SELECT :name, :size", ["name": 1])
        == "the statement has 2 parameters, given were 1; missing: :size")
    #expect(message("SELECT :name, :size", [1])?.hasSuffix("missing: :size") == true)
  }

  @Test("No names at all are too few", arguments: [Arguments([:]), Arguments([String: String?]())])
  func noNames(arguments: Arguments) {
    #expect(message("SELECT :name", arguments)?.hasSuffix("missing: :name") == true)
  }

  @Test("No names after some are too few, on the same statement")
  func noNamesAfterSome() throws {
    let sql: SQL = "SELECT :name"
    #expect(try db.value(sql, arguments: ["name": "Oslo"], as: String.self) == "Oslo")
    #expect(message(sql, [:])?.hasSuffix("missing: :name") == true)
  }

  @Test("Surplus names throw, unless they are allowed")
  func surplusNames() throws {
    let sql: SQL = "SELECT :name"
    let arguments: Arguments = ["name": "Oslo", "size": 709_037]
    #expect(message(sql, arguments)?.hasSuffix("not in the statement: size") == true)
    #expect(
      try db.value(sql, arguments: arguments.ignoringSurplusNames(), as: String.self) == "Oslo")
  }

  @Test("What was allowed once isn't allowed the next time")
  func surplusNamesAgain() throws {
    let sql: SQL = "SELECT :name"
    let arguments: Arguments = ["name": "Oslo", "size": 709_037]
    _ = try db.value(sql, arguments: arguments.ignoringSurplusNames(), as: String.self)
    #expect(message(sql, arguments)?.hasSuffix("not in the statement: size") == true)
  }

  @Test("Allowing surplus names allows no missing ones, and no surplus positions")
  func surplusIsNotMissing() {
    #expect(message("SELECT :name", Arguments(["size": 1]).ignoringSurplusNames()) != nil)
    #expect(message("SELECT ?", Arguments([1, 2]).ignoringSurplusNames()) != nil)
  }

  @Test("A name matches :name, @name and $name, wherever it occurs")
  func prefixes() throws {
    let rows = try db.executeQuery(
      "SELECT :name || @name || $name || :name", arguments: ["name": "a"])
    #expect(try rows.next())
    #expect(try rows[0] == "aaaa")
    let exact = try db.value("SELECT :a || @a", arguments: [":a": "x", "@a": "y"], as: String.self)
    #expect(exact == "xy")
  }

  @Test("A name given twice throws")
  func nameGivenTwice() {
    #expect(message("SELECT :name", ["name": 1, "name": 2])?.contains("twice") == true)
  }

  @Test("Names tell case apart, as SQLite does")
  func caseOfNames() throws {
    let sql: SQL = "SELECT :a || :A"
    #expect(try db.value(sql, arguments: ["a": "x", "A": "y"], as: String.self) == "xy")
    #expect(message(sql, ["a": "x"]) != nil)
  }

  @Test("Names in a dictionary of run time work in any order")
  func dictionary() throws {
    let names = (0..<50).map { "p\($0)" }
    let sql = SQL(raw: "SELECT " + names.map { ":\($0)" }.joined(separator: " || "))
    let values = Dictionary(
      uniqueKeysWithValues: names.map { ($0, $0 as (any DatabaseValueConvertible)?) })
    for _ in 0..<3 {
      #expect(try db.value(sql, arguments: Arguments(values), as: String.self) == names.joined())
    }
  }

  @Test("Interpolated values and names go together")
  func mixed() throws {
    let sql: SQL = "SELECT \("a") || :name || \("c")"
    #expect(try db.value(sql, arguments: ["name": "b"], as: String.self) == "abc")
    #expect(message(sql, [:]) != nil)
    #expect(message(sql, ["b"])?.contains("not positional") == true)
    #expect(message("SELECT ? || :name", ["name": "b"])?.contains("without a name: 1") == true)
  }

  @Test("Values of an earlier call are never used for parameters that have none now")
  func staleValues() throws {
    let named: Arguments = ["suffix": "!"]
    #expect(
      try db.value("SELECT \("Oslo") || :suffix", arguments: named, as: String.self) == "Oslo!")
    #expect(message("SELECT ? || :suffix", named)?.contains("without a name: 1") == true)
  }

  @Test("Numbered parameters take positional arguments")
  func numbered() throws {
    #expect(try db.value("SELECT ?2 || ?1 || ?2", "a", "b", as: String.self) == "bab")
    #expect(message("SELECT ?3", [1, 2]) != nil)
  }

  @Test("A value that can't be stored leaves the statement usable, and nothing of it bound")
  func failedBinding() throws {
    try db.executeUpdate("CREATE TABLE city (name, size)")
    let sql: SQL = "INSERT INTO city VALUES (?, ?)"
    let error = #expect(throws: ConversionError.self) {
      try db.executeUpdate(sql, "Oslo", Double.nan)
    }
    #expect(error?.sql == "INSERT INTO city VALUES (?, ?)")
    #expect(throws: DatabaseError.self) { try db.executeUpdate(sql, "Oslo") }
    try db.executeUpdate(sql, "Bergen", 291_940)
    let rows = try db.executeQuery("SELECT name, size FROM city")
    #expect(try rows.map { try $0.get(at: 0, as: String.self) } == ["Bergen"])
  }

  @Test("Arguments are equal when the same values would be bound to the same parameters")
  func equality() {
    #expect(Arguments([1, "Oslo", nil]) == [1, "Oslo", nil])
    #expect(Arguments([1]) != [1.0])
    #expect(Arguments(["a": 1]) != [1])
    #expect(Arguments([Double.nan]) != [Double.nan])
    #expect(Arguments([1, 2]).count == 2)
  }

  @Test("More values than a statement may have parameters throw")
  func tooMany() throws {
    try db.setLimit(.variables, 100)
    #expect(try db.value("SELECT 1 IN \([Int](0..<100))", as: Bool.self) == true)
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT 1 IN \([Int](0..<101))", as: Bool.self)
    }
  }
}

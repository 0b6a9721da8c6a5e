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

  @Test("Too few or too many positional arguments throw an error with both counts")
  func counts() {
    #expect(message("SELECT ?, ?", [1]) == "the statement has 2 parameters, but 1 were given")
    #expect(message("SELECT ?", [1, 2, 3]) == "the statement has 1 parameters, but 3 were given")
    #expect(message("SELECT 1", [1]) == "the statement has 0 parameters, but 1 were given")
    #expect(message("SELECT ?", []) == "the statement has 1 parameters, but 0 were given")
    #expect(message("SELECT '\(1)'", [])?.contains("0 parameters, but 1 were given") == true)
  }

  @Test("Missing named arguments throw an error that lists them")
  func missingNames() {
    #expect(
      message("SELECT :name, :size", ["name": 1])
        == "the statement has 2 parameters, but 1 were given; missing: :size")
    #expect(message("SELECT :name, :size", [1])?.hasSuffix("missing: :size") == true)
  }

  @Test(
    "An empty dictionary for a named parameter throws an error that lists the missing name",
    arguments: [Arguments([:]), Arguments([String: String?]())])
  func noNames(arguments: Arguments) {
    #expect(message("SELECT :name", arguments)?.hasSuffix("missing: :name") == true)
  }

  @Test("A cached statement with an empty dictionary throws, though an earlier call gave the name")
  func noNamesAfterSome() throws {
    let sql: SQL = "SELECT :name"
    #expect(try db.value(sql, arguments: ["name": "Oslo"], as: String.self) == "Oslo")
    #expect(message(sql, [:])?.hasSuffix("missing: :name") == true)
  }

  @Test("Surplus names throw, unless `ignoringSurplusNames` is used")
  func surplusNames() throws {
    let sql: SQL = "SELECT :name"
    let arguments: Arguments = ["name": "Oslo", "size": 709_037]
    #expect(message(sql, arguments)?.hasSuffix("not in the statement: size") == true)
    #expect(
      try db.value(sql, arguments: arguments.ignoringSurplusNames(), as: String.self) == "Oslo")
  }

  @Test("`ignoringSurplusNames` applies to one call, not to the next of the same statement")
  func surplusNamesAgain() throws {
    let sql: SQL = "SELECT :name"
    let arguments: Arguments = ["name": "Oslo", "size": 709_037]
    _ = try db.value(sql, arguments: arguments.ignoringSurplusNames(), as: String.self)
    #expect(message(sql, arguments)?.hasSuffix("not in the statement: size") == true)
  }

  @Test("`ignoringSurplusNames` allows neither missing names nor surplus positional arguments")
  func surplusIsNotMissing() {
    #expect(message("SELECT :name", Arguments(["size": 1]).ignoringSurplusNames()) != nil)
    #expect(message("SELECT ?", Arguments([1, 2]).ignoringSurplusNames()) != nil)
  }

  @Test("A named argument without a prefix matches :name, @name and $name, each time they occur")
  func prefixes() throws {
    let rows = try db.executeQuery(
      "SELECT :name || @name || $name || :name", arguments: ["name": "a"])
    #expect(try rows.next())
    #expect(try rows[0] == "aaaa")
    let exact = try db.value("SELECT :a || @a", arguments: [":a": "x", "@a": "y"], as: String.self)
    #expect(exact == "xy")
  }

  @Test("An argument name given twice throws")
  func nameGivenTwice() {
    #expect(message("SELECT :name", ["name": 1, "name": 2])?.contains("twice") == true)
  }

  @Test("Argument names are case-sensitive, as in SQLite")
  func caseOfNames() throws {
    let sql: SQL = "SELECT :a || :A"
    #expect(try db.value(sql, arguments: ["a": "x", "A": "y"], as: String.self) == "xy")
    #expect(message(sql, ["a": "x"]) != nil)
  }

  @Test("Fifty named arguments from a dictionary bind by name, whatever their order")
  func dictionary() throws {
    let names = (0..<50).map { "p\($0)" }
    let sql = SQL(raw: "SELECT " + names.map { ":\($0)" }.joined(separator: " || "))
    let values = Dictionary(
      uniqueKeysWithValues: names.map { ($0, $0 as (any DatabaseValueConvertible)?) })
    for _ in 0..<3 {
      #expect(try db.value(sql, arguments: Arguments(values), as: String.self) == names.joined())
    }
  }

  @Test("Interpolated values and named arguments can be mixed, but positional ones can't")
  func mixed() throws {
    let sql: SQL = "SELECT \("a") || :name || \("c")"
    #expect(try db.value(sql, arguments: ["name": "b"], as: String.self) == "abc")
    #expect(message(sql, [:]) != nil)
    #expect(message(sql, ["b"])?.contains("not positional") == true)
    #expect(message("SELECT ? || :name", ["name": "b"])?.contains("without a name: 1") == true)
  }

  @Test("Values bound by an earlier call are never reused for parameters without an argument")
  func staleValues() throws {
    let named: Arguments = ["suffix": "!"]
    #expect(
      try db.value("SELECT \("Oslo") || :suffix", arguments: named, as: String.self) == "Oslo!")
    #expect(message("SELECT ? || :suffix", named)?.contains("without a name: 1") == true)
  }

  @Test("Numbered parameters such as ?2 take positional arguments")
  func numbered() throws {
    #expect(try db.value("SELECT ?2 || ?1 || ?2", "a", "b", as: String.self) == "bab")
    #expect(message("SELECT ?3", [1, 2]) != nil)
  }

  @Test("NaN as an argument throws, binds nothing, and leaves the statement usable")
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

  @Test("`Arguments` are equal if they would bind the same values to the same parameters")
  func equality() {
    #expect(Arguments([1, "Oslo", nil]) == [1, "Oslo", nil])
    #expect(Arguments([1]) != [1.0])
    #expect(Arguments(["a": 1]) != [1])
    #expect(Arguments([Double.nan]) != [Double.nan])
    #expect(Arguments([1, 2]).count == 2)
  }

  @Test("A list with more values than SQLite's limit of parameters throws")
  func tooMany() throws {
    try db.setLimit(.variables, 100)
    #expect(try db.value("SELECT 1 IN \([Int](0..<100))", as: Bool.self) == true)
    #expect(throws: DatabaseError.self) {
      try db.value("SELECT 1 IN \([Int](0..<101))", as: Bool.self)
    }
  }
}

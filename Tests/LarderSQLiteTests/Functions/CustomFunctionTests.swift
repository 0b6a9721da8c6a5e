import FoundationEssentials
import LarderSQLite
import Testing

@Suite("Custom functions")
struct CustomFunctionTests {
  // MARK: Arguments and results

  @Test("A custom function gets and returns text")
  func text() throws {
    let db = try makeCities()
    try db.createFunction("reversed", argumentCount: 1) { arguments in
      String(try String(databaseValue: arguments[0]).reversed())
    }
    #expect(try db.value("SELECT reversed('José 🌸')", as: String.self) == "🌸 ésoJ")
    #expect(try db.texts("SELECT name FROM city WHERE reversed(name) = ?", "olsO") == ["Oslo"])
  }

  @Test("A custom function gets and returns real numbers")
  func real() throws {
    let db = try Database()
    try db.createFunction("hypotenuse", argumentCount: 2) { arguments in
      let (a, b) = (
        try Double(databaseValue: arguments[0]), try Double(databaseValue: arguments[1])
      )
      return (a * a + b * b).squareRoot()
    }
    #expect(try db.value("SELECT hypotenuse(3.0, 4.0)", as: DatabaseValue.self) == .real(5))
    #expect(try db.value("SELECT hypotenuse(?, ?)", 3, 4, as: Double.self) == 5)
  }

  @Test("A custom function gets and returns integers")
  func integer() throws {
    let db = try Database()
    try db.createFunction("distance", argumentCount: 2) { arguments in
      let (a, b) = (try Int(databaseValue: arguments[0]), try Int(databaseValue: arguments[1]))
      return abs(a - b)
    }
    #expect(try db.value("SELECT distance(3, 45)", as: DatabaseValue.self) == .integer(42))
    #expect(try db.value("SELECT distance(?, 0)", Int64.max, as: Int64.self) == .max)
  }

  @Test("A custom function gets and returns blobs with every byte value")
  func blob() throws {
    let db = try Database()
    try db.createFunction("inverted", argumentCount: 1) { arguments in
      try [UInt8](databaseValue: arguments[0]).map { ~$0 }
    }
    let all = (0...255).map { UInt8($0) }
    #expect(try db.value("SELECT inverted(?)", all, as: [UInt8].self) == all.reversed())
    #expect(try db.value("SELECT inverted(x'')", as: DatabaseValue.self) == .blob([]))
  }

  @Test(
    "A custom function's result is read unchanged",
    arguments: [
      nil, 42, 0.1, "", "before\0after", .blob([]), .blob([0, 1]), .integer(.min), true,
    ] as [DatabaseValue])
  func result(value: DatabaseValue) throws {
    let db = try Database()
    try db.createFunction("same", argumentCount: 1) { $0[0] }
    try db.createFunction("constant", argumentCount: 0) { _ in value }
    #expect(try db.value("SELECT constant()", as: DatabaseValue.self) == value)
    #expect(try db.value("SELECT same(?)", value, as: DatabaseValue.self) == value)
  }

  @Test("A custom function's `nil` result is NULL")
  func null() throws {
    let db = try Database()
    try db.createFunction("no_city", argumentCount: 1) { _ in nil }
    #expect(try db.value("SELECT no_city(5) IS NULL", as: Bool.self) == true)
  }

  @Test("A custom function gets NULL as an argument, and an optional type is `nil`")
  func nullArgument() throws {
    let db = try Database()
    try db.createFunction("is_null", argumentCount: 1) { $0[0].isNull }
    try db.createFunction("twice", argumentCount: 1) { arguments in
      try Int?(databaseValue: arguments[0]).map { $0 * 2 }
    }
    #expect(try db.value("SELECT is_null(NULL)", as: Bool.self) == true)
    #expect(try db.value("SELECT is_null('')", as: Bool.self) == false)
    #expect(try db.value("SELECT twice(NULL)", as: Int?.self) == .some(nil))
    #expect(try db.value("SELECT twice(21)", as: Int?.self) == 42)
  }

  @Test("A custom function without an argument count gets any number of arguments of any type")
  func anyNumber() throws {
    let db = try Database()
    try db.createFunction("kinds") { arguments in
      arguments.map { "\($0.storageClass)" }.joined(separator: " ")
    }
    #expect(try db.value("SELECT kinds()", as: String.self) == "")
    #expect(
      try db.value("SELECT kinds(1, 2.5, 'x', x'00', NULL)", as: String.self)
        == "integer real text blob null")
  }

  @Test("A date returned by a custom function has the connection's date format")
  func date() throws {
    var configuration = Configuration()
    configuration.dateFormat = .iso8601
    let db = try Database(configuration: configuration)
    try db.createFunction("epoch", argumentCount: 0) { _ in Date(timeIntervalSince1970: 0) }
    #expect(try db.value("SELECT epoch()", as: String.self) == "1970-01-01T00:00:00.000Z")
    #expect(try db.value("SELECT epoch()", as: Date.self) == Date(timeIntervalSince1970: 0))
  }

  // MARK: Errors

  private struct Doubt: Error, CustomStringConvertible {
    let description: String
  }

  @Test(
    "A statement that calls a custom function with a wrong number of arguments can't be compiled")
  func wrongCount() throws {
    let db = try Database()
    try db.createFunction("distance", argumentCount: 2) { _ in 0 }
    for sql in ["SELECT distance(1)", "SELECT distance(1, 2, 3)", "SELECT distance()"] {
      let error = #expect(throws: DatabaseError.self) { try db.validate(SQL(raw: sql)) }
      #expect(error?.message == "wrong number of arguments to function distance()")
    }
  }

  @Test(
    "A custom function's argument of the wrong type makes the statement throw an error with the type"
  )
  func wrongKind() throws {
    let db = try Database()
    try db.createFunction("text", argumentCount: 1) { try String(databaseValue: $0[0]) }
    try db.createFunction("number", argumentCount: 1) { try Double(databaseValue: $0[0]) }
    try db.createFunction("bytes", argumentCount: 1) { try [UInt8](databaseValue: $0[0]) }
    for (sql, type) in [
      ("SELECT text(5)", "String"), ("SELECT text(x'35')", "String"),
      ("SELECT text(NULL)", "String"),
      ("SELECT number('5')", "Double"), ("SELECT number(x'35')", "Double"),
      ("SELECT bytes('5')", "Array<UInt8>"), ("SELECT bytes(5)", "Array<UInt8>"),
    ] {
      let error = #expect(throws: DatabaseError.self) {
        try db.value(SQL(raw: sql), as: DatabaseValue.self)
      }
      #expect(error?.code == .error)
      #expect(error?.message.contains(type) == true, "\(error?.message ?? "")")
      #expect(error?.sql == sql)
    }
  }

  @Test("An error thrown by a custom function becomes the statement's error message")
  func error() throws {
    let db = try Database()
    try db.createFunction("refuse", argumentCount: 0) { _ in
      throw Doubt(description: "the city is closed")
    }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT refuse()") }
    #expect(error?.message == "the city is closed")
    #expect(error?.code == .error)
  }

  @Test(
    "The code of a DatabaseError thrown by a custom function is the statement's error code",
    arguments: [
      ResultCode.tooBig, .noMemory, .constraint, .constraintCheck, .authorization, .mismatch,
    ])
  func code(code: ResultCode) throws {
    let db = try Database()
    try db.createFunction("refuse", argumentCount: 0) { _ in
      throw DatabaseError(code: code, message: "closed for \(code.rawValue) days")
    }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT refuse()") }
    #expect(error?.extendedCode == code)
    #expect(error?.message == "closed for \(code.rawValue) days")
  }

  @Test(
    "A DatabaseError with SQLITE_OK, ROW or DONE as its code is still thrown as an error",
    arguments: [0, 100, 101] as [Int32])
  func noErrorCode(number: Int32) throws {
    let db = try Database()
    try db.createFunction("refuse", argumentCount: 0) { _ in
      throw DatabaseError(code: ResultCode(rawValue: number), message: "no")
    }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT refuse()") }
    #expect(error?.message == "no")
    #expect(error?.code == .error)
  }

  @Test("A DatabaseError with a code unknown to SQLite is thrown with that code")
  func unknownCode() throws {
    let db = try Database()
    try db.createFunction("refuse", argumentCount: 0) { _ in
      throw DatabaseError(code: 42, message: "the answer")
    }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT refuse()") }
    #expect(error?.extendedCode == 42)
    #expect(error?.message == "the answer")
  }

  @Test("A custom function's result that can't be stored makes the statement throw")
  func badResult() throws {
    let db = try Database()
    try db.createFunction("nan", argumentCount: 0) { _ in Double.nan }
    try db.createFunction("huge", argumentCount: 0) { _ in UInt64.max }
    #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT nan()") }
    #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT huge()") }
  }

  @Test(
    "A custom function's result that exceeds the length limit makes the statement throw `.tooBig`")
  func longResult() throws {
    let db = try Database()
    try db.setLimit(.length, 1000)
    try db.createFunction("long", argumentCount: 0) { _ in String(repeating: "ø", count: 1000) }
    let error = #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT long()") }
    #expect(error?.code == .tooBig)
    #expect(error?.message == "string or blob too big")
  }

  @Test("A custom function that returns NaN makes the statement throw instead of returning NULL")
  func notANumber() throws {
    let db = try Database()
    try db.createFunction("quotient", argumentCount: 2) { arguments in
      try Double(databaseValue: arguments[0]) / Double(databaseValue: arguments[1])
    }
    try db.createFunction("no_number", argumentCount: 0) { _ in DatabaseValue.real(.nan) }
    #expect(try db.value("SELECT quotient(1, 0)", as: Double.self) == .infinity)
    for sql in ["SELECT quotient(0, 0)", "SELECT no_number()"] as [SQL] {
      let error = #expect(throws: DatabaseError.self) { try db.value(sql, as: Double?.self) }
      #expect(error?.code == .error)
      #expect(error?.message.contains("NaN") == true)
    }
  }
}

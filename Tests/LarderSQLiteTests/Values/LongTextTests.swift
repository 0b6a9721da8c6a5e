import Foundation
import LarderSQLite
import Testing

@Suite("Very long texts are processed in linear time")
struct LongTextTests {
  /// Expects to take less than 8 seconds. Quadratic time would take minutes, linear time a moment.
  private func soon<T>(
    _ sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> T
  ) rethrows -> T {
    let start = ContinuousClock.now
    defer {
      #expect(ContinuousClock.now - start < .seconds(8), sourceLocation: sourceLocation)
    }
    return try body()
  }

  @Test("Reading 200,000 digits as Decimal throws, or ignores zeros, in linear time")
  func decimals() throws {
    let digits = String(repeating: "7", count: 200_000)
    for text in [
      digits + "x", digits, "-" + digits + ".", digits + "e", "1." + digits, "0." + digits,
    ] {
      soon {
        _ = #expect(throws: ConversionError.self) { try Decimal(databaseValue: .text(text)) }
      }
    }
    let zeros = String(repeating: "0", count: 100_000)
    let seven = try soon { try Decimal(databaseValue: .text(zeros + "7." + zeros)) }
    #expect(seven == 7)
  }

  @Test("Text is read as Decimal only in the accepted forms of a number")
  func decimalForms() throws {
    for text in ["1", "-1", "+1", "1.", ".5", "0.5", "1e3", "1E+3", "-.5e-2", "00.50"] {
      #expect(throws: Never.self) { try Decimal(databaseValue: .text(text)) }
    }
    for text in [
      "", ".", "-", "+", "e3", "1e", "1e+", ".e1", "1.2.3", "1 ", " 1", "1x", "--1", "٣", "1,5",
      "0x10", "1e5.0", "nan", "1\0",
    ] {
      let error = #expect(throws: ConversionError.self) { try Decimal(databaseValue: .text(text)) }
      #expect(error?.kind == .malformed, "\(text)")
    }
  }

  @Test(
    "Invalid SQL with 200,000 semicolons throws in linear time, with a shortened text in the error")
  func semicolons() throws {
    let db = try Database()
    for text in [
      String(repeating: "'';", count: 200_000), String(repeating: "x;", count: 200_000),
      "SELECT wrong FROM nowhere WHERE a IN (" + String(repeating: "';',", count: 100_000) + "1)",
    ] {
      let error = soon {
        #expect(throws: DatabaseError.self) { try db.executeStatements(SQL(raw: text)) }
      }
      #expect((error?.sql?.utf8.count ?? 0) <= 10_010)
      #expect((error?.description.utf8.count ?? 0) <= 30_100)
    }
  }

  @Test("An error shortens long SQL and messages to 10,000 bytes, cut between characters")
  func cutTexts() throws {
    let db = try Database()
    let long = "SELECT wrong, '" + String(repeating: "ø😀", count: 100_000) + "'"
    let error = try #require(
      #expect(throws: DatabaseError.self) { try db.validate(SQL(raw: long)) })
    let sql = try #require(error.sql)
    #expect(sql.hasPrefix("SELECT wrong") && sql.hasSuffix("…") && sql.utf8.count <= 10_003)
    #expect(long.hasPrefix(sql.dropLast()))
    let exact = "SELECT wrong, '" + String(repeating: "x", count: 10_000 - 16) + "'"
    let whole = #expect(throws: DatabaseError.self) { try db.validate(SQL(raw: exact)) }
    #expect(whole?.sql == exact)
    #expect(
      DatabaseError(code: .error, message: String(repeating: "m", count: 20_000))
        .message.utf8.count == 10_003)
  }

  @Test("A constraint error on a table name with 30,000 dots is parsed in linear time")
  func dottedNames() throws {
    let db = try Database()
    let name = String(repeating: ".a", count: 30_000)
    try db.executeUpdate("CREATE TABLE \(identifier: name) (\(identifier: "b.c") UNIQUE)")
    try db.executeUpdate("INSERT INTO \(identifier: name) VALUES (1)")
    let error = soon {
      #expect(throws: DatabaseError.self) {
        try db.executeUpdate("INSERT INTO \(identifier: name) VALUES (1)")
      }
    }
    #expect(error?.constraint?.kind == .unique)
  }
}

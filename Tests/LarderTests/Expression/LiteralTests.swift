import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("SQL literals of values")
struct LiteralTests {
  @Test("Each storage class has an SQL literal")
  func literals() throws {
    #expect(try DatabaseValue.null.literal == "NULL")
    #expect(try DatabaseValue.integer(709_037).literal == "709037")
    #expect(try DatabaseValue.integer(.min).literal == "-9223372036854775808")
    #expect(try DatabaseValue.real(0.1).literal == "0.1")
    #expect(try DatabaseValue.real(-2.5).literal == "-2.5")
    #expect(try DatabaseValue.real(100).literal == "100.0")
    #expect(try DatabaseValue.real(1e-7).literal == "1e-07")
    #expect(try DatabaseValue.real(.infinity).literal == "9e999")
    #expect(try DatabaseValue.real(-.infinity).literal == "-9e999")
    #expect(try DatabaseValue.text("L'Aquila").literal == "'L''Aquila'")
    #expect(try DatabaseValue.text("").literal == "''")
    #expect(try DatabaseValue.text("Os\0lo'").literal == "('Os' || char(0) || 'lo''')")
    #expect(try DatabaseValue.blob([0, 10, 255]).literal == "x'000aff'")
    #expect(try DatabaseValue.blob([]).literal == "x''")
  }

  @Test("A real that SQLite would parse inexactly is written as an exact fraction")
  func fractions() throws {
    #expect(
      try DatabaseValue.real(0.30000000000000004).literal
        == "(1351079888211149 / 4503599627370496.0)")
    #expect(
      try DatabaseValue.real(-1e23).literal
        == "(-2980232238769531 * 33554432.0)")
  }

  @Test("NaN has no SQL literal and throws")
  func notANumber() {
    #expect(throws: ConversionError.self) { try DatabaseValue.real(.nan).literal }
  }

  static let values: [DatabaseValue] =
    [
      .null, .integer(.min), .integer(.max), .integer(-1), .integer(0), .real(0), .real(-0.0),
      .real(.pi), .real(.greatestFiniteMagnitude), .real(-.greatestFiniteMagnitude),
      .real(.leastNormalMagnitude), .real(.leastNonzeroMagnitude), .real(.infinity),
      .real(-.infinity), .real(9_007_199_254_740_994), .real(1e22), .real(1e23),
      .real(.leastNormalMagnitude / 3),
      .text("'"), .text("''"), .text("'\u{301}"), .text("\0"), .text("\0\0'\0"), .text("Tromsø"),
      .text("北京"), .text("--"), .text("?"), .text("/*"), .text("e\u{301}"), .blob([]), .blob([0]),
      .blob(Array(0...255)),
    ]

  @Test(
    "SQLite reads each literal back as the same value, in UTF-8 and UTF-16",
    .onlySQLite(.files), arguments: values
  )
  func roundTrip(value: DatabaseValue) throws {
    for encoding in ["UTF-8", "UTF-16le"] {
      let db = try Database.empty()
      try db.executeUpdate(SQL(raw: "PRAGMA encoding = '\(encoding)'"))
      try db.define("CREATE TABLE city (name TEXT)")
      let literal = try value.literal
      #expect(try db.value(SQL(raw: "SELECT \(literal)"), as: DatabaseValue.self) == value)
      // A default must be a constant expression.
      try db.define(
        SQL(raw: "CREATE TABLE place (id INTEGER PRIMARY KEY, value ANY DEFAULT \(literal)) STRICT")
      )
      try db.executeUpdate("INSERT INTO place (id) VALUES (1)")
      #expect(try db.value("SELECT value FROM place", as: DatabaseValue.self) == value)
    }
  }

  @Test("SQLite reads literals of random doubles back bit by bit", .onlySQLite(.catalog))
  func randomNumbers() throws {
    let db = try Database.empty()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<10 {
      var numbers = (0..<200).map { _ in
        Double(bitPattern: .random(in: 0...(.max), using: &generator))
      }
      numbers += (0..<200).map { _ in
        (Double.random(in: -1000...1000, using: &generator) * 1e6).rounded() / 1e6
      }
      numbers = numbers.filter { !$0.isNaN }
      let literals = try numbers.map { try DatabaseValue.real($0).literal }
      let row = try db.executeQuery(SQL(raw: "SELECT \(literals.joined(separator: ", "))"))
      #expect(try row.next())
      for (index, number) in numbers.enumerated() {
        #expect(try row.get(at: index, as: Double.self).bitPattern == number.bitPattern)
      }
    }
  }

  @Test("literalText replaces placeholders, except in strings, names and comments")
  func placeholders() throws {
    let name = "L'Aquila"
    let fragment: SQL = """
      name = \(name) AND note <> 'why?' AND "odd?" = [b?] OR `c?` -- really?
      /* ? */ > \(5)
      """
    #expect(
      try fragment.literalText() == """
        name = 'L''Aquila' AND note <> 'why?' AND "odd?" = [b?] OR `c?` -- really?
        /* ? */ > 5
        """)
    let codes = ["NO", "SE"]
    #expect(try ("code IN \(codes)" as SQL).literalText() == "code IN ('NO', 'SE')")
  }

  @Test(
    "Doubled or unclosed quotes and comments end in literalText where SQLite ends them")
  func oddQuotes() throws {
    #expect(try ("'it''s ?' = \(1)" as SQL).literalText() == "'it''s ?' = 1")
    #expect(try (#""a""?" = \#(1)"# as SQL).literalText() == #""a""?" = 1"#)
    #expect(try ("/* * / ? **/ \(1) /*" as SQL).literalText() == "/* * / ? **/ 1 /*")
    #expect(try ("\(1) = 'open ?" as SQL).literalText() == "1 = 'open ?")
    #expect(try ("\(1) = [open ?" as SQL).literalText() == "1 = [open ?")
    #expect(try ("'\u{301}?' = \(1)" as SQL).literalText() == "'\u{301}?' = 1")
  }

  @Test("literalText keeps words apart, and makes no comment of two minus signs")
  func spacing() throws {
    #expect(try ("area-\(-5)" as SQL).literalText() == "area- -5")
    #expect(
      try ("CASE\(1)WHEN\(2)THEN\("x")END" as SQL).literalText() == "CASE 1 WHEN 2 THEN 'x' END")
    let db = try Database.empty()
    let sql: SQL = "SELECT 3-\(-5), CASE\(2)WHEN\(2)THEN\("x")END"
    let row = try db.executeQuery(SQL(raw: sql.literalText()))
    #expect(try row.next())
    #expect(try row.get(at: 0, as: Int.self) == 8)
    #expect(try row.get(at: 1, as: String.self) == "x")
  }

  @Test("Numbered placeholders take the value with their number")
  func numbered() throws {
    var sql = SQL(raw: "?2 + ?1 + ?2 + ?")
    sql.values = [1, 2, 3]
    #expect(try sql.literalText() == "2 + 1 + 2 + 3")
  }

  @Test("literalText throws if there are too few or too many values")
  func counts() {
    var sql = SQL(raw: "? + ?")
    sql.values = [1]
    #expect(throws: DatabaseError.self) { try sql.literalText() }
    sql.values = [1, 2, 3]
    #expect(throws: DatabaseError.self) { try sql.literalText() }
    sql = SQL(raw: "?0")
    sql.values = [1]
    #expect(throws: DatabaseError.self) { try sql.literalText() }
  }

  @Test("literalText writes dates in the given format, by default seconds")
  func dates() throws {
    let date = Date(timeIntervalSince1970: 1_000_000)
    let sql: SQL = "founded > \(date)"
    #expect(try sql.literalText() == "founded > 1000000.0")
    #expect(try sql.literalText(dateFormat: .iso8601) == "founded > '1970-01-12T13:46:40.000Z'")
    #expect(try sql.literalText(dateFormat: .unixMilliseconds) == "founded > 1000000000")
  }
}

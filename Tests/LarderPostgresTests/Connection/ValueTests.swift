import Foundation
import LarderSQLite
import PostgresSupport
import TestSupport
import Testing

@testable import LarderPostgres

@Suite(
  "Values on a server", .enabled(if: PostgresServer.isInstalled, "\(PostgresServer.whySkipped)"))
struct ValueTests {
  let db: PostgresConnection

  init() throws { db = try .test() }

  /// The value after a round trip as a parameter of the type, or the reason for which it can't be
  /// bound.
  private func value(_ value: DatabaseValue, as type: String) throws -> String {
    try db.rows("SELECT $1::\(type)", value)[0][0]
  }

  private func reason(_ value: DatabaseValue, as type: String) -> ConversionError.Kind? {
    do {
      _ = try self.value(value, as: type)
      return nil
    } catch { return (error as? ConversionError)?.kind }
  }

  @Test("Integers convert to each numeric type exactly, or throw")
  func integers() throws {
    #expect(try value(.integer(.min), as: "int8") == "\(Int.min)")
    #expect(try value(2_147_483_647, as: "int4") == "2147483647")
    #expect(reason(2_147_483_648, as: "int4") == .notExact)
    #expect(try value(-32768, as: "int2") == "-32768")
    #expect(reason(32768, as: "int2") == .notExact)
    #expect(try value(4_294_967_295, as: "oid") == "4294967295")
    #expect(reason(-1, as: "oid") == .notExact)
    #expect(try value(.integer(1 << 53), as: "float8") == "9007199254740992.0")
    #expect(reason(.integer(1 << 53 + 1), as: "float8") == .notExact)
    #expect(try value(7, as: "float4") == "7.0")
    #expect(try value(.integer(.max), as: "numeric") == "'\(Int.max)'")
    #expect(try value(1, as: "bool") == "1")
    #expect(reason(2, as: "bool") == .notExact)
    #expect(try value(42, as: "text") == "'42'")
    #expect(try value(.null, as: "int4") == "NULL")
  }

  @Test("Reals convert to each numeric type exactly, or throw, and NaN throws")
  func reals() throws {
    for number in [
      0.1, -0.0, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
    ] {
      #expect(try value(.real(number), as: "float8") == "\(number)")
    }
    #expect(reason(.real(.nan), as: "float8") == .notANumber)
    #expect(try value(0.5, as: "float4") == "0.5")
    #expect(reason(1e300, as: "float4") == .notExact)
    #expect(try value(3.0, as: "int4") == "3")
    #expect(reason(3.5, as: "int8") == .notExact)
    #expect(reason(1e300, as: "int8") == .notExact)
    #expect(try value(1e-7, as: "numeric") == "'0.0000001'")
    #expect(try value(.real(-.infinity), as: "numeric") == "'-Infinity'")
    #expect(try value(2.5, as: "text") == "'2.5'")
  }

  @Test(
    "Texts convert to each type that the server reads from text, and NUL throws before sending")
  func texts() throws {
    let odd = "é ' \" \\ 北京 🐘 \u{301}"
    for type in ["text", "varchar", "name"] {
      #expect(try value(.text(odd), as: type) == "'\(odd)'")
    }
    #expect(try value("", as: "text") == "''")
    #expect(try value("ab", as: "char(4)") == "'ab  '")
    for type in ["text", "varchar", "uuid", "numeric", "json", "jsonb", "timestamptz", "int4"] {
      #expect(reason("a\0b", as: type) == .malformed)
    }
    #expect(try value("17", as: "int4") == "17")
    #expect(failure { _ = try value("seventeen", as: "int4") }?.sqlState == "22P02")
    #expect(
      failure { _ = try value("seventeen", as: "int4") }?.message.contains("seventeen") == false)
    #expect(try value(#"{"a": [1, 2]}"#, as: "json") == #"'{"a": [1, 2]}'"#)
    #expect(try value(#"{"b":1,"a":[1,2]}"#, as: "jsonb") == #"'{"a": [1, 2], "b": 1}'"#)
    #expect(reason("ab", as: "bytea") == .storageClass(.text))
  }

  @Test("UUIDs are read as 16 bytes, and bound as text or 16 bytes")
  func uuids() throws {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    let bytes = "x'e621e1f8c36c495a93fc0c247a3e6e5f'"
    #expect(try value(.text(text), as: "uuid") == bytes)
    #expect(try value(.text(text.lowercased()), as: "uuid") == bytes)
    #expect(try value(.text("{\(text)}"), as: "uuid") == bytes)
    #expect(
      try value(.blob([UInt8](0..<16)), as: "uuid") == "x'000102030405060708090a0b0c0d0e0f'")
    #expect(reason(.blob([UInt8](0..<15)), as: "uuid") == .storageClass(.blob))
    #expect(failure { _ = try value("E621E1F8", as: "uuid") }?.sqlState == "22P02")
  }

  @Test("Bytes convert to BYTEA only")
  func blobs() throws {
    let bytes = [UInt8](0...255)
    #expect(try value(.blob(bytes), as: "bytea").count == 3 + 512)
    #expect(
      try db.rows("SELECT $1::bytea = decode('00ff5c27', 'hex')", .blob([0, 255, 92, 39])) == [
        ["1"]
      ])
    #expect(try value(.blob([]), as: "bytea") == "x''")
    #expect(reason(.blob([1, 2]), as: "text") == .storageClass(.blob))
  }

  @Test(
    "NUMERIC is bound and read as exact text",
    arguments: [
      "0", "1", "-1", "10000", "99999999", "0.1", "-0.00001", "1.50",
      "100000000000000000000.000000000001",
      "12345678901234567890123456789012345678", "0.0000", "-9999.9999", "NaN", "Infinity",
      "-Infinity",
      "1000000000000", "0.00010001",
    ])
  func numeric(_ text: String) throws {
    #expect(try value(.text(text), as: "numeric") == "'\(text)'")
  }

  @Test("Timestamps and dates are seconds since 1970, to the microsecond")
  func moments() throws {
    #expect(try value("2026-11-22T15:30:00.123456+02:00", as: "timestamptz") == "1795354200.123456")
    #expect(try value("2026-11-22 15:30", as: "timestamptz") == "1795361400.0")
    #expect(try value("1969-12-31 23:59:59.999999", as: "timestamp") == "-1e-06")
    #expect(try value("infinity", as: "timestamptz") == "inf")
    #expect(try value("1970-01-03", as: "date") == "172800.0")
    #expect(try value("-infinity", as: "date") == "-inf")
    #expect(try value(1.25, as: "timestamptz") == "1.25")
    #expect(
      try db.rows("SELECT ($1::timestamptz)::text", 1.25) == [["'1970-01-01 00:00:01.25+00'"]])
    #expect(try value(-0.000_000_6, as: "timestamptz") == "-1e-06")
    #expect(try value(.real(.infinity), as: "timestamptz") == "inf")
    #expect(reason(1e18, as: "timestamptz") == .notExact)
    #expect(try value(1_790_000_000.123456, as: "timestamptz") == "1790000000.123456")
  }

  @Test("Timestamps over ten thousand years have the seconds that the server computes")
  func allMoments() throws {
    let statement = try db.prepare(
      """
      SELECT d, extract(epoch FROM d)::text, d::date, extract(epoch FROM d::date)::text
      FROM generate_series('0001-01-01'::timestamp, '9999-12-31', '170 days 05:06:07.890123') d
      """)
    try statement.execute(streaming: true)
    var count = 0
    var wrong: [[String]] = []
    while try statement.next() {
      let isRight = try [0, 2].allSatisfy {
        let expected = try Double(statement.column($0 + 1).text())
        return statement.column($0).real == expected
      }
      if !isRight { wrong.append(try statement.texts) }
      count += 1
    }
    #expect(count > 20_000)
    #expect(wrong.isEmpty)
  }

  @Test("Random integers, reals, texts, bytes and decimals survive a round trip")
  func roundTrips() throws {
    var random = SeededGenerator(seed: 19)
    let statement = try db.prepare("SELECT $1::int8, $2::float8, $3::text, $4::bytea, $5::numeric")
    for _ in 0..<2000 {
      let (integer, real, text) = (
        random.integer(), random.real(), random.text().replacing("\0", with: "")
      )
      let (bytes, decimal) = (random.bytes(), "\(random.integer()).\(random.next())")
      try statement.bind([
        .integer(integer), .real(real), .text(text), .blob(bytes), .text(decimal),
      ])
      try statement.execute()
      #expect(try statement.next())
      #expect(statement.column(0).integer == integer)
      #expect(statement.column(1).real == real)
      #expect(try statement.column(2).text().utf8.elementsEqual(text.utf8))
      #expect(statement.column(3).bytes.elementsEqual(bytes))
      #expect(try statement.column(4).text() == decimal)
    }
  }

  @Test(
    "Reading a missing column or row gives NULL, and binding an extra parameter throws")
  func misuse() throws {
    let statement = try db.prepare("SELECT $1::int4")
    #expect(statement.column(0).isNull)
    #expect(throws: PostgresFailure.self) { try statement.parameters.bind(1, at: 1) }
    #expect(throws: PostgresFailure.self) { try statement.parameters.bind(.null, at: -1) }
    try statement.execute()
    #expect(try statement.next())
    #expect(statement.column(7).isNull)
    #expect(try !statement.next())
    #expect(statement.column(0).isNull)
  }

  @Test(
    "A value whose length doesn't fit its type is read as a blob, never as a number",
    arguments: [
      TypeOID.int4, TypeOID.int8, TypeOID.float8, TypeOID.uuid, TypeOID.numeric,
      TypeOID.timestamptz,
      TypeOID.jsonb, TypeOID.date, TypeOID.bool,
    ])
  func wrongLength(type: UInt32) throws {
    [9, 0, 7].withUnsafeBytes { bytes in
      let column = EngineValue(UnsafeRawBufferPointer(rebasing: bytes[..<3]), of: type)
      #expect(column.storageClass == .blob)
      #expect(column.integer == 0 && column.real == 0)
      #expect(throws: ConversionError.self) { try column.text() }
    }
  }

  @Test("Streaming 100,000 rows takes constant memory")
  func flatMemory() throws {
    func resident() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
      return Int(status.split(separator: " ")[1]) ?? 0
    }
    let statement = try db.prepare("SELECT i, repeat('x', 1000) FROM generate_series(1, 100000) i")
    try statement.execute(streaming: true)
    var (count, before, most) = (0, 0, 0)
    while try statement.next() {
      count += 1
      if count == 1000 { before = try resident() }
      if count % 10_000 == 0 { most = max(most, try resident()) }
    }
    #expect(count == 100_000)
    // The rows are 100 MB in total. Other tests run at the same time.
    #expect(most - before < 40_000_000 / 4096)
  }
}

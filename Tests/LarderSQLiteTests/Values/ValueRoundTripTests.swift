import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Values survive a round trip byte by byte")
struct ValueRoundTripTests {
  enum Level: String, CaseIterable, DatabaseValueConvertible { case province, city, district }
  enum Rank: Int8, CaseIterable, DatabaseValueConvertible { case village = -1, town, city }
  struct CityID: RawRepresentable, Equatable, DatabaseValueConvertible { var rawValue: Int64 }

  let db: Database

  init() throws {
    db = try Database()
    try db.executeUpdate("CREATE TABLE sample (id INTEGER PRIMARY KEY, value)")
  }

  /// The values that differ after a round trip through a table or through `databaseValue`.
  private func changed<T: DatabaseValueConvertible>(
    _ values: [T], _ isSame: (T, T) -> Bool
  ) throws -> [T] {
    try db.inTransaction { db in
      for value in values { try db.executeUpdate("INSERT INTO sample (value) VALUES (\(value))") }
    }
    let rows = try db.executeQuery("SELECT value FROM sample ORDER BY id")
    let stored = try rows.map { try $0.get(at: 0, as: T.self) }
    try #require(stored.count == values.count)
    return try zip(values, stored).filter { value, back in
      let converted = try T(databaseValue: value.databaseValue)
      return !isSame(value, back) || !isSame(value, converted)
    }.map(\.0)
  }

  private func many<T>(
    seed: UInt64, and edges: [T] = [], _ make: (inout SeededGenerator) throws -> T
  ) rethrows -> [T] {
    var generator = SeededGenerator(seed: seed)
    return try edges + (0..<2_000).map { _ in try make(&generator) }
  }

  private func integersRoundTrip<T: FixedWidthInteger & DatabaseValueConvertible>(
    _ type: T.Type
  ) throws -> Bool {
    let largest = T(clamping: Int64.max)
    let values = many(seed: 1, and: [0, 1, T.min, largest]) {
      T(truncatingIfNeeded: $0.integer()) & largest
    }
    let negative = values.map { T.isSigned ? ~$0 : $0 }
    return try changed(values + negative, ==).isEmpty
  }

  @Test("Signed integers of every width survive a round trip")
  func signedIntegers() throws {
    #expect(try integersRoundTrip(Int.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(Int8.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(Int16.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(Int32.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(Int64.self))
  }

  @Test("Unsigned integers of every width up to Int64.max survive a round trip")
  func unsignedIntegers() throws {
    #expect(try integersRoundTrip(UInt.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(UInt8.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(UInt16.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(UInt32.self))
    try db.executeUpdate("DELETE FROM sample")
    #expect(try integersRoundTrip(UInt64.self))
  }

  @Test("Doubles keep every bit in a round trip: negative zero, subnormals, infinities")
  func doubles() throws {
    let edges = [
      0.0, -0.0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, .leastNormalMagnitude,
      .greatestFiniteMagnitude, .infinity, -.infinity, 0.1, 9_007_199_254_740_992,
    ]
    let values = many(seed: 2, and: edges) { $0.real() }
    #expect(try changed(values) { $0.bitPattern == $1.bitPattern }.isEmpty)
  }

  @Test("Floats keep every bit in a round trip")
  func floats() throws {
    let edges: [Float] = [-0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -.infinity, 0.1]
    let values = many(seed: 3, and: edges) {
      Float(bitPattern: UInt32(truncatingIfNeeded: $0.next()))
    }
    .filter { !$0.isNaN }
    #expect(try changed(values) { $0.bitPattern == $1.bitPattern }.isEmpty)
  }

  @Test("Booleans are stored as 1 and 0 and survive a round trip")
  func booleans() throws {
    #expect(try changed([true, false], ==).isEmpty)
    #expect(try db.value("SELECT group_concat(value) FROM sample", as: String.self) == "1,0")
  }

  @Test("Text keeps every byte in a round trip: NUL, emoji, no normalization")
  func texts() throws {
    let edges = ["", "\0", "Z\0rich\0", "🏙️", "\u{10FFFF}", "e\u{301}", "\u{E9}", "\u{FEFF}Oslo"]
    let values = many(seed: 4, and: edges) { $0.text() }
    #expect(try changed(values) { Array($0.utf8) == Array($1.utf8) }.isEmpty)
  }

  @Test(
    "Text and blobs that exceed a statement's retained buffer survive a round trip",
    arguments: [255, 65_537, 300_000])
  func largeValues(size: Int) throws {
    let text = String(repeating: "北京市\0", count: size / 10)
    let blob = [UInt8](repeating: 0xA5, count: size)
    for _ in 0..<3 {
      let rows = try db.executeQuery("SELECT \(text), \(blob), \(text)")
      #expect(try rows.next())
      #expect(try rows.get(at: 0, as: String.self) == text)
      #expect(try rows.get(at: 1, as: [UInt8].self) == blob)
      #expect(try rows.get(at: 2, as: String.self) == text)
    }
  }

  @Test("Blobs survive a round trip, also an empty one")
  func blobs() throws {
    let values = many(seed: 5, and: [[], [0], [0, 0]]) { $0.bytes() }
    #expect(try changed(values, ==).isEmpty)
    #expect(
      try db.value("SELECT typeof(value) FROM sample WHERE id = 1", as: String.self) == "blob")
  }

  @Test("Data survives a round trip, also a slice")
  func data() throws {
    let slice = Data([1, 2, 3, 4, 5])[2...]
    let values = many(seed: 6, and: [Data(), slice]) { Data($0.bytes()) }
    #expect(try changed(values, ==).isEmpty)
  }

  @Test("UUIDs survive a round trip as blobs of 16 bytes")
  func uuids() throws {
    let values = many(seed: 7) { generator in
      let halves = (generator.next(), generator.next())
      return UUID(uuid: unsafeBitCast(halves, to: uuid_t.self))
    }
    #expect(try changed(values, ==).isEmpty)
    #expect(try db.value("SELECT max(length(value)) FROM sample", as: Int.self) == 16)
  }

  @Test("URLs survive a round trip, also escaped and non-ASCII ones")
  func urls() throws {
    let texts = [
      "https://example.org", "https://example.org/a%20b?q=%C3%A9&r=1#top",
      "mailto:o'brien@example.org",
      "file:///srv/My%20Cities/%E5%8C%97%E4%BA%AC.db", "cities/oslo", "https://[::1]:8080/",
    ]
    var values = texts.compactMap { URL(string: $0) } + [URL(fileURLWithPath: "/srv/東京.db")]
    values += many(seed: 8) { "https://example.org/\($0.next())?q=\($0.next())" }
      .compactMap { URL(string: $0) }
    #expect(values.count == 2_007)
    #expect(try changed(values) { $0.absoluteString == $1.absoluteString }.isEmpty)
  }

  @Test("Decimals of up to 19 digits survive a round trip, with exponents from -38 to 15")
  func decimals() throws {
    let values = many(seed: 9, and: [0, 1, -1]) { generator -> Decimal in
      Decimal(
        sign: Bool.random(using: &generator) ? .plus : .minus,
        exponent: Int.random(in: -38...15, using: &generator),
        significand: Decimal(generator.next() >> UInt64.random(in: 1..<64, using: &generator)))
    }
    #expect(try changed(values, ==).isEmpty)
  }

  @Test(
    "The largest and the smallest decimals survive a round trip",
    arguments: [
      Decimal.greatestFiniteMagnitude, .leastFiniteMagnitude, .leastNonzeroMagnitude,
      Decimal(sign: .plus, exponent: 50, significand: 1),
      Decimal(sign: .minus, exponent: 127, significand: 123_456_789),
      Decimal(sign: .plus, exponent: -127, significand: 123_456_789),
    ])
  func extremeDecimals(value: Decimal) throws {
    #expect(try db.value("SELECT \(value)", as: Decimal.self) == value)
  }

  @Test("A date survives a round trip to within a quarter of a microsecond")
  func dates() throws {
    let values = many(seed: 10, and: [Date(timeIntervalSince1970: 0)]) {
      Date(timeIntervalSince1970: Double.random(in: -2e9...4e9, using: &$0))
    }
    #expect(try changed(values) { abs($0.timeIntervalSince($1)) <= 0.25e-6 }.isEmpty)
  }

  @Test("Enumerations and other raw values survive a round trip")
  func rawValues() throws {
    #expect(try changed(Level.allCases, ==).isEmpty)
    try db.executeUpdate("DELETE FROM sample")
    #expect(try changed(Rank.allCases, ==).isEmpty)
    try db.executeUpdate("DELETE FROM sample")
    #expect(try changed([CityID(rawValue: .min), CityID(rawValue: 7)], ==).isEmpty)
  }

  @Test("Optional text survives a round trip, and nil is stored as NULL")
  func optionals() throws {
    let values = many(seed: 11, and: [nil]) { $0.next() % 3 == 0 ? nil : $0.text() }
    #expect(try changed(values) { $0.map { Array($0.utf8) } == $1.map { Array($0.utf8) } }.isEmpty)
    let nulls = try db.value("SELECT count(*) FROM sample WHERE value IS NULL", as: Int.self)
    #expect(nulls == values.count { $0 == nil })
  }

  @Test("A DatabaseValue of each storage class survives a round trip")
  func databaseValues() throws {
    let values: [DatabaseValue] = many(seed: 12, and: [nil, 1, -0.0, "", .blob([])]) { generator in
      switch generator.next() % 5 {
      case 0: .null
      case 1: .integer(generator.integer())
      case 2: .real(generator.real())
      case 3: .text(generator.text())
      default: .blob(generator.bytes())
      }
    }
    #expect(try changed(values, ==).isEmpty)
  }

  @Test(
    "Text of a UTF-16 database is read with the same characters and UTF-8 bytes",
    arguments: ["UTF-16le", "UTF-16be"])
  func utf16(encoding: String) throws {
    let db = try Database()
    try db.executeUpdate(SQL(raw: "PRAGMA encoding = '\(encoding)'"))
    let text = String(repeating: "Zürich 🏙️ ", count: 40)
    try db.executeUpdate("CREATE TABLE city (name TEXT)")
    try db.executeUpdate("INSERT INTO city VALUES (\(text))")
    try #require(try db.value("PRAGMA encoding", as: String.self) == encoding)
    #expect(try db.value("SELECT name FROM city", as: String.self) == text)
    let rows = try db.executeQuery("SELECT name FROM city")
    #expect(try rows.next())
    #expect(try rows.withUnsafeBytes(at: 0) { Array($0) } == Array(text.utf8))
  }
}

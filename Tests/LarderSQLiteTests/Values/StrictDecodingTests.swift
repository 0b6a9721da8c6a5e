import Foundation
import LarderSQLite
import Testing

@Suite("Strict decoding: a value that isn't exactly of the type throws")
struct StrictDecodingTests {
  let db: Database

  init() throws { db = try Database() }

  /// The reason for which reading an expression's value as a type throws, or nil.
  private func reason<T: DatabaseValueConvertible>(
    _ sql: SQL, as type: T.Type
  ) throws -> ConversionError.Kind? {
    do {
      _ = try db.value("SELECT \(sql)", as: type)
      return nil
    } catch let error as ConversionError {
      return error.kind
    }
  }

  private func storingReason(_ value: any DatabaseValueConvertible) throws
    -> ConversionError.Kind?
  {
    do {
      _ = try db.value("SELECT ?", value, as: DatabaseValue.self)
      return nil
    } catch let error as ConversionError {
      return error.kind
    }
  }

  private func allRefuse(
    _ sql: SQL, _ reason: ConversionError.Kind, _ types: [any DatabaseValueConvertible.Type]
  ) throws {
    for type in types { #expect(try self.reason(sql, as: type) == reason, "\(type)") }
  }

  private let integers: [any DatabaseValueConvertible.Type] = [
    Bool.self, Int.self, Int8.self, Int16.self, Int32.self, Int64.self, UInt.self, UInt8.self,
    UInt16.self, UInt32.self, UInt64.self,
  ]

  @Test("Reading NULL as any type but an optional throws")
  func null() throws {
    try allRefuse("NULL", .null, integers)
    try allRefuse("NULL", .null, [Double.self, Float.self, String.self, [UInt8].self, Data.self])
    try allRefuse("NULL", .null, [Date.self, UUID.self, URL.self, Decimal.self])
    #expect(try db.value("SELECT NULL", as: String?.self) == .some(nil))
  }

  @Test("Reading text as a number, bytes or a date throws, even if it looks like a number")
  func textIsNoNumber() throws {
    try allRefuse("'42'", .storageClass(.text), integers)
    try allRefuse("'42'", .storageClass(.text), [Double.self, Float.self, [UInt8].self, Data.self])
    try allRefuse("'42'", .storageClass(.text), [Date.self])
  }

  @Test("Reading a real number as an integer, text or bytes throws, even 1.0 as an integer")
  func realIsNoInteger() throws {
    try allRefuse("1.0", .storageClass(.real), integers)
    try allRefuse(
      "0.5", .storageClass(.real), [Bool.self, String.self, [UInt8].self])
    try allRefuse("0.5", .storageClass(.real), [UUID.self, URL.self, Data.self])
  }

  @Test("Reading a blob as text, a number or a date throws")
  func blobIsNoText() throws {
    try allRefuse("x'4f736c6f'", .storageClass(.blob), integers)
    let others: [any DatabaseValueConvertible.Type] = [
      String.self, Double.self, Float.self, URL.self, Decimal.self, Date.self,
    ]
    try allRefuse("x'4f736c6f'", .storageClass(.blob), others)
  }

  @Test("Reading an integer as text, bytes, UUID or URL throws")
  func integerIsNoText() throws {
    try allRefuse("7", .storageClass(.integer), [String.self, [UInt8].self, UUID.self, URL.self])
  }

  @Test("Reading an integer below or above the type's range throws")
  func ranges() throws {
    try allRefuse("128", .notExact, [Int8.self])
    try allRefuse("-129", .notExact, [Int8.self])
    try allRefuse("-1", .notExact, [UInt.self, UInt8.self, UInt16.self, UInt32.self, UInt64.self])
    try allRefuse("65536", .notExact, [Int16.self, UInt16.self, UInt8.self])
    try allRefuse("4294967296", .notExact, [Int32.self, UInt32.self])
    #expect(try db.value("SELECT 4294967296", as: Bool.self) == true)
  }

  @Test("Reading an integer as Double or Float throws unless it is exact")
  func widening() throws {
    #expect(try db.value("SELECT 9007199254740992", as: Double.self) == 9_007_199_254_740_992)
    try allRefuse("9007199254740993", .notExact, [Double.self])
    try allRefuse("-9007199254740993", .notExact, [Double.self])
    try allRefuse("9223372036854775807", .notExact, [Double.self, Float.self])
    #expect(try db.value("SELECT 16777216", as: Float.self) == 16_777_216)
    try allRefuse("16777217", .notExact, [Float.self])
  }

  @Test("Reading a real number as a Float throws unless it is exact")
  func narrowing() throws {
    #expect(try db.value("SELECT 0.5", as: Float.self) == 0.5)
    try allRefuse("0.1", .notExact, [Float.self])
    try allRefuse("1e300", .notExact, [Float.self])
    try allRefuse("1e-300", .notExact, [Float.self])
    #expect(try db.value("SELECT 9e999", as: Float.self) == .infinity)
  }

  @Test("Text that isn't UTF-8 throws as String and DatabaseValue, but its bytes can be read")
  func invalidText() throws {
    for sql: SQL in ["x'ff'", "x'f09f98'", "x'eda080'", "x'c080'", "x'4f736c6fc3'"] {
      #expect(try reason("CAST(\(sql) AS TEXT)", as: String.self) == .malformed)
      #expect(try reason("CAST(\(sql) AS TEXT)", as: DatabaseValue.self) == .malformed)
      #expect(try reason("CAST(\(sql) AS TEXT)", as: String?.self) == .malformed)
    }
    let rows = try db.executeQuery("SELECT CAST(x'ff' AS TEXT), CAST(x'efbfbd' AS TEXT)")
    #expect(try rows.next())
    #expect(try rows.withUnsafeBytes(at: 0) { Array($0) } == [0xff])
    #expect(try rows.get(at: 1, as: String.self) == "\u{FFFD}")
  }

  @Test("Storing NaN throws for Double, Float, Decimal and DatabaseValue")
  func notANumber() throws {
    #expect(try storingReason(Double.nan) == .notANumber)
    #expect(try storingReason(Double.signalingNaN) == .notANumber)
    #expect(try storingReason(Float.nan) == .notANumber)
    #expect(try storingReason(DatabaseValue.real(.nan)) == .notANumber)
    #expect(try storingReason(Decimal.nan) == .notANumber)
    #expect(try storingReason(Double?.some(.nan)) == .notANumber)
    #expect(throws: ConversionError.self) { try Double.nan.databaseValue }
  }

  @Test("Storing an unsigned integer beyond Int64.max throws `notExact`")
  func tooLarge() throws {
    #expect(try storingReason(UInt64.max) == .notExact)
    #expect(try storingReason(UInt64(Int64.max) + 1) == .notExact)
    #expect(try storingReason(UInt.max) == .notExact)
    #expect(throws: ConversionError.self) { try UInt64.max.databaseValue }
  }

  @Test("Reading text or bytes that aren't a UUID throws")
  func uuids() throws {
    let text = "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"
    #expect(try db.value("SELECT \(text.lowercased())", as: UUID.self) == UUID(uuidString: text))
    for wrong in ["", text + " ", "{\(text)}", String(text.dropLast()), text + "0", "Oslo"] {
      #expect(try reason("\(wrong)", as: UUID.self) == .malformed)
    }
    #expect(try reason("zeroblob(15)", as: UUID.self) == .malformed)
    #expect(try reason("zeroblob(17)", as: UUID.self) == .malformed)
  }

  @Test("Reading text that isn't a URL throws instead of escaping it")
  func urls() throws {
    for wrong in ["", "https://example.org/a b", "https://exa mple.org", "http://[::1"] {
      #expect(try reason("\(wrong)", as: URL.self) == .malformed, "\(wrong)")
    }
  }

  @Test("Reading text as Decimal throws unless all of it is a decimal number")
  func decimals() throws {
    #expect(
      try db.value("SELECT '-12.50'", as: Decimal.self)
        == Decimal(sign: .minus, exponent: -1, significand: 125))
    #expect(try db.value("SELECT '1e9'", as: Decimal.self) == 1_000_000_000)
    #expect(try db.value("SELECT 9223372036854775807", as: Decimal.self) == Decimal(Int64.max))
    #expect(try db.value("SELECT 0.1", as: Decimal.self) == Decimal(string: "0.1"))
    #expect(try db.value("SELECT -1.5e-7", as: Decimal.self) == Decimal(string: "-0.00000015"))
    #expect(try reason("1e300", as: Decimal.self) == .notExact)
    #expect(try reason("1e999", as: Decimal.self) == .malformed)
    for wrong in ["", ".", "-", "1,5", "12 ", " 12", "1e", "0x10", "NaN", "inf", "1.2.3", "１２"] {
      #expect(try reason("\(wrong)", as: Decimal.self) == .malformed, "\(wrong)")
    }
  }

  @Test(
    "Reading a number with too many digits or too large an exponent as Decimal throws",
    arguments: [
      "1e200", "1e-200", "1e99999999999999999999", "-1e-99999999999999999999",
      "1.00000000000000000000000000000000000000001", "123456789012345678901234567890123456789012",
    ])
  func decimalsOutOfRange(text: String) throws {
    #expect(try reason("\(text)", as: Decimal.self) != nil)
  }

  @Test("Reading a raw value that no case has throws")
  func unknownRawValues() throws {
    #expect(try reason("'hamlet'", as: ValueRoundTripTests.Level.self) == .unknownRawValue)
    #expect(try reason("'City'", as: ValueRoundTripTests.Level.self) == .unknownRawValue)
    #expect(try reason("1", as: ValueRoundTripTests.Level.self) == .storageClass(.integer))
    #expect(try reason("2", as: ValueRoundTripTests.Rank.self) == .unknownRawValue)
    #expect(try reason("300", as: ValueRoundTripTests.Rank.self) == .notExact)
  }

  @Test("A ConversionError has type, column, index and SQL, and its description omits the value")
  func errorNamesItsPlace() throws {
    let rows = try db.executeQuery("SELECT 1 AS id, 'secret' AS population")
    #expect(try rows.next())
    let error = try #require(throws: ConversionError.self) {
      try rows.get("population", as: Int.self)
    }
    #expect(error.kind == .storageClass(.text))
    #expect(error.type == "Int")
    #expect(error.column == "population")
    #expect(error.index == 1)
    #expect(error.sql == "SELECT 1 AS id, 'secret' AS population")
    #expect(
      error.description.hasPrefix("text can't be read as Int — column “population” at index 1"))
  }
}

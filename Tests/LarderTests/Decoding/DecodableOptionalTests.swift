import Larder
import PostgresSupport
import Testing

@Suite("Optional properties of Decodable types")
struct DecodableOptionalTests {
  private struct Optionals: Decodable, Equatable {
    var flag: Bool?
    var text: String?
    var double: Double?
    var float: Float?
    var int: Int?
    var int8: Int8?
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var uint: UInt?
    var uint8: UInt8?
    var uint16: UInt16?
    var uint32: UInt32?
    var uint64: UInt64?
  }

  private static let columns: SQL = """
    1 AS flag, 'Oslo' AS text, CAST(1.5 AS REAL) AS double, CAST(0.5 AS REAL) AS float, 2 AS int, -8 AS int8, 16 AS int16,
    32 AS int32, 64 AS int64, 3 AS uint, 8 AS uint8, 9 AS uint16, 10 AS uint32, 11 AS uint64
    """

  private let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE number (flag BLOB, text BLOB, double BLOB, float BLOB, "int" BLOB, int8 BLOB,
        int16 BLOB, int32 BLOB, int64 BLOB, uint BLOB, uint8 BLOB, uint16 BLOB, uint32 BLOB, uint64 BLOB)
      """)
  }

  @Test("Every numeric type, Bool and String decodes, and is nil where the column is NULL")
  func kinds() throws {
    let found = try db.fetch(Optionals.self, "SELECT \(Self.columns)")
    #expect(
      found == [
        Optionals(
          flag: true, text: "Oslo", double: 1.5, float: 0.5, int: 2, int8: -8, int16: 16,
          int32: 32, int64: 64, uint: 3, uint8: 8, uint16: 9, uint32: 10, uint64: 11)
      ])
    try db.executeUpdate("INSERT INTO number DEFAULT VALUES")
    #expect(try db.fetch(Optionals.self, "SELECT * FROM number") == [Optionals()])
  }

  @Test(
    "A value of another type, or beyond its range, throws and names its column",
    .onlySQLite(.anyTyped),
    arguments: [
      ("flag", "'x'"), ("uint8", "300"), ("uint64", "-1"), ("text", "x'00'"), ("double", "'1'"),
      ("float", "1e300"), ("int16", "1.5"),
    ])
  func wrong(column: String, value: String) throws {
    try db.executeUpdate("INSERT INTO number (\(identifier: column)) VALUES (\(SQL(raw: value)))")
    let error = #expect(throws: (any Error).self) {
      try db.fetch(Optionals.self, "SELECT * FROM number")
    }
    #expect(error.map { "\($0)".contains(column) } == true)
  }
}

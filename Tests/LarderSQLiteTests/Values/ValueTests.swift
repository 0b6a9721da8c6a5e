import FoundationEssentials
import LarderSQLite
import Testing

@Suite("Storing and reading values")
struct ValueTests {
  /// Stores a value in a column without a declared type and reads it.
  private func roundTrip<T: DatabaseValueConvertible>(_ value: T) throws -> T? {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE sample (value)")
    try db.executeUpdate("INSERT INTO sample VALUES (?)", value)
    return try db.value("SELECT value FROM sample", as: T.self)
  }

  private func expectBounds<T: FixedWidthInteger & DatabaseValueConvertible>(_: T.Type) throws {
    for number in [T.min, 0, 1, 42, T.max] { #expect(try roundTrip(number) == number) }
  }

  @Test("The smallest and largest integers of each width are read as stored")
  func integers() throws {
    try expectBounds(Int8.self)
    try expectBounds(Int16.self)
    try expectBounds(Int32.self)
    try expectBounds(Int64.self)
    try expectBounds(Int.self)
    try expectBounds(UInt8.self)
    try expectBounds(UInt16.self)
    try expectBounds(UInt32.self)
  }

  @Test("Storing an unsigned integer above Int64.max throws instead of becoming negative")
  func unsigned() throws {
    #expect(try roundTrip(UInt64(Int64.max)) == UInt64(Int64.max))
    #expect(try roundTrip(UInt(Int.max)) == UInt(Int.max))
    let error = #expect(throws: ConversionError.self) { try roundTrip(UInt64.max) }
    #expect(error?.kind == .notExact)
    #expect(throws: ConversionError.self) { try roundTrip(UInt64(Int64.max) + 1) }
  }

  @Test("Reading an integer out of the type's range throws")
  func outOfRange() throws {
    let db = try Database()
    let rows = try db.executeQuery("SELECT 300, -1, 4294967296")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: Int16.self) == 300)
    #expect(throws: ConversionError.self) { try rows.get(at: 0, as: UInt8.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 1, as: UInt64.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 2, as: Int32.self) }
  }

  @Test(
    "A Double is read exactly as stored",
    arguments: [
      0.1, -1.5e300, 0.30000000000000004, .pi, .infinity, -.infinity, .leastNonzeroMagnitude,
    ])
  func reals(number: Double) throws {
    #expect(try roundTrip(number) == number)
  }

  @Test("A Float is read exactly as stored, and reading a Double that isn't a Float throws")
  func floats() throws {
    #expect(try roundTrip(Float(0.1)) == 0.1)
    #expect(try Database().value("SELECT 2.5", as: Float.self) == 2.5)
    #expect(throws: ConversionError.self) { try Database().value("SELECT 0.1", as: Float.self) }
  }

  @Test("Storing NaN throws, because SQLite would store NULL")
  func nan() throws {
    let error = #expect(throws: ConversionError.self) { try roundTrip(Double.nan) }
    #expect(error?.kind == .notANumber)
  }

  @Test("A Bool is stored as 1 or 0")
  func bool() throws {
    #expect(try roundTrip(true) == true)
    #expect(try roundTrip(false) == false)
    let db = try Database()
    #expect(try db.value("SELECT typeof(?) || ?", true, true, as: String.self) == "integer1")
    #expect(try db.value("SELECT ?", false, as: Int.self) == 0)
  }

  @Test("As a Bool, any integer but 0 is true, and reals and text throw")
  func truth() throws {
    let rows = try Database().executeQuery("SELECT 4294967296, -1, 0, 0.5, 'true', NULL")
    #expect(try rows.next())
    #expect(try rows.get(at: 0, as: Bool.self) == true)
    #expect(try rows.get(at: 1, as: Bool.self) == true)
    #expect(try rows.get(at: 2, as: Bool.self) == false)
    for index in 3...5 {
      #expect(throws: ConversionError.self) { try rows.get(at: index, as: Bool.self) }
    }
    #expect(try rows.get(at: 5, as: Bool?.self) == nil)
  }

  @Test(
    "Text is read with the same Unicode scalars as stored",
    arguments: [
      "", "Oslo", "北京市", "🌸", "A\u{30a}s and \u{c5}s", "line\r\nbreak", "before\0after", "'); --",
    ])
  func text(text: String) throws {
    let read = try #require(try roundTrip(text))
    // Swift's == treats canonically equivalent strings as equal, so compare the scalars.
    #expect(Array(read.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test("Blobs are read exactly as stored, and an empty one isn't NULL")
  func blobs() throws {
    let image = (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    #expect(try roundTrip(image) == image)
    #expect(try roundTrip(Data(image)) == Data(image))
    #expect(try roundTrip([UInt8]()) == [])
    #expect(try roundTrip(Data()) == Data())
    let db = try Database()
    #expect(try db.value("SELECT typeof(?)", Data(), as: String.self) == "blob")
    #expect(try db.value("SELECT typeof(?)", [UInt8](), as: String.self) == "blob")
  }

  @Test("`withUnsafeBytes` reads a blob, or text as UTF-8, and throws for a number")
  func bytesInPlace() throws {
    let db = try Database()
    let rows = try db.executeQuery("SELECT x'00ff10' AS flag, 'Ås' AS name, x'', NULL, 5")
    #expect(try rows.next())
    #expect(try rows.withUnsafeBytes("flag") { Array($0) } == [0, 255, 16])
    #expect(try rows.withUnsafeBytes(at: 1) { Array($0) } == Array("Ås".utf8))
    #expect(try rows.withUnsafeBytes(at: 2) { $0.count } == 0)
    #expect(try rows.withUnsafeBytes(at: 3) { $0.count } == 0)
    #expect(throws: ConversionError.self) { try rows.withUnsafeBytes(at: 4) { $0.count } }
  }

  @Test("Changing a buffer after it was bound doesn't change the bound value")
  func temporaryBuffer() throws {
    let db = try makeCities()
    let statement = try db.prepare("SELECT name FROM city WHERE name = CAST(? AS TEXT)")
    var buffer = Data("Oslo".utf8)
    try statement.bind(buffer)
    buffer.resetBytes(in: 0..<buffer.count)
    buffer = Data()
    #expect(try statement.step())
    #expect(try statement.get(at: 0, as: String.self) == "Oslo")
  }

  @Test("A statement that is reused with values of other sizes returns each exactly")
  func changingSizes() throws {
    let select = try Database().prepare("SELECT ?, ?, ?")
    for size in [0, 10, 200, 300, 5000, 70_000, 3, 65_536, 0] {
      let text = String(repeating: "a", count: size)
      let bytes = [UInt8](repeating: 7, count: size)
      let wide = String(repeating: "ø", count: size / 2)
      let rows = try select.query(text, bytes, wide)
      #expect(try rows.next())
      #expect(try rows.get(at: 0, as: String.self) == text)
      #expect(try rows.get(at: 1, as: [UInt8].self) == bytes)
      #expect(try rows.get(at: 2, as: String.self) == wide)
    }
  }

  @Test("Text with NUL and emoji in a UTF-16 database is read exactly as stored")
  func utf16() throws {
    let db = try Database()
    try db.executeUpdate("PRAGMA encoding = 'UTF-16'")
    try createCities(in: db)
    let name = "Ås 🌸\0after"
    try db.executeUpdate("INSERT INTO city (name) VALUES (?)", name)
    #expect(try db.value("SELECT name FROM city WHERE name = ?", name, as: String.self) == name)
    #expect(try db.value("PRAGMA encoding", as: String.self) == "UTF-16le")
  }

  @Test("Reading text that isn't UTF-8 throws instead of repairing it")
  func malformedText() throws {
    let error = #expect(throws: ConversionError.self) {
      try Database().value("SELECT CAST(x'4fff' AS TEXT)", as: String.self)
    }
    #expect(error?.kind == .malformed)
  }

  @Test("NULL is nil for an optional type, and an error with column and SQL for any other")
  func null() throws {
    let db = try Database()
    let rows = try db.executeQuery("SELECT NULL AS mayor")
    #expect(try rows.next())
    #expect(try rows.get("mayor", as: String?.self) == nil)
    #expect(try rows.get("mayor", as: Int?.self) == nil)
    #expect(try rows.get("mayor", as: Data?.self) == nil)
    #expect(try rows["mayor"] == .null)
    for read in [
      { _ = try rows.get("mayor", as: String.self) }, { _ = try rows.get("mayor", as: Int.self) },
      { _ = try rows.get("mayor", as: Double.self) }, { _ = try rows.get("mayor", as: Data.self) },
      { _ = try rows.get("mayor", as: Date.self) }, { _ = try rows.get("mayor", as: Bool.self) },
    ] as [() throws -> Void] {
      let error = #expect(throws: ConversionError.self) { try read() }
      #expect(error?.kind == .null)
      #expect(error?.column == "mayor")
      #expect(error?.index == 0)
      #expect(error?.sql == "SELECT NULL AS mayor")
    }
  }

  @Test("Reading a value of another storage class throws, except an integer as Double")
  func strict() throws {
    let rows = try Database().executeQuery("SELECT 5, '5', x'35', 5.0")
    #expect(try rows.next())
    #expect(throws: ConversionError.self) { try rows.get(at: 0, as: String.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 1, as: Int.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 1, as: Double.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 1, as: [UInt8].self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 2, as: String.self) }
    #expect(throws: ConversionError.self) { try rows.get(at: 3, as: Int.self) }
    #expect(try rows.get(at: 0, as: Double.self) == 5)
  }

  @Test("A column's affinity converts a stored value, as in SQLite")
  func affinity() throws {
    let db = try Database()
    try db.executeUpdate("CREATE TABLE sample (number INTEGER, label TEXT)")
    try db.executeUpdate("INSERT INTO sample VALUES (?, ?)", "5", 5)
    #expect(try db.value("SELECT number FROM sample", as: Int.self) == 5)
    #expect(try db.value("SELECT label FROM sample", as: String.self) == "5")
  }

  @Test("UUID, URL, Decimal and enumerations are read as stored")
  func otherTypes() throws {
    enum Level: String, DatabaseValueConvertible { case province, city, district }
    let id = UUID()
    #expect(try roundTrip(id) == id)
    let url = try #require(URL(string: "https://example.org/byer/%C3%A5s?q=1"))
    #expect(try roundTrip(url) == url)
    let price = try #require(Decimal(string: "-1234567890.12345"))
    #expect(try roundTrip(price) == price)
    #expect(try roundTrip(Level.city) == .city)
    #expect(throws: ConversionError.self) {
      try Database().value("SELECT 'village'", as: Level.self)
    }
  }

  @Test("A wrong storage class throws the same error from a column as from `init(databaseValue:)`")
  func storageClasses() throws {
    func reason<T: DatabaseValueConvertible>(_ type: T.Type, _ value: DatabaseValue) -> [String] {
      let errors = [
        #expect(throws: ConversionError.self) { try T(databaseValue: value) },
        #expect(throws: ConversionError.self) { try roundTrip(value, as: T.self) },
      ]
      return errors.compactMap { $0.map { "\($0.kind) \($0.type)" } }
    }
    func expect<T: DatabaseValueConvertible>(
      _ type: T.Type, _ value: DatabaseValue, _ expected: ConversionError.Kind
    ) {
      #expect(reason(type, value) == Array(repeating: "\(expected) \(type)", count: 2))
    }
    expect(Int.self, "5", .storageClass(.text))
    expect(Int.self, 5.0, .storageClass(.real))
    expect(Int.self, .null, .null)
    expect(Data.self, "5", .storageClass(.text))
    expect(Data.self, 5, .storageClass(.integer))
    expect(Data.self, .null, .null)
    #expect(throws: ConversionError.self) { try Bool(databaseValue: "true") }
    #expect(throws: ConversionError.self) { try roundTrip("true", as: Bool.self) }
    #expect(try Bool(databaseValue: 2) && Data(databaseValue: .blob([7])) == Data([7]))
  }

  @Test("A custom type whose `init(column:)` reads text throws for NULL")
  func textOfNull() throws {
    struct Label: DatabaseValueConvertible {
      var text: String
      var databaseValue: DatabaseValue { .text(text) }
      init(databaseValue: DatabaseValue) throws { text = try String(databaseValue: databaseValue) }
      init(column: ColumnReader) throws { text = try column.text() }
    }
    let db = try Database()
    #expect(try db.value("SELECT 'Oslo'", as: Label.self)?.text == "Oslo")
    let rows = try db.executeQuery("SELECT NULL")
    #expect(try rows.next())
    let error = #expect(throws: ConversionError.self) { try rows.get(at: 0, as: Label.self) }
    #expect(error?.kind == .null)
  }

  /// Reads a value as a type that may differ from the stored one.
  private func roundTrip<T: DatabaseValueConvertible>(
    _ value: DatabaseValue, as type: T.Type
  ) throws -> T {
    let db = try Database()
    let rows = try db.executeQuery("SELECT ?", value)
    #expect(try rows.next())
    return try rows.get(at: 0)
  }
}

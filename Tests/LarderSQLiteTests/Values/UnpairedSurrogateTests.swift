import LarderSQLite
import TestSupport
import Testing

@Suite("Unpaired surrogates in a UTF-16 database")
struct UnpairedSurrogateTests {
  let folder: ScratchFolder
  let path: String

  init() throws {
    folder = try ScratchFolder()
    path = folder.file("cities.db")
  }

  /// Makes a file with a text of these UTF-16 code units, in the encoding's byte order.
  private func makeFile(_ units: [UInt16], _ encoding: String) throws {
    var configuration = Configuration()
    configuration.journalMode = .delete
    let db = try Database(path: path, configuration: configuration)
    try db.executeUpdate(SQL(raw: "PRAGMA encoding = '\(encoding)'"))
    try db.executeUpdate("CREATE TABLE city (name, kind)")
    let bytes = units.flatMap { unit in
      let pair = [UInt8(unit & 0xff), UInt8(unit >> 8)]
      return encoding == "UTF-16le" ? pair : pair.reversed()
    }
    // Bytes bound as an argument would be interpreted as UTF-8.
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    try db.executeUpdate(
      SQL(raw: "INSERT INTO city VALUES (CAST(x'\(hex)' AS TEXT), 'town')"))
    try db.close()
  }

  @Test(
    "Reading text with an unpaired surrogate throws, in columns, bytes and function arguments",
    arguments: [
      [0xD83D, 0x41], [0xD83D], [0xDE00], [0x41, 0xDE00], [0xD83D, 0xD83D, 0xDE00],
      [0xDE00, 0xD83D],
    ], ["UTF-16le", "UTF-16be"])
  func unpaired(units: [UInt16], encoding: String) throws {
    try makeFile(units, encoding)
    for profile in [Configuration.Profile.service, .untrustedFile] {
      let db = try Database(path: path, configuration: Configuration(profile: profile))
      let error = #expect(throws: ConversionError.self) {
        try db.value("SELECT name FROM city", as: String.self)
      }
      #expect(error?.kind == .malformed && error?.column == "name")
      let row = try db.executeQuery("SELECT name, kind FROM city")
      #expect(try row.next())
      #expect(throws: ConversionError.self) { try row[0] }
      #expect(throws: ConversionError.self) { try row.withUnsafeBytes(at: 0) { $0.count } }
      #expect(try row.get(at: 1, as: String.self) == "town")
      try db.createFunction("seen", argumentCount: 1) { $0[0] }
      #expect(throws: DatabaseError.self) { try db.executeUpdate("SELECT seen(name) FROM city") }
    }
  }

  @Test(
    "Characters beyond the basic plane are read unchanged from UTF-16 and UTF-8 files",
    arguments: ["UTF-16le", "UTF-16be", "UTF-8"])
  func paired(encoding: String) throws {
    if encoding == "UTF-8" {
      let db = try Database(path: path)
      try db.executeStatements("CREATE TABLE city (name); INSERT INTO city VALUES ('Å😀')")
    } else {
      try makeFile(Array("Å😀".utf16), encoding)
    }
    let db = try Database(path: path)
    #expect(try db.value("SELECT name FROM city", as: String.self) == "Å😀")
    #expect(try db.value("SELECT 'b' || name FROM city", as: String.self) == "bÅ😀")
    #expect(try db.value("SELECT instr(name, '😀') FROM city", as: Int.self) == 2)
    #expect(try db.value("SELECT trim(name, 'Å') FROM city", as: String.self) == "😀")
  }

  @Test("Reading an unpaired surrogate throws after a UTF-16 file was restored into the database")
  func restored() throws {
    try makeFile([0xD83D, 0x41], "UTF-16le")
    let db = try Database()
    #expect(throws: (any Error).self) { try db.value("SELECT name FROM city", as: String.self) }
    try db.restore(from: path)
    #expect(throws: ConversionError.self) { try db.value("SELECT name FROM city", as: String.self) }
  }
}

import Foundation
import LarderSQLite
import TestSupport
import Testing

@Suite("Dates in the connection's format")
struct DateFormatTests {
  static let formats: [DateFormat] = [
    .secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime,
    .sqlDateTimeMilliseconds, .sqlDate, .iso8601Seconds,
  ]
  static let texts = formats[3...]

  private func database(_ format: DateFormat) throws -> Database {
    var configuration = Configuration()
    configuration.dateFormat = format
    return try Database(configuration: configuration)
  }

  private func text(_ seconds: Double, _ format: DateFormat) throws -> DatabaseValue {
    try format.databaseValue(of: Date(timeIntervalSince1970: seconds))
  }

  private func seconds(_ text: String) throws -> Double {
    try DateFormat.iso8601.date(from: .text(text)).timeIntervalSince1970
  }

  @Test(
    "Dates of the years 0 to 9999 survive a round trip within each format's precision",
    arguments: formats)
  func roundTrip(format: DateFormat) throws {
    let grain: Double =
      switch format {
      case .secondsSince1970: 16e-6  // at the ends; a quarter of a microsecond up to 2106
      case .unixMilliseconds, .iso8601, .sqlDateTimeMilliseconds: 0.000_52
      case .julianDay: 81e-6  // 41 up to the year 6700
      case .sqlDateTime, .iso8601Seconds: 0.5
      case .sqlDate: 86_400
      }
    let db = try database(format)
    var generator = SeededGenerator(seed: 20)
    for _ in 0..<2_000 {
      let seconds = Double.random(in: -62_167_219_200...253_402_300_799, using: &generator)
      let date = Date(timeIntervalSince1970: seconds)
      let back = try #require(try db.value("SELECT \(date)", as: Date.self))
      #expect(abs(back.timeIntervalSince(date)) <= grain)
      // A date that is rounded to the format's precision is written as the same value again.
      let again = try #require(try db.value("SELECT \(back)", as: DatabaseValue.self))
      if format != .julianDay, format != .secondsSince1970 {
        #expect(try again == format.databaseValue(of: date))
      }
    }
  }

  @Test("Each date format writes its own storage class and form")
  func forms() throws {
    let date = Date(timeIntervalSince1970: 1_795_250_006.5)
    let expected: [DatabaseValue] = [
      .real(1_795_250_006.5), .integer(1_795_250_006_500), .real(2_461_365.856_556_713),
      .text("2026-11-21T08:33:26.500Z"), .text("2026-11-21 08:33:27"),
      .text("2026-11-21 08:33:26.500"), .text("2026-11-21"), .text("2026-11-21T08:33:27Z"),
    ]
    for (format, value) in zip(Self.formats, expected) {
      let db = try database(format)
      #expect(try db.value("SELECT \(date)", as: DatabaseValue.self) == value)
      #expect(try db.value("SELECT \(Date?.some(date))", as: DatabaseValue.self) == value)
      #expect(try db.value("SELECT \(Date?.none)", as: Date?.self) == .some(nil))
    }
  }

  @Test("`sqlDateTime` writes the same text as SQLite's strftime")
  func agreesWithSQLite() throws {
    let db = try database(.sqlDateTime)
    let rendered = try db.prepare("SELECT strftime('%Y-%m-%d %H:%M:%S', ?, 'unixepoch')")
    var generator = SeededGenerator(seed: 21)
    for _ in 0..<2_000 {
      let seconds = Int64.random(in: -62_167_219_200...253_402_300_799, using: &generator)
      let rows = try rendered.query(seconds)
      #expect(try rows.next())
      #expect(try rows[0] == text(Double(seconds), .sqlDateTime))
      #expect(try rows.get(at: 0, as: Date.self).timeIntervalSince1970 == Double(seconds))
    }
  }

  @Test(
    "Reading a text with an impossible date or time throws",
    arguments: [
      "2026-02-30", "2026-02-29", "1900-02-29", "2026-04-31", "2026-00-10", "2026-13-01",
      "2026-11-00", "2026-11-32", "2026-11-21 24:00:00", "2026-11-21T25:00:00Z",
      "2026-11-21 23:60:00", "2026-11-21 23:59:60", "2026-11-21T08:33:26+24:00",
      "2026-11-21T08:33:26+08:60",
    ])
  func impossible(text: String) {
    for format in Self.texts {
      #expect(throws: ConversionError(.malformed, Date.self)) { try format.date(from: .text(text)) }
    }
  }

  @Test(
    "Reading a malformed date text, or one with trailing characters, throws",
    arguments: [
      "", "Oslo", "2026", "2026-11", "2026-1-2", "26-11-21", "+2026-11-21", "-001-11-21",
      "2026-11-21 ", " 2026-11-21", "2026-11-21T", "2026-11-21Z", "2026-11-21T08",
      "2026-11-21T8:33",
      "2026-11-21T08:33:", "2026-11-21T08:33:26.", "2026-11-21T08:33:26.5x",
      "2026-11-21T08:33:26ZZ",
      "2026-11-21T08:33:26Z junk", "2026-11-21T08:33:26+0800", "2026-11-21T08:33:26+8",
      "2026-11-21T08:33:26\0", "2026-11-21t08:33:26", "2026/11/21", "２０２６-11-21", "12026-11-21",
    ])
  func malformed(text: String) {
    #expect(throws: ConversionError(.malformed, Date.self)) {
      try DateFormat.iso8601.date(from: .text(text))
    }
  }

  @Test(
    "Reading a valid date in a form that no format writes throws",
    arguments: [
      "2026-11-21 08:33", "2026-11-21 08:33.5", "2026-11-21T08:33:26", "2026-11-21 08:33:26Z",
      "2026-11-21T08:33:26+00:00", "2026-11-21 08:33:26+08:00", "2026-11-21T08:33:26.25Z",
      "2026-11-21 08:33:26.1234", "2026-11-21 08:33:26.12Z", "2026-11-21T08:33:26.123",
    ])
  func otherForms(text: String) {
    for format in Self.texts {
      #expect(throws: ConversionError(.malformed, Date.self)) { try format.date(from: .text(text)) }
    }
  }

  @Test("A date format reads what it writes; for another format's text the error names that format")
  func strictForms() throws {
    let moment = Date(timeIntervalSince1970: 1_795_250_006)
    for format in Self.texts {
      let value = try format.databaseValue(of: moment)
      for other in Self.texts where other != format {
        let error = #expect(throws: ConversionError.self) { try other.date(from: value) }
        #expect(error?.kind == .otherCoding(".format(.\(format))"))
        #expect(error?.description.contains(".format(.\(format))") == true)
      }
      let read = try format.date(from: value)
      #expect(read == (format == .sqlDate ? moment.addingTimeInterval(-30_806) : moment))
      #expect(try format.databaseValue(of: read) == value)
    }
  }

  @Test(
    "Where numbers are expected, the error for a date's text names its format, other texts are texts"
  )
  func textsForNumbers() throws {
    let moment = Date(timeIntervalSince1970: 1_795_250_006)
    for other in [DateFormat.secondsSince1970, .unixMilliseconds, .julianDay] {
      for format in Self.texts {
        let value = try format.databaseValue(of: moment)
        let error = #expect(throws: ConversionError.self) { try other.date(from: value) }
        #expect(error?.kind == .otherCoding(".format(.\(format))"))
        #expect(error?.description.contains("or of Configuration.dateFormat") == true)
      }
      for text in ["", "42", "2026-11-21 08:33", "2026-13-21"] {
        let error = #expect(throws: ConversionError.self) { try other.date(from: .text(text)) }
        #expect(error?.kind == .storageClass(.text))
      }
    }
  }

  @Test("Texts of each date format sort in the order of their dates", arguments: texts)
  func order(format: DateFormat) throws {
    var generator = SeededGenerator(seed: 22)
    let dates = (0..<2_000).map { _ in
      Date(timeIntervalSince1970: .random(in: -62_167_219_200...253_402_300_799, using: &generator))
    }
    let texts = try dates.sorted().map { date in
      try String(databaseValue: try format.databaseValue(of: date))
    }
    #expect(Set(texts).count > 1000)
    for (before, text) in zip(texts, texts.dropFirst()) { #expect(before <= text) }
  }

  @Test("Dates before 1970 and leap days are written and read correctly")
  func historicDates() throws {
    #expect(try text(-1, .sqlDateTime) == "1969-12-31 23:59:59")
    #expect(try text(-0.001, .iso8601) == "1969-12-31T23:59:59.999Z")
    #expect(try text(-62_167_219_200, .sqlDateTime) == "0000-01-01 00:00:00")
    #expect(try seconds("0000-02-29T00:00:00.000Z") == -62_162_121_600)
    #expect(try seconds("2000-02-29T00:00:00.000Z") == 951_782_400)
    #expect(try text(-1, .sqlDate) == "1969-12-31")
    #expect(try text(253_402_300_799, .sqlDateTime) == "9999-12-31 23:59:59")
  }

  @Test("Writing a date rounds to the nearest unit, and carries over into the next day")
  func rounding() throws {
    #expect(try text(0.4999, .sqlDateTime) == "1970-01-01 00:00:00")
    #expect(try text(86_399.5, .sqlDateTime) == "1970-01-02 00:00:00")
    #expect(try text(1_798_761_599.9996, .iso8601) == "2027-01-01T00:00:00.000Z")
    #expect(try text(0.0004, .iso8601) == "1970-01-01T00:00:00.000Z")
    #expect(try text(-0.0016, .unixMilliseconds) == .integer(-2))
  }

  @Test("Unix milliseconds are written as the number that was read, up to the supported range")
  func millisecondsFarAway() throws {
    var generator = SeededGenerator(seed: 21)
    let random = (0..<20_000).map { _ in
      Int64.random(in: -8_700_000_000_000_000...8_700_000_000_000_000, using: &generator)
    }
    let ends: [Int64] = [
      4_477_150_967_103_489, -4_477_150_967_103_489, 8_789_999_999_999_999, -8_789_999_999_999_999,
    ]
    for milliseconds in ends + random {
      let date = try DateFormat.unixMilliseconds.date(from: .integer(milliseconds))
      #expect(try DateFormat.unixMilliseconds.databaseValue(of: date) == .integer(milliseconds))
    }
    for milliseconds in [8_790_000_000_000_001, 27_701_529_741_885_440, Int64.min] {
      #expect(throws: ConversionError(.notExact, Date.self)) {
        try DateFormat.unixMilliseconds.date(from: .integer(milliseconds))
      }
    }
    #expect(throws: ConversionError(.notExact, Date.self)) {
      try text(8_790_000_000_000.1, .unixMilliseconds)
    }
  }

  @Test("Storing a date that is NaN, infinite or out of the format's range throws")
  func inexpressible() throws {
    for format in Self.formats {
      for seconds in [Double.nan, .infinity, -.infinity] {
        #expect(throws: ConversionError.self) { try text(seconds, format) }
      }
    }
    for format in Self.texts {
      for seconds in [-62_167_219_201, 253_402_300_800, 1e18, -1e300] {
        #expect(throws: ConversionError(.notExact, Date.self)) { try text(seconds, format) }
      }
    }
    #expect(throws: ConversionError.self) { try text(1e16, .unixMilliseconds) }
  }

  @Test("Reading a date of another storage class than the format's throws")
  func wrongStorageClass() throws {
    let refused: [DateFormat: [DatabaseValue]] = [
      .secondsSince1970: ["2026-11-21", .blob([1]), nil, .real(.infinity)],
      .unixMilliseconds: [1.5, "2026-11-21", .blob([1]), nil],
      .julianDay: ["2026-11-21", .blob([1]), nil, .real(-.infinity)],
      .iso8601: [1, 1.5, .blob([1]), nil],
      .sqlDateTime: [1, 1.5, .blob([1]), nil],
    ]
    for (format, values) in refused {
      let db = try database(format)
      for value in values {
        #expect(throws: ConversionError.self) { try db.value("SELECT \(value)", as: Date.self) }
      }
    }
  }
}

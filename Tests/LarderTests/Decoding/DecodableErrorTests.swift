import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Errors of decoding")
struct DecodableErrorTests {
  let db: Database

  init() throws { db = try Database.empty() }

  typealias Summary = DecodableTests.Summary
  typealias Rank = DecodableTests.Rank

  /// The text of the conversion error that decoding throws. Checks that the error carries its
  /// place.
  private func conversion<T: Decodable>(_ type: T.Type, _ sql: SQL) throws -> String? {
    do {
      _ = try db.fetch(type, sql)
      return nil
    } catch let error as ConversionError {
      #expect(error.sql == sql.text)
      #expect(error.index != nil && error.column != nil && error.row != nil)
      return "\(error)"
    }
  }

  @Test("A value that doesn't fit is an error with column, row and statement")
  func strictness() throws {
    #expect(
      try conversion(Summary.self, "SELECT 'NO' AS country, 1 AS largest UNION ALL SELECT NULL, 2")
        == """
        NULL can't be read as String; use Optional<String> where NULL is allowed — column “country” \
        at index 0 in row 1 of “SELECT 'NO' AS country, 1 AS largest UNION ALL SELECT NULL, 2”
        """)
    #expect(
      try conversion(Summary.self, "SELECT 'NO' AS country, '5' AS largest") == """
        text can't be read as Int — column “largest” at index 1 in row 0 of \
        “SELECT 'NO' AS country, '5' AS largest”
        """)
    #expect(
      try conversion(Int.self, "SELECT CAST(1.5 AS REAL)")?.hasPrefix("real can't be read as Int")
        == true)
    #expect(try conversion(Int8.self, "SELECT 300 AS n")?.contains("exactly as Int8") == true)
    #expect(
      try conversion(Rank.self, "SELECT 'town' AS rank") == """
        the value isn't a raw value of Rank — column “rank” at index 0 in row 0 of \
        “SELECT 'town' AS rank”
        """)
    struct Ranked: Decodable { var rank: Rank? }
    #expect(
      try conversion(Ranked.self, "SELECT 'town' AS rank")?.hasPrefix(
        "the value isn't a raw value of Rank — column “rank” at index 0 in row 0") == true)
    #expect(
      try conversion(Ranked.self, "SELECT 5 AS rank")?.contains("integer can't be read") == true)
  }

  @Test(
    "A JSON property throws, with column and row, for malformed JSON, NULL or another type"
  )
  func badJSON() throws {
    struct Tagged: Decodable { var tags: [String] }
    for json in ["[1]", "{", "", "{}"] {
      let error = try conversion(Tagged.self, SQL(raw: "SELECT '\(json)' AS tags"))
      #expect(
        error?.hasPrefix("the value doesn't have the form of Array<String> — column “tags”") == true
      )
    }
    #expect(try conversion(Tagged.self, "SELECT NULL AS tags")?.hasPrefix("NULL can't") == true)
    #expect(
      try conversion(Tagged.self, "SELECT 5 AS tags")?.hasPrefix(
        "integer can't be read as Array<String>") == true)
    let blob: SQL = TestEngine.isPostgres ? "SELECT '[]'::bytea AS tags" : "SELECT x'5b5d' AS tags"
    #expect(try conversion(Tagged.self, blob)?.hasPrefix("blob can't be read") == true)
  }

  /// The message of the database error that decoding throws.
  private func message<T: Decodable>(_ type: T.Type, _ sql: SQL) throws -> String? {
    do {
      _ = try db.fetch(type, sql)
      return nil
    } catch let error as DatabaseError {
      #expect(error.sql == sql.text)
      return error.message
    }
  }

  @Test("A key without a column throws an error that lists the columns, even if it is Optional")
  func missingKeys() throws {
    #expect(
      try message(Summary.self, "SELECT 'NO' AS country, max(2) AS most")
        == "no column “largest”: the columns are country, most")
    #expect(
      try message(Summary.self, "SELECT 1 AS largest")
        == "no column “country”: the columns are largest")
    #expect(
      try message(Summary.self, "SELECT 'NO' AS country, 1 AS largest, 2 AS Largest")?
        .hasPrefix("2 columns are named “largest”") == true)
  }

  @Test("`container.contains` tells in a hand-written initializer whether the row has a column")
  func contains() throws {
    struct Lenient: Decodable, Equatable {
      var name: String
      var area: Double?
      enum Keys: CodingKey { case name, area }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decode(String.self, forKey: .name)
        area = container.contains(.area) ? try container.decode(Double.self, forKey: .area) : nil
      }
    }
    #expect(try db.fetch(Lenient.self, "SELECT 'Oslo' AS name").first?.area == nil)
    #expect(try db.fetch(Lenient.self, "SELECT 'Oslo' AS name, 454 AS AREA").first?.area == 454)
  }

  @Test("Decoding a row as an array, or a column as a nested container, throws")
  func lists() throws {
    #expect(
      try message([String].self, "SELECT 'Oslo'")
        == "a row can't be decoded as an array: decode its columns by their names")
    struct ByHand: Decodable {
      enum Keys: CodingKey { case tags }
      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        _ = try container.nestedUnkeyedContainer(forKey: .tags)
      }
    }
    #expect(
      try message(ByHand.self, "SELECT '[]' AS tags")?.hasPrefix(
        "the column “tags” can't be decoded as a container")
        == true)
  }

  @Test("A decoder that outlives its row throws when it is read")
  func keptDecoder() throws {
    struct Kept: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) { self.decoder = decoder }
    }
    let kept = try db.fetch(Kept.self, "SELECT 'NO' AS country, 1 AS largest")
    #expect(kept.count == 1)
    for kept in kept {
      #expect(throws: DatabaseError.self) { try Summary(from: kept.decoder) }
    }
  }
}

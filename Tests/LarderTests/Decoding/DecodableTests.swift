import Foundation
import Larder
import PostgresSupport
import Testing

@Suite("Decoding rows into Decodable types")
struct DecodableTests {
  let db: Database

  init() throws {
    db = try Database.empty()
    try db.define(
      """
      CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, population INTEGER, country TEXT,
        level TEXT, tags TEXT, founded REAL, site TEXT);
      INSERT INTO city VALUES
        (1, 'Oslo', 709037, 'NO', 'capital', '["old","green"]', -29000000000.0, 'https://oslo.kommune.no/'),
        (2, 'Bergen', 291940, 'NO', 'city', NULL, NULL, NULL),
        (3, '北京市', 21893095, 'CN', 'capital', '[]', 0, NULL);
      """)
  }

  struct Summary: Decodable, Equatable {
    var country: String
    var largest: Int?
  }

  @Test(
    "Decodable properties find their columns by name, in any order and case, among other columns"
  )
  func names() throws {
    let summaries = try db.fetch(
      Summary.self,
      """
      SELECT max(population) AS LARGEST, count(*), country FROM city
      GROUP BY country ORDER BY country
      """)
    #expect(
      summaries == [
        Summary(country: "CN", largest: 21_893_095), Summary(country: "NO", largest: 709_037),
      ])
  }

  @Test("A result without rows decodes to an empty array")
  func empty() throws {
    #expect(try db.fetch(Summary.self, "SELECT 1 AS a WHERE false").isEmpty)
  }

  @Test("`fetch` takes arguments by interpolation, as a list, in an array or in a dictionary")
  func arguments() throws {
    let least = 500_000
    let expected = ["Oslo", "北京市"]
    #expect(
      try db.fetch(String.self, "SELECT name FROM city WHERE population > \(least)") == expected)
    #expect(
      try db.fetch(String.self, "SELECT name FROM city WHERE population > ?", least) == expected)
    #expect(
      try db.fetch(
        String.self, "SELECT name FROM city WHERE population > ?", arguments: [least]) == expected)
    #expect(
      try db.fetch(
        String.self, "SELECT name FROM city WHERE population > :least",
        arguments: ["least": least]) == expected)
  }

  @Test("A type with a single value decodes from a row's first column")
  func singleValues() throws {
    #expect(try db.fetch(Int.self, "SELECT 1") == [1])
    #expect(
      try db.fetch(String.self, "SELECT name, id FROM city WHERE id < 3") == ["Oslo", "Bergen"])
    #expect(try db.fetch(String?.self, "SELECT 'a' UNION ALL SELECT NULL") == ["a", nil])
    #expect(try db.fetch(Int?.self, "SELECT NULL") == [nil])
    let blob = SQL(raw: TestEngine.isPostgres ? #"SELECT '\x0102'::bytea"# : "SELECT x'0102'")
    #expect(try db.fetch([UInt8].self, blob) == [[1, 2]])
    #expect(try db.fetch(Data.self, blob) == [Data([1, 2])])
    #expect(try db.fetch(Bool.self, "SELECT 1 UNION ALL SELECT 0") == [true, false])
    #expect(try db.fetch(Decimal.self, "SELECT '12.50'") == [Decimal(string: "12.5")])
    #expect(
      try db.fetch(Date.self, "SELECT 0") == [Date(timeIntervalSince1970: 0)])
  }

  /// A Decodable enumeration without any conformance of Larder's.
  enum Rank: String, Decodable { case capital, city }
  enum Grade: Int, Decodable { case first = 1, second }

  @Test("Enumerations are decoded from their raw values")
  func rawValues() throws {
    struct Ranked: Decodable, Equatable {
      var rank: Rank
      var level: Level?
      var grade: Grade?
    }
    #expect(
      try db.fetch(Ranked.self, "SELECT level AS rank, level, id AS grade FROM city WHERE id < 3")
        == [
          Ranked(rank: .capital, level: .capital, grade: .first),
          Ranked(rank: .city, level: .city, grade: .second),
        ])
    #expect(try db.fetch(Rank.self, "SELECT level FROM city WHERE id = 1") == [.capital])
    #expect(try db.fetch(Rank?.self, "SELECT NULL UNION ALL SELECT 'city'") == [nil, .city])
    #expect(try db.fetch(Level.self, "SELECT 'village'") == [.village])
  }

  @Test(
    "UUID, URL, Decimal, Data and Date decode in the formats in which records store them",
    .onlySQLite(.dateFormats))
  func storedValues() throws {
    struct Values: Decodable, Equatable {
      var uuid: UUID
      var url: URL?
      var decimal: Decimal
      var data: Data
      var bytes: [UInt8]
      var date: Date
      var float: Double
    }
    let values = Values(
      uuid: UUID(), url: URL(string: "https://oslo.kommune.no/"), decimal: Decimal(12),
      data: Data([1]), bytes: [2, 3], date: Date(timeIntervalSince1970: 86_400), float: 5)
    for format in [.secondsSince1970, .unixMilliseconds, .julianDay, .iso8601, .sqlDateTime]
      as [DateFormat]
    {
      var configuration = Configuration()
      configuration.dateFormat = format
      let db = try Database.empty(configuration)
      let read = try db.fetch(
        Values.self,
        """
        SELECT \(values.uuid) AS uuid, \(values.url) AS url, \(values.decimal) AS decimal,
          \(values.data) AS data, \(values.bytes) AS bytes, \(values.date) AS date, 5 AS float
        """)
      #expect(read == [values])
    }
  }

  struct Place: Decodable, Equatable {
    struct Position: Codable, Equatable {
      var latitude: Double
      var longitude: Double
      var seen: Date?
    }
    enum Shape: Codable, Equatable { case point, circle(radius: Int) }

    var name: String
    var position: Position?
    var tags: [String]
    var shape: Shape
    var names: [String: String]
  }

  @Test("A nested Codable property decodes from a column's JSON")
  func nested() throws {
    let places = try db.fetch(
      Place.self,
      """
      SELECT 'Oslo' AS name,
        '{"latitude":59.9,"longitude":10.7,"seen":"2026-11-21T08:33:26Z"}' AS position,
        '["old","green"]' AS tags, '{"circle":{"radius":5}}' AS shape, '{"sami":"Oslove"}' AS names
      UNION ALL SELECT 'Bergen', NULL, '[]', '{"point":{}}', '{}'
      """)
    #expect(
      places == [
        Place(
          name: "Oslo",
          position: .init(
            latitude: 59.9, longitude: 10.7, seen: Date(timeIntervalSince1970: 1_795_250_006)),
          tags: ["old", "green"], shape: .circle(radius: 5), names: ["sami": "Oslove"]),
        Place(name: "Bergen", position: nil, tags: [], shape: .point, names: [:]),
      ])
  }

  @Test("JSON that a record has stored decodes into another Decodable type", .onlySQLite(.anyTyped))
  func recordJSON() throws {
    struct Tagged: Decodable, Equatable { var tags: [String]? }
    try Everything.table.create(db)
    for tags in [["old"], nil] {
      try Everything(
        id: UUID(), integer: 1, real: nil, text: "", blob: nil, date: Date(), any: nil,
        level: .city, tags: tags, millisecond: nil
      ).save(db)
    }
    #expect(
      try db.fetch(Tagged.self, "SELECT tags FROM everything ORDER BY rowid")
        == [Tagged(tags: ["old"]), Tagged(tags: nil)])
  }

  private struct Visit: Codable, Equatable, Sendable {
    var arrival: Date
    var price: Decimal
    var page: URL
    var stays: [Double]
  }

  private struct Journal: Record, Equatable {
    var id: Int
    var visits: [Visit]

    struct Columns: Sendable {
      let id = Column("id", \Journal.id, .primaryKey)
      let visits = Column("visits", \Journal.visits, as: .json)
    }
    static let columns = Columns()
    static let table = Table("journal", Journal.init, columns.id, columns.visits)
  }

  @Test("JSON of a record's column decodes to the same values, with dates to the millisecond")
  func exactJSON() throws {
    struct Read: Decodable, Equatable { var visits: [Visit] }
    try Journal.table.create(db)
    let visits = try [0.123, 0.001, 0.999, 0].map { fraction in
      Visit(
        arrival: Date(timeIntervalSince1970: 1_795_250_006 + fraction),
        price: try #require(Decimal(string: "12345678901234.56")),
        page: try #require(URL(string: "https://oslo.kommune.no/a/b")), stays: [0.1, 1e-300, -0.0])
    }
    try Journal.insert(db, contentsOf: [Journal(id: 1, visits: visits)])
    let stored = try Journal.find(db, 1).visits
    #expect(try db.fetch(Read.self, "SELECT visits FROM journal") == [Read(visits: stored)])
    #expect(
      zip(stored, visits).allSatisfy { abs($0.arrival.timeIntervalSince($1.arrival)) < 0.0005 })
  }

  @Test("A row whose values have one type decodes as a dictionary, unless two columns share a name")
  func dictionaries() throws {
    #expect(
      try db.fetch([String: Int].self, "SELECT id, population FROM city WHERE id < 3")
        == [["id": 1, "population": 709_037], ["id": 2, "population": 291_940]])
    #expect(
      try db.fetch([String: String?].self, "SELECT name, tags FROM city WHERE id = 2")
        == [["name": "Bergen", "tags": nil]])
    #expect(throws: ConversionError.self) {
      try db.fetch([String: Int].self, "SELECT id, name FROM city")
    }
    // Two columns have the same name, so the key is ambiguous.
    #expect(throws: DatabaseError.self) {
      try db.fetch([String: Int].self, "SELECT 1 AS a, 2 AS a")
    }
  }

  @Test("An Optional row is nil where all columns are NULL, as of an outer join")
  func optionalRows() throws {
    #expect(
      try db.fetch(
        Summary?.self,
        """
        SELECT 'NO' AS country, 1 AS largest UNION ALL SELECT NULL, NULL UNION ALL SELECT 'SE', NULL
        """) == [
          Summary(country: "NO", largest: 1), nil, Summary(country: "SE", largest: nil),
        ])
    #expect(throws: ConversionError.self) {
      try db.fetch(Summary?.self, "SELECT NULL AS country, 1 AS largest")
    }
  }

  @Test("A class decodes its superclass from the same row through `superDecoder`")
  func superclasses() throws {
    class Named: Decodable { var name = "" }
    class Counted: Named {
      var population = 0
      enum Keys: CodingKey { case population }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        population = try container.decode(Int.self, forKey: .population)
        try super.init(from: container.superDecoder())
      }
    }
    let cities = try db.fetch(Counted.self, "SELECT * FROM city WHERE id = 1")
    #expect(cities.map(\.name) == ["Oslo"])
    #expect(cities.map(\.population) == [709_037])
  }

  @Test("Rows of RETURNING are decoded, and a decoding error leaves no statement open")
  func statements() throws {
    #expect(
      try db.fetch(
        Summary.self, "DELETE FROM city WHERE id = 1 RETURNING country, population AS largest")
        == [Summary(country: "NO", largest: 709_037)])
    #expect(throws: ConversionError.self) { try db.fetch(Int.self, "SELECT name FROM city") }
    try db.executeUpdate("DROP TABLE city")
    #expect(throws: DatabaseError.self) { try db.fetch(Int.self, "SELECT id FROM city") }
  }
}

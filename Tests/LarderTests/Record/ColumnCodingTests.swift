import Foundation
import Larder
import PostgresSupport
import Testing

private struct Governor: Codable, Equatable, Sendable {
  var name: String
  var since: Date
  var party: String?
}

private enum Climate: String, DatabaseValueConvertible { case oceanic, polar }

private struct Coordinates: Equatable, Sendable {
  var latitude: Double
  var longitude: Double
}

/// A record with a column of each coding.
private struct Profile: Record, Equatable {
  var id: UUID
  var founded: Date
  var incorporated: Date?
  var surveyed: Date
  var visited: Date
  var key: UUID
  var partner: UUID?
  var names: [String]
  var mayor: Governor
  var deputy: Governor?
  var climate: Climate
  var place: Coordinates

  struct Columns: Sendable {
    let id = Column("id", \Profile.id, .primaryKey)
    let founded = Column("founded", \Profile.founded, as: .iso8601)
    let incorporated = Column("incorporated", \Profile.incorporated, as: .unixMilliseconds)
    let surveyed = Column("surveyed", \Profile.surveyed, as: .format(.sqlDateTime))
    let visited = Column("visited", \Profile.visited)
    let key = Column("key", \Profile.key, as: .text)
    let partner = Column("partner", \Profile.partner, as: .blob)
    let names = Column("names", \Profile.names, as: .json)
    let mayor = Column("mayor", \Profile.mayor, as: .json)
    let deputy = Column("deputy", \Profile.deputy, as: .json)
    let climate = Column("climate", \Profile.climate)
    let place = Column(
      "place", \Profile.place,
      as: ColumnCoding(
        encode: { "\($0.latitude) \($0.longitude)" },
        decode: { (text: String) in
          let numbers = text.split(separator: " ").compactMap { Double($0) }
          guard numbers.count == 2 else { throw ConversionError(.malformed, Coordinates.self) }
          return Coordinates(latitude: numbers[0], longitude: numbers[1])
        }))
  }
  static let columns = Columns()
  static let table = Table(
    "profile", Profile.init, columns.id, columns.founded, columns.incorporated, columns.surveyed,
    columns.visited, columns.key, columns.partner, columns.names, columns.mayor, columns.deputy,
    columns.climate, columns.place)

  static let example = Profile(
    id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    founded: Date(timeIntervalSince1970: -29_000_000_000.5),
    incorporated: Date(timeIntervalSince1970: 1_000.25),
    surveyed: Date(timeIntervalSince1970: 86_400), visited: Date(timeIntervalSince1970: 0.125),
    key: UUID(uuid: (255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)), partner: nil,
    names: ["Oslo", "Christiania", "\"K\"/ä"],
    mayor: Governor(name: "Anne", since: Date(timeIntervalSince1970: 1_700_000_000), party: nil),
    deputy: nil, climate: .oceanic, place: Coordinates(latitude: 59.91, longitude: 10.75))
}

@Suite("Codings of columns")
struct ColumnCodingTests {
  let db: Database

  init() throws { db = try Self.database() }

  private static func database(_ configuration: Configuration = .init()) throws -> Database {
    let db = try Database.empty(configuration)
    if TestEngine.isPostgres {
      try Profile.table.create(db)
      return db
    }
    try db.define(
      """
      CREATE TABLE profile (id BLOB PRIMARY KEY, founded, incorporated, surveyed, visited, key,
        partner, names, mayor, deputy, climate, place)
      """)
    return db
  }

  @Test("Each column coding stores its format and reads it back", .onlySQLite(.anyTyped))
  func storage() throws {
    var profile = Profile.example
    try profile.insert(db)
    #expect(try Profile.find(db, profile.id) == profile)
    let row = try db.executeQuery("SELECT * FROM profile").map { try $0.dictionary }
    #expect(
      row == [
        [
          "id": .blob((1...16).map { $0 }), "founded": "1051-01-10T20:26:39.500Z",
          "incorporated": 1_000_250, "surveyed": "1970-01-02 00:00:00", "visited": 0.125,
          "key": "FF000000-0000-0000-0000-000000000001", "partner": nil,
          "names": #"["Oslo","Christiania","\"K\"/ä"]"#,
          "mayor": #"{"name":"Anne","since":"2023-11-14T22:13:20.000Z"}"#, "deputy": nil,
          "climate": "oceanic", "place": "59.91 10.75",
        ]
      ])
  }

  @Test("Every record operation uses the columns' codings")
  func operations() throws {
    var profile = Profile.example
    try Profile.insert(db, contentsOf: [profile])
    profile.deputy = Governor(name: "Kari", since: Date(timeIntervalSince1970: 0), party: "A")
    profile.partner = UUID()
    try profile.update(db, Profile.columns.deputy, Profile.columns.partner)
    #expect(try Profile.fetchAll(db) == [profile])
    let copy = profile
    profile.names = []
    profile.incorporated = nil
    #expect(try profile.update(db, changedSince: copy))
    #expect(try profile.update(db, changedSince: profile) == false)
    profile.climate = .polar
    try profile.upsert(db)
    #expect(try profile.updated(db) == profile)
    #expect(try Profile.fetchAll(db, sql: "SELECT *, 1 AS one FROM profile") == [profile])
  }

  @Test(
    "A column's date format overrides the connection's, which a column without one uses",
    .onlySQLite(.dateFormats))
  func connectionFormat() throws {
    var configuration = Configuration()
    configuration.dateFormat = .unixMilliseconds
    let db = try Self.database(configuration)
    var profile = Profile.example
    profile.visited = Date(timeIntervalSince1970: 2.5)
    try profile.insert(db)
    #expect(try db.value("SELECT visited FROM profile", as: Int.self) == 2500)
    #expect(try db.value("SELECT surveyed FROM profile", as: String.self) == "1970-01-02 00:00:00")
    #expect(try Profile.fetchAll(db) == [profile])
    var later = profile
    later.visited.addTimeInterval(1)
    #expect(try later.update(db, changedSince: profile))
    #expect(try db.value("SELECT visited FROM profile", as: Int.self) == 3500)
  }

  @Test("Dates in JSON are stored with milliseconds, and read with or without them")
  func datesInJSON() throws {
    var profile = Profile.example
    profile.mayor.since = Date(timeIntervalSince1970: 1_700_000_000.123)
    try profile.insert(db)
    #expect(
      try db.value(
        SQL(
          raw: "SELECT \(TestEngine.isPostgres ? "mayor::json" : "mayor") ->> 'since' FROM profile"),
        as: String.self)
        == "2023-11-14T22:13:20.123Z")
    #expect(try Profile.fetchAll(db) == [profile])
    try db.executeUpdate(
      #"UPDATE profile SET mayor = '{"name":"Anne","since":"2023-11-14T22:13:20Z"}'"#)
    #expect(try Profile.fetchAll(db)[0].mayor == Profile.example.mayor)
  }

  @Test("Equal values have equal JSON, with sorted keys")
  func sortedKeys() throws {
    struct Census: Record {
      var year: Int
      var counts: [String: Int]

      struct Columns: Sendable {
        let year = Column("year", \Census.year, .primaryKey)
        let counts = Column("counts", \Census.counts, as: .json)
      }
      static let columns = Columns()
      static let table = Table("census", Census.init, columns.year, columns.counts)
    }
    try db.define("CREATE TABLE census (year INTEGER PRIMARY KEY, counts TEXT)")
    let counts = Dictionary(uniqueKeysWithValues: (0..<10).map { ("k\($0)", $0) })
    for year in 1...20 {
      var census = Census(year: year, counts: counts)
      try census.insert(db)
    }
    #expect(try db.value("SELECT count(DISTINCT counts) FROM census", as: Int.self) == 1)
  }

  @Test(
    "Reading a value that isn't in its column's format throws, with column and key",
    .onlySQLite(.anyTyped),
    arguments: [
      ("founded", "'yesterday'", "Date"), ("founded", "'2023-02-30'", "Date"),
      ("surveyed", "17", "Date"), ("incorporated", "'1970-01-01'", "Date"),
      ("visited", "'1970-01-01'", "Date"), ("key", "'FF000000'", "UUID"),
      ("key", "x'00'", "String"), ("partner", "x'0102'", "UUID"),
      ("partner", "'abc'", "Array<UInt8>"),
      ("names", "'[1]'", "Array<String>"), ("names", "'['", "Array<String>"),
      ("names", "NULL", "String"), ("mayor", "'{}'", "Governor"), ("mayor", "7", "String"),
      ("deputy", "'null and void'", "Governor"), ("climate", "'tropical'", "Climate"),
      ("place", "'north'", "Coordinates"), ("id", "x'00'", "UUID"),
    ])
  func malformed(column: String, value: String, type: String) throws {
    var profile = Profile.example
    try profile.insert(db)
    try db.executeUpdate(
      SQL(raw: "UPDATE profile SET \(column.quotedIdentifierForTests) = \(value)"))
    let error = conversionFailure { try Profile.fetchAll(db) }
    #expect(error?.table == "profile")
    #expect(error?.column == column)
    #expect(error?.type == type)
    #expect(error?.key == [.blob(column == "id" ? [0] : (1...16).map { $0 })])
    #expect(error?.sql == Profile.table.selectSQL)
  }

  @Test("Writing a value that its coding can't store throws, with column and key")
  func unstorable() throws {
    var profile = Profile.example
    profile.founded = Date(timeIntervalSince1970: .infinity)
    let error = conversionFailure { try profile.insert(db) }
    #expect(error?.column == "founded")
    #expect(error?.kind == .notExact)
    #expect(error?.sql?.hasPrefix("INSERT INTO \"profile\" (") == true)
    #expect(error?.key == [.blob((1...16).map { $0 })])
    #expect(
      conversionFailure { try profile.update(db, changedSince: .example) }?.column == "founded")
  }

  @Test("Writing NaN as JSON throws, with its column")
  func notANumberInJSON() throws {
    struct Sample: Record {
      var id: Int
      var values: [Double]

      struct Columns: Sendable {
        let id = Column("id", \Sample.id, .primaryKey)
        let values = Column("values", \Sample.values, as: .json)
      }
      static let columns = Columns()
      static let table = Table("sample", Sample.init, columns.id, columns.values)
    }
    try db.define(#"CREATE TABLE sample (id INTEGER PRIMARY KEY, "values" TEXT)"#)
    var sample = Sample(id: 1, values: [.nan])
    let error = conversionFailure { try sample.insert(db) }
    #expect(error?.column == "values")
    #expect(error?.kind == .notExact)
  }

  @Test("Several threads can encode and decode at the same time")
  func concurrently() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let db = try Self.database()
          var profile = Profile.example
          profile.names = (0..<number).map { "Name \($0)" }
          try profile.insert(db)
          for _ in 0..<50 {
            #expect(try Profile.fetchAll(db) == [profile])
            try profile.update(db)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test("An error thrown by a custom coding is passed on unchanged")
  func closuresError() throws {
    struct Refusal: Error {}
    struct Secret: Record {
      var id: Int
      var text: String

      struct Columns: Sendable {
        let id = Column("id", \Secret.id, .primaryKey)
        let text = Column(
          "text", \Secret.text,
          as: ColumnCoding(
            encode: { (text: String) in
              if text.isEmpty { throw Refusal() }
              return text
            }, decode: { (_: String) in throw Refusal() }))
      }
      static let columns = Columns()
      static let table = Table("secret", Secret.init, columns.id, columns.text)
    }
    try db.define("CREATE TABLE secret (id INTEGER PRIMARY KEY, text TEXT)")
    var secret = Secret(id: 1, text: "")
    #expect(throws: Refusal.self) { try secret.insert(db) }
    secret.text = "x"
    try secret.insert(db)
    #expect(throws: Refusal.self) { try Secret.fetchAll(db) }
  }
}

extension String {
  fileprivate var quotedIdentifierForTests: String { "\"\(self)\"" }
}

import Foundation
import Larder
import PostgresSupport
import Testing

/// A property wrapper that trims its text.
@propertyWrapper
private struct Trimmed: Sendable, Equatable {
  private var text: String
  var wrappedValue: String {
    get { text }
    set { text = newValue.trimmingCharacters(in: .whitespaces) }
  }
  init(wrappedValue: String) { text = wrappedValue.trimmingCharacters(in: .whitespaces) }
}

private struct Person: Record, Equatable {
  private var storedID: Int64?
  /// A computed property.
  var id: Int64? {
    get { storedID }
    set { storedID = newValue }
  }
  /// An observed property.
  var age: Int { didSet { birthdays += 1 } }
  @Trimmed var name: String
  let country: String
  var birthdays = 0

  init(id: Int64?, age: Int, name: String, country: String) {
    storedID = id
    self.age = age
    _name = Trimmed(wrappedValue: name)
    self.country = country
  }

  struct Columns: Sendable {
    let id = Column("id", \Person.id, .primaryKey)
    let age = Column("age", \Person.age)
    let name = Column("name", \Person.name)
    let country = Column("country", \Person.country)
  }
  static let columns = Columns()
  static let table = Table(
    "person", Person.init, columns.id, columns.age, columns.name, columns.country,
    notStored: [\.birthdays])
}

private final class River: Record {
  let id: Int64
  let name: String
  let length: Double

  init(id: Int64, name: String, length: Double) {
    self.id = id
    self.name = name
    self.length = length
  }

  struct Columns: Sendable {
    let id = Column("id", \River.id, .primaryKey)
    let name = Column("name", \River.name)
    let length = Column("length", \River.length)
  }
  static let columns = Columns()
  static let table = Table("river", River.init, columns.id, columns.name, columns.length)
}

private enum Size: Int, DatabaseValueConvertible { case small = 1, large }

private struct Flag: Record, Equatable {
  var size: Size
  var isOfficial: Bool
  var half: Size?
  var narrow: Int8
  var huge: UInt64?
  var ratio: Float
  var bytes: [UInt8]
  var data: Data?
  var link: URL?
  var price: Decimal

  struct Columns: Sendable {
    let size = Column("size", \Flag.size, .primaryKey)
    let isOfficial = Column("isOfficial", \Flag.isOfficial)
    let half = Column("half", \Flag.half)
    let narrow = Column("narrow", \Flag.narrow)
    let huge = Column("huge", \Flag.huge)
    let ratio = Column("ratio", \Flag.ratio)
    let bytes = Column("bytes", \Flag.bytes)
    let data = Column("data", \Flag.data)
    let link = Column("link", \Flag.link)
    let price = Column("price", \Flag.price)
  }
  static let columns = Columns()
  static let table = Table(
    "flag", Flag.init, columns.size, columns.isOfficial, columns.half, columns.narrow, columns.huge,
    columns.ratio, columns.bytes, columns.data, columns.link, columns.price)
}

@Suite("Properties of records")
struct PropertyTests {
  let db: Database

  init() throws { db = try Database.empty() }

  @Test("Stored columns can be computed, observed, wrapped or constant properties")
  func withoutOffset() throws {
    try db.define(
      "CREATE TABLE person (id INTEGER PRIMARY KEY, age INTEGER, name TEXT, country TEXT)")
    var kari = Person(id: nil, age: 40, name: "  Kari ", country: "NO")
    try kari.insert(db)
    #expect(kari.id == 1)
    kari.age += 1
    try kari.update(db)
    let found = try Person.find(db, 1)
    #expect((found.age, found.name, found.country) == (41, "Kari", "NO"))
    #expect(found.birthdays == 0, "reading a record isn't observed as a change of it")
    let copy = kari
    kari.age += 1
    #expect(try kari.update(db, changedSince: copy))
    try Person.insert(
      db, contentsOf: (2...300).map { Person(id: $0, age: 1, name: $0.description, country: "SE") })
    #expect(try Person.fetchAll(db).count == 300)
  }

  @Test("A record can be a final class")
  func finalClass() throws {
    try db.define("CREATE TABLE river (id INTEGER PRIMARY KEY, name TEXT, length REAL)")
    var glomma = River(id: 1, name: "Glomma", length: 621.5)
    try glomma.insert(db)
    let found = try River.find(db, 1)
    #expect((found.id, found.name, found.length) == (1, "Glomma", 621.5))
    try River.insert(db, contentsOf: (2...200).map { River(id: $0, name: "\($0)", length: 1) })
    #expect(try River.fetchAll(db).map(\.id) == (1...200).map { $0 })
    try glomma.update(db)
    #expect(try glomma.delete(db))
  }

  @Test("A record can have a single column")
  func oneColumn() throws {
    struct Name: Record, Equatable {
      var text: String

      struct Columns: Sendable {
        let text = Column("text", \Name.text, .primaryKey)
      }
      static let columns = Columns()
      static let table = Table("name", Name.init, columns.text)
    }
    try db.define("CREATE TABLE name (text TEXT PRIMARY KEY) WITHOUT ROWID")
    var name = Name(text: "Oslo")
    try name.insert(db)
    try name.update(db)
    try name.save(db)
    try name.upsert(db)
    try Name.insert(db, contentsOf: (0..<200).map { Name(text: "\($0)") })
    #expect(try Name.find(db, "Oslo") == name)
    #expect(try Name.fetchAll(db).count == 201)
    #expect(try name.delete(db))
  }

  @Test("Record properties can have any storable type")
  func types() throws {
    try db.define(
      """
      CREATE TABLE flag (size INTEGER PRIMARY KEY, "isOfficial" INTEGER, half INTEGER, narrow INTEGER,
        huge INTEGER, ratio REAL, bytes BLOB, data BLOB, link TEXT, price TEXT)
      """)
    let flag = Flag(
      size: .small, isOfficial: true, half: nil, narrow: -128, huge: UInt64(Int64.max), ratio: 0.5,
      bytes: [], data: Data([0, 255]), link: URL(string: "https://www.oslo.kommune.no/?a=b"),
      price: Decimal(string: "-12.50") ?? 0)
    let other = Flag(
      size: .large, isOfficial: false, half: .small, narrow: 127, huge: nil,
      ratio: .leastNormalMagnitude, bytes: [1, 0, 1], data: nil, link: nil, price: 0)
    try Flag.insert(db, contentsOf: [flag, other])
    #expect(try Flag.fetchAll(db) == [flag, other])
    #expect(try Flag.find(db, Size.large) == other)
  }
}

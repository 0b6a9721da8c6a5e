import Foundation
import Larder
import PostgresSupport
import Testing

/// A key type with an integer as its raw value.
private struct CountryID: RawRepresentable, Hashable, DatabaseValueConvertible {
  let rawValue: Int64
}

private enum Continent: String, DatabaseValueConvertible { case europe, asia }

/// A record with a key column and one other column.
private protocol Keyed: Record, Equatable {
  associatedtype Key: DatabaseValueConvertible
  init(key: Key, name: String)
  var key: Key { get set }
  var name: String { get set }
  static var definition: SQL { get }
}

private struct ByInt: Keyed {
  var key: Int
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByInt.key, .primaryKey)
    let name = Column("name", \ByInt.name)
  }
  static let columns = Columns()
  static let table = Table("keyed", ByInt.init, columns.key, columns.name)
  static let definition: SQL = "key INTEGER PRIMARY KEY, name TEXT"
}

private struct ByText: Keyed {
  var key: String
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByText.key, .primaryKey)
    let name = Column("name", \ByText.name)
  }
  static let columns = Columns()
  static let table = Table(
    "keyed", ByText.init, columns.key, columns.name, options: .withoutRowID)
  static let definition: SQL = "key TEXT PRIMARY KEY, name TEXT"
}

private struct ByUUID: Keyed {
  var key: UUID
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByUUID.key, .primaryKey)
    let name = Column("name", \ByUUID.name)
  }
  static let columns = Columns()
  static let table = Table("keyed", ByUUID.init, columns.key, columns.name)
  static let definition: SQL = "key BLOB PRIMARY KEY CHECK (length(key) = 16), name TEXT"
}

private struct ByUUIDText: Keyed {
  var key: UUID
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByUUIDText.key, .primaryKey, as: .text)
    let name = Column("name", \ByUUIDText.name)
  }
  static let columns = Columns()
  static let table = Table("keyed", ByUUIDText.init, columns.key, columns.name)
  static let definition: SQL = "key TEXT PRIMARY KEY CHECK (length(key) = 36), name TEXT"
}

private struct ByEnum: Keyed {
  var key: Continent
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByEnum.key, .primaryKey)
    let name = Column("name", \ByEnum.name)
  }
  static let columns = Columns()
  static let table = Table("keyed", ByEnum.init, columns.key, columns.name)
  static let definition: SQL = "key TEXT PRIMARY KEY, name TEXT"
}

private struct ByDate: Keyed {
  var key: Date
  var name: String

  struct Columns: Sendable {
    let key = Column("key", \ByDate.key, .primaryKey, as: .iso8601)
    let name = Column("name", \ByDate.name)
  }
  static let columns = Columns()
  static let table = Table("keyed", ByDate.init, columns.key, columns.name)
  static let definition: SQL = "key TEXT PRIMARY KEY CHECK (key LIKE '%Z'), name TEXT"
}

@Suite("Primary keys")
struct PrimaryKeyTests {
  private func check<R: Keyed>(_ type: R.Type, _ key: R.Key, _ other: R.Key) throws {
    let db = try Database.empty()
    if TestEngine.isPostgres {
      try R.table.create(db)
    } else {
      try db.define("CREATE TABLE keyed (\(R.definition))")
    }
    var norway = R(key: key, name: "Norway")
    try norway.insert(db)
    #expect(norway == R(key: key, name: "Norway"))
    #expect(try R.find(db, key) == norway)
    #expect(try R.fetchOne(db, other) == nil)
    norway.name = "Norge"
    try norway.update(db)
    try norway.save(db)
    try norway.upsert(db)
    #expect(try norway.updated(db) == norway)
    var india = R(key: other, name: "India")
    #expect(failure(RecordError.self) { try india.update(db) } != nil)
    try india.save(db)
    india.name = "Bhārat"
    try india.upsert(db)
    #expect(try R.fetchAll(db, keys: [other]) == [india])
    #expect(try R.fetchAll(db, keys: [key, other, key]).count == 2)
    #expect(try norway.delete(db))
    #expect(try norway.delete(db) == false)
    #expect(try R.fetchAll(db) == [india])
  }

  @Test("A key can be an integer, text, UUID, enumeration or date, each with its own coding")
  func kinds() throws {
    try check(ByInt.self, 1, .min)
    try check(ByText.self, "NO", "")
    try check(ByUUID.self, UUID(), UUID())
    try check(ByUUIDText.self, UUID(), UUID())
    try check(ByEnum.self, .europe, .asia)
    try check(ByDate.self, Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1.5))
  }

  @Test("A nil key whose type has an integer raw value is set by insert and save")
  func rawValue() throws {
    struct Country: Record, Equatable {
      var id: CountryID?
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Country.id, .autoincrement)
        let name = Column("name", \Country.name)
      }
      static let columns = Columns()
      static let table = Table("country", Country.init, columns.id, columns.name)
    }
    let db = try Database.empty()
    try db.define("CREATE TABLE country (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)")
    var norway = Country(id: nil, name: "Norway")
    try norway.insert(db)
    #expect(norway.id == CountryID(rawValue: 1))
    #expect(try Country.find(db, CountryID(rawValue: 1)) == norway)
    #expect(try Country.find(db, norway.id) == norway)
    #expect(try norway.delete(db))
    var sweden = Country(id: nil, name: "Sweden")
    try sweden.save(db)
    #expect(sweden.id == CountryID(rawValue: 2), "an autoincremented key isn't used again")
  }

  @Test("A nil key with a custom coding is set through the coding")
  func codedRowID() throws {
    struct Ticket: Equatable { var number: Int }
    struct Visit: Record, Equatable {
      var id: Ticket?
      var city: String

      struct Columns: Sendable {
        let id = Column(
          "id", \Visit.id, .primaryKey,
          as: ColumnCoding(encode: { -$0.number }, decode: { Ticket(number: -$0) }))
        let city = Column("city", \Visit.city)
      }
      static let columns = Columns()
      static let table = Table("visit", Visit.init, columns.id, columns.city)
    }
    let db = try Database.empty()
    try db.define("CREATE TABLE visit (id INTEGER PRIMARY KEY, city TEXT)")
    var visit = Visit(id: nil, city: "Oslo")
    try visit.insert(db)
    #expect(visit.id == Ticket(number: -1))
    #expect(try Visit.fetchAll(db) == [visit])
    visit.city = "Bergen"
    try visit.update(db)
    #expect(try Visit.fetchAll(db) == [visit])
  }

  @Test("A nil Int key is set on insert, and throws in a table WITHOUT ROWID")
  func withoutRowID() throws {
    struct Stop: Record {
      var id: Int?
      var name: String

      struct Columns: Sendable {
        let id = Column("id", \Stop.id, .primaryKey)
        let name = Column("name", \Stop.name)
      }
      static let columns = Columns()
      static let table = Table("stop", Stop.init, columns.id, columns.name)
    }
    var stop = Stop(id: nil, name: "Majorstuen")
    let db = try Database.empty()
    try db.define("CREATE TABLE stop (id INTEGER PRIMARY KEY, name TEXT)")
    try stop.insert(db)
    #expect(stop.id == 1)
    // On PostgreSQL an omitted column gets its default.
    if TestEngine.isPostgres { return }
    stop.id = nil
    let other = try Database.empty()
    try other.define(
      "CREATE TABLE stop (id INTEGER NOT NULL PRIMARY KEY, name TEXT) WITHOUT ROWID")
    let error = failure(DatabaseError.self) { try stop.insert(other) }
    #expect(error?.constraint?.kind == .notNull)
    #expect(error?.constraint?.columns == ["id"])
  }

  @Test("The values of a composite key are given in the columns' order")
  func composite() throws {
    struct Street: Record, Equatable {
      var city: Int64
      var name: String
      var length: Int

      struct Columns: Sendable {
        let city = Column("city", \Street.city, .primaryKey)
        let name = Column("name", \Street.name, .primaryKey)
        let length = Column("length", \Street.length)
      }
      static let columns = Columns()
      static let table = Table(
        "street", Street.init, columns.city, columns.name, columns.length, options: .withoutRowID)
    }
    let db = try Database.empty()
    try db.define(
      """
      CREATE TABLE street (city INTEGER, name TEXT, length INTEGER, PRIMARY KEY (city, name))
      WITHOUT ROWID
      """)
    let street = Street(city: 1, name: "Storgata", length: 1200)
    try Street.insert(db, contentsOf: [street, Street(city: 2, name: "Storgata", length: 300)])
    #expect(try Street.find(db, 1, "Storgata") == street)
    #expect(
      recordFailure { try Street.find(db, 3, "Storgata") }
        == "there is no row in “street” with the key (3, \"Storgata\")")
    #expect(failure(DatabaseError.self) { try Street.find(db, 1) }?.code == .misuse)
    #expect(failure(DatabaseError.self) { try Street.find(db, 1, "x", 2) }?.code == .misuse)
    #expect(
      failure(DatabaseError.self) { try Street.fetchAll(db, keys: [1]) }?.message
        == "the key of “street” has 2 values, but 1 were given")
    #expect(try street.delete(db))
    #expect(try Street.fetchAll(db).map(\.city) == [2])
  }

  @Test("A record without a key is inserted and read, and operations that need a key throw")
  func none() throws {
    struct LogEntry: Record, Equatable {
      var text: String

      struct Columns: Sendable {
        let text = Column("text", \LogEntry.text)
      }
      static let columns = Columns()
      static let table = Table("log", LogEntry.init, columns.text, options: .noPrimaryKey)
    }
    let db = try Database.empty()
    try db.define("CREATE TABLE log (text TEXT)")
    var entry = LogEntry(text: "Oslo was founded")
    try entry.insert(db)
    try LogEntry.insert(db, contentsOf: [entry])
    #expect(try LogEntry.fetchAll(db) == [entry, entry])
    let text = "the declaration of the table “log” is wrong: it has no primary key to find a row by"
    #expect(recordFailure { try entry.update(db) } == text)
    #expect(recordFailure { try entry.updated(db) } == text)
    #expect(recordFailure { try entry.update(db, changedSince: entry) } == text)
    #expect(recordFailure { try entry.delete(db) } == text)
    #expect(recordFailure { try entry.save(db) } == text)
    #expect(recordFailure { try entry.upsert(db) } == text)
    #expect(recordFailure { try LogEntry.find(db, 1) } == text)
    #expect(recordFailure { try LogEntry.fetchAll(db, keys: [1]) } == text)
  }
}

import Foundation
import Testing

@testable import Larder

/// A place whose initializer takes the district before the name, unlike the columns.
private struct Site: Record {
  var id: Int64?
  var name: String
  var district: String

  init(id: Int64?, district: String, name: String) {
    self.id = id
    self.name = name
    self.district = district
  }

  struct Columns: Sendable {
    let id = Column("id", \Site.id, .primaryKey)
    let name = Column("name", \Site.name)
    let district = Column("district", \Site.district)
  }
  static let columns = Columns()
  /// Each test gets a table that hasn't been used.
  @TaskLocal static var table = newTable()
  static func newTable() -> Table<Site> {
    Table("site", Site.init, columns.id, columns.name, columns.district)
  }
}

@Suite("Initializers whose parameters are in another order than the columns")
struct InitializerCheckTests {
  private let db: Database
  private let exchanged = """
    the declaration of the table “site” is wrong: its initializer takes “district” where it is given \
    “name”, so the values of Site would be exchanged: give Table an initializer, or a closure, whose \
    parameters are in the order of the columns
    """

  init() throws { db = try Database.empty() }

  private func withTable(_ body: () throws -> Void) throws {
    try Site.$table.withValue(Site.newTable()) {
      try Site.table.create(db)
      try body()
    }
  }

  @Test("Inserting throws if the initializer exchanges two values, and writes nothing")
  func insertion() throws {
    try withTable {
      var place = Site(id: nil, district: "Frogner", name: "Oslo")
      #expect(recordFailure { try place.insert(db) } == exchanged)
      #expect(recordFailure { try place.inserted(db) } == exchanged)
      #expect(recordFailure { try Site.fetchAll(db) } == exchanged)
      let count = try db.value("SELECT count(*) FROM site", as: Int.self)
      #expect(count == 0)
    }
  }

  @Test("Every operation that writes throws if the initializer exchanges two values")
  func writing() throws {
    let place = Site(id: 1, district: "Frogner", name: "Oslo")
    func attempt(_ body: (inout Site) throws -> Void) {
      Site.$table.withValue(Site.newTable()) {
        var place = place
        #expect(recordFailure { try body(&place) } == exchanged)
      }
    }
    try Site.table.create(db)
    attempt { try $0.insert(db, or: .ignore) }
    attempt { _ = try $0.inserted(db) }
    attempt { try Site.insert(db, contentsOf: [$0]) }
    attempt { try $0.upsert(db) }
    attempt { try $0.save(db) }
    attempt { try $0.update(db) as Void }
    #expect(try db.value("SELECT count(*) FROM site", as: Int.self) == 0)
  }

  @Test("Every way to fetch throws if the initializer exchanges two values")
  func fetching() throws {
    try Site.table.create(db)
    try db.executeUpdate("INSERT INTO site VALUES (1, 'Oslo', 'Frogner')")
    func attempt(_ body: () throws -> Void) {
      Site.$table.withValue(Site.newTable()) {
        #expect(recordFailure { try body() } == exchanged)
      }
    }
    attempt { _ = try Site.find(db, 1) }
    attempt { _ = try Site.fetchAll(db) }
    attempt { try Site.forEach(db) { _ in } }
    attempt { _ = try Site.fetchAll(db, keys: [1]) }
    attempt { _ = try Site.fetchAll(db, sql: "SELECT * FROM site") }
    attempt { _ = try Site.all.fetchAll(db) }
    attempt { _ = try Site.filter { $0.name == "Oslo" }.fetchOne(db) }
    attempt { _ = try Site.leftJoin(Site.self) { $0.id == $1.id }.fetchAll(db) }
    attempt { _ = try Site.order { $0.id }.page(db, limit: 5) }
    attempt { _ = try Site.all.deleted(db) }
  }

  @Test("Exchanged values are found at the first record in which they differ")
  func equalValues() throws {
    try withTable {
      var place = Site(id: nil, district: "Oslo", name: "Oslo")
      try place.insert(db)
      #expect(try Site.fetchAll(db).count == 1)
      var other = Site(id: nil, district: "Frogner", name: "Oslo")
      #expect(recordFailure { try other.insert(db) } == exchanged)
    }
  }

  @Test("The check for exchanged values stops after a fixed number of records with equal values")
  func bound() throws {
    try withTable {
      let places = (1...InitializerCheck.mostRecords).map {
        Site(id: Int64($0), district: "Oslo", name: "Oslo")
      }
      try Site.insert(db, contentsOf: places.dropLast())
      #expect(Site.table.core.isInState(.uncheckedInitializer))
      try Site.insert(db, contentsOf: places.suffix(1))
      #expect(!Site.table.core.isInState(.uncheckedInitializer))
    }
  }

  @Test("The check for exchanged values needs at most one record with different values")
  func proven() throws {
    struct Right: Record {
      var id: Int64?
      var name: String
      var district: String
      static let columns = (
        Column("id", \Right.id, .primaryKey), Column("name", \Right.name),
        Column("district", \Right.district)
      )
      static let table = Table("right", Right.init, columns.0, columns.1, columns.2)
    }
    #expect(!City.table.core.isInState(.uncheckedInitializer))
    #expect(Right.table.core.isInState(.uncheckedInitializer))
    try Right.table.create(db)
    var right = Right(id: nil, name: "Oslo", district: "Frogner")
    try right.insert(db)
    #expect(!Right.table.core.isInState(.uncheckedInitializer))
  }

  @Test("An initializer that rotates three values is found")
  func circle() throws {
    struct Color: Record {
      var red: Int
      var green: Int
      var blue: Int
      var name: String?
      init(_ green: Int, _ blue: Int, _ red: Int, name: String?) {
        (self.red, self.green, self.blue, self.name) = (red, green, blue, name)
      }
      static let columns = (
        Column("red", \Color.red, .primaryKey), Column("green", \Color.green),
        Column("blue", \Color.blue), Column("name", \Color.name)
      )
      static let table = Table("color", Color.init, columns.0, columns.1, columns.2, columns.3)
    }
    try Color.table.create(db)
    var color = Color(2, 3, 1, name: nil)
    let problem = recordFailure { try color.insert(db) }
    #expect(problem?.contains("its initializer takes “blue” where it is given “red”") == true)
  }

  @Test("An initializer that exchanges values is found among columns with codings")
  func codings() throws {
    struct Note: Sendable, Codable { var text: String }
    struct Event: Record {
      var id: Int
      var from: Date
      var to: Date
      var first: Note
      var second: Note

      static let columns = (
        Column("id", \Event.id, .primaryKey), Column("from", \Event.from, as: .iso8601),
        Column("to", \Event.to, as: .unixMilliseconds),
        Column("first", \Event.first, as: .json), Column("second", \Event.second, as: .json)
      )
      static let table = Table(
        "event", { Event(id: $0, from: $2, to: $1, first: $3, second: $4) }, columns.0, columns.1,
        columns.2, columns.3, columns.4)
      static let notes = Table(
        "event", { Event(id: $0, from: $1, to: $2, first: $4, second: $3) }, columns.0, columns.1,
        columns.2, columns.3, columns.4)
    }
    try Event.table.create(db)
    let day = Date(timeIntervalSince1970: 86_400)
    let event = Event(
      id: 1, from: day, to: day + 5, first: Note(text: "a"), second: Note(text: "b"))
    var inserted = event
    #expect(
      recordFailure { try inserted.insert(db) }?.contains("takes “to” where it is given “from”")
        == true)
    #expect(
      recordFailure { try Event.notes.verify(event) }?
        .contains("takes “second” where it is given “first”") == true)
  }

  @Test("A class's initializer that exchanges values is found")
  func classes() throws {
    final class River: Record {
      let name: String
      let mouth: String
      init(_ mouth: String, _ name: String) {
        self.name = name
        self.mouth = mouth
      }
      static let columns = (
        Column("name", \River.name, .primaryKey), Column("mouth", \River.mouth)
      )
      static let table = Table("river", River.init, columns.0, columns.1)
    }
    try River.table.create(db)
    var river = River("Kattegat", "Glomma")
    #expect(recordFailure { try river.insert(db) }?.contains("takes “mouth”") == true)
  }

  @Test("An initializer that normalizes its values isn't taken for one that exchanges them")
  func normalizing() throws {
    struct Range: Record, Equatable {
      var low: Int
      var high: Int
      var name: String
      var label: String?
      /// Puts the bounds in order and trims the name.
      init(_ low: Int, _ high: Int, name: String, label: String?) {
        (self.low, self.high) = (min(low, high), max(low, high))
        self.name = name.trimmingCharacters(in: .whitespaces)
        self.label = label ?? self.name
      }
      static let columns = (
        Column("low", \Range.low, .primaryKey), Column("high", \Range.high),
        Column("name", \Range.name), Column("label", \Range.label)
      )
      static let table = Table("range", Range.init, columns.0, columns.1, columns.2, columns.3)
    }
    try Range.table.create(db)
    try db.executeUpdate("INSERT INTO range VALUES (5, 3, ' a ', NULL)")
    #expect(try Range.fetchAll(db) == [Range(3, 5, name: "a", label: "a")])
    var other = Range(7, 9, name: "b", label: "c")
    (other.low, other.high, other.name, other.label) = (9, 7, " b", nil)
    try other.insert(db)
    #expect(!Range.table.core.isInState(.wrong))
  }

  @Test("The initializer check works with hooks and with properties that aren't stored")
  func hooks() throws {
    struct Visit: RecordHooks, Equatable {
      var id: Int64?
      var place: String
      var guest: String
      var isNew = true
      mutating func didFetch() throws { (place, isNew) = (place.uppercased(), false) }
      mutating func willInsert(_ db: Database) throws { guest += "!" }

      static let columns = (
        Column("id", \Visit.id, .primaryKey), Column("site", \Visit.place),
        Column("guest", \Visit.guest)
      )
      static let table = Table(
        "visit", { Visit(id: $0, place: $1, guest: $2) }, columns.0, columns.1, columns.2,
        notStored: [\.isNew])
    }
    try Visit.table.create(db)
    try db.executeUpdate("INSERT INTO visit VALUES (1, 'Rome', 'Ann')")
    #expect(
      try Visit.fetchAll(db) == [Visit(id: 1, place: "ROME", guest: "Ann", isNew: false)])
    #expect(!Visit.table.core.isInState(.uncheckedInitializer))
  }
}

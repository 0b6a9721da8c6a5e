import Foundation
import Larder
import Testing

@Suite("Stored properties that a declaration leaves out")
struct DeclaredPropertyTests {
  private struct Forgotten: Record {
    var id: Int64?
    var name = ""
    var isDone = false
    static let columns = (Column("id", \Forgotten.id, .primaryKey), Column("name", \Forgotten.name))
    static let table = Table(
      "city", { Forgotten(id: $0, name: $1) }, columns.0, columns.1)
  }

  @Test("A stored property without a column that isn't in `notStored` makes the declaration wrong")
  func forgotten() throws {
    let problem = try problem(of: Forgotten.self)
    #expect(problem?.contains("“isDone” of Forgotten has no column") == true)
    #expect(problem?.contains(#"notStored: [\.isDone]"#) == true)
    var city = Forgotten(id: nil)
    let db = try Database()
    #expect(declarationProblem { try city.insert(db) } == problem)
    #expect(declarationProblem { try Forgotten.table.create(db) } == problem)
    #expect(declarationProblem { try Forgotten.table.verify(city) } == problem)
    #expect(declarationProblem { try Forgotten.all.fetchAll(db) } == problem)
  }

  private struct Several: Record {
    var id: Int64?
    let label: String
    var draft: String?
    var tags: [String] = []
    static let columns = (Column("id", \Several.id, .primaryKey), Column("label", \Several.label))
    static let table = Table(
      "city", { Several(id: $0, label: $1) }, columns.0, columns.1)
  }

  @Test("A declaration's error lists all properties without a column")
  func several() throws {
    #expect(try problem(of: Several.self)?.contains("“draft”, “tags” of Several") == true)
  }

  private struct Place {
    var latitude: Double
    var longitude: Double
  }

  /// A record with columns of parts of a property, a computed property, and properties that aren't
  /// stored.
  private struct Station: Record, Equatable {
    var id: Int64?
    var place: Place
    var isOpen = false
    var names: [String]
    lazy var count = names.count
    var nothing: Void = ()
    static func == (one: Station, other: Station) -> Bool { one.id == other.id }
    init(_ id: Int64?, _ latitude: Double, _ longitude: Double, _ names: String) {
      self.id = id
      place = Place(latitude: latitude, longitude: longitude)
      self.names = [names]
    }
    var text: String { names.joined() }
    static let columns = (
      Column("id", \Station.id, .primaryKey), Column("latitude", \Station.place.latitude),
      Column("longitude", \Station.place.longitude), Column("names", \Station.text)
    )
    static let table = Table(
      "station", Station.init, columns.0, columns.1, columns.2, columns.3, notStored: [\.isOpen])
  }

  @Test("A property can be stored in parts or by a computed one, and lazy ones need no column")
  func parts() throws {
    #expect(try problem(of: Station.self) == nil)
    let db = try Database()
    try Station.table.create(db)
    var station = Station(nil, 59.9, 10.7, "Oslo S")
    try station.insert(db)
    #expect(try Station.find(db, 1).text == "Oslo S")
  }

  private struct HalfStation: Record {
    var id: Int64?
    var place: Place
    static let columns = (
      Column("id", \HalfStation.id, .primaryKey), Column("latitude", \HalfStation.place.latitude)
    )
    static let table = Table(
      "station", { HalfStation(id: $0, place: Place(latitude: $1, longitude: 0)) }, columns.0,
      columns.1)
  }

  @Test("A property that is stored only in part makes the declaration wrong")
  func halves() throws {
    #expect(try problem(of: HalfStation.self)?.contains("“place”") == true)
  }

  private final class River: Record {
    let id: Int64
    let name: String
    let length: Double
    init(id: Int64, name: String) {
      (self.id, self.name) = (id, name)
      length = 0
    }
    static let columns = (Column("id", \River.id, .primaryKey), Column("name", \River.name))
    static let table = Table("river", River.init, columns.0, columns.1)
  }

  @Test("A class's stored property without a column makes the declaration wrong")
  func classes() throws {
    #expect(try problem(of: River.self)?.contains("“length” of River") == true)
  }

  private struct LeftOut: Record {
    var id: Int64?
    var name: String { "" }
    struct Columns: Sendable {
      let id = Column("id", \LeftOut.id, .primaryKey)
      let name = Column("name", \LeftOut.name)
    }
    static let columns = Columns()
    static let table = Table("city", { LeftOut(id: $0) }, columns.id)
  }

  @Test("A column in `Columns` that the table isn't given makes the declaration wrong")
  func columnLeftOut() throws {
    let problem = try problem(of: LeftOut.self)
    #expect(
      problem == "the column “name” of Columns isn't given to Table: it would never be written")
    let db = try Database()
    #expect(declarationProblem { try LeftOut.table.verify(LeftOut(id: 1)) } == problem)
    #expect(declarationProblem { try LeftOut.table.create(db) } == problem)
    #expect(declarationProblem { try LeftOut.all.fetchCount(db) } == problem)
  }

  private struct Computed: Record {
    var id: Int64?
    struct Columns: Sendable {
      let id = Column("id", \Computed.id, .primaryKey)
      let note = 5
    }
    static var columns: Columns { Columns() }
    static let table = Table("city", Computed.init, columns.id)
  }

  @Test("`Columns` may be computed, and have members that aren't columns")
  func computedColumns() throws {
    let db = try Database()
    try Computed.table.create(db)
    #expect(try Computed.fetchAll(db).isEmpty)
  }

  private struct ReadOnlyKey: Record {
    var id: Int
    var name: String
    static let columns = (
      Column("id", \ReadOnlyKey.id, .primaryKey, .readOnly), Column("name", \ReadOnlyKey.name)
    )
    static let table = Table("city", ReadOnlyKey.init, columns.0, columns.1)
  }

  @Test("A read-only key that the database doesn't choose makes the declaration wrong")
  func readOnlyKey() throws {
    #expect(try problem(of: ReadOnlyKey.self)?.contains("its key “id” is never written") == true)
  }

  private struct ChosenKey: Record {
    var id: Int64?
    var name: String
    static let columns = (
      Column("id", \ChosenKey.id, .primaryKey, .readOnly), Column("name", \ChosenKey.name)
    )
    static let table = Table("city", ChosenKey.init, columns.0, columns.1)
  }

  @Test("The database chooses a read-only row id, and inserting a record with one throws")
  func chosenKey() throws {
    let db = try Database()
    try ChosenKey.table.create(db)
    var city = ChosenKey(id: nil, name: "Oslo")
    try city.insert(db)
    #expect(city.id == 1)
    city.name = "Bergen"
    try city.update(db)
    var other = ChosenKey(id: 7, name: "Rome")
    #expect(declarationProblem { try other.insert(db) }?.contains("is read-only") == true)
    #expect(declarationProblem { try other.inserted(db) } != nil)
    #expect(declarationProblem { try other.save(db) as Void } != nil)
    #expect(declarationProblem { try ChosenKey.insert(db, contentsOf: [other]) } != nil)
    #expect(try ChosenKey.fetchAll(db).map(\.name) == ["Bergen"])
  }

  private struct Rectangle: Record {
    var id: Int64?
    var width: Int
    var area: Int
    struct Columns: Sendable {
      let id = Column("id", \Rectangle.id, .primaryKey)
      let width = Column("width", \Rectangle.width)
      let area = Column("area", \Rectangle.area, .generated("width * 2"))
    }
    static let columns = Columns()
    static let table = Table(
      "rectangle", Rectangle.init, columns.id, columns.width, columns.area)
  }

  @Test("update(changedSince:) throws if a generated column was changed")
  func changedGenerated() throws {
    let db = try Database()
    try Rectangle.table.create(db)
    var found = try Rectangle(id: nil, width: 1, area: 0).inserted(db)
    let copy = found
    found.area = 77
    #expect(throws: DatabaseError.self) { try found.update(db, changedSince: copy) }
    #expect(throws: DatabaseError.self) { try found.update(db, Rectangle.columns.area) }
    found = copy
    found.width = 5
    #expect(try found.update(db, changedSince: copy))
    #expect(try Rectangle.find(db, 1).area == 10)
  }

  @Test("An update throws if its closure only compares with ==, and does nothing if it is empty")
  func comparedInsteadOfAssigned() throws {
    let db = try Database()
    try Rectangle.table.create(db)
    _ = try Rectangle(id: nil, width: 1, area: 0).inserted(db)
    let error = #expect(throws: DatabaseError.self) {
      try Rectangle.all.update(db) { row in _ = row.width == 6 }
    }
    #expect(error?.message.contains("== compares") == true)
    #expect(try Rectangle.all.update(db) { _ in } == 0)
    #expect(try Rectangle.all.update(db) { $0.width = 6 } == 1)
  }
}

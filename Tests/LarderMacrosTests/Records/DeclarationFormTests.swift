import LarderMacros
import Testing

@Record
private struct Address: Record, Equatable {
  @Column(.primaryKey) var id: Int
  @available(*, deprecated, message: "use town") var city: String
  @available(*, deprecated) @NotStored var isOld = false
  var town: String?
}

@Record
private final class Parcel {
  @Column(.primaryKey) let id: Int
  @available(*, deprecated) let weight: Double
  let note: String

  @available(*, deprecated)
  init(id: Int, weight: Double, note: String) {
    self.id = id
    self.weight = weight
    self.note = note
  }
}

@Record
private struct Reading {
  @Column(.primaryKey) var id: Int
  var celsius: Double
  var fahrenheit: Double {
    @storageRestrictions(initializes: celsius)
    init { celsius = (newValue - 32) / 1.8 }
    get { celsius * 1.8 + 32 }
    set { celsius = (newValue - 32) / 1.8 }
  }
}

@Suite("Records by macro with deprecated properties, written conformances and init accessors")
struct DeclarationFormTests {
  private let db: Database

  init() throws { db = try Database() }

  @Test("A record that says that it is one, with deprecated properties, is stored and read")
  func deprecated() throws {
    try Address.table.create(db)
    let address = Address(id: 1, city: "Oslo", town: nil)
    try Address.insert(db, contentsOf: [address])
    #expect(try Address.find(db, 1) == address)
    #expect(try Address.filter { $0.city == "Oslo" }.select { $0.city }.fetchAll(db) == ["Oslo"])
    #expect(Address.table.columnNames == ["id", "city", "town"])
  }

  @Test("A class with a deprecated property and initializer is read by the written one")
  func deprecatedInClass() throws {
    try Parcel.table.create(db)
    try db.executeUpdate("INSERT INTO parcel VALUES (1, 2.5, 'fragile')")
    let found = try Parcel.find(db, 1)
    #expect(found.note == "fragile")
    #expect(try Parcel.all.select { $0.weight }.fetchAll(db) == [2.5])
  }

  @Test("A property with an init accessor is no column, and its storage is one")
  func initializingAccessor() throws {
    try Reading.table.create(db)
    try Reading.insert(db, contentsOf: [Reading(id: 1, fahrenheit: 50)])
    let found = try Reading.find(db, 1)
    #expect(found.celsius == 10)
    #expect(Reading.table.columnNames == ["id", "celsius"])
  }
}
